/* Everything in the fixtures that Orbax wrote: restored, looked at, verified.
 * What must come out is what their expect.json says. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"
#include "handlers.h"
#include "support/item_harness.h"

static int seen, wrong;

static bool is_tree(const expect_item_t *item) {
  return strcmp(item->type, "pytree") == 0;
}

static void complain(const expect_item_t *item, const char *what,
                     const char *why) {
  cr_log_error("%s: %s: %s", item->label, what, why);
  wrong++;
}

static void verdict(bool there, int at_least) {
  if (!there) cr_skip("no fixtures at " CAIRN_FIXTURES);
  cr_assert_eq(wrong, 0);
  cr_assert_geq(seen, at_least, "%d items", seen);
}

/* Restore -------------------------------------------------------------------
 */

static void restore_on(const expect_item_t *item, int ranks) {
  harness_t h;
  cairn_error_t err = {0};
  void *values[HARNESS_MAX_RANKS];
  harness_open(&h, ranks, item->url);
  for (int r = 0; r < ranks; r++) values[r] = expect_tree(item, false);
  if (harness_restore(&h, &cairn__tree_handler, values, &err) != CAIRN_OK)
    complain(item, "restore", err.message);
  else
    for (int r = 0; r < ranks; r++)
      wrong += expect_differences(item, values[r]);
  for (int r = 0; r < ranks; r++) cairn_tree_free(values[r]);
  harness_close(&h);
}

static void restore(const expect_item_t *item) {
  if (!is_tree(item)) return;
  seen++;
  restore_on(item, 1);
}

Test(fixtures, every_tree_comes_back, .timeout = 110) {
  verdict(expect_each(NULL, restore), 75);
}

static void restore_twice(const expect_item_t *item) {
  if (!is_tree(item)) return;
  seen++;
  restore_on(item, 3);
}

Test(fixtures, every_rank_gets_all_of_it) {
  bool there = expect_each("a04_v0_host_leaves", restore_twice);
  expect_each("g01_v0_mp4", restore_twice);
  verdict(there, 2);
}

/* Inspect -------------------------------------------------------------------
 */

static bool same_numbers(const cairn_json_t *v, int n, const int64_t *numbers) {
  if (v == NULL || v->n != (size_t)n) return v == NULL;
  for (const cairn_json_t *e = v->child; e != NULL; e = e->next)
    if (e->i != *numbers++) return false;
  return true;
}

static bool same_text(const cairn_json_t *v, const char *text) {
  return v == NULL || cairn_json_is_str(v, text);
}

static bool like(const cairn_json_t *json, const cairn_leaf_info_t *leaf) {
  const cairn_json_t *storage = cairn_json_get(json, "storage");
  const cairn_json_t *disk = cairn_json_get(json, "disk");
  if (!same_text(cairn_json_get(disk, "value_type"), leaf->kind)) return false;
  if (!leaf->has_data) return cairn_json_get(json, "dtype") == NULL;
  return same_numbers(cairn_json_get(json, "shape"), leaf->rank, leaf->shape) &&
         same_text(cairn_json_get(json, "dtype"),
                   cairn_dtype_name(leaf->dtype)) &&
         same_numbers(cairn_json_get(storage, "chunk"), leaf->rank,
                      leaf->chunk) &&
         same_text(cairn_json_get(storage, "metadata"), leaf->zarr_text) &&
         (leaf->stored_bytes > 0 || leaf->bytes == 0);
}

static const cairn_leaf_info_t *find(const cairn_item_info_t *info,
                                     cairn_bytes_t name) {
  for (size_t i = 0; i < info->n; i++)
    if (info->leaves[i].name.n == name.n &&
        memcmp(info->leaves[i].name.p, name.p, name.n) == 0)
      return &info->leaves[i];
  return NULL;
}

static void inspect(const expect_item_t *item) {
  harness_t h;
  cairn_item_info_t info;
  cairn_error_t err = {0};
  if (!is_tree(item)) return;
  seen++;
  harness_open(&h, 1, item->url);
  if (harness_inspect(&h, &cairn__tree_handler, &info, &err) != CAIRN_OK)
    complain(item, "inspect", err.message);
  const cairn_json_t *v = cairn_json_get(item->json, "leaves")->child;
  for (; v != NULL; v = v->next) {
    cairn_bytes_t name = cairn_json_get(v, "name")->str;
    const cairn_leaf_info_t *leaf = find(&info, name);
    char text[100];
    snprintf(text, sizeof text, "%.*s", (int)name.n, (const char *)name.p);
    if (leaf == NULL || !like(v, leaf)) complain(item, "leaf", text);
  }
  cairn_item_info_free(&info);
  harness_close(&h);
}

Test(fixtures, every_leaf_is_described_as_expected, .timeout = 110) {
  verdict(expect_each(NULL, inspect), 75);
}

/* Verify --------------------------------------------------------------------
 */

static void verify(const expect_item_t *item) {
  harness_t h;
  cairn_error_t err = {0};
  if (!is_tree(item)) return;
  seen++;
  harness_open(&h, 1, item->url);
  char *damage = harness_verify(&h, &cairn__tree_handler, &err);
  if (err.code != CAIRN_OK) complain(item, "verify", err.message);
  if (damage[0] != 0) complain(item, "damage", damage);
  free(damage);
  harness_close(&h);
}

Test(fixtures, none_of_them_is_damaged, .timeout = 110) {
  verdict(expect_each(NULL, verify), 75);
}

/* JSON ----------------------------------------------------------------------
 */

static void restore_json(const expect_item_t *item) {
  harness_t h;
  cairn_error_t err = {0};
  cairn_blob_t blob = {0};
  void *values[] = {&blob};
  size_t n;
  if (strcmp(item->type, "json") != 0) return;
  char *file = expect_str(cairn_json_get(item->json, "file"));
  char *want = file != NULL ? expect_file(item, file, &n) : NULL;
  seen++;
  harness_open(&h, 1, item->url);
  if (harness_restore(&h, &cairn__json_handler, values, &err) != CAIRN_OK)
    complain(item, "restore", err.message);
  else if (want != NULL && (blob.out_n != n || memcmp(blob.out, want, n) != 0))
    complain(item, "document", blob.out);
  harness_close(&h);
  free(blob.out);
  free(want);
  free(file);
}

Test(fixtures, documents_come_back_as_orbax_wrote_them) {
  verdict(expect_each(NULL, restore_json), 20);
}
