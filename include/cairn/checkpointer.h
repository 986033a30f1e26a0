/* One checkpoint at a time, at a path of your choice. (For numbered steps, what
 * to keep, and the latest: <cairn/manager.h>, which is built on this.)
 *
 * A save is asynchronous: the call copies the state and returns; the rest
 * happens on the runtime's threads. It is collective: all ranks of the
 * communicator make the same calls in the same order. One thread at a time
 * calls a checkpointer, never the loop's. */
#ifndef CAIRN_CHECKPOINTER_H_
#define CAIRN_CHECKPOINTER_H_

#include "cairn/comm.h"
#include "cairn/handler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_checkpointer cairn_checkpointer_t;

/* {0} is all defaults. */
typedef struct cairn_checkpointer_opts {
  size_t size; /* sizeof this struct; 0: as compiled */
  cairn_profile_t profile;
  const cairn_strategy_t *strategy; /* NULL: the default one. Borrowed */
  int64_t chunk_bytes;              /* target of a chunk; 0: the profile's */
  bool no_compression;
  bool not_durable; /* no fsync: a power loss may leave a broken step */
  /* How long ranks wait for one another, and the store for a call, before that
   * is an error that names who and where; 0: 20 minutes. The writing of a save
   * gets one second more for each 10 MB that the rank with the most writes. A
   * rank whose own work takes five eighths of that tells the others so. */
  int64_t deadline_ms;
  /* When it is worth a warning in the log; 0: a quarter of the deadline, at
   * most 30 s. The writing gets one second more for each 80 MB. */
  int64_t soft_limit_ms;
  /* Of arrays that ask for none; DEFAULT: COPY. */
  cairn_snapshot_t snapshot;
  /* Staging memory that opening makes ready, so that the first save copies as
   * fast as the next ones: bytes of this rank's largest item. 0: the first save
   * makes it, which can take a hundred times as long as the copy. */
  int64_t staging_bytes;
  /* The most memory that a save may stage at a time; 0: no limit. A save of
   * more is written while it is copied: the call takes as long as the store
   * does for what is beyond. (Arrays with gaps, and below 4 KiB, are always
   * staged.) */
  int64_t staging_limit;
  bool settles; /* the program calls cairn_save_settle: AUTO may be LAZY */
  /* Debugging: memory is summed when a save begins and when it is written, and
   * an array that was written to in between fails the save, by name. */
  bool check_snapshots;
} cairn_checkpointer_opts_t;

/* How far a save has come. */
typedef enum cairn_save_state {
  /* The memory is the caller's again, but for what is borrowed: on return, or
   * with LAZY arrays when they are settled or written. */
  CAIRN_SAVE_STAGED = 1,
  CAIRN_SAVE_WRITTEN,  /* all of this rank's bytes are in the store */
  CAIRN_SAVE_COMMITTED /* visible, and agreed by all ranks */
} cairn_save_state_t;

typedef struct cairn_save cairn_save_t; /* a save that can be followed */

typedef struct cairn_save_stats {
  int64_t step;         /* -1: of a checkpointer's save */
  double blocked_s;     /* the call's time on the caller's thread */
  double written_s;     /* since the call began; 0: not yet */
  double committed_s;   /* likewise */
  int64_t bytes;        /* of state, this rank's part */
  int64_t stored_bytes; /* as written by this rank */
} cairn_save_stats_t;

/* Waits until the save has come so far, or failed, or timeout_ms have passed
 * (negative: no limit): CAIRN_OK, its error, or CAIRN_TIMED_OUT. Reading an
 * error here does not use it up for the manager's next call. Any thread but the
 * loop. */
CAIRN_API cairn_code_t cairn_save_wait(cairn_save_t *save,
                                       cairn_save_state_t until,
                                       int64_t timeout_ms, cairn_error_t *err);
/* Returns when the memory of arrays with CAIRN_SNAPSHOT_LAZY may be written:
 * what is not yet in the store is copied, on this thread; if staging is limited
 * that waits for the store. settle is for all arrays, settle_leaf for those
 * that are called `name` ("params.w": keys joined by '.'); of others, and of a
 * save that is over, the memory is the caller's already. Borrowed arrays are
 * waited for. CAIRN_CANCELLED: the save failed (cairn_save_wait says how), and
 * the memory may be written. Any thread but the loop. */
CAIRN_API cairn_code_t cairn_save_settle(cairn_save_t *save,
                                         cairn_error_t *err);
CAIRN_API cairn_code_t cairn_save_settle_leaf(cairn_save_t *save,
                                              const char *name,
                                              cairn_error_t *err);

/* True if the save has come so far; false also for one that failed. Does not
 * block. Any thread but the loop. */
CAIRN_API bool cairn_save_reached(cairn_save_t *save, cairn_save_state_t state);

/* Times and bytes as far as they are known: what the save has not come to is 0.
 * Any thread; does not block, cannot fail. */
CAIRN_API void cairn_save_stats(cairn_save_t *save, cairn_save_stats_t *out);

/* Gives the reference back; the save goes on. Also after the manager or
 * checkpointer was closed. Any thread. NULL is fine. */
CAIRN_API void cairn_save_unref(cairn_save_t *save);

/* Opens a checkpointer; *out is the caller's, for cairn_checkpointer_close.
 * opts may be NULL. Collective, blocking. Environment over options:
 * CAIRN_DEADLINE, CAIRN_SOFT_LIMIT, in seconds ("90") or milliseconds
 * ("250ms"). CAIRN_INVALID: what is wrong with the options of a rank;
 * CAIRN_MISMATCH: ranks brought different ones (strategy, snapshot and soft
 * limit may differ): either on all ranks. CAIRN_TIMED_OUT: ranks that did not
 * come; CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_checkpointer_open(cairn_runtime_t *rt, cairn_comm_t *comm,
                        const cairn_checkpointer_opts_t *opts,
                        cairn_checkpointer_t **out, cairn_error_t *err);

/* Saves the items as a checkpoint at `path`, which must not exist: it appears
 * there whole, by a rename, when committed. A single item named "" (or NULL) is
 * stored without an item level. Returns when the caller may change the memory;
 * waits for the save before it, and returns that one's error (once) instead if
 * it failed. `save` may be NULL; otherwise *save is a reference for the caller,
 * NULL on failure. The items' values must live until the call returns, borrowed
 * memory until CAIRN_SAVE_WRITTEN.
 *
 * From the call itself: CAIRN_INVALID: what is wrong with the path or the items
 * (checked before anything is written); CAIRN_NO_MEMORY. If other ranks have
 * nothing to complain of, it is also how this save ends, and what the next call
 * returns on all. In the background, told by cairn_save_wait and by the next
 * call: CAIRN_EXISTS: the path is taken; CAIRN_MISMATCH: ranks brought other
 * items; CAIRN_INVALID: their boxes do not make up the arrays; CAIRN_TIMED_OUT:
 * ranks that did not come in time (the step may be there if the text says so);
 * CAIRN_NO_SPACE, CAIRN_DENIED, CAIRN_IO and others of the store. */
CAIRN_API cairn_code_t cairn_checkpointer_save(cairn_checkpointer_t *ck,
                                               const char *path,
                                               const cairn_item_t *items,
                                               size_t n, cairn_save_t **save,
                                               cairn_error_t *err);

/* {0} is all defaults. */
typedef struct cairn_restore_opts {
  size_t size; /* sizeof this struct; 0: as compiled */
  /* Stored leaves that the target lacks are passed over; without it they are
   * CAIRN_MISMATCH. What the target has must be stored, with or without it. */
  bool partial;
  int64_t *step; /* out, of a manager: the step restored; may be NULL */
} cairn_restore_opts_t;

/* Fills the items' targets from the checkpoint at `path`. Collective, blocking;
 * waits for the save in flight first, and returns its error (once) instead if
 * it failed. opts may be NULL. On failure targets may be partly filled; all
 * ranks get the same error: CAIRN_NOT_FOUND: no checkpoint, or no such item;
 * CAIRN_MISMATCH: names, shapes, types (the first 20 of each kind, and totals);
 * CAIRN_CORRUPT: it is incomplete, or what was read is damaged; CAIRN_INVALID:
 * what is wrong with path or items; CAIRN_TIMED_OUT, CAIRN_IO, CAIRN_DENIED,
 * CAIRN_NO_MEMORY, CAIRN_UNSUPPORTED (a codec or type that Cairn does not
 * read). */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_checkpointer_restore(
    cairn_checkpointer_t *ck, const char *path, const cairn_item_t *items,
    size_t n, const cairn_restore_opts_t *opts, cairn_error_t *err);

/* Waits for the save in flight; its error is returned once. CAIRN_TIMED_OUT
 * after timeout_ms (negative: no limit): it goes on. */
CAIRN_API cairn_code_t cairn_checkpointer_wait(cairn_checkpointer_t *ck,
                                               int64_t timeout_ms,
                                               cairn_error_t *err);
/* wait, then frees (also on failure, but for CAIRN_TIMED_OUT of a call with a
 * limit: call again). A save that failed because the store did not answer may
 * still be waiting for it, and then so does close. NULL is fine. */
CAIRN_API cairn_code_t cairn_checkpointer_close(cairn_checkpointer_t *ck,
                                                int64_t timeout_ms,
                                                cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
