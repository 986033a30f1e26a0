/* Trees from entries: the split rule, prefixes, places. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ocdbt/pack.h"
#include "unit/ocdbt/objects.h"

struct tree {
  cairn__place_t place;
  cairn__pack_t pack;
  cairn__ocdbt_version_t v;
};

static cairn__ocdbt_config_t limit(uint32_t max_node) {
  return (cairn__ocdbt_config_t){.max_decoded_node_bytes = max_node,
                                 .version_tree_arity_log2 = 4};
}

/* Entries are cut by the writing: the caller's stay whole. */
static struct tree *tree_of(uint32_t max_node, const cairn__ocdbt_entry_t *e,
                            size_t n, const char *file) {
  struct tree *t = calloc(1, sizeof *t);
  cairn_error_t err = {0};
  cairn__ocdbt_config_t c = limit(max_node);
  cairn__ocdbt_entry_t *copy = malloc(n * sizeof *copy);
  memcpy(copy, e, n * sizeof *copy);
  if (file != NULL) {
    uint32_t f;
    uint64_t offset;
    cr_assert(cairn__place_next(&t->place, 0, &f, &offset));
    strcpy(t->place.files[0]->name, file);
  }
  t->pack.place = &t->place;
  cr_assert_eq(cairn__tree_write(&c, copy, n, &t->pack, &t->v, &err), CAIRN_OK,
               "%s", err.message);
  free(copy);
  return t;
}

static void tree_free(struct tree *t) {
  cairn__pack_reset(&t->pack);
  cairn__place_reset(&t->place);
  free(t);
}

static cairn__ocdbt_node_t node_at(const struct tree *t,
                                   const cairn__ocdbt_loc_t *l) {
  cairn__ocdbt_node_t n;
  cairn_error_t err = {0};
  cr_assert_eq(cairn__ocdbt_node_decode(
                   cairn_bytes(t->pack.bytes.p + l->offset, l->length),
                   l->file.base, &n, &err),
               CAIRN_OK, "%s", err.message);
  return n;
}

/* --- example D --- */

Test(tree, example_d_to_the_byte) {
  cairn_buf_t want = golden("D_data");
  cairn__ocdbt_entry_t e[2] = {
      {.key = str("k/a"), .is_inline = true, .value = str("1")},
      {.key = str("k/b"), .is_inline = true, .value = str("22")}};
  struct tree *t = tree_of(1, e, 2, "d/000000000000000000000000000000d1");
  cr_expect(
      cairn__bytes_eq(cairn_buf_bytes(&t->pack.bytes), cairn_buf_bytes(&want)));
  cr_expect_eq(t->v.root_height, 1);
  cr_expect_eq(t->v.root.offset, 51);
  cr_expect_eq(t->v.root.length, 78);
  cr_expect_eq(t->v.stats.num_keys, 2);
  cr_expect_eq(t->v.stats.num_tree_bytes, 129);
  cr_expect_eq(t->v.stats.num_indirect_value_bytes, 0);
  cairn_buf_reset(&want);
  tree_free(t);
}

/* --- the split rule, by hand --- */

/* Leaves of the tree, as their numbers of entries: "3 3 2". */
static void put_leaves(const struct tree *t, const cairn__ocdbt_loc_t *l,
                       cairn_buf_t *out) {
  cairn__ocdbt_node_t n = node_at(t, l);
  if (n.height == 0)
    cairn_buf_printf(out, "%s%zu", out->n != 0 ? " " : "", n.n);
  for (size_t i = 0; i < n.n && n.height > 0; i++)
    put_leaves(t, &n.entries[i].loc, out);
  cairn__ocdbt_node_free(&n);
}

static void expect_leaves(uint32_t max_node, const cairn__ocdbt_entry_t *e,
                          size_t n, const char *want) {
  cairn_buf_t out = {0};
  struct tree *t = tree_of(max_node, e, n, NULL);
  put_leaves(t, &t->v.root, &out);
  cairn_buf_put_u8(&out, 0);
  cr_expect_str_eq((const char *)out.p, want, "limit %u", max_node);
  cairn_buf_reset(&out);
  tree_free(t);
}

/* Keys "a0".."a9" with values of 4 bytes: 22 each, 1 shared. Ten are
 * 220 - 9 = 211. */
Test(split, pieces_are_of_equal_estimate) {
  static char keys[10][3];
  cairn__ocdbt_entry_t e[10] = {{{0}}};
  for (int i = 0; i < 10; i++) {
    snprintf(keys[i], 3, "a%d", i);
    e[i] = (cairn__ocdbt_entry_t){
        .key = str(keys[i]), .is_inline = true, .value = str("vvvv")};
  }
  expect_leaves(0, e, 10, "10");
  expect_leaves(211, e, 10, "10");
  /* 2 pieces of 106: 5 entries are 106. The rest, 5, is 106 again. */
  expect_leaves(210, e, 10, "5 5");
  /* 3 pieces (211 / 100) of 71: 4 entries are 85. Of 127: 2 of 64, 3 entries
   * are 64; then 3 more. */
  expect_leaves(100, e, 10, "4 3 3");
  /* 43 is 2 entries: 211 / 43 = 5 pieces of 43 each. */
  expect_leaves(43, e, 10, "2 2 2 2 2");
  /* Above the limit with more than one entry: one goes to the next node. 6
   * pieces of 36: 2 entries are 43 > 42, so one alone. */
  expect_leaves(42, e, 10, "1 1 1 1 1 1 1 1 1 1");
  expect_leaves(1, e, 10, "1 1 1 1 1 1 1 1 1 1");
}

/* The last piece of an interior node may have a single child. */
Test(split, interior_nodes_have_two_children_but_the_last) {
  static const char *const keys[] = {"a", "b", "c", "d", "e"};
  cairn__ocdbt_entry_t e[5];
  for (int i = 0; i < 5; i++)
    e[i] = (cairn__ocdbt_entry_t){
        .key = str(keys[i]), .is_inline = true, .value = str("")};
  struct tree *t = tree_of(1, e, 5, NULL);
  cr_expect_eq(t->v.root_height, 3); /* 5 leaves, 3 nodes, 2, 1 */
  cairn__ocdbt_node_t root = node_at(t, &t->v.root);
  cr_assert_eq(root.n, 2);
  cairn__ocdbt_node_t right = node_at(t, &root.entries[1].loc);
  cr_assert_eq(right.n, 1);
  cairn__ocdbt_node_t last = node_at(t, &right.entries[0].loc);
  cr_expect_eq(last.n, 1);
  cairn__ocdbt_node_free(&root);
  cairn__ocdbt_node_free(&right);
  cairn__ocdbt_node_free(&last);
  tree_free(t);
}

/* --- random trees against the sorted array --- */

struct walk {
  const struct tree *t;
  const cairn__ocdbt_entry_t *want;
  size_t n, i;
};

static cairn__ocdbt_stats_t visit(struct walk *w, const cairn__ocdbt_loc_t *l,
                                  unsigned height, cairn_bytes_t implicit,
                                  cairn_bytes_t bound) {
  cairn__ocdbt_node_t n = node_at(w->t, l);
  cairn__ocdbt_stats_t s = {0, l->length, 0};
  cr_assert_eq(n.height, height);
  /* Written trees have equality; readers accept more. */
  if (l != &w->t->v.root) cr_expect(cairn__bytes_eq(n.entries[0].key, bound));
  for (size_t i = 0; i < n.n; i++) {
    const cairn__ocdbt_entry_t *e = &n.entries[i];
    cairn_buf_t full = {0};
    cairn_buf_put(&full, implicit.p, implicit.n);
    cairn_buf_put(&full, e->key.p, e->key.n);
    if (height == 0) {
      cr_assert_lt(w->i, w->n);
      cr_expect(cairn__bytes_eq(cairn_buf_bytes(&full), w->want[w->i++].key));
      s.num_keys++;
      s.num_indirect_value_bytes += e->is_inline ? 0 : e->loc.length;
    } else {
      size_t c = e->subtree_prefix;
      cairn__ocdbt_stats_t sub =
          visit(w, &e->loc, height - 1, cairn_bytes(full.p, implicit.n + c),
                cairn_bytes(e->key.p + c, e->key.n - c));
      cr_expect(memcmp(&sub, &e->stats, sizeof sub) == 0);
      s.num_keys += sub.num_keys;
      s.num_tree_bytes += sub.num_tree_bytes;
      s.num_indirect_value_bytes += sub.num_indirect_value_bytes;
    }
    cairn_buf_reset(&full);
  }
  cairn__ocdbt_node_free(&n);
  return s;
}

static int by_key(const void *a, const void *b) {
  return cairn__bytes_cmp(((const cairn__ocdbt_entry_t *)a)->key,
                          ((const cairn__ocdbt_entry_t *)b)->key);
}

static uint32_t rnd(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Random keys over a small alphabet, so that prefixes are shared in all ways.
 */
static size_t random_entries(uint32_t seed, cairn__ocdbt_entry_t *e,
                             uint8_t (*keys)[16], size_t n) {
  size_t unique = 0;
  for (size_t i = 0; i < n; i++) {
    size_t len = rnd(&seed) % 12 + (i > 40);
    for (size_t k = 0; k < len; k++) keys[i][k] = "\0/ab\xff"[rnd(&seed) % 5];
    e[i] = (cairn__ocdbt_entry_t){.key = cairn_bytes(keys[i], len)};
    e[i].is_inline = rnd(&seed) % 2 == 0;
    if (e[i].is_inline) e[i].value = cairn_bytes(keys[i], rnd(&seed) % 16);
    if (!e[i].is_inline) {
      e[i].loc.file.rel = str("d/x");
      e[i].loc.length = rnd(&seed) % 1000;
    }
  }
  qsort(e, n, sizeof *e, by_key);
  for (size_t i = 0; i < n; i++)
    if (unique == 0 || by_key(&e[unique - 1], &e[i]) != 0) e[unique++] = e[i];
  return unique;
}

Test(tree, random_trees_hold_what_the_sorted_array_holds) {
  enum { N = 1500 };
  static cairn__ocdbt_entry_t e[N];
  static uint8_t keys[N][16];
  static const uint32_t limits[] = {0, 1, 60, 200, 1000, 20000};
  for (uint32_t seed = 0; seed < 60; seed++) {
    size_t n = random_entries(seed, e, keys, seed == 0 ? N : 1 + seed * 20);
    struct tree *t = tree_of(limits[seed % 6], e, n, NULL);
    struct walk w = {t, e, n, 0};
    cairn__ocdbt_stats_t s = visit(&w, &t->v.root, t->v.root_height,
                                   cairn_bytes(NULL, 0), cairn_bytes(NULL, 0));
    cr_expect_eq(w.i, n);
    cr_expect(memcmp(&s, &t->v.stats, sizeof s) == 0);
    tree_free(t);
  }
}

Test(tree, height_eleven) {
  enum { N = 2048 };
  static cairn__ocdbt_entry_t e[N];
  static char keys[N][8];
  for (int i = 0; i < N; i++) {
    snprintf(keys[i], sizeof keys[i], "k%05d", i);
    e[i] = (cairn__ocdbt_entry_t){.key = str(keys[i]), .is_inline = true};
  }
  struct tree *t = tree_of(1, e, N, NULL);
  struct walk w = {t, e, N, 0};
  cr_expect_eq(t->v.root_height, 11);
  visit(&w, &t->v.root, 11, cairn_bytes(NULL, 0), cairn_bytes(NULL, 0));
  cr_expect_eq(w.i, N);
  tree_free(t);
}

/* --- places --- */

Test(place, target_is_tested_after_an_item) {
  cairn__place_t p = {.target = 10};
  static const struct {
    uint64_t n;
    uint32_t file;
    uint64_t offset;
  } want[] = {{4, 0, 0}, {5, 0, 4}, {100, 0, 9}, {10, 1, 0}, {1, 2, 0}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    uint32_t file;
    uint64_t offset;
    cr_assert(cairn__place_next(&p, want[i].n, &file, &offset));
    cr_expect_eq(file, want[i].file);
    cr_expect_eq(offset, want[i].offset);
  }
  cr_expect_str_neq(p.files[0]->name, p.files[1]->name);
  cairn__place_reset(&p);
}

/* --- leaves --- */

Test(leaves, a_long_list_is_several_nodes_and_comes_back) {
  enum { N = 30000 };
  static cairn__ocdbt_entry_t e[N];
  static char keys[N][16];
  for (int i = 0; i < N; i++) {
    snprintf(keys[i], sizeof keys[i], "key/%08d", i);
    e[i] = (cairn__ocdbt_entry_t){
        .key = str(keys[i]), .is_inline = true, .value = str("0123456789")};
  }
  cairn__ocdbt_config_t c = limit(0);
  cairn_buf_t out = {0};
  cairn_error_t err = {0};
  c.zstd = true;
  cr_assert_eq(cairn__leaves_put(&c, e, N, &out, &err), CAIRN_OK);
  cairn_bytes_t rest = cairn_buf_bytes(&out);
  size_t i = 0, nodes = 0;
  while (rest.n != 0) {
    cairn__ocdbt_node_t n;
    cr_assert_eq(cairn__leaves_next(&rest, str("p/"), &n, &err), CAIRN_OK, "%s",
                 err.message);
    nodes++;
    for (size_t k = 0; k < n.n; k++, i++)
      cr_assert(cairn__bytes_eq(n.entries[k].key, e[i].key));
    cairn__ocdbt_node_free(&n);
  }
  cr_expect_eq(i, N);
  cr_expect_geq(nodes, 2);
  cairn_buf_reset(&out);
}
