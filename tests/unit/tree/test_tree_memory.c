/* Memory that runs out at the n-th allocation of a put, for every n: the call
 * says so, and the tree is as it was. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cairn/tree.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__real_aligned_alloc(size_t align, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t n);

static long left = -1; /* allocations that still succeed; negative: all */

static bool refuse(void) {
  if (left < 0) return false;
  if (left == 0) return true;
  left--;
  return false;
}

void *__wrap_malloc(size_t n) {
  return refuse() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
  return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n) {
  return refuse() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size) {
  return refuse() ? NULL : __real_reallocarray(p, n, size);
}

void *__wrap_aligned_alloc(size_t align, size_t n) {
  return refuse() ? NULL : __real_aligned_alloc(align, n);
}

static const int64_t mesh[] = {1}, ids[] = {0};
static const char *const axes[] = {"data"};
static const cairn_sharding_t sharding = {
    .mesh_rank = 1, .mesh_shape = mesh, .axis_names = axes, .device_ids = ids};
static float memory[8];

/* Large enough to need a block of the arena for each part. */
static cairn_code_t put_large(cairn_tree_t *t, cairn_error_t *err) {
  static cairn_box_t boxes[100];
  static char name[20000];
  cairn_key_t path[] = {cairn_key("l"), cairn_key_seq(5), {0}};
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_ARRAY};
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 1,
                     .shape = {8},
                     .boxes = boxes,
                     .num_boxes = 100,
                     .sharding = &sharding};
  memset(name, 'n', sizeof name);
  path[2].name = cairn_bytes(name, sizeof name);
  for (int i = 0; i < 100; i++) {
    boxes[i].extent[0] = 8;
    boxes[i].data = memory;
  }
  return cairn_tree_put(t, path, 3, &leaf, &a, err);
}

/* What is left behind would be a list with a gap. */
Test(tree_memory, put_says_when_there_is_none_and_leaves_no_trace) {
  cairn_code_t code = CAIRN_NO_MEMORY;
  long n = 0;
  for (; code != CAIRN_OK; n++) {
    int64_t v = 0;
    cairn_error_t err = {0};
    cairn_tree_t *t;
    cr_assert_eq(cairn_tree_new(&t, NULL), CAIRN_OK);
    for (int i = 0; i < 16; i++) {
      char path[16];
      snprintf(path, sizeof path, "m/%d", i);
      cr_assert_eq(cairn_tree_put_int64(t, path, &v, NULL), CAIRN_OK);
    }
    left = n;
    code = put_large(t, &err);
    left = -1;
    cr_assert_eq(err.code, code);
    cr_assert(code == CAIRN_OK || code == CAIRN_NO_MEMORY);
    cr_assert_eq(cairn_tree_count(t), code == CAIRN_OK ? 17 : 16);
    if (code != CAIRN_OK) {
      cairn_error_t none = {0};
      cr_assert_eq(cairn_tree_check(t, &none), CAIRN_OK, "%s", none.message);
      cr_assert_eq(put_large(t, NULL), CAIRN_OK);
    }
    cr_assert_eq(cairn_tree_count(t), 17);
    cr_assert_eq(cairn_tree_check(t, NULL), CAIRN_INVALID);
    cairn_tree_free(t);
  }
  cr_expect_gt(n, 6);
}

Test(tree_memory, new_tree_says_when_there_is_none) {
  cairn_tree_t *t;
  cairn_error_t err = {0};
  left = 0;
  cairn_code_t code = cairn_tree_new(&t, &err);
  left = -1;
  cr_expect_eq(code, CAIRN_NO_MEMORY);
  cr_expect_null(t);
}

Test(tree_memory, path_text_does_without) {
  char out[8];
  cairn_key_t k = cairn_key("params");
  left = 0;
  cairn_path_text(&k, 1, out, sizeof out);
  left = -1;
  cr_expect_str_eq(out, "?");
}
