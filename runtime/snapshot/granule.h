/* Granules: pieces of the caller's memory between two boundaries of huge pages,
 * each with a state of its own. The state says where the bytes of begin are:
 *
 *   PENDING    only in the caller's memory
 *   SHADOWING  there; someone is copying them
 *   SHADOWED   in the shadow; the caller's memory may differ
 *   CONSUMED   the writer has had all of them
 *
 * A granule is released, so that the caller may write to it, when it is
 * SHADOWED or CONSUMED and nobody reads the caller's memory any more. Whoever
 * makes it so disarms it and wakes who waits. */
#ifndef CAIRN_SNAPSHOT_GRANULE_H_
#define CAIRN_SNAPSHOT_GRANULE_H_

#include <pthread.h>

#include "snapshot/ring.h"
#include "snapshot/snapshot.h"

enum { PENDING, SHADOWING, SHADOWED, CONSUMED };

typedef struct cairn__granule {
  /* Under the lock. */
  uint8_t state;
  bool armed;              /* its pages are write-protected */
  uint32_t readers, users; /* of the caller's memory, of the shadow */
  uint32_t left;           /* bytes that are not consumed */
  uint32_t slot;           /* of the ring; UINT32_MAX: not there */
  char *shadow;            /* NULL before SHADOWED */

  const char *src; /* the caller's */
  uint32_t n, part;
  uint64_t sum; /* check: at begin */

  /* The fault handler's: a writer waits for this one. */
  struct cairn__granule *next_wanted;
  int64_t wanted_ns; /* since; 0: none waits */

  /* Far from what it guards: gcc loads neighbours in one word. */
  cairn__spin_t lock;
} cairn__granule_t;

typedef struct cairn__part {
  const char *data;
  size_t n;
  cairn_snapshot_t mode;
  const char *name;
  cairn__granule_t *granules;
  size_t num_granules;
} cairn__part_t;

/* Write-protected addresses, whole granules of one part. */
typedef struct cairn__range {
  uintptr_t lo, hi;
  size_t part;
} cairn__range_t;

struct cairn__snapshot {
  cairn__pool_t *pool;
  cairn__part_t *parts;
  size_t n;
  cairn__granule_t *granules;
  size_t num_granules;
  cairn__ring_t ring;
  bool roomy;           /* the ring holds all there is */
  cairn__slab_t *edges; /* of cow parts */
  size_t edge_bytes, armed_bytes, fallbacks;
  bool check;
  int threads;
  atomic_size_t changed; /* check: a part that was written too early; SIZE_MAX:
                            none */

  /* Who waits in settle. */
  pthread_mutex_t lock;
  pthread_cond_t cond;
  atomic_uint changes; /* counts what may end a wait */
  atomic_int settlers;
  atomic_bool dropped;

  /* cow.c, under its lock but for the atomics */
  cairn__snapshot_t *next;
  cairn__range_t *ranges; /* sorted */
  size_t num_ranges;
  bool ready;         /* the handler may copy for it */
  int64_t limit_ns;   /* of the watchdog */
  atomic_bool failed; /* disarmed by it */
  atomic_bool kicked; /* the handler is to look at `wanted` */
  atomic_int num_wanted;
  cairn__granule_t *wanted; /* the handler's */

  atomic_llong shadowed_bytes, faults, waited_ns;
};

/* --- granules.c --- */

typedef enum cairn__shadow {
  CAIRN__RELEASED, /* the caller may write */
  CAIRN__FULL,     /* no room in the ring */
  CAIRN__IN_USE    /* someone is at it who will release it */
} cairn__shadow_t;

/* The pieces that a part of n bytes is cut into, and where. */
size_t cairn__granules_count(const void *data, size_t n);
void cairn__granules_cut(cairn__part_t *part, uint32_t index);
static inline bool cairn__granule_whole(const cairn__granule_t *g) {
  return g->n == CAIRN__GRANULE;
}
/* The index of the granule that holds a byte of the part. */
size_t cairn__granule_at(const cairn__part_t *part, const char *p);

/* Copies a pending granule to the ring, without waiting. */
cairn__shadow_t cairn__granule_shadow(cairn__snapshot_t *s,
                                      cairn__granule_t *g);
/* Copies it to memory that is not the ring's: an edge, before anyone looks. */
void cairn__granule_shadow_to(cairn__snapshot_t *s, cairn__granule_t *g,
                              char *dst);
/* Where n of its bytes are to be read from, until done_reading; NULL: all were
 * consumed before, or the snapshot was cancelled. */
const char *cairn__granule_read(cairn__snapshot_t *s, cairn__granule_t *g,
                                const char *src);
void cairn__granule_done_reading(cairn__snapshot_t *s, cairn__granule_t *g,
                                 const char *from, size_t n);
void cairn__granule_skip(cairn__snapshot_t *s, cairn__granule_t *g, size_t n);

/* Until nobody reads or copies the caller's memory; of a cancelled snapshot, in
 * which nobody begins to. */
void cairn__granule_await_readers(cairn__granule_t *g);

/* Something that may end a wait has happened. */
void cairn__snapshot_changed(cairn__snapshot_t *s);

/* --- check.c --- */
/* What makes all of the snapshot worthless, if anything has. */
cairn_code_t cairn__snapshot_verdict(cairn__snapshot_t *s, cairn_error_t *err);
void cairn__check_begin(cairn__snapshot_t *s);
/* Notes the part if the bytes, n of granule g, are not those of begin. */
void cairn__check_granule(cairn__snapshot_t *s, const cairn__granule_t *g,
                          const void *bytes);

#endif
