/* What a path is, by names alone (reference orbax.md 1.1 to 1.3, 2.1). */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "checkpoint/place.h"

TestSuite(place);

#define NAMES(...)                    \
  (const char *const[]){__VA_ARGS__}, \
      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static size_t list(const char *const *texts, size_t n, cairn_bytes_t *out) {
  for (size_t i = 0; i < n; i++) out[i] = cairn_bytes_str(texts[i]);
  return n;
}

static cairn__place_t place(const char *const *texts, size_t n) {
  cairn_bytes_t names[16];
  return cairn__place_of(names, list(texts, n, names));
}

Test(place, file_of_a_step_makes_a_step) {
  cr_assert_eq(place(NAMES("_CHECKPOINT_METADATA", "default/")),
               CAIRN__PLACE_STEP);
  cr_assert_eq(place(NAMES("cairn.json", "7/")), CAIRN__PLACE_STEP);
  cr_assert_eq(place(NAMES("orbax.checkpoint", "state/")), CAIRN__PLACE_STEP);
  cr_assert_eq(place(NAMES("_CHECKPOINT_METADATA", "_METADATA", "d/")),
               CAIRN__PLACE_STEP, "without an item level");
}

Test(place, file_of_an_item_makes_an_item) {
  cr_assert_eq(place(NAMES("_METADATA", "commit_success.txt", "d/")),
               CAIRN__PLACE_ITEM);
  cr_assert_eq(place(NAMES("metrics", "commit_success.txt")),
               CAIRN__PLACE_ITEM);
  cr_assert_eq(place(NAMES("data.json")), CAIRN__PLACE_ITEM);
  cr_assert_eq(place(NAMES("ocdbt.process_0/")), CAIRN__PLACE_ITEM);
}

Test(place, mark_alone_makes_a_step) {
  cr_assert_eq(place(NAMES("commit_success.txt", "default/")),
               CAIRN__PLACE_STEP);
}

Test(place, directories_named_like_steps_make_a_root) {
  cr_assert_eq(place(NAMES("1/", "10/", "metadata/")), CAIRN__PLACE_ROOT);
  cr_assert_eq(place(NAMES("ckpt_000042/")), CAIRN__PLACE_ROOT);
  cr_assert_eq(place(NAMES("3.orbax-checkpoint-tmp/")), CAIRN__PLACE_ROOT);
}

Test(place, other_directories_make_a_step_of_an_old_release) {
  cr_assert_eq(place(NAMES("cfg/", "metrics/", "state/")), CAIRN__PLACE_STEP);
}

Test(place, nothing_is_made_of_what_orbax_keeps_beside_steps) {
  cr_assert_eq(place(NAMES("metadata/", "_SNAPSHOTS/")), CAIRN__PLACE_NOTHING);
  cr_assert_eq(place(NAMES(".cairn-trash-7/", "notes.txt")),
               CAIRN__PLACE_NOTHING);
  cr_assert_eq(cairn__place_of(NULL, 0), CAIRN__PLACE_NOTHING);
}

static bool empty_root(const char *const *texts, size_t n) {
  cairn_bytes_t names[16];
  return cairn__place_is_empty_root(names, list(texts, n, names));
}

Test(place, empty_root_holds_only_what_is_kept_beside_steps) {
  cr_assert(cairn__place_is_empty_root(NULL, 0));
  cr_assert(empty_root(NAMES("metadata/", "_SNAPSHOTS/", ".cairn-trash-7/")));
  cr_assert(empty_root(NAMES(".cairn-probe-1")));
  cr_assert_not(empty_root(NAMES("notes.txt")));
  cr_assert_not(empty_root(NAMES("metadata/", "sources/")));
}

static bool above(const char *directory, const char *item,
                  const char *const *texts, size_t n) {
  cairn_bytes_t names[16];
  return cairn__place_above(directory, item, names, list(texts, n, names));
}

Test(place, item_lies_below_a_step_only_if_it_is_one) {
  cr_assert(above("best", "default",
                  NAMES("_CHECKPOINT_METADATA", "default/", "metrics/")));
  cr_assert(above("2", "state", NAMES("cfg/", "state/")), "by its number");
  cr_assert_not(above("stuff", "default", NAMES("default/", "other/")));
  cr_assert_not(above("2", "1", NAMES("1/", "2/")), "2 is a root then");
  cr_assert_not(above("default", "ocdbt.process_0", NAMES("_METADATA")));
}

/* --- names of steps --- */

static size_t steps(cairn__step_name_t **out, const char *const *texts,
                    size_t n) {
  cairn_bytes_t names[16];
  size_t m;
  cr_assert(cairn__step_names(names, list(texts, n, names), out, &m));
  return m;
}

static void expect_step(const cairn__step_name_t *s, int64_t step,
                        bool temporary) {
  cr_expect_eq(s->step, step, "%lld", (long long)s->step);
  cr_expect_eq(s->temporary, temporary);
}

Test(place, steps_go_by_number_and_temporary_ones_after) {
  cairn__step_name_t *v;
  cr_assert_eq(steps(&v, NAMES("10/", "2.orbax-checkpoint-tmp/", "2/", "1/",
                               "metadata/", "7", "x/")),
               4);
  expect_step(&v[0], 1, false);
  expect_step(&v[1], 2, false);
  expect_step(&v[2], 2, true);
  expect_step(&v[3], 10, false);
  free(v);
}

Test(place, prefixed_names_count_where_there_are_no_plain_numbers) {
  cairn__step_name_t *v;
  cr_assert_eq(steps(&v, NAMES("ckpt_000042/", "ckpt_1234567/")), 2);
  expect_step(&v[0], 42, false);
  free(v);
  cr_assert_eq(steps(&v, NAMES("eval_5/", "6/")), 1);
  expect_step(&v[0], 6, false);
  free(v);
}

Test(place, temporary_without_a_number_is_listed_first) {
  cairn__step_name_t *v;
  cr_assert_eq(steps(&v, NAMES("best.orbax-checkpoint-tmp-17/", "4/")), 2);
  expect_step(&v[0], -1, true);
  expect_step(&v[1], 4, false);
  free(v);
}

Test(place, number_that_does_not_fit_is_no_step) {
  cairn__step_name_t *v;
  cr_assert_eq(steps(&v, NAMES("9223372036854775807/", "9223372036854775808/")),
               1);
  expect_step(&v[0], INT64_MAX, false);
  free(v);
}
