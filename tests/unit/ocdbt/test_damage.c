/* Databases that are not what they should be: lines VR, BR and S of the
 * validation list, and stores that fail. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/kv_fault.h"
#include "unit/ocdbt/db.h"
#include "unit/ocdbt/objects.h"

#define DATA "d/00000000000000000000000000000001"

static const cairn__ocdbt_config_t plain = {.version_tree_arity_log2 = 4,
                                            .max_inline_value_bytes = 100};

static void put(cairn_kv_t *kv, const char *key, const cairn_buf_t *b) {
  struct iovec iov = {b->p, b->n};
  cr_assert_eq(kv_call_write(kv, str(key), &iov, 1, NULL, NULL, NULL),
               CAIRN_OK);
}

static void put_take(cairn_kv_t *kv, const char *key, cairn_buf_t b) {
  put(kv, key, &b);
  cairn_buf_reset(&b);
}

/* --- crafted databases --- */

struct craft {
  cairn_buf_t data;
};

static cairn__ocdbt_loc_t craft_node(struct craft *c, uint8_t height,
                                     const cairn__ocdbt_entry_t *e, size_t n) {
  size_t start = c->data.n;
  cr_assert_eq(cairn__ocdbt_node_encode(&plain, height, e, n, &c->data, NULL),
               CAIRN_OK);
  return (cairn__ocdbt_loc_t){{str(""), str(DATA)}, start, c->data.n - start};
}

static void craft_end(struct craft *c, cairn_kv_t *base,
                      const cairn__ocdbt_version_t *v) {
  cairn__ocdbt_version_t copy = *v;
  cairn__ocdbt_manifest_t m = {
      .config = plain, .versions = &copy, .num_versions = 1};
  cairn_buf_t out = {0};
  copy.generation = 1;
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &out, NULL), CAIRN_OK);
  put_take(base, "manifest.ocdbt", out);
  put_take(base, DATA, c->data);
}

static cairn__ocdbt_entry_t inline_entry(const char *key) {
  return (cairn__ocdbt_entry_t){
      .key = str(key), .is_inline = true, .value = str("v")};
}

/* A root of two leaves, "ka" and "kb" and "kc"; each part may be bent before it
 * is written. */
struct two {
  cairn__ocdbt_entry_t left[1], right[2], root[2];
  uint8_t child_height, root_height;
  cairn__ocdbt_stats_t stats;
  uint64_t spoil_keys; /* added to the statistics of the first child */
};

static struct two two(void) {
  struct two t = {.root_height = 1};
  t.left[0] = inline_entry("");
  t.right[0] = inline_entry("b");
  t.right[1] = inline_entry("c");
  t.root[0] = (cairn__ocdbt_entry_t){.key = str("ka"), .subtree_prefix = 2};
  t.root[1] = (cairn__ocdbt_entry_t){.key = str("kb"), .subtree_prefix = 1};
  return t;
}

static void two_end(struct two *t, cairn_kv_t *base) {
  struct craft c = {{0}};
  cairn__ocdbt_version_t v = {.root_height = t->root_height};
  t->root[0].loc = craft_node(&c, t->child_height, t->left, 1);
  t->root[1].loc = craft_node(&c, 0, t->right, 2);
  uint64_t a = t->root[0].loc.length, b = t->root[1].loc.length;
  t->root[0].stats = (cairn__ocdbt_stats_t){1 + t->spoil_keys, a, 0};
  t->root[1].stats = (cairn__ocdbt_stats_t){2, b, 0};
  v.root = craft_node(&c, 1, t->root, 2);
  v.stats = (cairn__ocdbt_stats_t){3, a + b + v.root.length, 0};
  craft_end(&c, base, &v);
}

/* What lookup, walk and check say. */
static void expect_all(cairn_kv_t *base, const char *key, cairn_code_t reading,
                       cairn_code_t checking, const char *word) {
  cairn_error_t err[3] = {{0}};
  cairn_kv_t *db = NULL;
  cairn_value_t v = {0};
  cr_assert_eq(db_open(base, &db, &err[0]), CAIRN_OK, "%s", err[0].message);
  cr_expect_eq(kv_call_read(db, str(key), CAIRN_WHOLE, &v, &err[0]), reading,
               "read: %s", err[0].message);
  char *list = kv_call_list(db, "", 0, &err[1]);
  cr_expect_eq(err[1].code, reading, "list: %s", err[1].message);
  cr_expect_eq(db_check(db, &err[2]), checking, "check: %s", err[2].message);
  for (int i = 0; i < 3; i++)
    if (err[i].code != CAIRN_OK) {
      cr_expect(strstr(err[i].message, word) != NULL, "%s", err[i].message);
      cr_expect(strstr(err[i].message, "d/") != NULL, "%s", err[i].message);
    }
  free(list);
  cairn_value_reset(&v);
  kv_call_close(db, NULL);
}

Test(reference, as_it_should_be) {
  struct fixture f = db_fixture();
  struct two t = two();
  two_end(&t, f.base);
  expect_all(f.base, "kc", CAIRN_OK, CAIRN_OK, "");
  db_fixture_end(&f);
}

Test(reference, wrong_height) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.root_height = 2;
  two_end(&t, f.base);
  expect_all(f.base, "ka", CAIRN_CORRUPT, CAIRN_CORRUPT, "reference mismatch");
  db_fixture_end(&f);
}

Test(reference, child_of_wrong_height) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.child_height = 1;
  t.left[0].is_inline = false;
  t.left[0].loc.file.rel = str(DATA);
  two_end(&t, f.base);
  expect_all(f.base, "ka", CAIRN_CORRUPT, CAIRN_CORRUPT, "reference mismatch");
  db_fixture_end(&f);
}

Test(reference, first_key_below_the_parents) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.right[0] = inline_entry("aa");
  two_end(&t, f.base);
  expect_all(f.base, "kc", CAIRN_CORRUPT, CAIRN_CORRUPT, "reference mismatch");
  db_fixture_end(&f);
}

/* A first key above the parent's is allowed. */
Test(reference, first_key_above_the_parents) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.right[0] = inline_entry("bb");
  two_end(&t, f.base);
  expect_all(f.base, "kc", CAIRN_OK, CAIRN_OK, "");
  db_fixture_end(&f);
}

Test(reference, statistics_are_compared_by_check_only) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.spoil_keys = 1;
  two_end(&t, f.base);
  expect_all(f.base, "ka", CAIRN_OK, CAIRN_CORRUPT, "reference mismatch");
  db_fixture_end(&f);
}

Test(reference, keys_beyond_the_next_node_are_seen_by_check) {
  struct fixture f = db_fixture();
  struct two t = two();
  t.root[0].subtree_prefix = 1;
  t.left[0] = inline_entry("z");
  two_end(&t, f.base);
  expect_all(f.base, "kb", CAIRN_OK, CAIRN_CORRUPT, "reference mismatch");
  db_fixture_end(&f);
}

Test(reference, stored_path_out_of_the_root_is_not_opened) {
  static const char *const paths[] = {"../x", "/x", "a//b", "x.__lock", "."};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    struct fixture f = db_fixture();
    struct craft c = {{0}};
    cairn_error_t err = {0};
    cairn_kv_t *db = NULL;
    cairn__ocdbt_entry_t e = {.key = str("a")};
    cairn_value_t value = {0};
    cairn__ocdbt_version_t v = {0};
    e.loc = (cairn__ocdbt_loc_t){{str(""), str(paths[i])}, 0, 200};
    v.root = craft_node(&c, 0, &e, 1);
    v.stats = (cairn__ocdbt_stats_t){1, v.root.length, 200};
    craft_end(&c, f.base, &v);
    cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
    cr_expect_eq(kv_call_read(db, str("a"), CAIRN_WHOLE, &value, &err),
                 CAIRN_CORRUPT);
    cr_expect(strstr(err.message, "stored path") != NULL, "%s", err.message);
    kv_call_close(db, NULL);
    db_fixture_end(&f);
  }
}

/* --- data loss --- */

static void lose(size_t keep, bool remove) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn_value_t v = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  cairn__ocdbt_summary_t s = {0};
  struct pair p = {.key = (char *)"a", .key_n = 1};
  p.value = calloc(1, 100000);
  p.value_n = 100000;
  db_write(f.base, &o, &p, 1, &s);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  bool found;
  cairn__ocdbt_entry_t e; /* the root is cached now */
  cr_assert_eq(db_locate(db, "a", &found, &e, &err), CAIRN_OK);
  if (remove) {
    kv_call_remove(f.base, str(s.files[0].name), NULL, NULL, NULL);
  } else {
    cairn_buf_t cut = {.p = (uint8_t *)p.value, .n = keep};
    put(f.base, s.files[0].name, &cut);
  }
  cr_expect_eq(kv_call_read(db, str("a"), CAIRN_WHOLE, &v, &err),
               CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "data loss") != NULL, "%s", err.message);
  cr_expect(strstr(err.message, s.files[0].name) != NULL, "%s", err.message);
  kv_call_close(db, NULL);
  free(p.value);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}

Test(data_loss, absent_or_short_file_is_named) {
  lose(0, true);
  lose(99999, false);
  lose(0, false);
}

Test(data_loss, damaged_manifest_is_named) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn_buf_t m = golden("A_manifest");
  cr_expect_eq(db_open(f.base, &db, &err), CAIRN_NOT_FOUND);
  m.p[30] ^= 1;
  put_take(f.base, "manifest.ocdbt", m);
  err = (cairn_error_t){0};
  cr_expect_eq(db_open(f.base, &db, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "manifest.ocdbt") != NULL, "%s", err.message);
  cr_expect(strstr(err.message, "checksum") != NULL, "%s", err.message);
  db_fixture_end(&f);
}

/* --- numbered manifests --- */

/* Manifest B (newest generation 2) under the config of E's kind. */
static struct fixture numbered(void) {
  struct fixture f = db_fixture();
  put_take(f.base, "manifest.ocdbt", golden("E_manifest"));
  put_take(f.base, "d/00112233445566778899aabbccddeeff", golden("B_data"));
  return f;
}

static void expect_open(cairn_kv_t *base, cairn_code_t want, const char *word) {
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cr_expect_eq(db_open(base, &db, &err), want, "%s", err.message);
  if (want != CAIRN_OK)
    cr_expect(strstr(err.message, word) != NULL, "%s", err.message);
  else
    kv_call_close(db, NULL);
}

static size_t num_versions(cairn_kv_t *base) {
  cairn_kv_t *db = NULL;
  cr_assert_eq(db_open(base, &db, NULL), CAIRN_OK);
  size_t n = cairn__ocdbt_manifest(db)->num_versions;
  cr_expect_eq(cairn__ocdbt_manifest(db)->config.manifest_kind, 1);
  kv_call_close(db, NULL);
  return n;
}

Test(numbered, the_newest_file_counts) {
  struct fixture f = numbered();
  cairn_kv_t *db = NULL;
  put_take(f.base, "manifest.0000000000000001", golden("A_manifest"));
  put_take(f.base, "manifest.0000000000000002", golden("B_manifest"));
  cr_expect_eq(num_versions(f.base), 2);
  cr_assert_eq(db_open(f.base, &db, NULL), CAIRN_OK);
  char *value = kv_call_get(db, "a");
  cr_expect_str_eq(value, "value");
  free(value);
  cr_expect_eq(db_check(db, NULL), CAIRN_OK);
  kv_call_close(db, NULL);
  db_fixture_end(&f);
}

Test(numbered, without_a_file_is_an_empty_database) {
  struct fixture f = numbered();
  cairn_kv_t *db = NULL;
  cr_expect_eq(num_versions(f.base), 0);
  cr_assert_eq(db_open(f.base, &db, NULL), CAIRN_OK);
  char *list = kv_call_list(db, "", 0, NULL);
  cr_expect_str_eq(list, "");
  free(list);
  cr_expect_null(kv_call_get(db, "a"));
  cr_expect_eq(db_check(db, NULL), CAIRN_OK);
  kv_call_close(db, NULL);
  db_fixture_end(&f);
}

Test(numbered, other_names_are_ignored) {
  struct fixture f = numbered();
  static const char *const names[] = {
      "manifest.0",
      "manifest.zzzzzzzzzzzzzzzz",
      "manifest.000000000000001",
      "manifest.00000000000000001",
      "manifest.0000000000000000",
      "manifest.00000000000000AA",
      "manifest.000000000000000a/x",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    put_take(f.base, names[i], golden("A_manifest"));
  cr_expect_eq(num_versions(f.base), 0);
  put_take(f.base, "manifest.0000000000000001", golden("A_manifest"));
  cr_expect_eq(num_versions(f.base), 1);
  db_fixture_end(&f);
}

Test(numbered, files_that_do_not_fit_are_corrupt) {
  struct fixture f = numbered();
  put_take(f.base, "manifest.0000000000000003", golden("B_manifest"));
  expect_open(f.base, CAIRN_CORRUPT, "newest generation");
  put_take(f.base, "manifest.0000000000000003", golden("E_manifest"));
  expect_open(f.base, CAIRN_CORRUPT, "kind");
  cairn_buf_t other = golden("B_manifest");
  other.p[14] ^= 1; /* uuid */
  mend(&other);
  kv_call_remove(f.base, str("manifest.0000000000000003"), NULL, NULL, NULL);
  put_take(f.base, "manifest.0000000000000002", other);
  expect_open(f.base, CAIRN_CORRUPT, "config");
  db_fixture_end(&f);
}

/* --- version tree --- */

/* Example F with a bent reference in the manifest. */
static void bend(void (*fn)(cairn__ocdbt_version_ref_t *r), cairn_code_t want) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn__ocdbt_manifest_t m;
  cairn_buf_t in = golden("F_manifest"), out = {0};
  cr_assert_eq(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&in), &m, NULL),
               CAIRN_OK);
  if (fn != NULL) fn(&m.nodes[0]);
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &out, NULL), CAIRN_OK);
  put_take(f.base, "manifest.ocdbt", out);
  put_take(f.base, "d/000000000000000000000000000000e1", golden("F_data"));
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(db_check(db, &err), want, "%s", err.message);
  if (want != CAIRN_OK) {
    cr_expect(strstr(err.message, "reference mismatch"), "%s", err.message);
    cr_expect(strstr(err.message, "00e1 at "), "%s", err.message);
  }
  kv_call_close(db, NULL);
  cairn__ocdbt_manifest_free(&m);
  cairn_buf_reset(&in);
  db_fixture_end(&f);
}

static void to_the_leaf(cairn__ocdbt_version_ref_t *r) {
  r->loc.offset = 0;
  r->loc.length = 92;
}

static void other_generation(cairn__ocdbt_version_ref_t *r) {
  r->generation = 1;
}

static void other_count(cairn__ocdbt_version_ref_t *r) {
  r->num_generations = 1;
}

static void other_time(cairn__ocdbt_version_ref_t *r) {
  r->commit_time++;
}

Test(version_tree, check_compares_references_with_nodes) {
  bend(NULL, CAIRN_OK);
  bend(to_the_leaf, CAIRN_CORRUPT);
  bend(other_generation, CAIRN_CORRUPT);
  bend(other_count, CAIRN_CORRUPT);
  bend(other_time, CAIRN_CORRUPT);
}

Test(version_tree, node_of_other_arity) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn__ocdbt_manifest_t m;
  cairn__ocdbt_version_ref_t child = {.generation = 4, .num_generations = 2};
  cairn__ocdbt_version_node_t n = {
      .arity_log2 = 2, .height = 1, .children = &child, .num_children = 1};
  cairn_buf_t in = golden("F_manifest"), out = {0}, data = {0};
  cr_assert_eq(cairn__ocdbt_version_node_encode(&plain, &n, &data, NULL),
               CAIRN_OK);
  cr_assert_eq(cairn__ocdbt_manifest_decode(cairn_buf_bytes(&in), &m, NULL),
               CAIRN_OK);
  m.nodes[0].loc.offset = 0;
  m.nodes[0].loc.length = data.n;
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &out, NULL), CAIRN_OK);
  put_take(f.base, "manifest.ocdbt", out);
  put_take(f.base, "d/000000000000000000000000000000e1", data);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  cr_expect_eq(db_check(db, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "arity"), "%s", err.message);
  kv_call_close(db, NULL);
  cairn__ocdbt_manifest_free(&m);
  cairn_buf_reset(&in);
  db_fixture_end(&f);
}

/* --- stores that fail --- */

/* A database of inline, small and large values, in several files and levels. */
static cairn_code_t write_database(cairn_kv_t *base, cairn_error_t *err) {
  static char big[100000];
  cairn_kv_t *w = NULL;
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(10, 200);
  o.target_data_file_size = 150000;
  cairn_code_t rc = db_create(base, &o, &w, err);
  for (int i = 0; i < 12 && rc == CAIRN_OK; i++) {
    char key[8];
    snprintf(key, sizeof key, "key%d", i);
    struct iovec iov = {big, i % 3 == 0 ? sizeof big : i % 3 == 1 ? 5 : 500};
    rc = kv_call_write(w, str(key), &iov, 1, NULL, NULL, err);
  }
  if (rc == CAIRN_OK) rc = db_commit(w, &s, err);
  if (w != NULL) kv_call_close(w, NULL);
  cairn__ocdbt_summary_free(&s);
  return rc;
}

/* Whole or not there at all. Returns whether it is there. */
static bool is_whole_or_absent(cairn_kv_t *base) {
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn_code_t rc = db_open(base, &db, &err);
  cr_expect(rc == CAIRN_OK || rc == CAIRN_NOT_FOUND, "%s", err.message);
  if (rc != CAIRN_OK) return false;
  cr_expect_eq(db_check(db, &err), CAIRN_OK, "%s", err.message);
  for (int i = 0; i < 12; i++) {
    char key[8];
    cairn_value_t v = {0};
    snprintf(key, sizeof key, "key%d", i);
    cr_expect_eq(kv_call_read(db, str(key), CAIRN_WHOLE, &v, &err), CAIRN_OK,
                 "%s", err.message);
    cr_expect(v.found);
    cairn_value_reset(&v);
  }
  kv_call_close(db, NULL);
  return true;
}

static void fail_each_call(kv_fault_how_t how) {
  cairn_runtime_t *rt = db_runtime();
  kv_fault_t *fault = kv_fault_new();
  cairn_error_t err = {0};
  cr_assert_eq(kv_fault_register(rt, fault, &err), CAIRN_OK);
  bool hit = true;
  for (int n = 1; hit; n++) {
    char url[64];
    cairn_kv_t *base = NULL;
    err = (cairn_error_t){0};
    snprintf(url, sizeof url, "fault://damage/%d", n);
    cr_assert_eq(kv_call_open(rt, url, &base, &err), CAIRN_OK, "%s",
                 err.message);
    kv_fault_set(fault,
                 &(kv_fault_rule_t){.kind = KV_FAULT_ANY, .at = n, .how = how});
    cairn_code_t rc = write_database(base, &err);
    hit = kv_fault_hit(fault);
    /* The only write that is no upload: after it, files must stay. */
    bool manifest_sent = kv_fault_count(fault, KV_FAULT_WRITE) > 0;
    kv_fault_set(fault, NULL);
    cr_expect_eq(rc == CAIRN_OK, !hit, "call %d", n);
    bool there = is_whole_or_absent(base);
    cr_expect(there || hit, "call %d", n);
    char *list = kv_call_list(base, "", 0, &err);
    if (!there && !manifest_sent)
      cr_expect_str_eq(list, "", "call %d left something", n);
    free(list);
    kv_call_close(base, NULL);
    cr_assert_lt(n, 200);
  }
  cairn_runtime_close(rt, NULL);
  kv_fault_free(fault);
}

Test(failing_store, a_failed_call_leaves_all_or_nothing) {
  fail_each_call(KV_FAULT_FAIL);
}

Test(failing_store, a_call_that_failed_late_leaves_all_or_nothing) {
  fail_each_call(KV_FAULT_AFTER);
}
