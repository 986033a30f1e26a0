/* Databases written and read through stores. */
#define XXH_INLINE_ALL
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "unit/ocdbt/db.h"
#include "unit/ocdbt/objects.h"

/* --- writing and reading --- */

static char *make(const char *fmt, int i) {
  char *s = NULL;
  cr_assert_geq(asprintf(&s, fmt, i), 0);
  return s;
}

/* n pairs with keys in ascending order; each value_every-th value is long. */
static struct pair *pairs_new(size_t n, const char *fmt) {
  struct pair *p = calloc(n, sizeof *p);
  for (size_t i = 0; i < n; i++) {
    p[i].key = make(fmt, (int)i);
    p[i].key_n = strlen(p[i].key);
    p[i].value_n = i % 3 == 0 ? 40 + i % 50 : i % 5;
    p[i].value = malloc(p[i].value_n + 1);
    memset(p[i].value, (int)('a' + i % 26), p[i].value_n);
  }
  return p;
}

static void pairs_free(struct pair *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    free(p[i].key);
    free(p[i].value);
  }
  free(p);
}

/* Written in another order than sorted, read back sorted. */
static void round_trip(size_t n, const char *fmt, uint32_t max_node,
                       bool zstd) {
  struct fixture f = db_fixture();
  struct pair *p = pairs_new(n, fmt), *shuffled = calloc(n, sizeof *p);
  cairn__ocdbt_write_opts_t o = db_plain_opts(16, max_node);
  o.config.zstd = zstd;
  for (size_t i = 0; i < n; i++) shuffled[i * 7919 % n] = p[i];
  db_write(f.base, &o, shuffled, n, NULL);
  db_expect(f.base, p, n);
  free(shuffled);
  pairs_free(p, n);
  db_fixture_end(&f);
}

Test(store, one_leaf) {
  round_trip(100, "params/%06d/value", 100000000, true);
}

Test(store, two_levels) {
  round_trip(1000, "params/%06d/value", 4096, true);
}

/* One entry a leaf and two a node: 1500 keys are a tree of height 11. */
Test(store, eleven_levels) {
  round_trip(1500, "p/%06d", 1, false);
}

Test(store, one_key) {
  round_trip(1, "k%d", 1, false);
}

static void no_keys(cairn_kv_t *base) {
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn_value_t v = {0};
  cr_assert_eq(db_open(base, &db, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(kv_call_read(db, str("a"), CAIRN_WHOLE, &v, &err), CAIRN_OK);
  cr_expect(!v.found);
  char *list = kv_call_list(db, "", 0, &err);
  cr_expect_str_eq(list, "");
  free(list);
  cr_expect_eq(db_check(db, &err), CAIRN_OK);
  kv_call_close(db, &err);
}

Test(store, without_keys_is_an_empty_database) {
  struct fixture f = db_fixture();
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(16, 0);
  db_write(f.base, &o, NULL, 0, &s);
  cr_expect_eq(s.num_files, 1);
  cr_expect_eq(s.num_keys, 0);
  cr_expect_eq(s.leaves.n, 0);
  no_keys(f.base);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}

static void expect_read(cairn_kv_t *db, const char *key, int64_t min,
                        int64_t max, const char *want) {
  cairn_error_t err = {0};
  cairn_value_t v = {0};
  cairn_read_opts_t o = {.what = CAIRN_READ_RANGE, .min = min, .max = max};
  cairn_code_t rc = kv_call_read(db, str(key), &o, &v, &err);
  cr_expect_eq(rc, want != NULL ? CAIRN_OK : CAIRN_INVALID, "%s [%d, %d): %s",
               key, (int)min, (int)max, err.message);
  if (want != NULL)
    cr_expect(cairn__bytes_eq(v.data, str(want)), "%s [%d, %d)", key, (int)min,
              (int)max);
  cairn_value_reset(&v);
}

Test(store, ranges_of_inline_and_other_values) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  db_write_text(f.base, &o, "in=0123 out=0123456789", NULL);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  expect_read(db, "in", 1, 3, "12");
  expect_read(db, "in", 4, -1, "");
  expect_read(db, "in", -3, -1, "123");
  expect_read(db, "in", 2, 5, NULL);
  expect_read(db, "in", -5, -1, NULL);
  expect_read(db, "out", 1, 3, "12");
  expect_read(db, "out", 0, -1, "0123456789");
  expect_read(db, "out", -2, -1, "89");
  expect_read(db, "out", 10, 10, "");
  expect_read(db, "out", 5, 11, NULL);
  expect_read(db, "out", 6, 5, NULL);
  kv_call_close(db, &err);
  db_fixture_end(&f);
}

Test(store, stat_gives_the_size_and_small_destinations_are_refused) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  char dst[10];
  cairn_value_t v = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  db_write_text(f.base, &o, "in=0123 out=0123456789", NULL);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  cairn_read_opts_t stat = {.what = CAIRN_READ_STAT};
  cr_assert_eq(kv_call_read(db, str("out"), &stat, &v, &err), CAIRN_OK);
  cr_expect(v.found);
  cr_expect_eq(v.total_size, 10);
  cr_expect_eq(v.data.n, 0);
  cairn_value_reset(&v);
  cairn_read_opts_t into = {.dst = dst, .cap = sizeof dst};
  cr_assert_eq(kv_call_read(db, str("out"), &into, &v, &err), CAIRN_OK);
  cr_expect_eq((const void *)v.data.p, (const void *)dst);
  cairn_value_reset(&v);
  into.cap = 9;
  cr_expect_eq(kv_call_read(db, str("out"), &into, &v, &err), CAIRN_INVALID);
  into.cap = 3;
  cr_expect_eq(kv_call_read(db, str("in"), &into, &v, NULL), CAIRN_INVALID);
  kv_call_close(db, &err);
  db_fixture_end(&f);
}

/* --- listing --- */

static void expect_list(cairn_kv_t *db, const char *prefix, int max,
                        const char *want) {
  cairn_error_t err = {0};
  char *list = kv_call_list(db, prefix, max, &err);
  cr_assert(list != NULL, "%s", err.message);
  cr_expect_str_eq(list, want, "prefix %s", prefix);
  free(list);
}

static void lists(uint32_t max_node) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, max_node);
  db_write_text(f.base, &o, "b/x=1 a/y=22222 a/x=1 ab=333 a=1 b0= a/x/z=4",
                NULL);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  expect_list(db, "", 0, "a:1 a/x:1 a/x/z:1 a/y:5 ab:3 b/x:1 b0:0");
  expect_list(db, "a", 0, "a:1 a/x:1 a/x/z:1 a/y:5 ab:3");
  expect_list(db, "a/", 0, "a/x:1 a/x/z:1 a/y:5");
  expect_list(db, "a/x", 0, "a/x:1 a/x/z:1");
  expect_list(db, "a/xx", 0, "");
  expect_list(db, "A", 0, "");
  expect_list(db, "c", 0, "");
  expect_list(db, "b0", 0, "b0:0");
  expect_list(db, "a", 2, "a:1 a/x:1");
  kv_call_close(db, &err);
  db_fixture_end(&f);
}

Test(list, prefixes_in_one_leaf) {
  lists(100000);
}

Test(list, prefixes_over_many_nodes) {
  lists(1);
}

Test(locate, says_where_a_value_is) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  bool found = false;
  cairn__ocdbt_entry_t a = {0}, b = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(2, 1);
  db_write_text(f.base, &o, "a=12345 b=678 c=9", NULL);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  cr_assert_eq(db_locate(db, "a", &found, &a, &err), CAIRN_OK);
  cr_expect(found);
  cr_assert_eq(db_locate(db, "b", &found, &b, &err), CAIRN_OK);
  cr_expect(found);
  cr_expect_eq(b.loc.offset, a.loc.offset + 5);
  cr_expect(cairn__bytes_eq(a.loc.file.rel, b.loc.file.rel));
  cr_assert_eq(db_locate(db, "c", &found, &a, &err), CAIRN_OK);
  cr_expect(found && a.is_inline);
  cr_assert_eq(db_locate(db, "ab", &found, &a, &err), CAIRN_OK);
  cr_expect(!found);
  kv_call_close(db, &err);
  db_fixture_end(&f);
}

/* --- what a writer refuses --- */

Test(writer, refuses_the_same_key_twice_and_keys_too_long) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *w = NULL;
  cairn_written_t written;
  cairn__ocdbt_summary_t s = {0};
  static uint8_t key[65536];
  cairn__ocdbt_write_opts_t o = db_plain_opts(16, 0);
  cr_assert_eq(db_create(f.base, &o, &w, &err), CAIRN_OK);
  cr_expect_eq(kv_call_put(w, "a", "1", &err), CAIRN_OK);
  cr_expect_eq(kv_call_put(w, "a", "2", &err), CAIRN_EXISTS);
  cr_expect(strstr(err.message, "ocdbt:a") != NULL, "%s", err.message);
  struct iovec iov = {key, 1};
  cairn_write_opts_t absent = {.if_equal = &CAIRN_GEN_ABSENT};
  cr_expect_eq(kv_call_write(w, str("a"), &iov, 1, &absent, &written, NULL),
               CAIRN_OK);
  cr_expect(!written.condition_met);
  cr_expect_eq(kv_call_write(w, str("b"), &iov, 1, &absent, &written, NULL),
               CAIRN_OK);
  cr_expect(written.condition_met);
  cr_expect_eq(
      kv_call_write(w, cairn_bytes(key, 65535), &iov, 1, NULL, NULL, NULL),
      CAIRN_OK);
  cr_expect_eq(
      kv_call_write(w, cairn_bytes(key, 65536), &iov, 1, NULL, NULL, NULL),
      CAIRN_INVALID);
  cr_expect_eq(db_commit(w, &s, NULL), CAIRN_OK);
  cr_expect_eq(s.num_keys, 3);
  cr_expect_eq(kv_call_put(w, "c", "1", NULL), CAIRN_CLOSED);
  cairn__ocdbt_summary_t again = {0};
  cr_expect_eq(db_commit(w, &again, NULL), CAIRN_INVALID);
  kv_call_close(w, NULL);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}

Test(writer, a_database_that_is_there_is_not_overwritten) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *w = NULL;
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(2, 0);
  db_write_text(f.base, &o, "a=old", NULL);
  char *before = kv_call_list(f.base, "", 0, &err);
  cr_assert_eq(db_create(f.base, &o, &w, &err), CAIRN_OK);
  cr_assert_eq(kv_call_put(w, "a", "other", &err), CAIRN_OK);
  cr_expect_eq(db_commit(w, &s, &err), CAIRN_EXISTS);
  cr_expect_eq(kv_call_close(w, NULL), CAIRN_OK);
  char *after = kv_call_list(f.base, "", 0, NULL);
  cr_expect_str_eq(after, before, "data files of the second are left");
  free(before);
  free(after);
  db_fixture_end(&f);
}

Test(writer, closing_without_commit_leaves_nothing) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *w = NULL;
  static char big[200000];
  cairn__ocdbt_write_opts_t o = db_plain_opts(2, 0);
  o.target_data_file_size = 100000; /* so that some files are complete */
  cr_assert_eq(db_create(f.base, &o, &w, &err), CAIRN_OK);
  for (int i = 0; i < 5; i++) {
    char key[8];
    snprintf(key, sizeof key, "k%d", i);
    struct iovec iov = {big, i % 2 ? sizeof big : 100};
    cr_assert_eq(kv_call_write(w, str(key), &iov, 1, NULL, NULL, &err),
                 CAIRN_OK);
  }
  cr_expect_eq(kv_call_close(w, &err), CAIRN_OK, "%s", err.message);
  char *list = kv_call_list(f.base, "", 0, &err);
  cr_expect_str_eq(list, "");
  free(list);
  db_fixture_end(&f);
}

Test(writer, options_are_checked) {
  struct fixture f = db_fixture();
  cairn_kv_t *w = NULL;
  cairn__ocdbt_write_opts_t o = db_plain_opts(2, 0);
  o.config.version_tree_arity_log2 = 17;
  cr_expect_eq(db_create(f.base, &o, &w, NULL), CAIRN_INVALID);
  o = db_plain_opts(2, 0);
  o.config.zstd = true;
  o.config.zstd_level = 23;
  cr_expect_eq(db_create(f.base, &o, &w, NULL), CAIRN_INVALID);
  o = db_plain_opts(2, 0);
  o.config.manifest_kind = 1;
  cr_expect_eq(db_create(f.base, &o, &w, NULL), CAIRN_UNSUPPORTED);
  db_fixture_end(&f);
}

/* --- data files --- */

/* Each file has the length and the sum that the summary says. */
static void expect_files(cairn_kv_t *base, const cairn__ocdbt_summary_t *s) {
  for (size_t i = 0; i < s->num_files; i++) {
    cairn_value_t v = {0};
    cr_assert_eq(
        kv_call_read(base, str(s->files[i].name), CAIRN_WHOLE, &v, NULL),
        CAIRN_OK);
    cr_assert(v.found, "%s", s->files[i].name);
    cr_expect_eq(v.data.n, s->files[i].length);
    cr_expect_eq(XXH3_64bits(v.data.p, v.data.n), s->files[i].sum, "%s",
                 s->files[i].name);
    cairn_value_reset(&v);
  }
}

static size_t files_for(uint64_t target, uint64_t value_bytes) {
  struct fixture f = db_fixture();
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(2, 1000);
  o.target_data_file_size = target;
  struct pair *p = pairs_new(20, "k%02d");
  for (int i = 0; i < 20; i++) {
    free(p[i].value);
    p[i].value_n = value_bytes;
    p[i].value = calloc(1, value_bytes);
    memset(p[i].value, i, value_bytes);
  }
  db_write(f.base, &o, p, 20, &s);
  expect_files(f.base, &s);
  db_expect(f.base, p, 20);
  cr_expect_eq(s.value_bytes, 20 * value_bytes);
  size_t n = s.num_files;
  pairs_free(p, 20);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
  return n;
}

/* The limit is tested after an item: files of 3 * 1000 (above 2500) bytes. */
Test(datalog, a_file_that_reached_the_target_is_followed_by_another) {
  /* 6 files of 3 values, one of 2 values and nodes, perhaps one of the rest. */
  size_t n = files_for(2500, 1000);
  cr_expect_geq(n, 8);
  cr_expect_leq(n, 9);
}

Test(datalog, no_target_is_one_file) {
  cr_expect_eq(files_for(0, 1000), 2);
}

Test(datalog, values_above_and_below_the_block_mix) {
  cr_expect_eq(files_for(0, 70000), 2);
  cr_expect_eq(files_for(0, 65536), 2);
  /* An item a file: 20 values, two leaves (1361 estimated bytes are two nodes
   * of 1000), their root, and the manifest. */
  cr_expect_eq(files_for(1, 70000), 24);
}

/* --- merge --- */

static cairn__ocdbt_summary_t child(cairn_kv_t *base, const char *dir,
                                    const cairn__ocdbt_write_opts_t *o,
                                    const char *text) {
  cairn__ocdbt_summary_t s = {0};
  cairn_kv_t *view = kv_call_prefix(base, dir);
  db_write_text(view, o, text, &s);
  kv_call_close(view, NULL);
  return s;
}

static void expect_value(cairn_kv_t *base, const char *key, const char *want) {
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  cr_assert_eq(db_open(base, &db, &err), CAIRN_OK, "%s", err.message);
  char *got = kv_call_get(db, key);
  cr_expect_str_eq(got != NULL ? got : "(absent)", want);
  free(got);
  cr_expect_eq(db_check(db, &err), CAIRN_OK, "%s", err.message);
  kv_call_close(db, NULL);
}

/* The merge of example C: the child's entries below its base path, and the
 * merged node, uncompressed, to the byte (but for the random name of its own
 * file). */
Test(merge, example_c_to_the_byte) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_node_t leaf;
  cairn_buf_t data = golden("C_child_data"), leaves = {0};
  cairn_buf_t want = golden("C_parent_data");
  cairn__ocdbt_write_opts_t o = db_plain_opts(8, 100000000);
  cr_assert_eq(cairn__ocdbt_node_decode(cairn_bytes(data.p + 32, 87), str(""),
                                        &leaf, &err),
               CAIRN_OK);
  cr_assert_eq(cairn__ocdbt_node_encode(&o.config, 0, leaf.entries, leaf.n,
                                        &leaves, &err),
               CAIRN_OK);
  cairn__ocdbt_child_t c = {str("ocdbt.process_0/"), cairn_buf_bytes(&leaves)};
  cr_assert_eq(db_merge(f.base, &o, &c, 1, &s, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(s.num_files, 2);
  cairn_value_t v = {0};
  cr_assert_eq(
      kv_call_read(f.base, str(s.files[0].name), CAIRN_WHOLE, &v, &err),
      CAIRN_OK);
  cr_expect(cairn__bytes_eq(v.data, cairn_buf_bytes(&want)));
  cairn_value_reset(&v);

  /* The manifest, with the name, uuid and time of the example put in. */
  cairn__ocdbt_manifest_t m;
  cairn_buf_t again = {0}, manifest = golden("C_parent_manifest");
  cr_assert_eq(
      kv_call_read(f.base, str("manifest.ocdbt"), CAIRN_WHOLE, &v, &err),
      CAIRN_OK);
  cr_assert_eq(cairn__ocdbt_manifest_decode(v.data, &m, &err), CAIRN_OK);
  cairn_value_reset(&v);
  m.versions[0].root.file.rel = str("d/000000000000000000000000000000f1");
  m.versions[0].commit_time = UINT64_C(1700000000123456790);
  for (int i = 0; i < 16; i++) m.config.uuid[i] = (uint8_t)(16 + i);
  cr_assert_eq(cairn__ocdbt_manifest_encode(&m, &again, &err), CAIRN_OK);
  cr_expect(
      cairn__bytes_eq(cairn_buf_bytes(&again), cairn_buf_bytes(&manifest)));
  cairn__ocdbt_manifest_free(&m);
  cairn__ocdbt_node_free(&leaf);
  cairn_buf_reset(&again);
  cairn_buf_reset(&manifest);
  cairn_buf_reset(&data);
  cairn_buf_reset(&leaves);
  cairn_buf_reset(&want);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}

Test(merge, values_stay_where_they_are) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  cairn__ocdbt_summary_t a =
      child(f.base, "ocdbt.process_0/", &o, "a=1 c=long_value_of_0 e=3");
  cairn__ocdbt_summary_t b = child(f.base, "ocdbt.process_1/", &o,
                                   "b=long_value_of_1 d=2 f=longer_still");
  cairn__ocdbt_summary_t none = child(f.base, "ocdbt.process_2/", &o, "");
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_child_t c[3] = {
      {str("ocdbt.process_0/"), cairn_buf_bytes(&a.leaves)},
      {str("ocdbt.process_1/"), cairn_buf_bytes(&b.leaves)},
      {str("ocdbt.process_2/"), cairn_buf_bytes(&none.leaves)}};
  cr_assert_eq(db_merge(f.base, &o, c, 3, &s, &err), CAIRN_OK, "%s",
               err.message);
  cr_expect_eq(s.num_keys, 6);
  cr_expect_eq(s.value_bytes, a.value_bytes + b.value_bytes);
  expect_files(f.base, &s);
  expect_value(f.base, "a", "1");
  expect_value(f.base, "c", "long_value_of_0");
  expect_value(f.base, "b", "long_value_of_1");
  expect_value(f.base, "f", "longer_still");
  expect_value(f.base, "g", "(absent)");

  /* And once more one level higher: base paths accumulate. */
  cairn_error_t err2 = {0};
  cairn__ocdbt_summary_t top = {0};
  cairn_kv_t *up = NULL;
  cr_assert_eq(kv_call_open(f.rt, "memory://db", &up, &err2), CAIRN_OK);
  cairn__ocdbt_child_t whole = {str("root/"), cairn_buf_bytes(&s.leaves)};
  cr_assert_eq(db_merge(up, &o, &whole, 1, &top, &err2), CAIRN_OK, "%s",
               err2.message);
  expect_value(up, "c", "long_value_of_0");
  expect_value(up, "d", "2");
  kv_call_close(up, NULL);
  cairn__ocdbt_summary_free(&top);
  cairn__ocdbt_summary_free(&s);
  cairn__ocdbt_summary_free(&a);
  cairn__ocdbt_summary_free(&b);
  cairn__ocdbt_summary_free(&none);
  db_fixture_end(&f);
}

Test(merge, inline_values_above_the_limit_move_out) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(100, 0);
  cairn__ocdbt_summary_t a = child(f.base, "c/", &o,
                                   "a=12345678 b=1 c=123456789"),
                         s = {0};
  cairn__ocdbt_child_t c = {str("c/"), cairn_buf_bytes(&a.leaves)};
  o = db_plain_opts(4, 0);
  cr_assert_eq(db_merge(f.base, &o, &c, 1, &s, &err), CAIRN_OK, "%s",
               err.message);
  cr_expect_eq(s.value_bytes, 18);
  expect_files(f.base, &s);
  expect_value(f.base, "a", "12345678");
  expect_value(f.base, "b", "1");
  expect_value(f.base, "c", "123456789");
  cairn__ocdbt_summary_free(&a);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}

Test(merge, key_of_two_children_is_named) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  cairn__ocdbt_summary_t a = child(f.base, "p0/", &o, "a=1 both=longer"),
                         b = child(f.base, "p1/", &o, "b=1 both=other"), s;
  cairn__ocdbt_child_t c[2] = {{str("p0/"), cairn_buf_bytes(&a.leaves)},
                               {str("p1/"), cairn_buf_bytes(&b.leaves)}};
  cr_expect_eq(db_merge(f.base, &o, c, 2, &s, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "\"both\""), "%s", err.message);
  cr_expect(strstr(err.message, "p0/"), "%s", err.message);
  cr_expect(strstr(err.message, "p1/"), "%s", err.message);
  cr_expect_eq(s.num_files, 0);
  char *list = kv_call_list(f.base, "manifest", 0, NULL);
  cr_expect_str_eq(list, "");
  free(list);
  cairn__ocdbt_summary_free(&a);
  cairn__ocdbt_summary_free(&b);
  db_fixture_end(&f);
}

Test(merge, damaged_leaves_are_corrupt_and_leave_nothing) {
  struct fixture f = db_fixture();
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  cairn__ocdbt_summary_t a = child(f.base, "p0/", &o, "a=1 b=22222"), s;
  char *before = kv_call_list(f.base, "", 0, NULL);
  for (size_t n = 1; n < a.leaves.n; n++) {
    cairn__ocdbt_child_t c = {str("p0/"), cairn_bytes(a.leaves.p, n)};
    cr_expect_eq(db_merge(f.base, &o, &c, 1, &s, NULL), CAIRN_CORRUPT, "%zu",
                 n);
  }
  char *after = kv_call_list(f.base, "", 0, NULL);
  cr_expect_str_eq(after, before);
  free(before);
  free(after);
  cairn__ocdbt_summary_free(&a);
  db_fixture_end(&f);
}

Test(merge, of_nothing_is_an_empty_database) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn__ocdbt_summary_t s = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 0);
  cr_assert_eq(db_merge(f.base, &o, NULL, 0, &s, &err), CAIRN_OK, "%s",
               err.message);
  no_keys(f.base);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}
