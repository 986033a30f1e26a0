/* Many steps in one root directory: when to save, which is the latest, what to
 * keep.
 *
 *   cairn_manager_open(rt, comm, "runs/a",
 *       &(cairn_manager_opts_t){.save_interval_steps = 100, .max_to_keep = 3},
 *       &mgr, &err);
 *   cairn_manager_restore(mgr, CAIRN_LATEST, state, NULL, &err);
 *   for (; step < n; step++) {
 *     train();
 *     cairn_manager_save(mgr, step, state, NULL, &err);
 *   }
 *   cairn_manager_close(mgr, 60000, &err);
 *
 * Collective: all ranks make the same calls in the same order. One thread at a
 * time calls a manager. An error in the background is returned by the next call
 * that waits for that save (one that saves, restores, reloads, waits or closes;
 * not one that the policy skips), on all ranks alike, exactly once; that call
 * does nothing else. To hear of it earlier: cairn_save_reached and
 * cairn_save_wait. */
#ifndef CAIRN_MANAGER_H_
#define CAIRN_MANAGER_H_

#include "cairn/checkpointer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_manager cairn_manager_t;

#define CAIRN_LATEST ((int64_t)-1)

typedef struct cairn_manager_opts {
  size_t size;
  cairn_checkpointer_opts_t checkpointer;
  int64_t save_interval_steps; /* save if step % n == 0; 0: 1 */
  int64_t max_to_keep; /* newest steps kept after each commit; 0 or -1: all. The
                          newest is never deleted */
  const char *step_prefix; /* "ckpt" names steps ckpt_7; NULL: none. Copied */
  int step_digits;         /* zero-padded to so many; 0: not padded */
  bool no_create;          /* the root must exist */
  bool read_only;          /* save is CAIRN_INVALID; nothing is cleaned up */
} cairn_manager_opts_t;

/* Collective, blocking. Makes the root (primary), finds its steps. Removes what
 * a killed save of Cairn left behind, if its owner is provably gone; nothing
 * else is touched. Environment over options: CAIRN_SAVE_INTERVAL_STEPS,
 * CAIRN_MAX_TO_KEEP (a positive number or -1). CAIRN_INVALID; CAIRN_DENIED,
 * CAIRN_IO with path and errno text; CAIRN_MISMATCH if ranks differ in options
 * or root. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_open(cairn_runtime_t *rt, cairn_comm_t *comm, const char *root,
                   const cairn_manager_opts_t *opts, cairn_manager_t **out,
                   cairn_error_t *err);

typedef enum cairn_save_decision {
  CAIRN_SAVED = 1,        /* begun; committed in the background */
  CAIRN_SKIPPED_POLICY,   /* not a step the policy saves */
  CAIRN_SKIPPED_NOT_ABOVE /* the latest step is this one or above it */
} cairn_save_decision_t;

typedef struct cairn_manager_save_opts {
  size_t size;
  bool force; /* whatever the policy says; an existing step is still
                 CAIRN_EXISTS */
  cairn_save_decision_t *decision; /* out; may be NULL */
  cairn_save_t **save; /* out: a reference to follow it, or NULL if skipped */
} cairn_manager_save_opts_t;

/* Saves one state tree as the item "default". Returns when the memory is the
 * caller's again: no MPI, no file system on this thread; waits only if an
 * earlier save is still in flight. */
CAIRN_API cairn_code_t cairn_manager_save(cairn_manager_t *mgr, int64_t step,
                                          const cairn_tree_t *state,
                                          const cairn_manager_save_opts_t *opts,
                                          cairn_error_t *err);
/* Several items of any type. */
CAIRN_API cairn_code_t cairn_manager_save_items(
    cairn_manager_t *mgr, int64_t step, const cairn_item_t *items, size_t n,
    const cairn_manager_save_opts_t *opts, cairn_error_t *err);

/* CAIRN_LATEST: the newest committed step. CAIRN_NOT_FOUND: no step yet
 * (message names the root), or not that one. Waits for a save in flight first.
 */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_restore(cairn_manager_t *mgr, int64_t step, cairn_tree_t *state,
                      const cairn_restore_opts_t *opts, cairn_error_t *err);
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_manager_restore_items(
    cairn_manager_t *mgr, int64_t step, const cairn_item_t *items, size_t n,
    const cairn_restore_opts_t *opts, cairn_error_t *err);

/* Committed steps only, ascending, as of the open or the last commit. *out is
 * malloc'd, free() it. Not collective. */
CAIRN_API cairn_code_t cairn_manager_steps(cairn_manager_t *mgr, int64_t **out,
                                           size_t *n, cairn_error_t *err);
/* The newest committed step, or -1. Not collective. */
CAIRN_API int64_t cairn_manager_latest(cairn_manager_t *mgr);
/* Goes back to `step`, which must be one of the steps: those above it are
 * deleted, so that saves go on from there (a save is skipped while a higher
 * step exists). Collective, blocking; waits for a save in flight first.
 * CAIRN_NOT_FOUND: no such step; CAIRN_INVALID: opened read-only; CAIRN_IO: one
 * could not be deleted. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_rollback(cairn_manager_t *mgr, int64_t step, cairn_error_t *err);
/* Looks at the root again (another job may have saved). Collective. */
CAIRN_API cairn_code_t cairn_manager_reload(cairn_manager_t *mgr,
                                            cairn_error_t *err);

/* Waits for the save in flight and for deletions. Its error, once. */
CAIRN_API cairn_code_t cairn_manager_wait(cairn_manager_t *mgr,
                                          int64_t timeout_ms,
                                          cairn_error_t *err);
/* wait, then frees (also on failure, but for CAIRN_TIMED_OUT of a call with a
 * limit: call again). Says what did not commit. NULL is fine. */
CAIRN_API cairn_code_t cairn_manager_close(cairn_manager_t *mgr,
                                           int64_t timeout_ms,
                                           cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
