/* The contract of <cairn/future.h> and of cairn_then. */
#include <string.h>

#include "help.h"

static cairn_error_t failure(cairn_code_t code, const char *text) {
  cairn_error_t err = {0};
  cairn_fail(&err, code, "%s", text);
  return err;
}

Test(future, wait_returns_the_outcome_and_its_text) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t cause = failure(CAIRN_CORRUPT, "bad magic"), got = {0};
  cairn_future_t *f = cairn_future_new(rt);
  cr_assert_not(cairn_future_ready(f));
  cairn_future_resolve(f, &cause);
  cr_assert(cairn_future_ready(f));
  cr_assert_eq(cairn_future_wait(f, -1, &got), CAIRN_CORRUPT);
  cr_assert_str_eq(got.message, "bad magic");
  cr_assert_eq(cairn_future_wait(f, 0, NULL), CAIRN_CORRUPT);
  cairn_future_unref(f);
  help_close(rt);
}

Test(future, wait_that_times_out_can_be_repeated) {
  cairn_runtime_t *rt = help_open(false);
  cairn_future_t *f = cairn_future_new(rt);
  cairn_error_t err = {0};
  cr_assert_eq(cairn_future_wait(f, 0, NULL), CAIRN_TIMED_OUT);
  cr_assert_eq(cairn_future_wait(f, 1, &err), CAIRN_TIMED_OUT);
  cr_assert_eq(err.code, CAIRN_TIMED_OUT);
  cairn_future_resolve(f, NULL);
  cr_assert_eq(cairn_future_finish(f, NULL), CAIRN_OK);
  help_close(rt);
}

Test(future, outlives_its_runtime_once_ready) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t cause = failure(CAIRN_IO, "x"), err = {0};
  cairn_future_t *f = cairn_future_done(rt, &cause);
  cairn_future_t *ok = cairn_future_done(rt, NULL);
  help_close(rt);
  cairn_future_cancel(f);
  cairn_future_cancel(ok);
  cr_assert_eq(cairn_future_finish(ok, NULL), CAIRN_OK);
  cr_assert_eq(cairn_future_finish(f, &err), CAIRN_IO);
  cr_assert_str_eq(err.message, "x");
}

Test(future, first_error_of_the_waiter_stays) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t cause = failure(CAIRN_IO, "second");
  cairn_error_t err = failure(CAIRN_INVALID, "first");
  cairn_future_t *f = cairn_future_done(rt, &cause);
  cr_assert_eq(cairn_future_finish(f, &err), CAIRN_IO);
  cr_assert_eq(err.code, CAIRN_INVALID);
  cr_assert_str_eq(err.message, "first");
  help_close(rt);
}

/* -- Continuations --------------------------------------------------------- */

struct order {
  cairn_runtime_t *rt;
  cairn_future_t *f, *last;
  struct help_wait w[4];
  char trace[16];
  bool early; /* something ran inside the call that armed it */
  int turn, armed_at;
};

static void prepare(struct order *o) {
  o->last = cairn_future_new(o->rt);
  for (int i = 0; i < 4; i++) {
    o->w[i].id = (char)('a' + i);
    o->w[i].trace = o->trace;
  }
  o->w[3].all_run = o->last;
}

static cairn_future_t *arm_ready(void *arg) {
  struct order *o = arg;
  prepare(o);
  o->f = cairn_future_done(o->rt, NULL);
  for (int i = 0; i < 4; i++) help_then(cairn_future_ref(o->f), &o->w[i]);
  cairn_future_unref(o->f);
  o->early = o->trace[0] != 0;
  return o->last;
}

Test(then, on_a_ready_future_fires_on_a_later_turn_in_order) {
  struct order o = {.rt = help_open(false)};
  cr_assert_eq(help_call(o.rt, arm_ready, &o, NULL), CAIRN_OK);
  cr_assert_not(o.early);
  cr_assert_str_eq(o.trace, "abcd");
  help_close(o.rt);
}

static cairn_future_t *arm_around_resolve(void *arg) {
  struct order *o = arg;
  prepare(o);
  o->f = cairn_future_new(o->rt);
  cairn_future_ref(o->f);
  cairn_future_ref(o->f);
  cairn_future_ref(o->f);
  help_then(o->f, &o->w[0]);
  help_then(o->f, &o->w[1]);
  cairn_future_resolve(o->f, NULL);
  help_then(o->f, &o->w[2]);
  help_then(o->f, &o->w[3]);
  o->early = o->trace[0] != 0;
  return o->last;
}

Test(then, before_and_after_resolving_keeps_the_order) {
  struct order o = {.rt = help_open(false)};
  cr_assert_eq(help_call(o.rt, arm_around_resolve, &o, NULL), CAIRN_OK);
  cr_assert_not(o.early);
  cr_assert_str_eq(o.trace, "abcd");
  help_close(o.rt);
}

/* Resolved on another thread while the loop thread is held: the later waits
 * come when the future is ready but its delivery is still on the way. */
static void resolve_it(void *arg) {
  struct order *o = arg;
  cairn_future_resolve(o->f, NULL);
}

static cairn_future_t *arm_during_delivery(void *arg) {
  struct order *o = arg;
  uv_thread_t t;
  prepare(o);
  o->f = cairn_future_new(o->rt);
  for (int i = 0; i < 3; i++) cairn_future_ref(o->f);
  help_then(o->f, &o->w[0]);
  help_then(o->f, &o->w[1]);
  uv_thread_create(&t, resolve_it, o);
  uv_thread_join(&t);
  cr_assert(cairn_future_ready(o->f));
  help_then(o->f, &o->w[2]);
  help_then(o->f, &o->w[3]);
  return o->last;
}

Test(then, waits_that_come_during_delivery_run_after_the_earlier) {
  struct order o = {.rt = help_open(false)};
  cr_assert_eq(help_call(o.rt, arm_during_delivery, &o, NULL), CAIRN_OK);
  cr_assert_str_eq(o.trace, "abcd");
  help_close(o.rt);
}

/* A wait armed inside a continuation does not run before the others that were
 * ready then: it belongs to the next turn. */
struct nested {
  cairn_runtime_t *rt;
  cairn_future_t *last;
  cairn_wait_t outer;
  struct help_wait inner, other;
  char trace[8];
};

static void on_outer(cairn_wait_t *w) {
  struct nested *n = cairn_container_of(w, struct nested, outer);
  cairn_wait_result(w, NULL);
  help_then(cairn_future_done(n->rt, NULL), &n->inner);
}

static cairn_future_t *arm_nested(void *arg) {
  struct nested *n = arg;
  n->last = cairn_future_new(n->rt);
  n->inner = (struct help_wait){.id = 'i', .trace = n->trace};
  n->inner.all_run = n->last;
  n->other = (struct help_wait){.id = 'o', .trace = n->trace};
  cairn_then(cairn_future_done(n->rt, NULL), &n->outer, on_outer);
  help_then(cairn_future_done(n->rt, NULL), &n->other);
  return n->last;
}

Test(then, armed_in_a_continuation_runs_on_the_next_turn) {
  struct nested n = {.rt = help_open(false)};
  cr_assert_eq(help_call(n.rt, arm_nested, &n, NULL), CAIRN_OK);
  cr_assert_str_eq(n.trace, "oi");
  help_close(n.rt);
}

/* -- Many, from many threads ----------------------------------------------- */

#define MANY 100000

struct many {
  cairn_runtime_t *rt;
  cairn_future_t **fs;
  cairn_wait_t *waits;
  cairn_future_t *last;
  size_t done;
};

static struct many
    *the_many; /* the waits are an array without a back pointer */

static void on_one(cairn_wait_t *w) {
  cairn_wait_result(w, NULL);
  if (++the_many->done == MANY) cairn_future_resolve(the_many->last, NULL);
}

static cairn_future_t *arm_many(void *arg) {
  struct many *m = arg;
  for (size_t i = 0; i < MANY; i++) cairn_then(m->fs[i], &m->waits[i], on_one);
  return NULL;
}

struct half {
  struct many *m;
  size_t from;
};

static void resolve_half(void *arg) {
  struct half *h = arg;
  for (size_t i = h->from; i < MANY; i += 2)
    cairn_future_resolve(h->m->fs[i], NULL);
}

Test(future, hundred_thousand_resolved_by_two_threads_are_all_delivered) {
  struct many m = {.rt = help_open(false)};
  struct half h[2] = {{&m, 0}, {&m, 1}};
  uv_thread_t t[2];
  m.fs = calloc(MANY, sizeof *m.fs);
  m.waits = calloc(MANY, sizeof *m.waits);
  m.last = cairn_future_new(m.rt);
  the_many = &m;
  for (size_t i = 0; i < MANY; i++) m.fs[i] = cairn_future_new(m.rt);
  for (int i = 0; i < 2; i++) uv_thread_create(&t[i], resolve_half, &h[i]);
  cr_assert_eq(help_call(m.rt, arm_many, &m, NULL), CAIRN_OK);
  cr_assert_eq(cairn_future_finish(m.last, NULL), CAIRN_OK);
  for (int i = 0; i < 2; i++) uv_thread_join(&t[i]);
  cr_assert_eq(m.done, MANY);
  help_close(m.rt);
  free(m.fs);
  free(m.waits);
}

static cairn_code_t nothing(void *job, cairn_error_t *err) {
  (void)job, (void)err;
  return CAIRN_OK;
}

static void sleeper(void *arg) {
  cairn_runtime_t *rt = arg;
  for (int i = 0; i < 2000; i++)
    cr_assert_eq(cairn_future_finish(cairn_work(rt, nothing, NULL), NULL),
                 CAIRN_OK);
}

Test(future, no_sleeper_misses_its_wake_up) {
  cairn_runtime_t *rt = help_open(false);
  uv_thread_t t[4];
  for (int i = 0; i < 4; i++) uv_thread_create(&t[i], sleeper, rt);
  for (int i = 0; i < 4; i++) uv_thread_join(&t[i]);
  help_close(rt);
}

Test(future, no_sleeper_misses_its_wake_up_in_poll_mode) {
  cairn_runtime_t *rt = help_open(true);
  uv_thread_t t[4];
  for (int i = 0; i < 4; i++) uv_thread_create(&t[i], sleeper, rt);
  for (int i = 0; i < 4; i++) uv_thread_join(&t[i]);
  help_close(rt);
}
