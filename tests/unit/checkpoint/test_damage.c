/* Where damage lies, from what the rooms below say of it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/verify.h"

TestSuite(damage);

static cairn__listed_t files[] = {{"default/_METADATA", 10},
                                  {"default/d/9f3c", 100},
                                  {"default/d/9f3c55", 100},
                                  {"default/manifest.ocdbt", 20},
                                  {"state/d/9f3c", 100}};
static const cairn__listing_t listing = {.v = files, .n = 5};

static void expect_place(const char *prefix, const char *text, const char *file,
                         int64_t offset) {
  int64_t at;
  const char *got = cairn__damage_place(&listing, prefix, text, &at);
  if (file == NULL)
    cr_assert_null(got, "%s", got);
  else
    cr_assert_str_eq(got, file);
  cr_assert_eq(at, offset, "%lld", (long long)at);
}

Test(damage, file_and_offset_are_found_in_the_text) {
  expect_place("default/", "d/9f3c at 17: magic", "default/d/9f3c", 17);
  expect_place("state/", "data loss: d/9f3c at 0, 5 bytes: short",
               "state/d/9f3c", 0);
}

Test(damage, longer_name_wins_over_one_it_begins_with) {
  expect_place("default/", "d/9f3c55 at 3: x", "default/d/9f3c55", 3);
}

Test(damage, text_without_an_offset_or_a_file) {
  expect_place("default/", "manifest.ocdbt: crc32c: body",
               "default/manifest.ocdbt", -1);
  expect_place("default/", "something else", NULL, -1);
  expect_place("none/", "d/9f3c at 17", NULL, -1);
  expect_place("default/", "d/9f3c at 99999999999999999999: x",
               "default/d/9f3c", -1);
}

/* --- causes --- */

static void expect_cause(const char *text, const char *file, int64_t offset,
                         const char *rest) {
  cairn__damage_cause_t c;
  cr_assert(cairn__damage_cause(&listing, "default/", text, &c));
  if (file == NULL)
    cr_expect_null(c.file, "%s", c.file);
  else
    cr_expect_str_eq(c.file, file);
  cr_expect_eq(c.offset, offset, "%lld", (long long)c.offset);
  cr_expect_str_eq(c.text, rest);
  free(c.file);
}

Test(damage, cause_is_what_is_said_after_the_place) {
  expect_cause("array w: read /x/default/|ocdbt:w/0: d/9f3c at 17: node: sum",
               "default/d/9f3c", 17, "node: sum");
  expect_cause("open database /x/: manifest.ocdbt: manifest: sum",
               "default/manifest.ocdbt", -1, "manifest: sum");
  expect_cause("something else", NULL, -1, "something else");
}

Test(damage, place_that_is_told_twice_is_dropped_twice) {
  expect_cause(
      "generation 1: d/9f3c at 0: data loss: d/9f3c at 0, 3 bytes: cut",
      "default/d/9f3c", 0, "3 bytes: cut");
}

Test(damage, lost_file_is_named_though_it_is_not_listed) {
  expect_cause("generation 1: d/77 at 4: data loss: d/77 at 4, 3 bytes: gone",
               "default/d/77", 4, "3 bytes: gone");
}

/* --- keys --- */

static cairn_leaf_info_t leaves[] = {
    {.name = {(const uint8_t *)"a", 1}, .has_data = true},
    {.name = {(const uint8_t *)"a/b", 3}, .has_data = true},
    {.name = {(const uint8_t *)"text", 4}},
};
static const cairn_item_info_t info = {.leaves = leaves, .n = 3};
static const cairn_item_info_t nothing = {0};

static void expect_leaf(const cairn_item_info_t *i, const char *key,
                        const char *leaf, const char *chunk) {
  cairn_bytes_t l, c;
  cairn__damage_leaf(i, cairn_bytes_str(key), &l, &c);
  cr_expect(cairn__bytes_eq(l, cairn_bytes_str(leaf)), "%s: %.*s", key,
            (int)l.n, (const char *)l.p);
  cr_expect(cairn__bytes_eq(c, cairn_bytes_str(chunk)), "%s: %.*s", key,
            (int)c.n, (const char *)c.p);
}

Test(damage, key_is_split_at_the_longest_leaf) {
  expect_leaf(&info, "a/0.1", "a", "0.1");
  expect_leaf(&info, "a/b/0.1", "a/b", "0.1");
  expect_leaf(&info, "a/c/0/1", "a", "c/0/1");
  expect_leaf(&info, "a/.zarray", "a", ".zarray");
  expect_leaf(&info, "a", "a", "");
}

Test(damage, key_of_no_known_leaf_is_split_by_its_form) {
  expect_leaf(&info, "z.y/0.1", "z.y", "0.1");
  expect_leaf(&nothing, "w/c/0/1", "w", "c/0/1");
  expect_leaf(&nothing, "w/zarr.json", "w", "zarr.json");
  expect_leaf(&nothing, "w", "w", "");
}

Test(damage, leaf_with_the_empty_name) {
  cairn_leaf_info_t only = {.name = {NULL, 0}, .has_data = true};
  cairn_item_info_t single = {.leaves = &only, .n = 1};
  expect_leaf(&single, "0.1", "", "0.1");
}
