/* What decoders must accept, what encoders must refuse, version windows, stored
 * paths, the dump. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ocdbt/wire.h"
#include "unit/ocdbt/objects.h"

#define NODE CAIRN__OCDBT_BTREE_NODE

static cairn__ocdbt_node_t node_of(const char *body) {
  cairn_error_t err = {0};
  cairn__ocdbt_node_t n;
  cairn_buf_t o = wrap_hex(NODE, body);
  cr_assert_eq(cairn__ocdbt_node_decode(cairn_buf_bytes(&o), str(""), &n, &err),
               CAIRN_OK, "%s: %s", body, err.message);
  cairn_buf_reset(&o);
  return n;
}

static void expect_file(const cairn__ocdbt_loc_t *l, const char *base,
                        const char *rel) {
  cr_expect(cairn__bytes_eq(l->file.base, str(base)), "base is not %s", base);
  cr_expect(cairn__bytes_eq(l->file.rel, str(rel)), "rel is not %s", rel);
}

Test(accepted, overlong_varints_in_the_head) {
  cairn_buf_t a = golden("A_manifest"), o = {0};
  cairn_buf_put(&o, a.p, 12);
  put_hex(&o, "80008000");
  cairn_buf_put(&o, a.p + 14, a.n - 14);
  mend(&o);
  expect_good_take("G01", CAIRN__OCDBT_MANIFEST, o);
  cairn_buf_reset(&a);
}

Test(accepted, key_prefix_that_is_not_maximal) {
  cairn__ocdbt_node_t n = node_of("00 00 02 01 03 02 616162 6163 0000 0000");
  cr_expect(cairn__bytes_eq(n.entries[1].key, str("aac")));
  cairn__ocdbt_node_free(&n);
}

/* Rows ("abc","xy") and ("ab","zz"), shared prefix 2. */
Test(accepted, base_path_that_is_a_prefix_of_the_one_before) {
  cairn__ocdbt_node_t n = node_of(
      "00 02 02 05 02 03 02 6162637879 7a7a 02 00 01 01 6162 0101 0101 "
      "0001 0000");
  expect_file(&n.entries[0].loc, "abc", "xy");
  expect_file(&n.entries[1].loc, "ab", "zz");
  cairn__ocdbt_node_free(&n);
}

Test(accepted, table_rows_twice_unsorted_or_unused) {
  cairn__ocdbt_node_t n =
      node_of("00 03 01 00 01 00 01 00 00 00 66 61 01 01 6b 04 01 01 07");
  expect_file(&n.entries[0].loc, "", "f");
  cr_expect_eq(n.entries[0].loc.offset, 7);
  cairn__ocdbt_node_free(&n);
}

Test(accepted, empty_key_and_empty_value_out_of_line) {
  cairn__ocdbt_node_t n = node_of("00 01 01 00 66 01 00 00 01 00 09");
  cr_expect_eq(n.entries[0].key.n, 0);
  cr_expect(!n.entries[0].is_inline);
  cr_expect_eq(n.entries[0].loc.length, 0);
  cairn__ocdbt_node_free(&n);
}

/* --- encoders --- */

static const cairn__ocdbt_config_t plain = {.version_tree_arity_log2 = 4};

static cairn_code_t encode_one(size_t key, size_t path) {
  uint8_t *bytes = calloc(1, 70000);
  cairn__ocdbt_entry_t e = {.key = cairn_bytes(bytes, key)};
  e.loc.file.rel = cairn_bytes(bytes, path);
  cairn_error_t err = {0};
  cairn_buf_t out = {0};
  cairn_code_t rc = cairn__ocdbt_node_encode(&plain, 0, &e, 1, &out, &err);
  cr_expect_eq(err.code, rc);
  cairn_buf_reset(&out);
  free(bytes);
  return rc;
}

Test(encoder, refuses_what_no_reader_could_read) {
  cr_expect_eq(encode_one(65535, 65535), CAIRN_OK);
  cr_expect_eq(encode_one(65536, 1), CAIRN_INVALID);
  cr_expect_eq(encode_one(1, 65536), CAIRN_INVALID);
  cairn_buf_t out = {0};
  cr_expect_eq(cairn__ocdbt_node_encode(&plain, 0, NULL, 0, &out, NULL),
               CAIRN_INVALID);
  cairn__ocdbt_manifest_t m = {.config = plain};
  cr_expect_eq(cairn__ocdbt_manifest_encode(&m, &out, NULL), CAIRN_INVALID);
}

/* Sorted by base, then relative; the joined strings would sort otherwise. */
Test(encoder, table_is_sorted_by_base_path_first) {
  cairn__ocdbt_entry_t e[2] = {{.key = str("a")}, {.key = str("b")}};
  e[0].loc.file = (cairn__ocdbt_file_t){str("ab"), str("a")};
  e[1].loc.file = (cairn__ocdbt_file_t){str("a"), str("c")};
  cairn_buf_t out = {0}, want = {0};
  cr_assert_eq(cairn__ocdbt_node_encode(&plain, 0, e, 2, &out, NULL), CAIRN_OK);
  /* ("a","c"), ("ab","a"): shared prefix 1, suffixes "ac" and "ba". */
  put_hex(&want,
          "00 02 01 02 02 01 02 6163 6261 02 00 01 01 6162 0000 0101 "
          "0100 0000");
  cairn_bytes_t body = unwrap(&out);
  cr_expect(cairn__bytes_eq(body, cairn_buf_bytes(&want)));
  cairn_buf_reset(&out);
  cairn_buf_reset(&want);
}

/* Many files, many times: the table finds each again. */
Test(encoder, many_files_come_back) {
  enum { N = 1000, FILES = 97 };
  static char names[FILES][8], keys[N][8];
  static cairn__ocdbt_entry_t e[N];
  for (int i = 0; i < FILES; i++) snprintf(names[i], 8, "f%d", i);
  for (int i = 0; i < N; i++) {
    snprintf(keys[i], 8, "%04d", i);
    e[i].key = str(keys[i]);
    e[i].loc.file.rel = str(names[i * 31 % FILES]);
    e[i].loc.offset = (uint64_t)i;
  }
  cairn_buf_t out = {0};
  cairn__ocdbt_node_t n;
  cr_assert_eq(cairn__ocdbt_node_encode(&plain, 0, e, N, &out, NULL), CAIRN_OK);
  cr_assert_eq(
      cairn__ocdbt_node_decode(cairn_buf_bytes(&out), str("t/"), &n, NULL),
      CAIRN_OK);
  for (int i = 0; i < N; i++)
    expect_file(&n.entries[i].loc, "t/", names[i * 31 % FILES]);
  cairn__ocdbt_node_free(&n);
  cairn_buf_reset(&out);
}

/* --- what unfolds to much more than it is --- */

/* 300,000 keys that share 60,000 bytes: 18 GB in a body of 3 MB. */
Test(node, keys_that_unfold_without_measure_are_refused) {
  enum { N = 300000 };
  cairn_buf_t b = {0};
  put_hex(&b, "00 00");
  cairn_buf_put_varint(&b, N);
  for (int i = 1; i < N; i++) cairn_buf_put_varint(&b, 60000);
  for (int i = 0; i < N; i++) cairn_buf_put_varint(&b, i == 0 ? 60000 : 4);
  for (int i = 0; i < 60000; i++) cairn_buf_put_u8(&b, 'k');
  for (int i = 1; i < N; i++)
    for (int shift = 24; shift >= 0; shift -= 8)
      cairn_buf_put_u8(&b, (uint8_t)(i >> shift));
  for (int i = 0; i < 2 * N; i++) cairn_buf_put_u8(&b, 0);
  expect_bad_take("keys", NODE, wrap(NODE, cairn_buf_bytes(&b)), "unfolds");
  cairn_buf_reset(&b);
}

/* --- version windows (the checked values of section 9.2) --- */

static void expect_slots(unsigned arity, uint64_t newest,
                         const uint64_t (*want)[3], size_t n) {
  cairn__version_slots_t s = cairn__version_slots(arity, newest);
  for (size_t i = 0; i < n; i++) {
    cr_assert(cairn__version_slots_next(&s), "G=%lu", (unsigned long)newest);
    cr_expect_eq(s.height, want[i][0]);
    cr_expect_eq(s.first, want[i][1]);
    cr_expect_eq(s.last, want[i][2]);
  }
  cr_expect(!cairn__version_slots_next(&s), "G=%lu", (unsigned long)newest);
}

Test(version_slots, checked_values) {
  expect_slots(2, 4, NULL, 0);
  expect_slots(2, 8, (const uint64_t[][3]){{1, 1, 4}}, 1);
  expect_slots(2, 9, (const uint64_t[][3]){{1, 1, 8}}, 1);
  expect_slots(2, 30, (const uint64_t[][3]){{1, 17, 28}, {2, 1, 16}}, 2);
  expect_slots(2, 43, (const uint64_t[][3]){{1, 33, 40}, {2, 1, 32}}, 2);
  expect_slots(1, 17, (const uint64_t[][3]){{1, 13, 16}, {2, 9, 12}, {3, 1, 8}},
               3);
  expect_slots(1, 200,
               (const uint64_t[][3]){{1, 197, 198},
                                     {2, 193, 196},
                                     {3, 177, 192},
                                     {4, 161, 176},
                                     {5, 129, 160},
                                     {6, 1, 128}},
               6);
}

Test(version_slots, largest_generations_do_not_overflow) {
  cairn__version_slots_t s = cairn__version_slots(16, UINT64_MAX);
  int n = 0;
  while (cairn__version_slots_next(&s)) n++;
  cr_expect_eq(n, 3);
  cr_expect_eq(s.first, 1);
  cr_expect_eq(cairn__version_window(16, 3, UINT64_MAX), 1);
  cr_expect_eq(cairn__version_window(4, 0, 16), 1);
  cr_expect_eq(cairn__version_window(4, 0, 17), 17);
}

/* --- stored paths --- */

static cairn_code_t path(const char *base, const char *rel) {
  cairn_error_t err = {0};
  cairn__ocdbt_file_t f = {str(base), str(rel)};
  return cairn__ocdbt_path_check(&f, &err);
}

Test(stored_path, that_leaves_the_root_is_refused) {
  cr_expect_eq(path("", "../x"), CAIRN_CORRUPT);
  cr_expect_eq(path("", "/x"), CAIRN_CORRUPT);
  cr_expect_eq(path("", "a//b"), CAIRN_CORRUPT);
  cr_expect_eq(path("", ""), CAIRN_CORRUPT);
  cr_expect_eq(path("a/", "/b"), CAIRN_CORRUPT);
  cr_expect_eq(path("a/.", "./b"), CAIRN_CORRUPT);
  cr_expect_eq(path("a/", "./b"), CAIRN_CORRUPT);
  cr_expect_eq(path("", "d/x.__lock"), CAIRN_CORRUPT);
  cr_expect_eq(path("d.__lock/", "x"), CAIRN_CORRUPT);
  cr_expect_eq(path("a/", "b/"), CAIRN_CORRUPT);
  cairn__ocdbt_file_t nul = {str(""), cairn_bytes("a\0b", 3)};
  cr_expect_eq(cairn__ocdbt_path_check(&nul, NULL), CAIRN_CORRUPT);
}

Test(stored_path, ordinary_ones_are_fine) {
  cr_expect_eq(path("ocdbt.process_0/", "d/0123"), CAIRN_OK);
  cr_expect_eq(path("no_slash", "x"), CAIRN_OK);
  cr_expect_eq(path("", "..."), CAIRN_OK);
  cr_expect_eq(path("a.b/.c/", "..d"), CAIRN_OK);
}

/* --- dump --- */

static void expect_dump(const char *name, size_t at, size_t n,
                        const char *want) {
  cairn_error_t err = {0};
  cairn_buf_t o = golden(name), out = {0};
  cr_assert_eq(
      cairn__ocdbt_dump(cairn_bytes(o.p + at, n != 0 ? n : o.n), &out, &err),
      CAIRN_OK, "%s", err.message);
  cairn_buf_put_u8(&out, 0);
  cr_expect_str_eq((const char *)out.p, want);
  cairn_buf_reset(&o);
  cairn_buf_reset(&out);
}

Test(dump, says_every_field_in_words) {
  expect_dump("F_manifest", 0, 0,
              "manifest\n"
              "config\n"
              "  uuid 000102030405060708090a0b0c0d0e0f\n"
              "  manifest_kind single\n"
              "  max_inline_value_bytes 100\n"
              "  max_decoded_node_bytes 8388608\n"
              "  version_tree_arity_log2 1\n"
              "  compression none\n"
              "versions 1\n"
              "  generation 3 root_height 0 btreenode missing num_keys 0"
              " num_tree_bytes 0 num_indirect_value_bytes 0"
              " commit_time 1700000000123456791\n"
              "version_nodes 1\n"
              "  generation 2 height 1"
              " versionnode::d/000000000000000000000000000000e1:92:71"
              " num_generations 2 commit_time 1700000000123456789\n");
  expect_dump("C_parent_data", 0, 0,
              "b-tree node\n"
              "height 0\n"
              "entries 3\n"
              "  key p/w/.zarray inline 2 %7B%7D\n"
              "  key p/w/0 value:ocdbt.process_0/"
              ":d/000000000000000000000000000000c1:0:16\n"
              "  key p/w/1 value:ocdbt.process_0/"
              ":d/000000000000000000000000000000c1:16:16\n");
  expect_dump("F_data", 92, 71,
              "version node\n"
              "version_tree_arity_log2 1\n"
              "height 1\n"
              "version_nodes 1\n"
              "  generation 2 height 0"
              " versionnode::d/000000000000000000000000000000e1:0:92"
              " num_generations 2 commit_time 1700000000123456789\n");
}

Test(dump, other_bytes_are_corrupt) {
  cairn_buf_t out = {0};
  cairn_error_t err = {0};
  cr_expect_eq(cairn__ocdbt_dump(str("{}"), &out, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "magic"));
}
