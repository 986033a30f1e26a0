/* Targets that are not what is stored: everything that differs is named, and
 * not a byte of the target has changed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "handlers.h"
#include "support/item_harness.h"
#include "support/kv_call.h"

static harness_t h;
static cairn_tree_t *target;
static float w[32], v[8];
static double rate;
static char text[16];

static cairn_code_t put_array(cairn_tree_t *t, const char *path,
                              cairn_dtype_t type, int64_t a, int64_t b,
                              void *data) {
  cairn_error_t err = {0};
  cairn_array_t array = {
      .dtype = type, .rank = 2, .shape = {a, b}, .data = data};
  return cairn_tree_put_array(t, path, &array, &err);
}

static void put_none(cairn_tree_t *t, const char *name, cairn_leaf_kind_t k) {
  cairn_error_t err = {0};
  cairn_key_t path[] = {cairn_key(name)};
  cairn_leaf_t leaf = {.kind = k};
  cr_assert_eq(cairn_tree_put(t, path, 1, &leaf, NULL, &err), CAIRN_OK);
}

static cairn_tree_t *new_tree(void) {
  cairn_tree_t *t;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(&t, &err), CAIRN_OK);
  return t;
}

/* Stored: w [4, 8], v [2, 4], rate 0.1, text, none, dict. */
static void setup(void) {
  cairn_error_t err = {0};
  cairn_tree_t *t = new_tree();
  void *values[] = {t};
  rate = 0.1;
  strcpy(text, "hello");
  for (int i = 0; i < 32; i++) w[i] = (float)i;
  cr_assert_eq(put_array(t, "w", CAIRN_F32, 4, 8, w), CAIRN_OK);
  cr_assert_eq(put_array(t, "v", CAIRN_F32, 2, 4, v), CAIRN_OK);
  cr_assert_eq(cairn_tree_put_double(t, "rate", &rate, &err), CAIRN_OK);
  cr_assert_eq(cairn_tree_put_string(t, "text", text, sizeof text, &err),
               CAIRN_OK);
  put_none(t, "none", CAIRN_LEAF_NONE);
  put_none(t, "dict", CAIRN_LEAF_EMPTY_DICT);
  harness_open(&h, 1, NULL);
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, values, &err), CAIRN_OK,
               "%s", err.message);
  cairn_tree_free(t);
  target = new_tree();
  memset(w, 0xa5, sizeof w);
  memset(v, 0xa5, sizeof v);
  rate = 7;
  strcpy(text, "-");
}

static void teardown(void) {
  cairn_tree_free(target);
  harness_close(&h);
}

TestSuite(tree_match, .init = setup, .fini = teardown);

static cairn_code_t restore(cairn_error_t *err) {
  void *values[] = {target};
  *err = (cairn_error_t){0};
  return harness_restore(&h, &cairn__tree_handler, values, err);
}

static void untouched(void) {
  uint8_t want[sizeof w];
  memset(want, 0xa5, sizeof want);
  cr_assert_arr_eq((uint8_t *)w, want, sizeof w);
  cr_assert_arr_eq((uint8_t *)v, want, sizeof v);
  cr_assert_eq(rate, 7);
  cr_assert_str_eq(text, "-");
}

static void mismatch(const char *const *parts) {
  cairn_error_t err;
  cr_assert_eq(restore(&err), CAIRN_MISMATCH, "%s", err.message);
  for (; *parts != NULL; parts++)
    cr_assert(strstr(err.message, *parts), "no '%s' in: %s", *parts,
              err.message);
  untouched();
}
#define MISMATCH(...) mismatch((const char *const[]){__VA_ARGS__, NULL})

/* cases.md 94 */
Test(tree_match, missing_unexpected_and_unlike_are_all_named) {
  put_array(target, "w", CAIRN_F32, 8, 4, w);
  put_array(target, "x", CAIRN_F32, 2, 4, v);
  MISMATCH("1 in the target but not stored: x",
           "5 stored but not in the target", "v", "rate", "text", "none",
           "dict", "w (float32[8, 4]; stored: float32[4, 8])");
}

Test(tree_match, another_type_of_the_same_size) {
  h.opts.partial = true;
  put_array(target, "w", CAIRN_I32, 4, 8, w);
  MISMATCH("w (int32[4, 8]; stored: float32[4, 8])");
}

Test(tree_match, another_rank) {
  cairn_error_t err = {0};
  cairn_array_t flat = {
      .dtype = CAIRN_F32, .rank = 1, .shape = {32}, .data = w};
  h.opts.partial = true;
  cairn_tree_put_array(target, "w", &flat, &err);
  MISMATCH("w (float32[32]; stored: float32[4, 8])");
}

Test(tree_match, another_kind) {
  cairn_error_t err = {0};
  h.opts.partial = true;
  cairn_tree_put_string(target, "w", text, sizeof text, &err);
  put_array(target, "none", CAIRN_F32, 2, 4, v);
  put_none(target, "dict", CAIRN_LEAF_EMPTY_LIST);
  MISMATCH("3 of another kind", "w (a string; stored: np.ndarray)",
           "none (an array; stored: None)",
           "dict (an empty list; stored: Dict)");
}

Test(tree_match, partial_takes_what_is_asked_for) {
  cairn_error_t err;
  h.opts.partial = true;
  put_array(target, "w", CAIRN_F32, 4, 8, w);
  cr_assert_eq(restore(&err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(w[31], 31.0f);
  cr_assert_eq(h.bytes[0], 128);
}

Test(tree_match, partial_still_wants_every_leaf_of_the_target) {
  h.opts.partial = true;
  put_array(target, "x", CAIRN_F32, 2, 4, v);
  MISMATCH("1 in the target but not stored: x");
}

Test(tree_match, first_twenty_are_named_and_all_are_counted) {
  char name[16];
  h.opts.partial = true;
  for (int i = 0; i < 45; i++) {
    snprintf(name, sizeof name, "n%02d", i);
    put_array(target, name, CAIRN_F32, 2, 4, v);
  }
  cairn_error_t err;
  MISMATCH("45 in the target but not stored", "n00", "n19", "and 25 more");
  restore(&err);
  cr_assert_null(strstr(err.message, "n20"));
}

Test(tree_match, counts_are_said_once_unless_the_lists_may_be_cut) {
  char name[64];
  cairn_error_t err;
  put_array(target, "x", CAIRN_F32, 2, 4, v);
  restore(&err);
  cr_assert(strstr(err.message,
                   "differ: 1 in the target but not stored: x; 6 stored but "
                   "not in the target: "),
            "%s", err.message);
  for (int i = 0; i < 20; i++) {
    snprintf(name, sizeof name, "%040d", i);
    put_array(target, name, CAIRN_F32, 2, 4, v);
  }
  MISMATCH("differ (21 not stored, 6 not in the target, 0 unlike): ");
}

Test(tree_match, a_sequence_is_not_a_dict_with_digits) {
  cairn_error_t err = {0};
  cairn_key_t path[] = {cairn_key("w"), cairn_key_seq(0)};
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_NONE};
  h.opts.partial = true;
  cr_assert_eq(cairn_tree_put(target, path, 2, &leaf, NULL, &err), CAIRN_OK);
  MISMATCH("1 in the target but not stored: w[0]");
}

Test(tree_match, placeholders_are_not_read) {
  cairn_error_t err = {0};
  put_none(target, "w", CAIRN_LEAF_PLACEHOLDER);
  put_none(target, "v", CAIRN_LEAF_PLACEHOLDER);
  put_none(target, "text", CAIRN_LEAF_PLACEHOLDER);
  put_none(target, "none", CAIRN_LEAF_NONE);
  put_none(target, "dict", CAIRN_LEAF_EMPTY_DICT);
  cairn_tree_put_double(target, "rate", &rate, &err);
  cr_assert_eq(restore(&err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(rate, 0.1);
  cr_assert_eq(h.bytes[0], 8);
}

Test(tree_match, too_little_room_for_a_string) {
  cairn_error_t err = {0};
  h.opts.partial = true;
  cairn_tree_put_string(target, "text", text, 5, &err);
  MISMATCH("text (room for 5 bytes; stored: 5 and a NUL)");
}

Test(tree_match, exactly_enough_room_for_a_string) {
  cairn_error_t err = {0};
  h.opts.partial = true;
  cairn_tree_put_string(target, "text", text, 6, &err);
  cr_assert_eq(restore(&err), CAIRN_OK, "%s", err.message);
  cr_assert_str_eq(text, "hello");
}

Test(tree_match, scalar_that_cannot_be_the_target_type) {
  cairn_error_t err = {0};
  cairn_key_t path[] = {cairn_key("rate")};
  int32_t n = 5;
  cairn_leaf_t leaf = {
      .kind = CAIRN_LEAF_SCALAR, .dtype = CAIRN_I32, .data = &n};
  h.opts.partial = true;
  put_array(target, "w", CAIRN_F32, 4, 8, w);
  cairn_tree_put(target, path, 1, &leaf, NULL, &err);
  MISMATCH("rate (the stored float64 is no int32)");
  cr_assert_eq(n, 5);
}

Test(tree_match, scalar_of_another_type_that_is_the_same_number) {
  cairn_error_t err = {0};
  int64_t step = 1200;
  uint16_t as_u16 = 0;
  cairn_tree_t *t = new_tree();
  void *values[] = {t};
  cairn_key_t path[] = {cairn_key("step")};
  cairn_leaf_t leaf = {
      .kind = CAIRN_LEAF_SCALAR, .dtype = CAIRN_U16, .data = &as_u16};
  harness_close(&h);
  harness_open(&h, 1, NULL);
  cairn_tree_put_int64(t, "step", &step, &err);
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, values, &err), CAIRN_OK);
  cairn_tree_free(t);
  cairn_tree_put(target, path, 1, &leaf, NULL, &err);
  cr_assert_eq(restore(&err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(as_u16, 1200);
}

/* What is stored is wrong, not the target
 * --------------------------------------
 */

static void remove_file(const char *name) {
  cairn_error_t err = {0};
  cr_assert_eq(kv_call_remove(h.dir, cairn_bytes_str(name), NULL, NULL, &err),
               CAIRN_OK);
}

static void put_file(const char *name, const char *content) {
  cairn_error_t err = {0};
  cr_assert_eq(kv_call_put(h.dir, name, content, &err), CAIRN_OK, "%s",
               err.message);
}

Test(tree_match, no_metadata_is_not_found) {
  cairn_error_t err;
  remove_file("_METADATA");
  put_array(target, "w", CAIRN_F32, 4, 8, w);
  cr_assert_eq(restore(&err), CAIRN_NOT_FOUND);
  cr_assert(strstr(err.message, "_METADATA"), "%s", err.message);
}

/* E-ST-01, 02, 04 */
Test(tree_match, strings_that_are_not_there_or_none) {
  static const struct {
    const char *content, *says;
  } bad[] = {{NULL, "_strings.json is not there"},
             {"{}", "no such member"},
             {"{\"text\":7}", "not a string"},
             {"{\"text\":\"x\"", "_strings.json"},
             {"[]", "not an object"}};
  cairn_error_t err = {0};
  h.opts.partial = true;
  cairn_tree_put_string(target, "text", text, sizeof text, &err);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (bad[i].content != NULL)
      put_file("_strings.json", bad[i].content);
    else
      remove_file("_strings.json");
    cr_assert_eq(restore(&err), CAIRN_CORRUPT, "%zu: %s", i, err.message);
    cr_assert(strstr(err.message, bad[i].says), "%zu: %s", i, err.message);
    untouched();
  }
}

#define ENTRY(name, type, skip)                                         \
  "\"x" name "\": {\"key_metadata\": [{\"key\": \"" name                \
  "\", \"key_type\": 2}], \"value_metadata\": {\"value_type\": \"" type \
  "\", \"skip_deserialize\": " skip "}}"
#define METADATA(entries)         \
  "{\"tree_metadata\": {" entries \
  "}, \"use_ocdbt\": true, "      \
  "\"use_zarr3\": true, \"store_array_data_equal_to_fill_value\": true}"

/* cases.md 100 */
Test(tree_match, array_that_is_listed_and_not_stored) {
  cairn_error_t err;
  put_file("_METADATA", METADATA(ENTRY("w", "np.ndarray", "false") ", " ENTRY(
                            "q", "np.ndarray", "false")));
  put_array(target, "w", CAIRN_F32, 4, 8, w);
  put_array(target, "q", CAIRN_F32, 2, 4, v);
  cr_assert_eq(restore(&err), CAIRN_CORRUPT);
  cr_assert(strstr(err.message, "the first of them q"), "%s", err.message);
  untouched();
}

Test(tree_match, value_types_of_others) {
  put_file("_METADATA",
           METADATA(ENTRY("w", "Unknown", "false") ", " ENTRY(
               "v", "np.ndarray", "true") ", " ENTRY("rate", "placeholder",
                                                     "false")));
  cairn_error_t err = {0};
  put_array(target, "w", CAIRN_F32, 4, 8, w);
  put_array(target, "v", CAIRN_F32, 2, 4, v);
  cairn_tree_put_double(target, "rate", &rate, &err);
  MISMATCH("w (an array; stored: Unknown)",
           "v (an array; stored: np.ndarray without data)",
           "rate (a scalar; stored: placeholder)");
}

Test(tree_match, verify_compares_metadata_and_store_both_ways) {
  cairn_error_t err = {0};
  put_file("_METADATA",
           METADATA(ENTRY("w", "np.ndarray", "false") ", " ENTRY(
               "q", "np.ndarray", "false") ", " ENTRY("s", "string", "false")));
  char *damage = harness_verify(&h, &cairn__tree_handler, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  cr_assert(strstr(damage, "leaf q is in _METADATA and not in the store"), "%s",
            damage);
  cr_assert(strstr(damage, "array 'v' is in the store and not in _METADATA"),
            "%s", damage);
  cr_assert(strstr(damage, "array 'rate' is in the store"), "%s", damage);
  cr_assert(strstr(damage, "leaf s: _strings.json has no such member"), "%s",
            damage);
  cr_assert_null(strstr(damage, "'w'"), "%s", damage);
  free(damage);
}

Test(tree_match, verify_reports_metadata_that_is_cut) {
  cairn_error_t err = {0};
  put_file("_METADATA", "{\"tree_metadata\": {");
  char *damage = harness_verify(&h, &cairn__tree_handler, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  cr_assert_eq(strncmp(damage, "_METADATA: ", 11), 0, "%s", damage);
  free(damage);
}
