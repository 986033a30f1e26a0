/* Which trees can be stored, and paths as text. */
#include <criterion/criterion.h>

#include "cairn/tree.h"

static int64_t value;
static const cairn_leaf_t scalar = {
    .kind = CAIRN_LEAF_SCALAR, .dtype = CAIRN_I64, .data = &value};

#define D(s) \
  { CAIRN_KEY_DICT, {(const uint8_t *)(s), sizeof(s) - 1}, 0 }
#define A(s) \
  { CAIRN_KEY_ATTR, {(const uint8_t *)(s), sizeof(s) - 1}, 0 }
#define S(i) \
  { CAIRN_KEY_SEQ, {NULL, 0}, (i) }
#define I(i) \
  { CAIRN_KEY_INT, {NULL, 0}, (i) }
#define PATH(...)                       \
  ((const cairn_key_t[]){__VA_ARGS__}), \
      sizeof((const cairn_key_t[]){__VA_ARGS__}) / sizeof(cairn_key_t)

static cairn_tree_t *new_tree(void) {
  cairn_tree_t *t = NULL;
  cr_assert_eq(cairn_tree_new(&t, NULL), CAIRN_OK);
  return t;
}

static void put_leaf(cairn_tree_t *t, const cairn_key_t *path, size_t n,
                     const cairn_leaf_t *leaf) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_put(t, path, n, leaf, NULL, &err), CAIRN_OK, "%s",
               err.message);
}

static void put(cairn_tree_t *t, const cairn_key_t *path, size_t n) {
  put_leaf(t, path, n, &scalar);
}

static void storable(cairn_tree_t *t) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_tree_check(t, &err), CAIRN_OK, "%s", err.message);
  cairn_tree_free(t);
}

static void refused(cairn_tree_t *t, const char *text) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_tree_check(t, &err), CAIRN_INVALID);
  cr_expect(strstr(err.message, text), "'%s' in '%s'", text, err.message);
  cairn_tree_free(t);
}

Test(tree_check, empty_tree) {
  refused(new_tree(), "the tree is empty");
}

/* arrays.md D9: {"a.b": x} and {"a": {"b": y}}. */
Test(tree_check, two_paths_of_one_name) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("a.b")));
  put(t, PATH(D("a"), D("b")));
  refused(t, "have one name, 'a.b'");
}

Test(tree_check, leaf_below_a_leaf) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("a"), D("b"), D("c")));
  put(t, PATH(D("a")));
  refused(t, "a['b']['c']: is below another leaf, a");
}

/* arrays.md D9: {"a": .., "a/0": ..}. */
Test(tree_check, storage_keys_that_meet) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("a")));
  put(t, PATH(D("a/0")));
  refused(t, "a and ['a/0']: the keys they would be stored under meet");
  t = new_tree();
  put(t, PATH(D("a"), D("b")));
  put(t, PATH(D("a.b/x/y")));
  refused(t, "meet");
  t = new_tree(); /* 'a.b' does not begin with 'a/' */
  put(t, PATH(D("x"), D("a")));
  put(t, PATH(D("x"), D("ab/0")));
  storable(t);
}

Test(tree_check, strings_and_arrays_are_stored_apart) {
  char text[8] = "hi";
  cairn_leaf_t string = {
      .kind = CAIRN_LEAF_STRING, .data = text, .capacity = sizeof text};
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("a")));
  put_leaf(t, PATH(D("a/0")), &string);
  storable(t);
  t = new_tree(); /* arrays.md D10 */
  put_leaf(t, PATH(D("a")), &string);
  put_leaf(t, PATH(D("a/b")), &string);
  refused(t, "meet");
  t = new_tree(); /* nothing is stored for it */
  put_leaf(t, PATH(D("a")), &(cairn_leaf_t){.kind = CAIRN_LEAF_PLACEHOLDER});
  put(t, PATH(D("a/0")));
  storable(t);
}

Test(tree_check, leaf_of_the_empty_name_is_alone) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("")));
  storable(t);
  t = new_tree();
  put(t, PATH(D("")));
  put(t, PATH(D("0")));
  refused(t, "meet");
}

Test(tree_check, lists_with_gaps) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("l"), S(0), D("x")));
  put(t, PATH(D("l"), S(2)));
  refused(t, "l: a list with gaps: 2 places, the last of them is 2");
  t = new_tree();
  put(t, PATH(S(1)));
  refused(t, "(the whole tree): a list with gaps");
  t = new_tree();
  put(t, PATH(D("l"), S(INT64_MAX)));
  refused(t, "the last of them is 9223372036854775807");
  t = new_tree();
  for (int i = 9; i >= 0; i--) put(t, PATH(D("l"), S(i)));
  storable(t);
}

Test(tree_check, list_beside_names) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("l"), S(0)));
  put(t, PATH(D("l"), D("x")));
  refused(t, "l[0]: a place in a list beside names");
}

/* {1: .., "1": ..}: the names differ further down, the dict's keys do not. */
Test(tree_check, keys_of_one_text) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("d"), I(1), D("a")));
  put(t, PATH(D("d"), D("1"), D("b")));
  refused(t, "d[1] and d['1']: keys of one text");
  t = new_tree();
  put(t, PATH(D("d"), A("x"), D("a")));
  put(t, PATH(D("d"), D("x"), D("b")));
  refused(t, "keys of one text");
  t = new_tree();
  put(t, PATH(S(0), D("a")));
  put(t, PATH(I(0), D("b")));
  refused(t, "keys of one text");
  t = new_tree();
  put(t, PATH(D("d"), I(1)));
  put(t, PATH(D("d"), I(-1)));
  put(t, PATH(D("e"), D("1")));
  storable(t);
}

Test(tree_check, what_is_not_utf8) {
  char text[4] = {'a', (char)0xff, 0, 0};
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("a\xff")));
  refused(t, "a key that is not UTF-8");
  t = new_tree();
  put_leaf(
      t, PATH(D("s")),
      &(cairn_leaf_t){.kind = CAIRN_LEAF_STRING, .data = text, .capacity = 4});
  refused(t, "s: text is not UTF-8");
  t = new_tree();
  put_leaf(
      t, PATH(D("s")),
      &(cairn_leaf_t){.kind = CAIRN_LEAF_STRING, .data = text, .capacity = 2});
  refused(t, "s: text without a NUL in 2 bytes");
}

/* What was found once is kept, but not for longer than it is true. */
Test(tree_check, sees_what_changed_since_the_last_time) {
  char text[4] = "a";
  cairn_tree_t *t = new_tree();
  put_leaf(
      t, PATH(D("s")),
      &(cairn_leaf_t){.kind = CAIRN_LEAF_STRING, .data = text, .capacity = 4});
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_OK);
  text[0] = (char)0xff;
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_INVALID);
  text[0] = 'b';
  cr_expect_eq(cairn_tree_check(t, NULL), CAIRN_OK);
  put(t, PATH(D("s"), D("x")));
  refused(t, "is below another leaf");
}

Test(tree_check, put_that_failed_leaves_no_trace) {
  cairn_tree_t *t = new_tree();
  put(t, PATH(D("l"), S(0)));
  cairn_leaf_t bad = {.kind = CAIRN_LEAF_SCALAR, .dtype = CAIRN_I64};
  cr_expect_eq(cairn_tree_put(t, PATH(D("l"), S(5)), &bad, NULL, NULL),
               CAIRN_INVALID);
  cr_expect_eq(cairn_tree_put(t, PATH(D("l"), D("x")), &bad, NULL, NULL),
               CAIRN_INVALID);
  storable(t);
}

static void expect_text(const cairn_key_t *path, size_t n, size_t cap,
                        const char *want) {
  char out[128];
  memset(out, '#', sizeof out);
  cairn_path_text(path, n, out, cap);
  cr_expect_str_eq(out, want);
  cr_expect_lt(strlen(out), cap);
}

/* The style of the header: params['w'][0].x. */
Test(path_text, as_in_python) {
  expect_text(PATH(D("params"), D("w"), S(0), A("x")), 128, "params['w'][0].x");
  expect_text(PATH(I(-3), D("it's")), 128, "[-3][\"it's\"]");
  expect_text(PATH(D("a b"), D("n\n")), 128, "['a b']['n\\n']");
  expect_text(PATH(D("1a")), 128, "['1a']");
  expect_text(PATH(D("")), 128, "['']");
  expect_text(PATH(A("x"), A("y z")), 128, "x['y z']");
  expect_text(NULL, 0, 128, "(the whole tree)");
}

Test(path_text, cut_text_ends_in_dots_and_in_whole_characters) {
  expect_text(PATH(D("params"), D("w")), 12, "params['w']");
  expect_text(PATH(D("params"), D("w")), 11, "params[...");
  expect_text(PATH(D("params")), 7, "params");
  expect_text(PATH(D("params")), 6, "pa...");
  expect_text(PATH(D("p"), D("\xc3\xa9\xc3\xa9")), 9, "p['\xc3\xa9...");
  expect_text(PATH(D("p"), D("\xc3\xa9\xc3\xa9")), 8, "p['...");
  expect_text(PATH(D("params")), 2, ".");
  expect_text(PATH(D("params")), 1, "");
}
