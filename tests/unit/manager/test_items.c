/* Steps of several items, and items that change from step to step. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "support/ranks.h"
#include "support/state.h"

static cairn_manager_t *open_manager(rank_env_t *env) {
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, env->arg, NULL, &m, &err),
               CAIRN_OK, "%s", err.message);
  return m;
}

static void save(cairn_manager_t *m, int64_t step, cairn_item_t item) {
  cairn_error_t err = {0};
  cairn_manager_save_items(m, step, &item, 1, NULL, &err);
  cairn_manager_wait(m, -1, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
}

static void restore(cairn_manager_t *m, int64_t step, cairn_item_t item) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_restore_items(m, step, &item, 1, NULL, &err),
               CAIRN_OK, "%s", err.message);
}

static void blob_is(cairn_manager_t *m, int64_t step, const char *type,
                    const char *want) {
  cairn_blob_t got = {0};
  restore(m, step, cairn_item("x", type, &got));
  cr_assert_eq(got.out_n, strlen(want));
  cr_assert_arr_eq(got.out, want, got.out_n);
  free(got.out);
}

/* On one rank both types describe a blob of three bytes alike. */
static void types_change(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  cairn_blob_t a = {.data = "one", .n = 3}, b = {.data = "two", .n = 3};
  save(m, 1, cairn_item("x", "bytes", &a));
  save(m, 2, cairn_item("x", "rank_bytes", &b));
  save(m, 3, cairn_item("x", "bytes", &b));
  blob_is(m, 1, "bytes", "one");
  blob_is(m, 2, "rank_bytes", "two");
  blob_is(m, 3, "bytes", "two");
  cairn_manager_close(m, -1, NULL);
}

static void run(int ranks, void (*fn)(rank_env_t *env)) {
  char *dir = temp_dir();
  ranks_run(ranks, fn, dir);
  temp_dir_remove(dir);
}

Test(items, plan_of_a_step_is_not_used_for_items_of_another_type) {
  run(1, types_change);
}

static void other_items(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  cairn_blob_t a = {.data = "one", .n = 3}, got = {0};
  cairn_item_t items[] = {{"a", "bytes", &a}, {"b", "bytes", &a}};
  cairn_manager_save_items(m, 1, items, 2, NULL, &err);
  cairn_item_t item = cairn_item(env->rank == 1 ? "b" : "a", "bytes", &got);
  cr_expect_eq(cairn_manager_restore_items(m, 1, &item, 1, NULL, &err),
               CAIRN_MISMATCH, "%s", err.message);
  cairn_manager_close(m, -1, NULL);
}

Test(items, ranks_that_restore_different_items_hear_of_it) {
  run(3, other_items);
}
