/* The clock of a save's own work, between two votes: a soft limit that logs
 * what is being waited for, and a deadline after which the save goes on to the
 * vote without it (save.c). In a vote the lane's clock counts instead. */
#include "checkpoint/checkpoint.h"
#include "loop/loop.h"

#define NEVER UINT64_MAX

static void on_timer(uv_timer_t *t);

static uint64_t now_of(const cairn_save_t *s) {
  uv_update_time(cairn__loop(s->rt));
  return uv_now(cairn__loop(s->rt));
}

static void arm(cairn_save_t *s, uint64_t now) {
  uint64_t at = s->soft_at < s->late_at ? s->soft_at : s->late_at;
  uv_timer_start(&s->timer, on_timer, at > now ? at - now : 0, 0);
}

static void on_timer(uv_timer_t *t) {
  cairn_save_t *s = cairn_container_of(t, cairn_save_t, timer);
  uint64_t now = now_of(s);
  if (now >= s->late_at) {
    cairn__save_late(s);
    return;
  }
  if (now >= s->soft_at) {
    s->soft_at = NEVER;
    cairn__save_warn(s, (int64_t)(now - s->watch_began));
  }
  arm(s, now);
}

void cairn__save_watch(cairn_save_t *s) {
  cairn__limits_t limits = cairn__limits(&s->ck->opts, s->slowest);
  if (!s->timer_made) uv_timer_init(cairn__loop(s->rt), &s->timer);
  s->timer_made = true;
  s->watch_began = now_of(s);
  s->soft_at = s->watch_began + (uint64_t)limits.soft_ms;
  s->late_at = s->watch_began + (uint64_t)cairn__work_ms(limits);
  arm(s, s->watch_began);
}

int64_t cairn__save_unwatch(cairn_save_t *s) {
  uv_timer_stop(&s->timer);
  return (int64_t)(now_of(s) - s->watch_began);
}

static void on_closed(uv_handle_t *h) {
  cairn_save_t *s = cairn_container_of((uv_timer_t *)h, cairn_save_t, timer);
  s->watch_closed(s);
}

void cairn__save_watch_close(cairn_save_t *s, void (*fn)(cairn_save_t *s)) {
  s->watch_closed = fn;
  uv_close((uv_handle_t *)&s->timer, on_closed);
}
