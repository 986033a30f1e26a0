/* cairn_after, and closing a runtime with timers that run. */
#include "help.h"

#define AN_HOUR ((int64_t)3600 * 1000)

struct timers {
  cairn_runtime_t *rt;
  struct help_wait w[3];
  cairn_future_t *last;
  char trace[8];
};

static cairn_future_t *start_three(void *arg) {
  static const int64_t ms[] = {20, 0, 1};
  struct timers *t = arg;
  t->last = cairn_future_new(t->rt);
  for (int i = 0; i < 3; i++) {
    t->w[i] = (struct help_wait){.id = (char)('a' + i), .trace = t->trace};
    if (ms[i] == 20) t->w[i].all_run = t->last;
    help_then(cairn_after(t->rt, ms[i]), &t->w[i]);
  }
  return t->last;
}

Test(timer, those_due_earlier_come_first) {
  struct timers t = {.rt = help_open(false)};
  cr_assert_eq(help_call(t.rt, start_three, &t, NULL), CAIRN_OK);
  cr_assert_str_eq(t.trace, "bca");
  for (int i = 0; i < 3; i++) cr_assert_eq(t.w[i].code, CAIRN_OK);
  help_close(t.rt);
}

struct rest {
  cairn_runtime_t *rt;
  cairn_wait_t wait;
  cairn_code_t code;
  int called;
};

/* Goes on with another timer: closing must end that one too. */
static void on_rest(cairn_wait_t *w) {
  struct rest *r = cairn_container_of(w, struct rest, wait);
  r->code = cairn_wait_result(w, NULL);
  if (r->called++ == 0)
    cairn_then(cairn_after(r->rt, AN_HOUR), &r->wait, on_rest);
}

static cairn_future_t *start_rest(void *arg) {
  struct rest *r = arg;
  cairn_then(cairn_after(r->rt, AN_HOUR), &r->wait, on_rest);
  cairn_future_unref(cairn_after(r->rt, AN_HOUR)); /* nobody waits for it */
  return NULL;
}

static void close_with_timers(bool poll) {
  struct rest r = {.rt = help_open(poll)};
  help_call(r.rt, start_rest, &r, NULL);
  help_close(r.rt);
  cr_assert_eq(r.called, 2);
  cr_assert_eq(r.code, CAIRN_CANCELLED);
}

Test(timer, closing_ends_those_that_run_with_cancelled) {
  close_with_timers(false);
}

Test(timer, closing_ends_those_that_run_in_poll_mode) {
  close_with_timers(true);
}
