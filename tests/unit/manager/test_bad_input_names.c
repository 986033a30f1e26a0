/* Names nobody would choose, from keys to disk and back: each comes back byte
 * for byte or is refused before a file is written; nothing is ever made outside
 * the step's directory. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lone.h"
#include "support/ranks.h"

static cairn_key_t key_of(const void *p, size_t n) {
  return (cairn_key_t){.type = CAIRN_KEY_DICT, .name = cairn_bytes(p, n)};
}

static void put_array(cairn_tree_t *t, const cairn_key_t *path, size_t n,
                      float *data) {
  cairn_error_t err = {0};
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_ARRAY};
  cairn_array_t a = {.dtype = CAIRN_F32, .rank = 1, .shape = {3}, .data = data};
  cr_assert_eq(cairn_tree_put(t, path, n, &leaf, &a, &err), CAIRN_OK, "%s",
               err.message);
}

/* A root one level below a directory that must keep this one entry. */
struct place {
  char *outer, root[300];
};

static struct place place_new(void) {
  struct place p = {.outer = temp_dir()};
  snprintf(p.root, sizeof(p.root), "%s/root", p.outer);
  return p;
}

static void place_free(struct place *p) {
  cr_assert_eq(entries_in(p->outer), 1, "something is outside of the root");
  temp_dir_remove(p->outer);
}

#define MAX_NAMES 64

struct names {
  cairn_key_t keys[MAX_NAMES];
  size_t n;
};

static void names_add(struct names *s, const void *p, size_t n) {
  s->keys[s->n++] = key_of(p, n);
}

static struct names odd_names(void) {
  static const char *const text[] = {"a/b",
                                     "/a",
                                     "a/",
                                     "a//c",
                                     "..",
                                     "../..",
                                     "../../x",
                                     ".",
                                     "./a",
                                     "~",
                                     "a~1b",
                                     "c:\\x",
                                     "%2F",
                                     "%",
                                     "a b",
                                     " ",
                                     "\t",
                                     "\n",
                                     "\r\n",
                                     "\x01\x02",
                                     "\x7f",
                                     "'",
                                     "\"",
                                     "{\"",
                                     "c/0",
                                     "zarr.json",
                                     ".zarray",
                                     "0",
                                     "-1",
                                     "manifest.ocdbt",
                                     "d",
                                     "ocdbt.process_0",
                                     "_METADATA",
                                     "x.__lock",
                                     "\xc3\xa9",
                                     "e\xcc\x81",
                                     "\xf0\x9f\xa6\x8a",
                                     "\xd7\xa9\xd7\x9c",
                                     "A",
                                     "a",
                                     "None",
                                     "NaN",
                                     "__proto__",
                                     "$ref"};
  struct names s = {.n = 0};
  for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
    names_add(&s, text[i], strlen(text[i]));
  names_add(&s, "n\0ul", 4);
  names_add(&s, "\0", 1);
  return s;
}

static cairn_code_t check_alone(const cairn_key_t *k, float *data,
                                cairn_error_t *err) {
  cairn_tree_t *t = tree_of_nothing();
  put_array(t, k, 1, data);
  cairn_code_t rc = cairn_tree_check(t, err);
  cairn_tree_free(t);
  return rc;
}

/* All at once. */
static void odd_names_come_back(cairn_profile_t profile) {
  struct place p = place_new();
  struct names s = odd_names();
  cairn_manager_opts_t o = {.checkpointer = {.profile = profile}};
  static float in[MAX_NAMES][3], out[MAX_NAMES][3];
  cairn_error_t err = {0};
  lone_t l;
  lone_open(&l, p.root, &o);
  cairn_tree_t *from = tree_of_nothing(), *to = tree_of_nothing();
  for (size_t i = 0; i < s.n; i++) {
    char top[24]; /* of its own: some of these keys are above others */
    snprintf(top, sizeof(top), "top%zu", i);
    cairn_key_t path[2] = {cairn_key(top), s.keys[i]};
    for (int k = 0; k < 3; k++) in[i][k] = (float)(i * 3) + (float)k;
    put_array(from, path, 2, in[i]);
    put_array(to, path, 2, out[i]);
  }
  cr_assert_eq(lone_save(&l, 1, from, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_restore(l.m, 1, to, NULL, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_arr_eq(in, out, sizeof(in));
  cairn_tree_free(from);
  cairn_tree_free(to);
  cr_assert_eq(lone_close(&l, &err), CAIRN_OK);
  place_free(&p);
}

/* cases.md 89, 91 */
Test(bad_input_names, odd_keys_come_back) {
  odd_names_come_back(CAIRN_PROFILE_CAIRN);
  odd_names_come_back(CAIRN_PROFILE_ORBAX);
  odd_names_come_back(CAIRN_PROFILE_ORBAX_V1);
}

Test(bad_input_names, odd_keys_come_back_one_by_one) {
  struct place p = place_new();
  struct names s = odd_names();
  float in[3] = {1, 2, 3}, out[3];
  lone_t l;
  lone_open(&l, p.root, NULL);
  for (size_t i = 0; i < s.n; i++) {
    cairn_error_t err = {0};
    cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
    put_array(t, &s.keys[i], 1, in);
    put_array(to, &s.keys[i], 1, out);
    memset(out, 0, sizeof(out));
    cr_assert_eq(lone_save(&l, (int64_t)i, t, &err), CAIRN_OK, "%zu: %s", i,
                 err.message);
    cr_assert_eq(cairn_manager_restore(l.m, (int64_t)i, to, NULL, &err),
                 CAIRN_OK, "%zu: %s", i, err.message);
    cr_assert_arr_eq(in, out, sizeof(in));
    cairn_tree_free(t);
    cairn_tree_free(to);
  }
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  place_free(&p);
}

/* cases.md 90 */
Test(bad_input_names, long_keys_come_back) {
  static const size_t lengths[] = {0, 143, 144, 255, 256, 4096, 60000};
  struct place p = place_new();
  char *name = malloc(60000);
  memset(name, 'k', 60000);
  float in[3] = {1, 2, 3}, out[3];
  lone_t l;
  lone_open(&l, p.root, NULL);
  for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
    cairn_error_t err = {0};
    cairn_key_t k = key_of(name, lengths[i]);
    cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
    put_array(t, &k, 1, in);
    put_array(to, &k, 1, out);
    memset(out, 0, sizeof(out));
    cr_assert_eq(lone_save(&l, (int64_t)i, t, &err), CAIRN_OK, "%zu: %s",
                 lengths[i], err.message);
    cr_assert_eq(cairn_manager_restore(l.m, (int64_t)i, to, NULL, &err),
                 CAIRN_OK, "%zu: %s", lengths[i], err.message);
    cr_assert_arr_eq(in, out, sizeof(in));
    cairn_tree_free(t);
    cairn_tree_free(to);
  }
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  free(name);
  place_free(&p);
}

/* cases.md 90: 256 keys are the limit, said when a leaf is put. */
Test(bad_input_names, deep_paths_come_back_or_are_refused) {
  struct place p = place_new();
  char part[100];
  memset(part, 'p', sizeof(part));
  cairn_key_t path[300];
  for (int i = 0; i < 300; i++) path[i] = key_of(part, sizeof(part));
  float in[3] = {1, 2, 3}, out[3] = {0};
  cairn_error_t err = {0};
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_NONE};
  lone_t l;
  lone_open(&l, p.root, NULL);
  cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
  cr_assert_eq(cairn_tree_put(t, path, 300, &leaf, NULL, &err), CAIRN_INVALID);
  cr_assert_not_null(strstr(err.message, "256"), "%s", err.message);
  err = (cairn_error_t){0};
  put_array(t, path, 256, in);
  put_array(to, path, 256, out);
  cr_assert_eq(lone_save(&l, 1, t, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_restore(l.m, 1, to, NULL, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_arr_eq(in, out, sizeof(in));
  cairn_tree_free(t);
  cairn_tree_free(to);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  place_free(&p);
}

/* --- what cannot be stored --- */

/* Refused at the call, naming it, with nothing in the root. */
static void refused(cairn_tree_t *t, const char *word) {
  struct place p = place_new();
  cairn_error_t err = {0};
  lone_t l;
  lone_open(&l, p.root, NULL);
  cr_assert_eq(cairn_manager_save(l.m, 1, t, NULL, &err), CAIRN_INVALID, "%s",
               err.message);
  cr_assert_not_null(strstr(err.message, word), "%s", err.message);
  cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK, "told twice");
  cr_assert_eq(entries_in(p.root), 0);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  cairn_tree_free(t);
  place_free(&p);
}

static cairn_tree_t *tree_of_two(const cairn_key_t *a, size_t na,
                                 const cairn_key_t *b, size_t nb) {
  static float data[3];
  cairn_tree_t *t = tree_of_nothing();
  put_array(t, a, na, data);
  put_array(t, b, nb, data);
  return t;
}

Test(bad_input_names, names_that_collide_are_refused) {
  cairn_key_t ab[] = {cairn_key("a"), cairn_key("b")};
  cairn_key_t joined[] = {cairn_key("a.b")};
  refused(tree_of_two(ab, 2, joined, 1), "a.b");
  refused(tree_of_two(ab, 1, ab, 2), "below another leaf");
  cairn_key_t slash[] = {cairn_key("a/b")}, a[] = {cairn_key("a")};
  refused(tree_of_two(a, 1, slash, 1), "meet");
  cairn_key_t meta[] = {cairn_key("a/zarr.json")};
  refused(tree_of_two(a, 1, meta, 1), "meet");
  cairn_key_t one[] = {{.type = CAIRN_KEY_INT, .index = 1}};
  cairn_key_t text[] = {cairn_key("1")};
  refused(tree_of_two(one, 1, text, 1), "one text");
}

Test(bad_input_names, keys_that_are_no_text_are_refused) {
  static float data[3];
  static const char *const bad[] = {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80",
                                    "\xf4\x90\x80\x80"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    cairn_tree_t *t = tree_of_nothing();
    cairn_key_t k = cairn_key(bad[i]);
    put_array(t, &k, 1, data);
    refused(t, "not UTF-8");
  }
}

Test(bad_input_names, tree_of_nothing_is_refused) {
  refused(tree_of_nothing(), "empty");
}

Test(bad_input_names, key_is_named_in_hex_when_it_is_no_text) {
  cairn_error_t err = {0};
  cairn_key_t k = cairn_key("w\xff");
  float data[3];
  cr_assert_eq(check_alone(&k, data, &err), CAIRN_INVALID);
  cr_assert_not_null(strstr(err.message, "ff"), "%s", err.message);
}

/* --- items --- */

static void item_refused(const char *name) {
  struct place p = place_new();
  cairn_error_t err = {0};
  float data[3] = {0};
  cairn_key_t k = cairn_key("w");
  cairn_tree_t *t = tree_of_nothing();
  put_array(t, &k, 1, data);
  lone_t l;
  lone_open(&l, p.root, NULL);
  cairn_item_t item = cairn_item(name, "tree", t);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, &item, 1, NULL, &err),
               CAIRN_INVALID, "\"%.100s\": %s", name, err.message);
  cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(entries_in(p.root), 0);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  cairn_tree_free(t);
  place_free(&p);
}

Test(bad_input_names, items_that_cannot_be_directories_are_refused) {
  char name[300];
  static const char *const bad[] = {"..",
                                    ".",
                                    "a/b",
                                    "/",
                                    "../x",
                                    "\xff",
                                    "_CHECKPOINT_METADATA",
                                    "commit_success.txt",
                                    "cairn.json",
                                    "cairn.owner",
                                    "x.__lock",
                                    "c:\\x",
                                    "x.orbax-checkpoint-tmp-1",
                                    "_CHECKPOINT_DELETION",
                                    "orbax.checkpoint",
                                    "_METADATA",
                                    "manifest.ocdbt"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) item_refused(bad[i]);
  memset(name, 'n', 299);
  name[299] = 0;
  item_refused(name);
}

static void item_comes_back(const char *name) {
  struct place p = place_new();
  cairn_error_t err = {0};
  float data[3] = {1, 2, 3}, out[3] = {0};
  cairn_key_t k = cairn_key("w");
  cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
  put_array(t, &k, 1, data);
  put_array(to, &k, 1, out);
  lone_t l;
  lone_open(&l, p.root, NULL);
  cairn_item_t item = cairn_item(name, "tree", t);
  cairn_item_t want = cairn_item(name, "tree", to);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, &item, 1, NULL, &err), CAIRN_OK,
               "\"%.100s\": %s", name, err.message);
  cr_assert_eq(cairn_manager_restore_items(l.m, 1, &want, 1, NULL, &err),
               CAIRN_OK, "\"%.100s\": %s", name, err.message);
  cr_assert_arr_eq(data, out, sizeof(data));
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  cairn_tree_free(t);
  cairn_tree_free(to);
  place_free(&p);
}

Test(bad_input_names, odd_items_come_back) {
  char name[256];
  static const char *const odd[] = {
      "a b", "\t", "~", "c:x", "%2F", "\xc3\xa9", "e\xcc\x81",
      "...", "-",  "'", "\"",  "d",   "",         "ocdbt.process_0"};
  for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
    item_comes_back(odd[i]);
  memset(name, 'n', 255);
  name[255] = 0;
  item_comes_back(name);
}

Test(bad_input_names, item_without_a_name_is_the_default_one) {
  char *dir = temp_dir(), path[300];
  cairn_key_t k = cairn_key("w");
  cairn_error_t err = {0};
  float data[3] = {1, 2, 3};
  lone_t l;
  lone_open(&l, dir, NULL);
  cairn_tree_t *t = tree_of_nothing();
  put_array(t, &k, 1, data);
  cairn_item_t two[] = {cairn_item(NULL, "tree", t),
                        cairn_item("default", "tree", t)};
  cr_assert_eq(cairn_manager_save_items(l.m, 1, two, 2, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, two, 1, NULL, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_restore(l.m, 1, t, NULL, &err), CAIRN_OK, "%s",
               err.message);
  snprintf(path, sizeof(path), "%s/1/default", dir);
  cr_assert_gt(entries_in(path), 0);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  cairn_tree_free(t);
  temp_dir_remove(dir);
}
