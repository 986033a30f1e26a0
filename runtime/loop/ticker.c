/* Tickers: things looked at every 50 to 1000 microseconds while they have work.
 *
 * libuv's timers count milliseconds, and spinning would take a core from the
 * job; so one timerfd that the loop watches, armed for one tick at a time.
 * After progress the next tick is soon, without it the distance doubles. */
#include <assert.h>
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loop/internal.h"

#define TICK_MIN_US 50
#define TICK_MAX_US 1000

static void arm(cairn_runtime_t *rt, int64_t us) {
  struct itimerspec at = {0};
  at.it_value.tv_nsec = us * 1000; /* 0 disarms; less than a second always */
  timerfd_settime(rt->tick_fd, 0, &at, NULL);
}

static void on_tick(uv_poll_t *h, int status, int events) {
  cairn_runtime_t *rt = h->data;
  uint64_t expired;
  bool progress = false;
  (void)status, (void)events;
  if (read(rt->tick_fd, &expired, sizeof expired) < 0 && errno == EAGAIN)
    return; /* disarmed since */
  for (cairn__ticker_t *t = rt->tickers; t != NULL; t = rt->tick_next) {
    rt->tick_next = t->next; /* moved on by cairn__ticker_stop if need be */
    progress |= t->fn(t);
  }
  if (rt->tickers == NULL) return;
  rt->tick_us = progress ? TICK_MIN_US : rt->tick_us * 2;
  if (rt->tick_us > TICK_MAX_US) rt->tick_us = TICK_MAX_US;
  arm(rt, rt->tick_us);
}

void cairn__ticker_start(cairn_runtime_t *rt, cairn__ticker_t *t,
                         bool (*fn)(cairn__ticker_t *t)) {
  assert(cairn__on_loop(rt));
  t->fn = fn;
  if (!t->active) {
    t->active = true;
    t->next = rt->tickers;
    rt->tickers = t;
  }
  rt->tick_us = TICK_MIN_US;
  arm(rt, rt->tick_us);
}

void cairn__ticker_stop(cairn_runtime_t *rt, cairn__ticker_t *t) {
  assert(cairn__on_loop(rt));
  if (!t->active) return;
  for (cairn__ticker_t **at = &rt->tickers; *at != NULL; at = &(*at)->next) {
    if (*at == t) {
      *at = t->next;
      break;
    }
  }
  if (rt->tick_next == t) rt->tick_next = t->next;
  t->active = false;
  if (rt->tickers == NULL) arm(rt, 0);
}

int cairn__ticker_init(cairn_runtime_t *rt) {
  int rc;
  rt->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (rt->tick_fd < 0) return uv_translate_sys_error(errno);
  rc = uv_poll_init(&rt->loop, &rt->tick, rt->tick_fd);
  if (rc == 0) {
    rt->tick.data = rt;
    rc = uv_poll_start(&rt->tick, UV_READABLE, on_tick);
  }
  return rc;
}

void cairn__ticker_reset(cairn_runtime_t *rt) {
  if (rt->tick_fd >= 0) close(rt->tick_fd);
}
