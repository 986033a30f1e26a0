/* cairn_after: a future that a timer of the loop makes ready. */
#include <assert.h>

#include "loop/internal.h"

struct cairn__timer {
  cairn_future_t done; /* first: the block is freed as a future */
  uv_timer_t timer;
  cairn__timer_t *prev, *next;
};

static void on_closed(uv_handle_t *h) {
  cairn_future_unref(h->data);
}

static void finish(cairn__timer_t *t, const cairn_error_t *err) {
  cairn_runtime_t *rt = t->done.rt;
  if (t->prev != NULL)
    t->prev->next = t->next;
  else
    rt->timers = t->next;
  if (t->next != NULL) t->next->prev = t->prev;
  /* libuv looks at the handle until it says closed. */
  t->timer.data = cairn_future_ref(&t->done);
  uv_close((uv_handle_t *)&t->timer, on_closed);
  cairn_future_resolve(&t->done, err);
}

static void on_timer(uv_timer_t *h) {
  finish(cairn_container_of(h, cairn__timer_t, timer), NULL);
}

static void on_cancel(cairn_future_t *f) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_CANCELLED, "timer cancelled");
  finish(cairn_container_of(f, cairn__timer_t, done), &err);
}

cairn_future_t *cairn_after(cairn_runtime_t *rt, int64_t ms) {
  cairn__timer_t *t;
  assert(cairn__on_loop(rt));
  t = cairn__future_block(rt, sizeof *t);
  if (t == NULL) return cairn__future_no_memory(rt);
  t->done.on_cancel = on_cancel;
  t->next = rt->timers;
  if (t->next != NULL) t->next->prev = t;
  rt->timers = t;
  uv_timer_init(&rt->loop, &t->timer);
  /* The loop's clock stands still during a turn; a timer armed late in a long
   * one would come early. */
  uv_update_time(&rt->loop);
  uv_timer_start(&t->timer, on_timer, ms > 0 ? (uint64_t)ms : 0, 0);
  return &t->done;
}

void cairn__timers_cancel(cairn_runtime_t *rt) {
  while (rt->timers != NULL) on_cancel(&rt->timers->done);
}
