/* For the loop room's tests: a runtime, opened and closed, and a way to run a
 * function on its loop thread and wait until it is over. */
#ifndef TESTS_UNIT_LOOP_HELP_H_
#define TESTS_UNIT_LOOP_HELP_H_

#include <criterion/criterion.h>
#include <stdatomic.h>

#include "cairn/plugin.h"
#include "loop/loop.h"

cairn_runtime_t *help_open(bool poll);
void help_close(cairn_runtime_t *rt);

/* Runs fn(arg) on the loop thread; returns when the future it returns is ready,
 * with its outcome. fn returning NULL means success at once. */
cairn_code_t help_call(cairn_runtime_t *rt, cairn__start_fn fn, void *arg,
                       cairn_error_t *err);

/* A wait that appends its id to a string when it runs, and notes the outcome.
 */
struct help_wait {
  cairn_wait_t wait;
  char id;
  char *trace;
  cairn_code_t code;
  cairn_future_t *all_run; /* resolved afterwards if not NULL */
};
void help_then(cairn_future_t *f, struct help_wait *w);

/* One-time gate between threads. */
struct help_flag {
  uv_sem_t sem;
};
void help_flag_init(struct help_flag *f);
void help_flag_raise(struct help_flag *f);
void help_flag_await(struct help_flag *f);

#endif
