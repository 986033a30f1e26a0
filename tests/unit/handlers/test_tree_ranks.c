/* States saved on some ranks and restored on others. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cut.h"
#include "handlers.h"
#include "support/item_harness.h"
#include "support/kv_call.h"

typedef struct ranks {
  cut_t state[HARNESS_MAX_RANKS];
  void *tree[HARNESS_MAX_RANKS];
  int n;
} ranks_t;

static void make(ranks_t *x, int n, bool filled) {
  x->n = n;
  for (int r = 0; r < n; r++) {
    cut_make(&x->state[r], r, n, filled);
    x->tree[r] = x->state[r].tree;
  }
}

static void drop(ranks_t *x) {
  for (int r = 0; r < x->n; r++) cut_free(&x->state[r]);
}

static void expect_right(const ranks_t *x) {
  for (int r = 0; r < x->n; r++)
    cr_assert(cut_is_right(&x->state[r]), "rank %d of %d", r, x->n);
}

static void save(harness_t *h, int n) {
  ranks_t x;
  cairn_error_t err = {0};
  make(&x, n, true);
  h->ranks = n;
  cr_assert_eq(harness_save(h, &cairn__tree_handler, x.tree, &err), CAIRN_OK,
               "%s", err.message);
  drop(&x);
}

static void restore(harness_t *h, int n) {
  ranks_t x;
  cairn_error_t err = {0};
  make(&x, n, false);
  for (int r = 0; r < n; r++) cr_assert_not(cut_is_right(&x.state[r]));
  h->ranks = n;
  cr_assert_eq(harness_restore(h, &cairn__tree_handler, x.tree, &err), CAIRN_OK,
               "%s", err.message);
  expect_right(&x);
  drop(&x);
}

Test(tree_ranks, any_number_saves_and_any_number_restores) {
  static const int counts[] = {1, 3, 4, 8};
  for (cairn_profile_t p = 0; p <= CAIRN_PROFILE_ORBAX_V1; p++)
    for (int raw = 0; raw < 2; raw++)
      for (size_t i = 0; i < 4; i++) {
        harness_t h;
        /* Orbax knows equal shards only: 24 rows and 10 columns in 3 or 4 or 8
         * are none. */
        if (p != CAIRN_PROFILE_CAIRN && i != 0) continue;
        harness_open(&h, 1, NULL);
        h.opts.profile = p;
        h.opts.no_compression = raw != 0;
        save(&h, counts[i]);
        for (size_t j = 0; j < 4; j++) restore(&h, counts[j]);
        harness_close(&h);
      }
}

Test(tree_ranks, verify_finds_nothing_wrong_with_what_was_saved) {
  for (int n = 1; n <= 4; n += 3) {
    harness_t h;
    cairn_error_t err = {0};
    harness_open(&h, n, NULL);
    save(&h, n);
    char *damage = harness_verify(&h, &cairn__tree_handler, &err);
    cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
    cr_assert_str_eq(damage, "");
    free(damage);
    harness_close(&h);
  }
}

/* 24 x 10 x 4 bytes twice, 7 doubles, two 8-byte scalars and a bool. */
Test(tree_ranks, every_byte_is_written_by_one_rank) {
  harness_t h;
  int64_t sum = 0;
  harness_open(&h, 4, NULL);
  save(&h, 4);
  for (int r = 0; r < 4; r++) sum += h.bytes[r];
  cr_assert_eq(sum, 2 * 960 + 56 + 17);
  harness_close(&h);
}

static void scribble_and_free(void *arg) {
  ranks_t *x = arg;
  for (int r = 0; r < x->n; r++) {
    cut_scribble(&x->state[r]);
    cairn_tree_free(x->state[r].tree);
    x->state[r].tree = NULL;
  }
}

Test(tree_ranks, memory_and_tree_are_the_callers_after_the_snapshot) {
  harness_t h;
  ranks_t x;
  cairn_error_t err = {0};
  make(&x, 3, true);
  harness_open(&h, 3, NULL);
  h.staged = scribble_and_free;
  h.staged_arg = &x;
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, x.tree, &err), CAIRN_OK,
               "%s", err.message);
  restore(&h, 3);
  drop(&x);
  harness_close(&h);
}

static void free_trees(void *arg) {
  ranks_t *x = arg;
  for (int r = 0; r < x->n; r++) {
    cairn_tree_free(x->state[r].tree);
    x->state[r].tree = NULL;
  }
}

Test(tree_ranks, borrowed_memory_is_read_after_the_tree_is_gone) {
  harness_t h;
  ranks_t x;
  cairn_error_t err = {0};
  make(&x, 3, true);
  harness_open(&h, 3, NULL);
  h.opts.snapshot = CAIRN_SNAPSHOT_BORROW;
  h.staged = free_trees;
  h.staged_arg = &x;
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, x.tree, &err), CAIRN_OK,
               "%s", err.message);
  restore(&h, 4);
  drop(&x);
  harness_close(&h);
}

Test(tree_ranks, one_kind_of_snapshot_per_array) {
  harness_t h;
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  cairn_tree_t *t;
  cairn_error_t err = {0};
  void *values[1];
  cr_assert_eq(cairn_tree_new(&t, &err), CAIRN_OK);
  cairn_array_t array = {
      .dtype = CAIRN_F32, .rank = 1, .shape = {4}, .data = a};
  array.snapshot = CAIRN_SNAPSHOT_BORROW;
  cr_assert_eq(cairn_tree_put_array(t, "a", &array, &err), CAIRN_OK);
  array.snapshot = CAIRN_SNAPSHOT_COPY;
  array.data = b;
  cr_assert_eq(cairn_tree_put_array(t, "b", &array, &err), CAIRN_OK);
  values[0] = t;
  harness_open(&h, 1, NULL);
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, values, &err), CAIRN_OK,
               "%s", err.message);
  memset(a, 0, sizeof a);
  memset(b, 0, sizeof b);
  cr_assert_eq(harness_restore(&h, &cairn__tree_handler, values, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert(a[3] == 4 && b[0] == 5);
  cairn_tree_free(t);
  harness_close(&h);
}

Test(tree_ranks, array_metadatas_only_with_jax_arrays) {
  harness_t h;
  harness_open(&h, 1, NULL);
  save(&h, 1);
  char *text = kv_call_get(h.dir, "array_metadatas/process_0");
  cr_assert_null(text);
  text = kv_call_get(h.dir, "_sharding");
  cr_assert_null(text);
  harness_close(&h);
}

/* Every rank writes what the primary writes (orbax.md 1.6). */
Test(tree_ranks, all_ranks_say_the_same_of_jax_arrays) {
  static const int64_t mesh[] = {2}, ids[] = {0, 1};
  static const char *const axes[] = {"x"}, *const spec[] = {"x"};
  const cairn_sharding_t s = {1, mesh, axes, ids, 1, spec};
  float data[2][3] = {{1, 2, 3}, {4, 5, 6}};
  harness_t h;
  cairn_error_t err = {0};
  void *values[2];
  for (int r = 0; r < 2; r++) {
    cairn_array_t a = {.dtype = CAIRN_F32,
                       .rank = 1,
                       .shape = {6},
                       .origin = {3 * r},
                       .extent = {3},
                       .data = data[r],
                       .sharding = &s};
    cairn_tree_t *t;
    cr_assert_eq(cairn_tree_new(&t, &err), CAIRN_OK);
    cr_assert_eq(cairn_tree_put_array(t, "w", &a, &err), CAIRN_OK);
    values[r] = t;
  }
  harness_open(&h, 2, NULL);
  h.opts.profile = CAIRN_PROFILE_ORBAX;
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, values, &err), CAIRN_OK,
               "%s", err.message);
  for (int r = 0; r < 2; r++) {
    char name[40];
    snprintf(name, sizeof name, "array_metadatas/process_%d", r);
    char *text = kv_call_get(h.dir, name);
    cr_assert_str_eq(text,
                     "{\"array_metadatas\": [{\"array_metadata\": "
                     "{\"param_name\": \"w\", \"write_shape\": [3], "
                     "\"chunk_shape\": [3], \"ext_metadata\": null}}]}");
    free(text);
    cairn_tree_free(values[r]);
  }
  harness_close(&h);
}
