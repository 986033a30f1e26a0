/* The manager as its own files see it. Fields under `lock` are looked at from
 * the caller's thread and the loop; the rest belongs to the caller's thread. */
#ifndef CAIRN_MANAGER_INTERNAL_H_
#define CAIRN_MANAGER_INTERNAL_H_

#include "cairn/manager.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"

struct cairn__gc; /* gc.c */

struct cairn_manager {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck;
  cairn_manager_opts_t opts;
  cairn__step_format_t format;
  char *root; /* absolute, or a URL */
  bool primary;

  /* The highest step begun: what is above it needs no look at the outcome of a
   * save in flight, so all ranks decide alike, whatever their timing. */
  int64_t last_begun;
  bool said_skipped;

  pthread_mutex_t lock;
  int64_t *steps; /* committed, ascending */
  size_t num_steps, cap_steps;
  struct cairn__gc *gc; /* deletions under way, or NULL */
};

/* --- options.c --- */

/* Options with the environment's over them, checked. */
cairn_code_t cairn__manager_opts(const cairn_manager_opts_t *in,
                                 cairn_manager_opts_t *out, cairn_error_t *err);
cairn_code_t cairn__manager_save_opts(const cairn_manager_save_opts_t *in,
                                      cairn_manager_save_opts_t *out,
                                      cairn_error_t *err);
/* Root and options, a line each: what all ranks must bring alike. */
void cairn__manager_opts_text(const cairn_manager_t *m, cairn_buf_t *out);

/* --- steps.c: under m->lock by themselves --- */
bool cairn__steps_replace(cairn_manager_t *m, const int64_t *steps, size_t n);
bool cairn__steps_add(cairn_manager_t *m, int64_t step);
bool cairn__steps_have(cairn_manager_t *m, int64_t step);
/* Takes the steps that are not kept out of the list: *out (malloc'd) of *n. */
bool cairn__steps_drop(cairn_manager_t *m, int64_t keep, int64_t **out,
                       size_t *n);
/* Takes the steps above `step` out of the list, likewise. */
bool cairn__steps_cut(cairn_manager_t *m, int64_t step, int64_t **out,
                      size_t *n);

/* --- scan.c: caller's thread, collective, blocking. `brought` is an error that
 * this rank comes with (the others hear of it), or NULL. --- */
cairn_code_t cairn__manager_scan(cairn_manager_t *m, bool first,
                                 const cairn_error_t *brought,
                                 cairn_error_t *err);

/* --- gc.c --- */

/* Loop thread, primary: deletes these steps in the background; takes the array.
 */
void cairn__gc_add(cairn_manager_t *m, int64_t *steps, size_t n);
/* Loop thread: ready when nothing is being deleted any more. */
cairn_future_t *cairn__gc_done(cairn_manager_t *m);
/* Caller's thread: waits until nothing is being deleted. CAIRN_TIMED_OUT. */
cairn_code_t cairn__gc_wait(cairn_manager_t *m, int64_t timeout_ms,
                            cairn_error_t *err);

#endif
