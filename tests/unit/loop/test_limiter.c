/* cairn_reserve and cairn_release, with a budget of 100 bytes. Everything
 * happens in one turn of the loop: a grant makes its future ready at once. */
#include "help.h"

static cairn_runtime_t *open_100(void) {
  cairn_runtime_opts_t o = {.memory_budget = 100};
  cairn_runtime_t *rt = NULL;
  cr_assert_eq(cairn_runtime_open(&o, &rt, NULL), CAIRN_OK);
  return rt;
}

struct budget {
  cairn_runtime_t *rt;
  cairn_future_t *f[5];
  char seen[4][6]; /* after each step: which are ready, as 0s and 1s */
};

static void ask(struct budget *b, const int64_t *n, int count) {
  for (int i = 0; i < count; i++) b->f[i] = cairn_reserve(b->rt, n[i]);
}

static void look(struct budget *b, int step, int count) {
  for (int i = 0; i < count; i++)
    b->seen[step][i] = cairn_future_ready(b->f[i]) ? '1' : '0';
}

static void finish(struct budget *b, int count) {
  for (int i = 0; i < count; i++) cairn_future_unref(b->f[i]);
  help_close(b->rt);
}

static cairn_future_t *first_come(void *arg) {
  static const int64_t n[] = {60, 30, 20, 5};
  struct budget *b = arg;
  ask(b, n, 4); /* 5 would fit, but 20 was first */
  look(b, 0, 4);
  cairn_release(b->rt, 30);
  look(b, 1, 4);
  cairn_release(b->rt, 60);
  cairn_release(b->rt, 20);
  cairn_release(b->rt, 5);
  return NULL;
}

Test(limiter, grants_in_order_of_asking) {
  struct budget b = {.rt = open_100()};
  help_call(b.rt, first_come, &b, NULL);
  cr_assert_str_eq(b.seen[0], "1100");
  cr_assert_str_eq(b.seen[1], "1111");
  finish(&b, 4);
}

static cairn_future_t *oversize(void *arg) {
  static const int64_t n[] = {10, INT64_MAX, 1, 0};
  struct budget *b = arg;
  ask(b, n, 4);
  look(b, 0, 4);
  cairn_release(b->rt, 10);
  look(b, 1, 4);
  cairn_release(b->rt, INT64_MAX);
  look(b, 2, 4);
  cairn_release(b->rt, 1);
  return NULL;
}

Test(limiter, larger_than_the_budget_runs_alone) {
  struct budget b = {.rt = open_100()};
  help_call(b.rt, oversize, &b, NULL);
  cr_assert_str_eq(b.seen[0], "1000");
  cr_assert_str_eq(b.seen[1], "1100");
  cr_assert_str_eq(b.seen[2], "1111");
  finish(&b, 4);
}

static cairn_future_t *three_of_which_one_waits(void *arg) {
  static const int64_t n[] = {90, 50, 10};
  struct budget *b = arg;
  ask(b, n, 3);
  look(b, 0, 3);
  cairn_future_cancel(b->f[1]);
  return NULL;
}

static cairn_future_t *release_100(void *arg) {
  struct budget *b = arg;
  cairn_release(b->rt, 100);
  return NULL;
}

Test(limiter, cancelled_request_leaves_the_queue_to_those_behind) {
  struct budget b = {.rt = open_100()};
  help_call(b.rt, three_of_which_one_waits, &b, NULL);
  cr_assert_str_eq(b.seen[0], "100");
  cr_assert_eq(cairn_future_wait(b.f[1], -1, NULL), CAIRN_CANCELLED);
  cr_assert_eq(cairn_future_wait(b.f[2], -1, NULL), CAIRN_OK);
  help_call(b.rt, release_100, &b, NULL);
  finish(&b, 3);
}

static cairn_future_t *leave_one_waiting(void *arg) {
  static const int64_t n[] = {100, 1};
  ask(arg, n, 2);
  return NULL;
}

Test(limiter, closing_ends_a_request_that_waits) {
  struct budget b = {.rt = open_100()};
  help_call(b.rt, leave_one_waiting, &b, NULL);
  help_close(b.rt);
  cr_assert_eq(cairn_future_finish(b.f[1], NULL), CAIRN_CANCELLED);
  cairn_future_unref(b.f[0]);
}
