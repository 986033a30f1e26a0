/* Cancel asks; ready comes exactly once. */
#include "help.h"

Test(cancel, is_seen_by_the_producer_who_decides_the_outcome) {
  cairn_runtime_t *rt = help_open(false);
  cairn_future_t *f = cairn_future_new(rt);
  cr_assert_not(cairn_future_cancelled(f));
  cairn_future_cancel(f);
  cairn_future_cancel(f);
  cr_assert(cairn_future_cancelled(f));
  cr_assert_not(cairn_future_ready(f));
  cairn_future_resolve(f, NULL);
  cr_assert_eq(cairn_future_finish(f, NULL), CAIRN_OK);
  help_close(rt);
}

Test(cancel, of_a_ready_future_changes_nothing) {
  cairn_runtime_t *rt = help_open(false);
  cairn_future_t *f = cairn_future_done(rt, NULL);
  cairn_future_cancel(f);
  cr_assert_not(cairn_future_cancelled(f));
  cr_assert_eq(cairn_future_finish(f, NULL), CAIRN_OK);
  help_close(rt);
}

struct held {
  struct help_flag begun, go;
  int runs;
};

static cairn_code_t hold(void *job, cairn_error_t *err) {
  struct held *h = job;
  (void)err;
  h->runs++;
  help_flag_raise(&h->begun);
  help_flag_await(&h->go);
  return CAIRN_OK;
}

static cairn_code_t count(void *job, cairn_error_t *err) {
  (void)err;
  ++*(int *)job;
  return CAIRN_OK;
}

Test(cancel, job_that_has_not_begun_does_not_run) {
  cairn_runtime_opts_t o = {.cpu_threads = 1};
  cairn_runtime_t *rt;
  struct held h = {.runs = 0};
  int runs = 0;
  cairn_future_t *first, *second;
  cr_assert_eq(cairn_runtime_open(&o, &rt, NULL), CAIRN_OK);
  help_flag_init(&h.begun);
  help_flag_init(&h.go);
  first = cairn_work(rt, hold, &h);
  second = cairn_work(rt, count, &runs);
  help_flag_await(&h.begun);
  cairn_future_cancel(first); /* too late: the real outcome */
  cairn_future_cancel(second);
  help_flag_raise(&h.go);
  cr_assert_eq(cairn_future_finish(second, NULL), CAIRN_CANCELLED);
  cr_assert_eq(cairn_future_finish(first, NULL), CAIRN_OK);
  cr_assert_eq(runs, 0);
  help_close(rt);
}

/* -- Timers ---------------------------------------------------------------- */

struct timer {
  cairn_runtime_t *rt;
  cairn_future_t *f;
  int64_t ms;
};

static cairn_future_t *start_timer(void *arg) {
  struct timer *t = arg;
  t->f = cairn_after(t->rt, t->ms);
  return NULL;
}

#define AN_HOUR ((int64_t)3600 * 1000)

Test(cancel, timer_becomes_ready_at_once_from_any_thread) {
  struct timer t = {.rt = help_open(false), .ms = AN_HOUR};
  help_call(t.rt, start_timer, &t, NULL);
  cr_assert_not(cairn_future_ready(t.f));
  cairn_future_cancel(t.f);
  cr_assert_eq(cairn_future_finish(t.f, NULL), CAIRN_CANCELLED);
  help_close(t.rt);
}

Test(cancel, of_a_timer_in_poll_mode) {
  struct timer t = {.rt = help_open(true), .ms = AN_HOUR};
  help_call(t.rt, start_timer, &t, NULL);
  cairn_future_cancel(t.f);
  cr_assert_eq(cairn_future_finish(t.f, NULL), CAIRN_CANCELLED);
  help_close(t.rt);
}
