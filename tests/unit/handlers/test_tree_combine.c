/* Trees that are not the same on all ranks, and boxes that make no array, are
 * refused before anything is written. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "handlers.h"
#include "support/item_harness.h"
#include "support/kv_call.h"

static float memory[64];
static cairn_tree_t *trees[HARNESS_MAX_RANKS];

static void begin(int n) {
  cairn_error_t err = {0};
  for (int r = 0; r < n; r++)
    cr_assert_eq(cairn_tree_new(&trees[r], &err), CAIRN_OK);
}

static void put(int r, const char *path, const cairn_array_t *a) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_put_array(trees[r], path, a, &err), CAIRN_OK, "%s",
               err.message);
}

static cairn_array_t array(cairn_dtype_t t, int64_t n, int64_t at,
                           int64_t count) {
  return (cairn_array_t){.dtype = t,
                         .rank = 1,
                         .shape = {n},
                         .origin = {at},
                         .extent = {count},
                         .data = memory,
                         .empty = count == 0};
}

/* Saves on n ranks: the code, with all of `parts` in the message, and nothing
 * in the store. */
static void refused(int n, cairn_code_t code, const char *const *parts) {
  harness_t h;
  cairn_error_t err = {0};
  harness_open(&h, n, NULL);
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, (void **)trees, &err),
               code, "%s: %s", cairn_code_text(err.code), err.message);
  for (; *parts != NULL; parts++)
    cr_assert(strstr(err.message, *parts), "no '%s' in: %s", *parts,
              err.message);
  char *keys = kv_call_list(h.dir, "", 0, &err);
  cr_assert_str_eq(keys, "");
  free(keys);
  harness_close(&h);
  for (int r = 0; r < n; r++) cairn_tree_free(trees[r]);
}
#define REFUSED(n, code, ...) \
  refused(n, code, (const char *const[]){__VA_ARGS__, NULL})

Test(tree_combine, another_shape_names_leaf_shapes_and_ranks) {
  begin(3);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 8), b = array(CAIRN_F32, 9, 0, 9);
  put(0, "p/w", &a);
  put(1, "p/w", &a);
  put(2, "p/w", &b);
  REFUSED(3, CAIRN_MISMATCH, "p['w']", "[8]", "[9]", "rank 0", "rank 2");
}

Test(tree_combine, another_type) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 8), b = array(CAIRN_I32, 8, 0, 8);
  put(0, "w", &a);
  put(1, "w", &b);
  REFUSED(2, CAIRN_MISMATCH, "float32", "int32", "rank 1");
}

Test(tree_combine, another_leaf) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 8);
  put(0, "left", &a);
  put(1, "right", &a);
  REFUSED(2, CAIRN_MISMATCH, "rank 1", "right", "rank 0", "left");
}

Test(tree_combine, a_leaf_more) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 8);
  put(0, "a", &a);
  put(1, "a", &a);
  put(1, "b", &a);
  REFUSED(2, CAIRN_MISMATCH, "1 leaves", "rank 1", "2");
}

Test(tree_combine, an_array_here_and_a_scalar_there) {
  begin(2);
  double x = 1;
  cairn_error_t err = {0};
  cairn_array_t a = {.dtype = CAIRN_F64, .data = memory};
  put(0, "x", &a);
  cr_assert_eq(cairn_tree_put_double(trees[1], "x", &x, &err), CAIRN_OK);
  REFUSED(2, CAIRN_MISMATCH, "np.ndarray", "scalar", "rank 1");
}

Test(tree_combine, a_hole) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 3), b = array(CAIRN_F32, 8, 4, 4);
  put(0, "w", &a);
  put(1, "w", &b);
  REFUSED(2, CAIRN_INVALID, "leaf", "w", "3");
}

Test(tree_combine, an_overlap) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 5), b = array(CAIRN_F32, 8, 4, 4);
  put(0, "w", &a);
  put(1, "w", &b);
  REFUSED(2, CAIRN_INVALID, "leaf", "w");
}

Test(tree_combine, an_array_that_nobody_holds) {
  begin(2);
  cairn_array_t a = array(CAIRN_F32, 8, 0, 0);
  put(0, "w", &a);
  put(1, "w", &a);
  REFUSED(2, CAIRN_INVALID, "leaf", "w");
}

/* state.md 3.9: Orbax takes the name for a JSON pointer. */
Test(tree_combine, a_string_whose_name_would_be_a_pointer) {
  static const char *const names[] = {"a/b", "a~b"};
  for (int i = 0; i < 2; i++) {
    char text[] = "x";
    cairn_key_t path[] = {cairn_key("s"), cairn_key(names[i])};
    cairn_leaf_t leaf = {
        .kind = CAIRN_LEAF_STRING, .data = text, .capacity = sizeof text};
    cairn_error_t err = {0};
    begin(1);
    cr_assert_eq(cairn_tree_put(trees[0], path, 2, &leaf, NULL, &err),
                 CAIRN_OK);
    REFUSED(1, CAIRN_INVALID, "leaf s[", names[i]);
  }
}

Test(tree_combine, an_empty_tree) {
  begin(1);
  refused(1, CAIRN_INVALID, (const char *const[]){NULL});
}

Test(tree_combine, a_sharding_that_names_no_axis_of_its_mesh) {
  static const int64_t mesh[] = {1}, ids[] = {0};
  static const char *const axes[] = {"x"}, *const spec[] = {"y"};
  const cairn_sharding_t s = {1, mesh, axes, ids, 1, spec};
  cairn_error_t err = {0};
  cairn_array_t a = array(CAIRN_F32, 8, 0, 8);
  a.sharding = &s;
  begin(1);
  /* The tree may refuse it already. */
  if (cairn_tree_put_array(trees[0], "w", &a, &err) != CAIRN_OK) {
    cr_assert_eq(err.code, CAIRN_INVALID);
    cairn_tree_free(trees[0]);
    return;
  }
  REFUSED(1, CAIRN_INVALID, "leaf w", "'y'");
}
