/* Building trees and reading them back: order, names, copies, refusals. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cairn/tree.h"

static cairn_tree_t *new_tree(void) {
  cairn_tree_t *t = NULL;
  cr_assert_eq(cairn_tree_new(&t, NULL), CAIRN_OK);
  return t;
}

static const cairn_leaf_t none = {.kind = CAIRN_LEAF_NONE};

static void put_key(cairn_tree_t *t, cairn_key_t k) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_put(t, &k, 1, &none, NULL, &err), CAIRN_OK, "%s",
               err.message);
}

static void expect_name(const cairn_tree_t *t, size_t i, const char *want) {
  const cairn_leaf_t *l = cairn_tree_leaf(t, i);
  cr_assert_not_null(l);
  cr_expect(
      l->name.n == strlen(want) && memcmp(l->name.p, want, l->name.n) == 0,
      "leaf %zu is '%.*s', want '%s'", i, (int)l->name.n,
      (const char *)l->name.p, want);
}

static cairn_key_t key_of(cairn_key_type_t type, const char *name,
                          int64_t index) {
  cairn_key_t k = cairn_key(name);
  k.type = type;
  k.index = index;
  return k;
}

Test(tree, ten_lines_of_the_header) {
  static float w[2048];
  int64_t step = 7;
  double lr = 0.5;
  bool flag = true;
  char text[16] = "adam";
  cairn_tree_t *t = new_tree();
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 2,
                     .shape = {8192, 1024},
                     .origin = {2, 0},
                     .extent = {2, 1024},
                     .data = w};
  cr_expect_eq(cairn_tree_put_array(t, "params/w", &a, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_int64(t, "step", &step, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_double(t, "opt/lr", &lr, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_bool(t, "opt/flag", &flag, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_string(t, "opt/name", text, 16, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_OK);
  cr_assert_eq(cairn_tree_count(t), 5);
  static const char *const names[] = {"opt.flag", "opt.lr", "opt.name",
                                      "params.w", "step"};
  for (size_t i = 0; i < 5; i++) expect_name(t, i, names[i]);
  cr_expect_null(cairn_tree_leaf(t, 5));

  const cairn_leaf_t *l = cairn_tree_find(t, cairn_bytes_str("params.w"));
  cr_assert_not_null(l);
  cr_expect_eq(l->kind, CAIRN_LEAF_ARRAY);
  cr_expect_eq(l->dtype, CAIRN_F32);
  cr_expect_eq(l->path_n, 2);
  cr_expect_eq(l->shape[0], 8192);
  cr_assert_eq(l->num_boxes, 1);
  cr_expect_eq(l->boxes[0].origin[0], 2);
  cr_expect_eq(l->boxes[0].extent[0], 2);
  cr_expect_eq(l->boxes[0].strides[0], 4096);
  cr_expect_eq(l->boxes[0].strides[1], 4);
  cr_expect_eq(l->boxes[0].data, w);
  l = cairn_tree_find(t, cairn_bytes_str("step"));
  cr_expect_eq(l->dtype, CAIRN_I64);
  cr_expect_eq(l->data, &step);
  l = cairn_tree_find(t, cairn_bytes_str("opt.lr"));
  cr_expect_eq(l->dtype, CAIRN_F64);
  l = cairn_tree_find(t, cairn_bytes_str("opt.flag"));
  cr_expect_eq(l->dtype, CAIRN_BOOL);
  l = cairn_tree_find(t, cairn_bytes_str("opt.name"));
  cr_expect_eq(l->kind, CAIRN_LEAF_STRING);
  cr_expect_eq(l->capacity, 16);
  cr_expect_null(cairn_tree_find(t, cairn_bytes_str("params")));
  cairn_tree_free(t);
}

/* orbax.md 1.6: integers numerically (-1, 3, 10), strings by code point. */
Test(tree, leaves_come_in_flatten_order) {
  cairn_tree_t *t = new_tree();
  put_key(t, key_of(CAIRN_KEY_INT, NULL, 10));
  put_key(t, key_of(CAIRN_KEY_INT, NULL, -1));
  put_key(t, key_of(CAIRN_KEY_INT, NULL, 3));
  expect_name(t, 0, "-1");
  expect_name(t, 1, "3");
  expect_name(t, 2, "10");
  put_key(t, key_of(CAIRN_KEY_INT, NULL, 2)); /* also after reading */
  expect_name(t, 1, "2");
  cairn_tree_free(t);

  t = new_tree();
  put_key(t, cairn_key("\xf0\x9f\x98\x80")); /* U+1F600: after U+FFFD, though */
  put_key(t, cairn_key("\xef\xbf\xbd"));     /* not in UTF-16 */
  put_key(t, cairn_key("z"));
  put_key(t, cairn_key("\xc3\xa9"));
  put_key(t, cairn_key("Z"));
  put_key(t, cairn_key("zz"));
  expect_name(t, 0, "Z");
  expect_name(t, 1, "z");
  expect_name(t, 2, "zz");
  expect_name(t, 3, "\xc3\xa9");
  expect_name(t, 4, "\xef\xbf\xbd");
  expect_name(t, 5, "\xf0\x9f\x98\x80");
  cairn_tree_free(t);

  t = new_tree();
  for (int64_t i = 11; i >= 0; i--) put_key(t, cairn_key_seq(i));
  expect_name(t, 2, "2");
  expect_name(t, 10, "10");
  cairn_tree_free(t);

  t = new_tree();
  put_key(t, key_of(CAIRN_KEY_ATTR, "nu", 0));
  put_key(t, key_of(CAIRN_KEY_ATTR, "count", 0));
  put_key(t, key_of(CAIRN_KEY_ATTR, "mu", 0));
  expect_name(t, 0, "nu");
  expect_name(t, 1, "count");
  expect_name(t, 2, "mu");
  cairn_tree_free(t);
}

/* Order is that of the nodes on the way, not of the joined names: '-' < '.'. */
Test(tree, siblings_are_compared_and_not_names) {
  int64_t v = 0;
  cairn_tree_t *t = new_tree();
  cr_expect_eq(cairn_tree_put_int64(t, "a-b", &v, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_int64(t, "a/c", &v, NULL), CAIRN_OK);
  expect_name(t, 0, "a.c");
  expect_name(t, 1, "a-b");
  cairn_tree_free(t);
}

Test(tree, typed_paths_join_to_names) {
  cairn_tree_t *t = new_tree();
  cairn_key_t path[] = {cairn_key("a/b.c"), cairn_key_seq(0),
                        key_of(CAIRN_KEY_INT, NULL, -7),
                        key_of(CAIRN_KEY_ATTR, "mu", 0)};
  cr_expect_eq(cairn_tree_put(t, path, 4, &none, NULL, NULL), CAIRN_OK);
  expect_name(t, 0, "a/b.c.0.-7.mu");
  const cairn_leaf_t *l = cairn_tree_leaf(t, 0);
  cr_assert_eq(l->path_n, 4);
  cr_expect_eq(l->path[1].type, CAIRN_KEY_SEQ);
  cr_expect_eq(l->path[2].index, -7);
  cr_expect_neq(l->path[0].name.p, path[0].name.p); /* a copy */
  cairn_tree_free(t);

  t = new_tree(); /* the tree is one leaf */
  cr_expect_eq(cairn_tree_put(t, NULL, 0, &none, NULL, NULL), CAIRN_OK);
  expect_name(t, 0, "");
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put(t, NULL, 0, &none, NULL, NULL), CAIRN_EXISTS);
  cairn_tree_free(t);
}

Test(tree, keys_may_hold_nul_and_are_told_apart_by_type) {
  cairn_tree_t *t = new_tree();
  cairn_key_t a = {.name = cairn_bytes("x\0y", 3)};
  cairn_key_t b = {.name = cairn_bytes("x\0z", 3)};
  put_key(t, a);
  put_key(t, b);
  put_key(t, cairn_key("5"));
  put_key(t, key_of(CAIRN_KEY_INT, NULL, 5));
  cr_expect_eq(cairn_tree_count(t), 4);
  cr_expect_eq(cairn_tree_put(t, &b, 1, &none, NULL, NULL), CAIRN_EXISTS);
  cairn_tree_free(t);
}

static void refuse_path(const char *path, const char *text) {
  int64_t v = 0;
  cairn_error_t err = {0};
  cairn_tree_t *t = new_tree();
  cr_expect_eq(cairn_tree_put_int64(t, path, &v, &err), CAIRN_INVALID);
  cr_expect(strstr(err.message, text), "'%s' in '%s'", text, err.message);
  cr_expect_eq(cairn_tree_count(t), 0);
  cairn_tree_free(t);
}

Test(tree, paths_with_empty_parts_are_refused) {
  refuse_path("", "empty part");
  refuse_path("/a", "empty part");
  refuse_path("a/", "empty part");
  refuse_path("a//b", "'a//b' has an empty part");
  refuse_path(NULL, "no path");
  char deep[2 * 257 + 1];
  for (int i = 0; i < 257; i++) memcpy(deep + 2 * i, "a/", 2);
  deep[2 * 257 - 1] = '\0';
  refuse_path(deep, "over 256 parts");
}

Test(tree, taken_path_is_refused_by_name) {
  int64_t v = 0;
  cairn_error_t err = {0};
  cairn_tree_t *t = new_tree();
  cr_expect_eq(cairn_tree_put_int64(t, "a/b", &v, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_int64(t, "a/b", &v, &err), CAIRN_EXISTS);
  cr_expect(strstr(err.message, "a['b']"), "%s", err.message);
  cr_expect_eq(cairn_tree_count(t), 1);
  cairn_tree_free(t);
}

static void refuse_leaf(const cairn_key_t *k, const cairn_leaf_t *leaf,
                        const cairn_array_t *a, const char *text) {
  cairn_error_t err = {0};
  cairn_tree_t *t = new_tree();
  cr_expect_eq(cairn_tree_put(t, k, 1, leaf, a, &err), CAIRN_INVALID);
  cr_expect(strstr(err.message, text), "'%s' in '%s'", text, err.message);
  cr_expect_eq(cairn_tree_count(t), 0);
  cairn_tree_free(t);
}

Test(tree, leaves_without_a_value_are_refused) {
  static int64_t v;
  cairn_key_t k = cairn_key("k");
  cairn_array_t a = {.dtype = CAIRN_I64, .data = &v};
  refuse_leaf(&k, &(cairn_leaf_t){.kind = CAIRN_LEAF_SCALAR, .data = &v}, NULL,
              "k: no element type");
  refuse_leaf(&k,
              &(cairn_leaf_t){.kind = CAIRN_LEAF_SCALAR, .dtype = CAIRN_F32},
              NULL, "data is NULL");
  refuse_leaf(&k, &(cairn_leaf_t){.kind = CAIRN_LEAF_STRING, .capacity = 4},
              NULL, "text is NULL");
  refuse_leaf(&k, &(cairn_leaf_t){.kind = CAIRN_LEAF_STRING, .data = &v}, NULL,
              "capacity 0");
  refuse_leaf(&k, &(cairn_leaf_t){.kind = CAIRN_LEAF_ARRAY}, NULL,
              "no array given");
  refuse_leaf(&k, &none, &a, "an array given");
  refuse_leaf(&k, &(cairn_leaf_t){.kind = (cairn_leaf_kind_t)99}, NULL,
              "no kind of leaf (99)");
  k = cairn_key_seq(-1);
  refuse_leaf(&k, &none, NULL, "place -1");
  k.type = (cairn_key_type_t)7;
  refuse_leaf(&k, &none, NULL, "no type (7)");
  k = (cairn_key_t){.name = {.p = NULL, .n = 3}};
  refuse_leaf(&k, &none, NULL, "no name");
}

Test(tree, memory_is_aligned_zeroed_and_the_trees) {
  cairn_tree_t *t = new_tree();
  static const size_t sizes[] = {1, 100, 64, 20000, 3, 1 << 20, 7};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint8_t *p = cairn_tree_alloc(t, sizes[i]);
    cr_assert_not_null(p);
    cr_expect_eq((uintptr_t)p % 64, 0);
    for (size_t j = 0; j < sizes[i]; j++) cr_assert_eq(p[j], 0);
    memset(p, 0xff, sizes[i]);
  }
  cr_expect_null(cairn_tree_alloc(t, SIZE_MAX - 10));
  cairn_tree_free(t);
  cairn_tree_free(NULL);
}

Test(tree, many_leaves) {
  int64_t v = 0;
  cairn_tree_t *t = new_tree();
  for (int i = 0; i < 20000; i++) {
    char path[64];
    int at = (int)((unsigned)i * 7919u % 20000u);
    snprintf(path, sizeof path, "layer%05d/%s/w", at / 2, at % 2 ? "b" : "a");
    cr_assert_eq(cairn_tree_put_int64(t, path, &v, NULL), CAIRN_OK);
  }
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_OK);
  for (int i = 0; i < 20000; i += 1111) {
    char name[64];
    snprintf(name, sizeof name, "layer%05d.%s.w", i / 2, i % 2 ? "b" : "a");
    expect_name(t, (size_t)i, name);
    cr_expect_eq(cairn_tree_find(t, cairn_bytes_str(name)),
                 cairn_tree_leaf(t, (size_t)i));
  }
  cairn_tree_free(t);
}
