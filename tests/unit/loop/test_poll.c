/* Poll mode: the caller's thread is the loop thread, while it waits. */
#include "help.h"

struct ran {
  cairn_task_t task;
  cairn_runtime_t *rt;
  bool on_loop;
  uv_thread_t by;
  int times;
};

static void on_ran(cairn_task_t *t) {
  struct ran *r = cairn_container_of(t, struct ran, task);
  r->on_loop = cairn__on_loop(r->rt);
  r->by = uv_thread_self();
  r->times++;
}

Test(poll, runs_what_is_due_on_the_callers_thread) {
  struct ran r = {.rt = help_open(true)};
  uv_thread_t self = uv_thread_self();
  cr_assert(cairn__is_poll(r.rt));
  cairn_post(r.rt, &r.task, on_ran);
  cr_assert_eq(r.times, 0);
  cr_assert_not(cairn__on_loop(r.rt));
  cairn_runtime_poll(r.rt, 0);
  cr_assert_eq(r.times, 1);
  cr_assert(r.on_loop);
  cr_assert(uv_thread_equal(&r.by, &self));
  cr_assert_not(cairn__on_loop(r.rt));
  help_close(r.rt);
}

Test(poll, without_anything_to_do_comes_back) {
  cairn_runtime_t *rt = help_open(true);
  cairn_runtime_poll(rt, 0);
  cairn_runtime_poll(rt, 1);
  help_close(rt);
}

Test(poll, looking_at_a_future_runs_what_is_due) {
  struct ran r = {.rt = help_open(true)};
  cairn_future_t *f = cairn_future_new(r.rt);
  cairn_post(r.rt, &r.task, on_ran);
  cr_assert_eq(cairn_future_wait(f, 0, NULL), CAIRN_TIMED_OUT);
  cr_assert_eq(r.times, 1);
  cr_assert_eq(cairn_future_wait(f, 2, NULL), CAIRN_TIMED_OUT);
  cairn_future_resolve(f, NULL);
  cr_assert_eq(cairn_future_finish(f, NULL), CAIRN_OK);
  help_close(r.rt);
}

static void resolve_it(void *arg) {
  cairn_future_resolve(arg, NULL);
}

Test(poll, resolve_on_another_thread_wakes_the_waiter) {
  cairn_runtime_t *rt = help_open(true);
  for (int i = 0; i < 200; i++) {
    cairn_future_t *f = cairn_future_new(rt);
    uv_thread_t t;
    uv_thread_create(&t, resolve_it, f);
    cr_assert_eq(cairn_future_finish(f, NULL), CAIRN_OK);
    uv_thread_join(&t);
  }
  help_close(rt);
}

/* The waiter's future becomes ready by a continuation, with nothing else to
 * wake the loop from its wait for events. */
struct chain {
  cairn_runtime_t *rt;
  cairn_wait_t wait;
  cairn_future_t *last;
  int left;
};

static void on_link(cairn_wait_t *w) {
  struct chain *c = cairn_container_of(w, struct chain, wait);
  cairn_wait_result(w, NULL);
  if (c->left-- > 0)
    cairn_then(cairn_future_done(c->rt, NULL), &c->wait, on_link);
  else
    cairn_future_resolve(c->last, NULL);
}

static cairn_future_t *start_chain(void *arg) {
  struct chain *c = arg;
  c->last = cairn_future_new(c->rt);
  cairn_then(cairn_future_done(c->rt, NULL), &c->wait, on_link);
  return c->last;
}

Test(poll, chain_of_continuations_ends_the_wait) {
  struct chain c = {.rt = help_open(true), .left = 100};
  cr_assert_eq(help_call(c.rt, start_chain, &c, NULL), CAIRN_OK);
  help_close(c.rt);
}

Test(poll, does_nothing_in_thread_mode) {
  cairn_runtime_t *rt = help_open(false);
  cr_assert_not(cairn__is_poll(rt));
  cairn_runtime_poll(rt, -1);
  help_close(rt);
}
