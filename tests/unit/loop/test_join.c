/* cairn_all_take. */
#include <string.h>

#include "help.h"

#define N 5

struct join {
  cairn_runtime_t *rt;
  cairn_future_t *f[N], *all, *all2;
  cairn_code_t codes[N]; /* the outcome of each */
};

static cairn_future_t *take(void *arg) {
  struct join *j = arg;
  cairn_future_t *fs[N];
  for (int i = 0; i < N; i++) {
    j->f[i] = cairn_future_new(j->rt);
    fs[i] = cairn_future_ref(j->f[i]);
  }
  j->all = cairn_all_take(j->rt, fs, N);
  memset(fs, 0, sizeof fs); /* the array is ours again */
  return NULL;
}

static void resolve(struct join *j, int i) {
  cairn_error_t err = {0};
  if (j->codes[i] != CAIRN_OK) cairn_fail(&err, j->codes[i], "part %d", i);
  cairn_future_resolve(j->f[i], &err);
}

static void drop(struct join *j) {
  for (int i = 0; i < N; i++) cairn_future_unref(j->f[i]);
}

static cairn_future_t *nothing(void *arg) {
  (void)arg;
  return NULL;
}

/* What was resolved before has been delivered when this returns: the gate and
 * the continuations behind it are each passed twice. */
static void settle(cairn_runtime_t *rt) {
  for (int i = 0; i < 2; i++) help_call(rt, nothing, NULL, NULL);
}

Test(join, is_ready_when_all_are_with_the_error_that_came_first) {
  struct join j = {.rt = help_open(false),
                   .codes = {[1] = CAIRN_IO, [3] = CAIRN_CORRUPT}};
  cairn_error_t err = {0};
  help_call(j.rt, take, &j, NULL);
  resolve(&j, 3);
  resolve(&j, 1);
  resolve(&j, 0);
  resolve(&j, 4);
  settle(j.rt);
  cr_assert_not(cairn_future_ready(j.all));
  resolve(&j, 2);
  cr_assert_eq(cairn_future_finish(j.all, &err), CAIRN_CORRUPT);
  cr_assert_str_eq(err.message, "part 3");
  drop(&j);
  help_close(j.rt);
}

Test(join, cancel_reaches_the_parts) {
  struct join j = {.rt = help_open(false)};
  help_call(j.rt, take, &j, NULL);
  cairn_future_cancel(j.all);
  settle(j.rt);
  for (int i = 0; i < N; i++) {
    cr_assert(cairn_future_cancelled(j.f[i]));
    j.codes[i] = CAIRN_CANCELLED;
    resolve(&j, i);
  }
  cr_assert_eq(cairn_future_finish(j.all, NULL), CAIRN_CANCELLED);
  drop(&j);
  help_close(j.rt);
}

static cairn_future_t *take_small(void *arg) {
  struct join *j = arg;
  cairn_error_t err = {0};
  cairn_future_t *done[3];
  cairn_fail(&err, CAIRN_DENIED, "no");
  done[0] = cairn_future_done(j->rt, NULL);
  done[1] = cairn_future_done(j->rt, &err);
  done[2] = cairn_future_done(j->rt, NULL);
  j->all = cairn_all_take(j->rt, NULL, 0);
  j->all2 = cairn_all_take(j->rt, done, 3);
  return NULL;
}

Test(join, of_none_succeeds_and_of_ready_ones_is_ready) {
  struct join j = {.rt = help_open(false)};
  help_call(j.rt, take_small, &j, NULL);
  cr_assert_eq(cairn_future_wait(j.all, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn_future_wait(j.all2, 0, NULL), CAIRN_DENIED);
  cairn_future_unref(j.all);
  cairn_future_unref(j.all2);
  help_close(j.rt);
}

/* One future twice in one join, and in a second join at the same time. */
static cairn_future_t *take_shared(void *arg) {
  struct join *j = arg;
  cairn_future_t *f = cairn_future_new(j->rt), *g = cairn_future_new(j->rt);
  cairn_future_t *a[3] = {f, cairn_future_ref(f), g};
  cairn_future_t *b[2] = {cairn_future_ref(g), cairn_future_ref(f)};
  j->f[0] = cairn_future_ref(f);
  j->f[1] = cairn_future_ref(g);
  j->all = cairn_all_take(j->rt, a, 3);
  j->all2 = cairn_all_take(j->rt, b, 2);
  return NULL;
}

Test(join, future_may_be_in_several) {
  struct join j = {.rt = help_open(false), .codes = {[1] = CAIRN_BUSY}};
  help_call(j.rt, take_shared, &j, NULL);
  resolve(&j, 0);
  settle(j.rt);
  cr_assert_not(cairn_future_ready(j.all));
  cr_assert_not(cairn_future_ready(j.all2));
  resolve(&j, 1);
  cr_assert_eq(cairn_future_finish(j.all, NULL), CAIRN_BUSY);
  cr_assert_eq(cairn_future_finish(j.all2, NULL), CAIRN_BUSY);
  cairn_future_unref(j.f[0]);
  cairn_future_unref(j.f[1]);
  help_close(j.rt);
}
