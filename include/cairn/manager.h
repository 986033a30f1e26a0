/* Many steps in one root directory: when to save, which is the latest, what to
 * keep.
 *
 *   cairn_manager_opts_t opts = {.save_interval_steps = 100, .max_to_keep = 3};
 *   if (cairn_manager_open(rt, comm, "runs/a", &opts, &mgr, &err)) goto end;
 *   rc = cairn_manager_restore(mgr, CAIRN_LATEST, state, NULL, &err);
 *   if (rc != CAIRN_OK && rc != CAIRN_NOT_FOUND) goto end;
 *   err = (cairn_error_t){0};
 *   while (step < n) {
 *     train();
 *     step++;
 *     if (cairn_manager_save(mgr, step, state, NULL, &err)) goto end;
 *   }
 *   end:
 *   cairn_manager_close(mgr, 60000, &err);
 *
 * The step that is saved counts what was done: a job that resumes goes on with
 * the next one. Where `step` is itself a leaf of the state, a restore sets it.
 *
 * Collective: all ranks make the same calls in the same order. One thread at a
 * time calls a manager, never the loop's. An error in the background is
 * returned by the next call that waits for that save (one that saves, restores,
 * reloads, waits or closes; not one that the policy skips), on all ranks alike,
 * exactly once; that call does nothing else. To hear of it earlier:
 * cairn_save_reached and cairn_save_wait. */
#ifndef CAIRN_MANAGER_H_
#define CAIRN_MANAGER_H_

#include "cairn/checkpointer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_manager cairn_manager_t;

#define CAIRN_LATEST ((int64_t)-1)

/* {0} is all defaults. */
typedef struct cairn_manager_opts {
  size_t size; /* sizeof this struct; 0: as compiled */
  cairn_checkpointer_opts_t checkpointer; /* deadlines among others */
  int64_t save_interval_steps;            /* save if step % n == 0; 0: 1 */
  /* Newest steps kept after each commit; 0 or -1: all. */
  int64_t max_to_keep;
  const char *step_prefix; /* "ckpt" names steps ckpt_7; NULL: none. Copied */
  int step_digits;         /* zero-padded to so many; 0: not padded */
  bool no_create;          /* the root must exist */
  bool read_only;          /* save is CAIRN_INVALID; nothing is cleaned up */
} cairn_manager_opts_t;

/* Opens the manager of a root, a directory or URL; *out is the caller's, for
 * cairn_manager_close. opts may be NULL. Collective, blocking. Makes the root
 * (primary), finds its steps. Removes what a killed save of Cairn left behind,
 * if its owner is provably gone; nothing else is touched. The environment
 * overrides the options: CAIRN_SAVE_INTERVAL_STEPS, CAIRN_MAX_TO_KEEP (a
 * positive number or -1).
 *
 * On all ranks alike: CAIRN_INVALID: an option, variable or root; CAIRN_DENIED,
 * CAIRN_IO with path and errno text; CAIRN_NOT_FOUND: no_create, and the root
 * is not there; CAIRN_MISMATCH: ranks differ in options or root;
 * CAIRN_TIMED_OUT: ranks that did not come; CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_open(cairn_runtime_t *rt, cairn_comm_t *comm, const char *root,
                   const cairn_manager_opts_t *opts, cairn_manager_t **out,
                   cairn_error_t *err);

/* What became of a save call that returned CAIRN_OK. */
typedef enum cairn_save_decision {
  CAIRN_SAVED = 1,        /* begun; committed in the background */
  CAIRN_SKIPPED_POLICY,   /* not a step the policy saves */
  CAIRN_SKIPPED_NOT_ABOVE /* the latest step is this one or above it */
} cairn_save_decision_t;

/* {0} is all defaults. */
typedef struct cairn_manager_save_opts {
  size_t size; /* sizeof this struct; 0: as compiled */
  /* Whatever the policy says; a step that exists is still CAIRN_EXISTS. */
  bool force;
  cairn_save_decision_t *decision; /* out; may be NULL */
  cairn_save_t **save; /* out: a reference to follow it, NULL if skipped */
} cairn_manager_save_opts_t;

/* Saves one state tree as the item "default". Returns when the memory is the
 * caller's again (the tree itself may be freed), or at once if the step is
 * skipped: no MPI, no file system on this thread; waits only if an earlier save
 * is still in flight. opts may be NULL.
 *
 * From the call itself: CAIRN_INVALID: read_only, a negative step, what is
 * wrong with the tree (cairn_tree_check) or an item; CAIRN_EXISTS: the step is
 * there (with `force`; without it is skipped); CAIRN_NO_MEMORY. Or the error of
 * the save before, once: then this one was not begun. Such an error, and what
 * cairn_save_wait returns: CAIRN_MISMATCH: ranks brought other items or steps;
 * CAIRN_INVALID: the boxes of all ranks do not make up an array; CAIRN_EXISTS:
 * another job saved the step meanwhile; CAIRN_TIMED_OUT: ranks that did not
 * come before the deadline (if the text says "not confirmed" the step may be
 * there: cairn_manager_reload); CAIRN_NO_SPACE, CAIRN_DENIED, CAIRN_IO and
 * others of the store. After an error the next step can be saved, unless a rank
 * or the store is gone for good. */
CAIRN_API cairn_code_t cairn_manager_save(cairn_manager_t *mgr, int64_t step,
                                          const cairn_tree_t *state,
                                          const cairn_manager_save_opts_t *opts,
                                          cairn_error_t *err);
/* The same for n items of any type (see cairn_item_t); a single one without a
 * name is "default". The array and the values are the caller's again on return,
 * but for borrowed memory. Also CAIRN_INVALID: a type that no handler has, a
 * name that is taken. */
CAIRN_API cairn_code_t cairn_manager_save_items(
    cairn_manager_t *mgr, int64_t step, const cairn_item_t *items, size_t n,
    const cairn_manager_save_opts_t *opts, cairn_error_t *err);

/* Fills the tree from the item "default" of a step; blocking. Waits for a save
 * in flight first, and returns its error (once) instead if it failed. opts may
 * be NULL.
 *
 * CAIRN_LATEST is the newest step that is whole by its names and lengths: those
 * of which something is missing are passed over, with a warning in the log, at
 * open and reload. Damage inside files is found by reading them: then the error
 * is CAIRN_CORRUPT, and no older step is taken instead. Which one to go on from
 * is for the caller to say: restore one of cairn_manager_steps, and give up
 * those above it by cairn_manager_rollback, or saves below them are skipped.
 *
 * On all ranks alike: CAIRN_NOT_FOUND: no step yet (the message names the
 * root), or not that one, or it has no such item; CAIRN_MISMATCH: names, shapes
 * or types of target and step differ, or ranks restore different things;
 * CAIRN_CORRUPT; CAIRN_INVALID: a negative step, a bad tree; CAIRN_TIMED_OUT,
 * CAIRN_IO, CAIRN_DENIED, CAIRN_NO_MEMORY, CAIRN_UNSUPPORTED. After a failure
 * the target may be partly filled: do not train with it. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_restore(cairn_manager_t *mgr, int64_t step, cairn_tree_t *state,
                      const cairn_restore_opts_t *opts, cairn_error_t *err);
/* The same for n items of the step, any subset of those it has; each value is
 * the target that its type wants. Memory that a restore makes (`out` of a blob)
 * is the caller's. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_manager_restore_items(
    cairn_manager_t *mgr, int64_t step, const cairn_item_t *items, size_t n,
    const cairn_restore_opts_t *opts, cairn_error_t *err);

/* Committed steps only, ascending, as of the open, the last reload or the last
 * commit. *out is malloc'd, free() it. Not collective. CAIRN_NO_MEMORY. */
CAIRN_API cairn_code_t cairn_manager_steps(cairn_manager_t *mgr, int64_t **out,
                                           size_t *n, cairn_error_t *err);
/* The newest committed step, or -1. Not collective. Any thread. */
CAIRN_API int64_t cairn_manager_latest(cairn_manager_t *mgr);
/* Goes back to `step`, which must be one of the steps: those above it are
 * deleted, so that saves go on from there (a save is skipped while a higher
 * step exists). Collective, blocking; waits for a save in flight first.
 * CAIRN_NOT_FOUND: no such step; CAIRN_INVALID: opened read-only; CAIRN_IO: one
 * could not be deleted. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_manager_rollback(cairn_manager_t *mgr, int64_t step, cairn_error_t *err);
/* Looks at the root again (another job may have saved). Collective, blocking;
 * waits for the save in flight and for deletions, and returns the save's error
 * (once) instead if it failed. Errors otherwise as of cairn_manager_open. */
CAIRN_API cairn_code_t cairn_manager_reload(cairn_manager_t *mgr,
                                            cairn_error_t *err);

/* Waits for the save in flight and for deletions. Its error, once, or
 * CAIRN_TIMED_OUT after timeout_ms (negative: no limit): they go on. */
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
