/* Trees of the fixtures, restored and saved again by us: in Orbax's profiles
 * the side files must be Orbax's byte for byte, and so must each array's
 * metadata; the values must come back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"
#include "handlers.h"
#include "support/item_harness.h"
#include "support/kv_call.h"

/* Cases whose every jax.Array has a mesh: a SingleDeviceSharding is nothing
 * that a tree of ours can say. */
static const struct {
  const char *fixture;
  cairn_profile_t profile;
} cases[] = {
    {"a01_v0_dtypes_mesh8", CAIRN_PROFILE_ORBAX},
    {"a02_v0_mesh_4x2", CAIRN_PROFILE_ORBAX},
    {"a04_v0_host_leaves", CAIRN_PROFILE_ORBAX},
    {"a06_v0_odd_string_leaves", CAIRN_PROFILE_ORBAX},
    {"a07_v0_standard", CAIRN_PROFILE_ORBAX},
    {"a08_v0_single_leaf", CAIRN_PROFILE_ORBAX},
    {"a11_v0_ranks_and_ones", CAIRN_PROFILE_ORBAX},
    {"b01_mgr_default_item", CAIRN_PROFILE_ORBAX},
    {"f01_v1_save", CAIRN_PROFILE_ORBAX_V1},
    {"f02_v1_zarr2", CAIRN_PROFILE_ORBAX},
    {"f08_v1_dtypes", CAIRN_PROFILE_ORBAX_V1},
};
static const char *const files[] = {"_METADATA", "_sharding", "_strings.json",
                                    "array_metadatas/process_0"};

static cairn_profile_t profile;
static int seen, wrong;

static void compare_file(const expect_item_t *item, harness_t *h,
                         const char *name) {
  size_t n = 0;
  char *want = expect_file(item, name, &n);
  char *got = kv_call_get(h->dir, name);
  if ((want == NULL) != (got == NULL) ||
      (want != NULL && (strlen(got) != n || memcmp(want, got, n) != 0))) {
    cr_log_error("%s: %s differs", item->label, name);
    wrong++;
  }
  free(want);
  free(got);
}

static void compare_arrays(const expect_item_t *item, harness_t *h) {
  cairn_item_info_t info;
  cairn_error_t err = {0};
  cr_assert_eq(harness_inspect(h, &cairn__tree_handler, &info, &err), CAIRN_OK,
               "%s: %s", item->label, err.message);
  const cairn_json_t *v = cairn_json_get(item->json, "leaves")->child;
  for (; v != NULL; v = v->next) {
    const cairn_json_t *text =
        cairn_json_get(cairn_json_get(v, "storage"), "metadata");
    cairn_bytes_t name = cairn_json_get(v, "name")->str;
    for (size_t i = 0; i < info.n && text != NULL; i++)
      if (info.leaves[i].name.n == name.n &&
          memcmp(info.leaves[i].name.p, name.p, name.n) == 0 &&
          !cairn_json_is_str(text, info.leaves[i].zarr_text)) {
        cr_log_error("%s: %.*s: %s", item->label, (int)name.n,
                     (const char *)name.p, info.leaves[i].zarr_text);
        wrong++;
      }
  }
  cairn_item_info_free(&info);
}

static cairn_tree_t *restored(const expect_item_t *item) {
  harness_t h;
  cairn_error_t err = {0};
  cairn_tree_t *tree = expect_tree(item, true);
  void *values[] = {tree};
  harness_open(&h, 1, item->url);
  cr_assert_eq(harness_restore(&h, &cairn__tree_handler, values, &err),
               CAIRN_OK, "%s: %s", item->label, err.message);
  harness_close(&h);
  return tree;
}

static void check_values(const expect_item_t *item, harness_t *h) {
  cairn_error_t err = {0};
  cairn_tree_t *again = expect_tree(item, false);
  void *values[] = {again};
  cr_assert_eq(harness_restore(h, &cairn__tree_handler, values, &err), CAIRN_OK,
               "%s: %s", item->label, err.message);
  wrong += expect_differences(item, again);
  cairn_tree_free(again);
}

static void save_again(const expect_item_t *item, bool compare) {
  harness_t h;
  cairn_error_t err = {0};
  if (strcmp(item->type, "pytree") != 0) return;
  cairn_tree_t *tree = restored(item);
  void *values[] = {tree};
  seen++;
  harness_open(&h, 1, NULL);
  h.opts.profile = profile;
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, values, &err), CAIRN_OK,
               "%s: %s", item->label, err.message);
  for (size_t i = 0; compare && i < sizeof files / sizeof *files; i++)
    compare_file(item, &h, files[i]);
  if (compare) compare_arrays(item, &h);
  check_values(item, &h);
  cairn_tree_free(tree);
  harness_close(&h);
}

static void save_and_compare(const expect_item_t *item) {
  save_again(item, true);
}

static void save_only(const expect_item_t *item) {
  save_again(item, false);
}

Test(same_bytes, side_files_and_array_metadata_are_orbax_own, .timeout = 110) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    profile = cases[i].profile;
    if (!expect_each(cases[i].fixture, save_and_compare))
      cr_skip("no fixtures at " CAIRN_FIXTURES);
  }
  cr_assert_geq(seen, 11, "%d items", seen);
  cr_assert_eq(wrong, 0);
}

Test(same_bytes, values_come_back_from_every_profile, .timeout = 110) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (profile = CAIRN_PROFILE_CAIRN; profile <= CAIRN_PROFILE_ORBAX_V1;
         profile++)
      if (!expect_each(cases[i].fixture, save_only))
        cr_skip("no fixtures at " CAIRN_FIXTURES);
  cr_assert_geq(seen, 33, "%d items", seen);
  cr_assert_eq(wrong, 0);
}
