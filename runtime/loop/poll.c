/* Poll mode: there is no loop thread; whoever waits runs the loop. Only one
 * thread at a time can: the others sleep on the condition that also tells them
 * of ready futures, and one of them takes over when the first leaves. */
#include "loop/internal.h"

static void on_poll_stop(uv_timer_t *h) {
  (void)h; /* its being due ends uv_run(UV_RUN_ONCE) */
}

static void run_once(cairn_runtime_t *rt, int64_t ms) {
  if (ms == 0) {
    cairn__loop_enter(rt, UV_RUN_NOWAIT);
    return;
  }
  if (ms > 0) {
    uv_update_time(&rt->loop); /* as old as the last turn otherwise */
    uv_timer_start(&rt->poll_stop, on_poll_stop, (uint64_t)ms, 0);
  }
  cairn__loop_enter(rt, UV_RUN_ONCE);
  uv_timer_stop(&rt->poll_stop);
}

void cairn__poll_turn(cairn_runtime_t *rt, int64_t ms) {
  if (rt->running && ms < 0) {
    uv_cond_wait(&rt->wait_cond, &rt->wait_lock);
  } else if (rt->running) {
    uv_cond_timedwait(&rt->wait_cond, &rt->wait_lock,
                      (uint64_t)ms * UINT64_C(1000000));
  } else {
    rt->running = true;
    uv_mutex_unlock(&rt->wait_lock);
    run_once(rt, ms);
    uv_mutex_lock(&rt->wait_lock);
    rt->running = false;
    uv_cond_broadcast(&rt->wait_cond);
  }
}

void cairn_runtime_poll(cairn_runtime_t *rt, int64_t timeout_ms) {
  if (!rt->opts.poll || cairn__on_loop(rt)) return;
  uv_mutex_lock(&rt->wait_lock);
  if (!rt->running) cairn__poll_turn(rt, timeout_ms);
  uv_mutex_unlock(&rt->wait_lock);
}
