/* `_METADATA`: what is refused, what old files may leave out, and that every
 * file of the fixtures comes out of our emitter byte for byte. */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tree_meta.h"

#define ENTRY(key, path, value) \
  "\"" key "\": {\"key_metadata\": [" path "], \"value_metadata\": " value "}"
#define KEY(k) "{\"key\": \"" k "\", \"key_type\": 2}"
#define SEQ(k) "{\"key\": \"" k "\", \"key_type\": 1}"
#define ARRAY "{\"value_type\": \"np.ndarray\", \"skip_deserialize\": false}"
#define NONE "{\"value_type\": \"None\", \"skip_deserialize\": true}"
#define TREE(entries) "{\"tree_metadata\": {" entries "}}"

static cairn_code_t parse(const char *text, cairn__tree_meta_t *m,
                          cairn_error_t *err) {
  *err = (cairn_error_t){0};
  return cairn__tree_meta_parse(cairn_bytes_str(text), m, err);
}

Test(tree_meta, flags_that_old_files_lack_have_orbax_defaults) {
  cairn__tree_meta_t m;
  cairn_error_t err;
  cr_assert_eq(parse(TREE(ENTRY("('a',)", KEY("a"), ARRAY)), &m, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(m.n, 1);
  cr_assert_eq(m.use_ocdbt, CAIRN__OCDBT_ABSENT);
  cr_assert_not(m.use_zarr3);
  cr_assert_not(m.stores_fill);
  cairn__tree_meta_free(&m);
}

Test(tree_meta, null_use_ocdbt_counts_as_absent) {
  cairn__tree_meta_t m;
  cairn_error_t err;
  cr_assert_eq(parse("{\"tree_metadata\": {}, \"use_ocdbt\": null, "
                     "\"use_zarr3\": true, \"more\": [1]}",
                     &m, &err),
               CAIRN_OK);
  cr_assert_eq(m.use_ocdbt, CAIRN__OCDBT_ABSENT);
  cr_assert(m.use_zarr3);
  cairn__tree_meta_free(&m);
}

Test(tree_meta, names_come_from_key_metadata_not_from_the_tree_key) {
  cairn__tree_meta_t m;
  cairn_error_t err;
  cr_assert_eq(
      parse(TREE(ENTRY("anything", KEY("a") ", " SEQ("10"), ARRAY)), &m, &err),
      CAIRN_OK);
  cr_assert_eq(m.entries[0].path.n, 2);
  cr_assert_eq(m.entries[0].path.keys[1].type, CAIRN_KEY_SEQ);
  cr_assert_eq(m.entries[0].path.keys[1].index, 10);
  cr_assert_eq(m.entries[0].name.n, 4);
  cr_assert_arr_eq(m.entries[0].name.p, "a.10", 4);
  cairn__tree_meta_free(&m);
}

/* orbax.md 1.6: a path that is a proper prefix of another is dropped. */
Test(tree_meta, path_above_another_is_dropped) {
  cairn__tree_meta_t m;
  cairn_error_t err;
  cr_assert_eq(parse(TREE(ENTRY("1", KEY("b"), ARRAY) ", " ENTRY(
                         "2", KEY("a") ", " KEY("c"),
                         ARRAY) ", " ENTRY("3", KEY("a"), NONE)),
                     &m, &err),
               CAIRN_OK);
  cr_assert_eq(m.n, 2);
  cr_assert_arr_eq(m.entries[0].name.p, "b", 1);
  cr_assert_arr_eq(m.entries[1].name.p, "a.c", 3);
  cairn__tree_meta_free(&m);
}

Test(tree_meta, name_that_begins_like_another_is_not_above_it) {
  cairn__tree_meta_t m;
  cairn_error_t err;
  cr_assert_eq(
      parse(TREE(ENTRY("1", KEY("a"), ARRAY) ", " ENTRY(
                "2", KEY("ab"), ARRAY) ", " ENTRY("3", KEY("a.b"), ARRAY)),
            &m, &err),
      CAIRN_OK);
  cr_assert_eq(m.n, 3);
  cairn__tree_meta_free(&m);
}

static const struct bad {
  const char *text;
  cairn_code_t code;
  const char *says;
} bad[] = {
    {"", CAIRN_CORRUPT, "_METADATA"},
    {"[]", CAIRN_CORRUPT, "not an object"},
    {"{\"tree_metadata\": {", CAIRN_CORRUPT, "_METADATA"},
    {"{}", CAIRN_CORRUPT, "tree_metadata"},
    {"{\"tree_metadata\": []}", CAIRN_CORRUPT, "tree_metadata"},
    {"{\"tree_metadata\": {}, \"use_zarr3\": 1}", CAIRN_CORRUPT, "use_zarr3"},
    {TREE("\"x\": 1"), CAIRN_CORRUPT, "entry x: key_metadata"},
    {TREE("\"x\": {\"key_metadata\": {}}"), CAIRN_CORRUPT, "key_metadata"},
    {TREE("\"x\": {\"key_metadata\": []}"), CAIRN_CORRUPT, "value_type"},
    {TREE(ENTRY("x", "7", ARRAY)), CAIRN_CORRUPT, "key is not a string"},
    {TREE(ENTRY("x", "{\"key\": 7, \"key_type\": 2}", ARRAY)), CAIRN_CORRUPT,
     "key is not a string"},
    {TREE(ENTRY("x", "{\"key\": \"a\"}", ARRAY)), CAIRN_CORRUPT, "key_type"},
    {TREE(ENTRY("x", "{\"key\": \"a\", \"key_type\": 3}", ARRAY)),
     CAIRN_UNSUPPORTED, "key_type"},
    {TREE(ENTRY("x", SEQ("-1"), ARRAY)), CAIRN_CORRUPT, "index"},
    {TREE(ENTRY("x", SEQ("01"), ARRAY)), CAIRN_CORRUPT, "index"},
    {TREE(ENTRY("x", SEQ("9223372036854775808"), ARRAY)), CAIRN_CORRUPT,
     "index"},
    {TREE(ENTRY("x", SEQ(""), ARRAY)), CAIRN_CORRUPT, "index"},
    {TREE(ENTRY("x", KEY("a"), "{}")), CAIRN_CORRUPT, "value_type"},
    {TREE(ENTRY("x", KEY("a"), "{\"value_type\": \"np.ndarray\"}")),
     CAIRN_CORRUPT, "skip_deserialize"},
    {TREE(ENTRY("x", KEY("a"),
                "{\"value_type\": 1, \"skip_deserialize\": false}")),
     CAIRN_CORRUPT, "value_type"},
    {TREE(ENTRY("1", KEY("a"), ARRAY) ", " ENTRY("2", KEY("a"), ARRAY)),
     CAIRN_CORRUPT, "two entries for"},
};

Test(tree_meta, bad_files_are_refused_saying_what_is_wrong) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn__tree_meta_t m;
    cairn_error_t err;
    cr_assert_eq(parse(bad[i].text, &m, &err), bad[i].code, "case %zu: %s", i,
                 err.message);
    cr_assert(strstr(err.message, bad[i].says), "case %zu: %s", i, err.message);
    cr_assert_null(m.entries);
  }
}

Test(tree_meta, hundred_thousand_brackets_are_an_error) {
  enum { DEEP = 100000 };
  char *text = malloc(DEEP + 1);
  cairn__tree_meta_t m;
  cairn_error_t err;
  memset(text, '[', DEEP);
  text[DEEP] = 0;
  cr_assert_eq(parse(text, &m, &err), CAIRN_CORRUPT);
  free(text);
}

/* Fixtures ------------------------------------------------------------------
 */

static const char *const new_members[] = {
    "use_ocdbt", "store_array_data_equal_to_fill_value", "custom_metadata"};

/* Files that a save of ours could have made: all members that 0.12.8 writes,
 * with the values that we write. */
static bool could_be_ours(const cairn_json_t *root) {
  for (size_t i = 0; i < sizeof new_members / sizeof *new_members; i++)
    if (cairn_json_get(root, new_members[i]) == NULL) return false;
  return cairn_json_get(root, "use_ocdbt")->b &&
         cairn_json_get(root, "store_array_data_equal_to_fill_value")->b &&
         cairn_json_get(root, "custom_metadata")->kind == CAIRN_JSON_NULL &&
         cairn_json_get(root, "value_metadata_tree") == NULL;
}

static void re_emit(const cairn__tree_meta_t *m, cairn_buf_t *out) {
  cairn__meta_writer_t w;
  const cairn_json_t *v = cairn_json_get(m->doc.root, "tree_metadata")->child;
  cairn__meta_begin(&w, out);
  for (size_t i = 0; i < m->n; i++, v = v->next) {
    const cairn_json_t *shape =
        cairn_json_get(cairn_json_get(v, "value_metadata"), "write_shape");
    int64_t numbers[CAIRN_MAX_RANK];
    int rank = 0;
    for (const cairn_json_t *n = shape ? shape->child : NULL; n; n = n->next)
      numbers[rank++] = n->i;
    cairn__meta_put(&w, m->entries[i].path, m->entries[i].form,
                    shape ? numbers : NULL, rank);
  }
  cairn__meta_end(&w, m->use_zarr3);
}

static int seen, compared, differing;

static int each_file(const char *path, const struct stat *st, int type,
                     struct FTW *ftw) {
  (void)st;
  if (type != FTW_F || strcmp(path + ftw->base, "_METADATA") != 0) return 0;
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t cap = 0;
  ssize_t n = getdelim(&text, &cap, EOF, f);
  fclose(f);
  cairn__tree_meta_t m;
  cairn_error_t err = {0};
  seen++;
  cr_expect_eq(cairn__tree_meta_parse(cairn_bytes(text, (size_t)n), &m, &err),
               CAIRN_OK, "%s: %s", path, err.message);
  if (err.code == CAIRN_OK && could_be_ours(m.doc.root)) {
    cairn_buf_t out = {0};
    compared++;
    re_emit(&m, &out);
    if (out.n != (size_t)n || memcmp(out.p, text, out.n) != 0) {
      differing++;
      cr_log_error("%s differs", path);
    }
    cairn_buf_reset(&out);
  }
  cairn__tree_meta_free(&m);
  free(text);
  return 0;
}

Test(tree_meta, files_of_orbax_come_out_byte_for_byte) {
  if (access(CAIRN_FIXTURES "/orbax", R_OK) != 0)
    cr_skip("no fixtures at " CAIRN_FIXTURES);
  cr_assert_eq(nftw(CAIRN_FIXTURES "/orbax", each_file, 32, FTW_PHYS), 0);
  cr_assert_eq(differing, 0);
  cr_assert_gt(seen, 60, "%d files", seen);
  cr_assert_gt(compared, 40, "%d of %d compared", compared, seen);
}
