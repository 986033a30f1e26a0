/* The caller's memory held still: what a save reads later is what was there
 * when it began.
 *
 * A snapshot is a list of parts (contiguous pieces of the caller's memory), cut
 * into granules. A granule is pending (its bytes are still only in the caller's
 * memory), shadowed (copied to a slot of the shadow ring), or consumed (the
 * writer has all of it). The modes differ only in who makes a pending granule
 * shadowed, and when:
 *
 *   copy     the caller's thread and helpers, in cairn__snapshot_copy
 *   lazy     whoever comes first: the writer consumes it straight from the
 *            caller's memory, or cairn__snapshot_settle shadows what is left
 *   cow      as lazy, but nobody has to settle: pages are write-protected, and
 *            the first write to one shadows its granule (userfaultfd; cow.c)
 *   borrow   nobody: the caller promised not to write before the save has
 *            written
 *
 * The shadow ring is bounded: when it is full, shadowing waits for the writer
 * to consume (back pressure), so a state larger than the budget is still saved.
 *
 * Threads: begin and settle on the caller's; read on CPU threads; the fault
 * handler (cow) on its own, touching no protected memory and no malloc lock. */
#ifndef CAIRN_SNAPSHOT_SNAPSHOT_H_
#define CAIRN_SNAPSHOT_SNAPSHOT_H_

#include "cairn/tree.h"
#include "snapshot/pool.h"

#define CAIRN__GRANULE ((size_t)2 << 20) /* a huge page */

typedef struct cairn__snapshot cairn__snapshot_t;

typedef struct cairn__snapshot_part {
  const void *data; /* the caller's */
  size_t n;
  cairn_snapshot_t mode; /* COPY, LAZY, COW or BORROW */
  /* Of the array, for messages; lives as long as the snapshot. */
  const char *name;
} cairn__snapshot_part_t;

typedef struct cairn__snapshot_opts {
  size_t shadow_bytes; /* bound of the ring; 0: none */
  /* Hash at begin, compare when copied or read: a difference names the array
   * (debugging; the whole of it is read). */
  bool check;
  int threads;     /* that copy, at most 4; 0: as many as cores are idle */
  int watchdog_ms; /* cow: how long the fault handler may take; 0: 10 s */
} cairn__snapshot_opts_t;

/* Takes note of the parts and arms what is to be armed; copies nothing but the
 * edges of cow parts, the pieces that are less than a huge page. Cow parts that
 * cannot be armed (no privilege; they overlap what is armed already; not
 * anonymous memory) become copy parts. CAIRN_INVALID, CAIRN_NO_MEMORY. The
 * parts array is the caller's again on return. */
CAIRN_MUST_CHECK cairn_code_t
cairn__snapshot_begin(cairn__pool_t *pool, const cairn__snapshot_part_t *parts,
                      size_t n, const cairn__snapshot_opts_t *opts,
                      cairn__snapshot_t **out, cairn_error_t *err);

/* Returns when the memory of part i (or of all, SIZE_MAX) may be written:
 * copies what is pending, waits for room if it must. */
CAIRN_MUST_CHECK cairn_code_t cairn__snapshot_settle(cairn__snapshot_t *s,
                                                     size_t i,
                                                     cairn_error_t *err);
/* Settles the parts of mode copy, on several threads if cores are idle. To be
 * called after begin, also if no part was asked to be copied. CAIRN_CANCELLED.
 */
CAIRN_MUST_CHECK cairn_code_t cairn__snapshot_copy(cairn__snapshot_t *s,
                                                   cairn_error_t *err);

/* The bytes [src, src + n) of part i as they were at begin, to dst; they count
 * as consumed. Any thread; several at once. CAIRN_INVALID: not of that part.
 * CAIRN_MISMATCH: the check found that the array was written too early. */
CAIRN_MUST_CHECK cairn_code_t cairn__snapshot_read(cairn__snapshot_t *s,
                                                   size_t i, const void *src,
                                                   size_t n, void *dst,
                                                   cairn_error_t *err);
/* A pointer to bytes that stay as they are until the snapshot is dropped, or
 * NULL if they have to be read: those of borrowed and of wholly shadowed,
 * unbroken pieces. */
const void *cairn__snapshot_peek(cairn__snapshot_t *s, size_t i,
                                 const void *src, size_t n);
/* The bytes will not be read: as if consumed. */
void cairn__snapshot_skip(cairn__snapshot_t *s, size_t i, const void *src,
                          size_t n);

/* All is written: what was not read counts as consumed, and who waits in settle
 * goes on. With a check, looks at what nobody has read to its end. The errors
 * are those of read: a snapshot that was good until here was good. */
CAIRN_MUST_CHECK cairn_code_t cairn__snapshot_finish(cairn__snapshot_t *s,
                                                     cairn_error_t *err);

/* Gives the caller his memory back at once: disarms, ends reads and settles
 * with CAIRN_CANCELLED. Neither touches the caller's memory after this returns.
 * Any thread; again is fine. */
void cairn__snapshot_cancel(cairn__snapshot_t *s);

/* Cancels, waits for who is in settle, gives memory back. No read may be under
 * way, and no call may come later. */
void cairn__snapshot_drop(cairn__snapshot_t *s);

typedef struct cairn__snapshot_stats {
  int64_t shadowed_bytes, peak_shadow_bytes;
  int64_t armed_bytes;       /* write-protected at begin */
  int64_t fallbacks;         /* cow parts that became copy parts */
  int64_t faults, waited_ns; /* of writers that met a full ring */
} cairn__snapshot_stats_t;
void cairn__snapshot_stats(const cairn__snapshot_t *s,
                           cairn__snapshot_stats_t *out);

/* Whether cow works here: features of the kernel, privilege, and a trial in
 * which a read(2) from a pipe into an armed page must fault and be caught. Once
 * per process. CAIRN_UNSUPPORTED says what an administrator must allow. */
cairn_code_t cairn__cow_available(cairn_error_t *err);

#endif
