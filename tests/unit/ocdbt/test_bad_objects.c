/* Every line E, C, T, R, V, N, VT and B of the validation list. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "unit/ocdbt/objects.h"

#define MANIFEST CAIRN__OCDBT_MANIFEST
#define VERSION_NODE CAIRN__OCDBT_VERSION_NODE
#define NODE CAIRN__OCDBT_BTREE_NODE

static void set_body(cairn_buf_t *o, size_t at, const char *hex) {
  cairn_buf_t b = {0};
  put_hex(&b, hex);
  memcpy(o->p + at, b.p, b.n);
  cairn_buf_reset(&b);
}

/* The golden object with hex written over it at `at`, mended. */
static cairn_buf_t patched(const char *name, size_t at, const char *hex) {
  cairn_buf_t o = golden(name);
  set_body(&o, at, hex);
  mend(&o);
  return o;
}

/* --- envelope --- */

Test(envelope, shorter_than_a_head_is_too_short) {
  cairn_buf_t a = golden("A_manifest");
  a.n = 15;
  expect_bad_take("E01", MANIFEST, a, "too short");
}

Test(envelope, other_magic_is_named) {
  expect_bad_take("E02", MANIFEST, patched("A_manifest", 0, "0cdb3a2b"),
                  "magic");
  expect_bad_take("E03", MANIFEST, patched("A_manifest", 0, "0cdb20de"),
                  "magic");
}

Test(envelope, length_must_be_that_of_the_bytes) {
  cairn_buf_t a = golden("A_manifest");
  cairn_buf_put_u8(&a, 0);
  expect_bad("E04 longer", MANIFEST, &a, "length");
  a.n -= 2;
  expect_bad_take("E04 shorter", MANIFEST, a, "length");
}

Test(envelope, unknown_version_and_compression) {
  expect_bad_take("E05", MANIFEST, patched("A_manifest", 12, "01"), "version");
  expect_bad_take("E06", MANIFEST, patched("A_manifest", 13, "02"),
                  "compression");
}

Test(envelope, flipped_bit_is_reported_as_checksum) {
  cairn_buf_t a = golden("A_manifest");
  a.p[a.n - 1] ^= 1;
  expect_bad("E07 sum", MANIFEST, &a, "checksum");
  a.p[a.n - 1] ^= 1;
  a.p[20] ^= 4;
  expect_bad_take("E07 uuid", MANIFEST, a, "checksum");
}

Test(envelope, byte_after_the_body_is_trailing_data) {
  cairn_buf_t a = golden("A_manifest");
  cairn_buf_put_u8(&a, 0);
  mend(&a);
  expect_bad_take("E08", MANIFEST, a, "trailing data");
}

Test(envelope, zstd_frame_must_be_whole_and_single) {
  cairn_buf_t z = golden("Az_manifest");
  z.n -= 3;
  mend(&z);
  expect_bad_take("E09", MANIFEST, z, "zstd");
  z = golden("Az_manifest");
  z.n -= 4;
  put_hex(&z, "00 00000000");
  mend(&z);
  expect_bad_take("E10", MANIFEST, z, "trailing compressed data");
  expect_bad_take("E11", MANIFEST, patched("Az_manifest", 14, "aa"), "zstd");
  z = golden("Az_manifest");
  z.n -= 4;
  put_hex(&z, "28b52ffd2000010000 00000000"); /* zstd -c < /dev/null */
  mend(&z);
  expect_bad_take("E12", MANIFEST, z, "trailing compressed data");
}

Test(envelope, version_varint_too_long_or_too_large) {
  cairn_buf_t a = golden("A_manifest"), o = {0};
  const char *forms[] = {"ffffffff1f", "808080808000"};
  for (int i = 0; i < 2; i++) {
    cairn_buf_put(&o, a.p, 12);
    put_hex(&o, forms[i]);
    cairn_buf_put(&o, a.p + 13, a.n - 13);
    mend(&o);
    expect_bad("E13", MANIFEST, &o, "varint");
    cairn_buf_reset(&o);
  }
  cairn_buf_reset(&a);
}

Test(envelope, head_without_body_is_end_of_data) {
  for (size_t n = 16; n <= 17; n++) {
    cairn_buf_t a = golden("A_manifest");
    a.n = n;
    a.p[12] = 0;
    mend(&a);
    expect_bad_take("E14", MANIFEST, a, "end of data");
  }
}

/* --- config --- */

Test(config, fields_out_of_range) {
  expect_bad_take("C01", MANIFEST, patched("A_manifest", 30, "02"), "kind");
  expect_bad_take("C02", MANIFEST, patched("A_manifest", 36, "00"), "arity");
  expect_bad_take("C03", MANIFEST, patched("A_manifest", 36, "11"), "arity");
  expect_bad_take("C04", MANIFEST, patched("A_manifest", 37, "02"), "method");
  expect_bad_hex("C05 23", MANIFEST, UUID "01 64 64 04 01 17000000", "level");
  expect_bad_hex("C05 -131073", MANIFEST, UUID "01 64 64 04 01 fffffdff",
                 "level");
  expect_bad_hex("C06", MANIFEST, UUID "01 ffffffff1f 64 04 00", "varint");
  expect_bad_hex("C07", MANIFEST, "0001020304", "end of data");
}

Test(config, levels_at_the_bounds_are_fine) {
  expect_good_take("22", MANIFEST,
                   wrap_hex(MANIFEST, UUID "01 64 64 04 01 16000000"));
  expect_good_take("-131072", MANIFEST,
                   wrap_hex(MANIFEST, UUID "01 64 64 04 01 0000feff"));
}

/* --- data file table --- */

static cairn_buf_t leaf(const cairn_buf_t *table) {
  cairn_buf_t body = {0};
  put_hex(&body, "00");
  cairn_buf_put(&body, table->p, table->n);
  put_hex(&body, "01 01 61 05 00 76616c7565");
  cairn_buf_t o = wrap(NODE, cairn_buf_bytes(&body));
  cairn_buf_reset(&body);
  return o;
}

static void bad_table(const char *id, const char *hex, size_t more,
                      const char *word) {
  cairn_buf_t t = {0};
  put_hex(&t, hex);
  for (size_t i = 0; i < more; i++) cairn_buf_put_u8(&t, 'x');
  expect_bad_take(id, NODE, leaf(&t), word);
  cairn_buf_reset(&t);
}

Test(file_table, bad_tables) {
  bad_table("T01", "808080808020", 0, "end of data");
  bad_table("T02", "02 f0a204 01 01 00 00", 2, "varint16");
  bad_table("T03", "02 01 01 ffff03 00 00", 65536, "path too long");
  bad_table("T04", "01 05 06", 5, "base longer than path");
  bad_table("T05", "02 02 02 00 00 01", 2, "prefix crosses base path");
  bad_table("T06", "02 09 02 01 00 00", 3, "prefix longer than previous path");
  cairn_buf_t short_suffix = wrap_hex(NODE, "00 01 c801 00 616161");
  expect_bad_take("T07", NODE, short_suffix, "end of data");
}

Test(file_table, transitive_path_counts_in_the_limit) {
  cairn_buf_t t = {0};
  cairn_error_t err = {0};
  put_hex(&t, "01 ffff03 00");
  for (size_t i = 0; i < 65535; i++) cairn_buf_put_u8(&t, 'x');
  cairn_buf_t o = leaf(&t);
  cr_expect_eq(decode(NODE, cairn_buf_bytes(&o), "", &err), CAIRN_OK, "%s",
               err.message);
  cr_expect_eq(decode(NODE, cairn_buf_bytes(&o), "z", &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "path too long"), "T08: %s", err.message);
  cairn_buf_reset(&o);
  cairn_buf_reset(&t);
}

/* --- references --- */

#define FILE_F "01 01 00 66 " /* one file, "f" */

Test(reference, file_id_must_be_in_the_table) {
  expect_bad_hex("R01 value", NODE, "00" FILE_F "01 01 61 05 01 01 00",
                 "file id");
  expect_bad_hex("R01 child", NODE, "01" FILE_F "01 01 00 61 01 00 19 01 19 00",
                 "file id");
}

Test(reference, offset_and_length_must_be_a_location) {
  expect_bad_hex("R02 wraps", NODE, "00" FILE_F "01 01 61 01 01 00" MAX64,
                 "location");
  expect_bad_hex("R02 sign", NODE,
                 "00" FILE_F "01 01 61 01 01 00 ffffffffffffffff7f",
                 "location");
  expect_bad_hex("R03 value", NODE, "00" FILE_F "01 01 61" MAX64 "01 00" MAX64,
                 "location");
  expect_bad_hex("R03 child", NODE,
                 "01" FILE_F "01 01 00 61 00" MAX64 MAX64 "01 19 00",
                 "location");
}

/* --- versions --- */

struct listed {
  uint64_t generation;
  uint8_t height;
};

/* A manifest of versions without keys and of version nodes, arity as given. */
static cairn_buf_t manifest(uint8_t arity, const uint64_t *gens, size_t n,
                            const struct listed *nodes, size_t m) {
  cairn_buf_t b = {0};
  put_hex(&b, UUID "00 64 64");
  cairn_buf_put_u8(&b, arity);
  put_hex(&b, "00 01 00 00");
  cairn_buf_put_varint(&b, n);
  for (size_t i = 0; i < n; i++) cairn_buf_put_varint(&b, gens[i]);
  for (size_t i = 0; i < 2 * n; i++) cairn_buf_put_u8(&b, 0);
  for (size_t i = 0; i < 2 * n; i++) put_hex(&b, MAX64);
  for (size_t i = 0; i < 3 * n; i++) cairn_buf_put_u8(&b, 0);
  for (size_t i = 0; i < n; i++) put_hex(&b, T0);
  cairn_buf_put_varint(&b, m);
  for (size_t i = 0; i < m; i++) cairn_buf_put_varint(&b, nodes[i].generation);
  for (size_t i = 0; i < 3 * m; i++) cairn_buf_put_u8(&b, 0);
  for (size_t i = 0; i < m; i++) cairn_buf_put_u8(&b, 1);
  for (size_t i = 0; i < m; i++) put_hex(&b, T0);
  for (size_t i = 0; i < m; i++) cairn_buf_put_u8(&b, nodes[i].height);
  cairn_buf_t o = wrap(MANIFEST, cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return o;
}

static cairn_buf_t versions(const uint64_t *gens, size_t n) {
  return manifest(4, gens, n, NULL, 0);
}

Test(version_list, counts_generations_and_windows) {
  uint64_t many[17];
  for (uint64_t i = 0; i < 17; i++) many[i] = i + 1;
  expect_bad_take("V01", MANIFEST, versions(NULL, 0), "count");
  expect_bad_take("V02", MANIFEST, versions(many, 17), "count");
  expect_good_take("16 are fine", MANIFEST, versions(many, 16));
  expect_bad_take("V03", MANIFEST, versions((uint64_t[]){0}, 1), "generation");
  expect_bad_take("V04", MANIFEST, versions((uint64_t[]){2, 2}, 2), "order");
  expect_bad_take("V04", MANIFEST, versions((uint64_t[]){3, 2}, 2), "order");
  expect_bad_take("V05", MANIFEST, versions((uint64_t[]){16, 17}, 2), "window");
}

#define LIST(height, keys)                                                    \
  UUID "00 64 64 04 00 01 00 00 01 01" height "00" MAX64 MAX64 keys "0000" T0 \
       "00"

Test(version_list, missing_root_has_no_height_and_no_keys) {
  expect_good_take("A", MANIFEST, wrap_hex(MANIFEST, LIST("00", "00")));
  expect_bad_hex("V06", MANIFEST, LIST("01", "00"), "empty root");
  expect_bad_hex("V07", MANIFEST, LIST("00", "01"), "empty root");
}

static void bad_nodes(const char *id, uint64_t newest,
                      const struct listed *nodes, size_t m, const char *word) {
  expect_bad_take(id, MANIFEST, manifest(1, &newest, 1, nodes, m), word);
}

Test(version_nodes, heights_orders_and_windows) {
  struct listed many[63] = {{0}};
  for (uint64_t i = 0; i < 63; i++)
    many[i] = (struct listed){i + 1, (uint8_t)(63 - i)};
  bad_nodes("N01", 7, (struct listed[]){{6, 0}}, 1, "height");
  bad_nodes("N02", 7, (struct listed[]){{6, 63}}, 1, "height");
  bad_nodes("N03", 9, (struct listed[]){{6, 2}, {4, 1}}, 2, "order");
  bad_nodes("N04", 9, (struct listed[]){{4, 1}, {6, 1}}, 2, "order");
  bad_nodes("N05", 7, (struct listed[]){{4, 1}}, 1, "window");
  bad_nodes("N06", 1, (struct listed[]){{1, 1}}, 1, "unexpected node");
  bad_nodes("N07", 7, many, 63, "count");
  bad_nodes("N08", 7, (struct listed[]){{0, 1}}, 1, "generation");
}

Test(version_nodes, unused_slots_are_fine) {
  uint64_t newest = 17;
  struct listed one[] = {{8, 3}};
  struct listed all[] = {{8, 3}, {12, 2}, {16, 1}};
  expect_good_take("one", MANIFEST, manifest(1, &newest, 1, one, 1));
  expect_good_take("all", MANIFEST, manifest(1, &newest, 1, all, 3));
}

/* --- version tree nodes --- */

/* Arity 2, height 1: n children with generations and one version count. */
static cairn_buf_t version_node(const uint64_t *gens, size_t n, uint8_t count) {
  cairn_buf_t b = {0};
  put_hex(&b, "01 01" FILE_F);
  cairn_buf_put_varint(&b, n);
  for (size_t i = 0; i < n; i++) cairn_buf_put_varint(&b, gens[i]);
  for (size_t i = 0; i < 3 * n; i++) cairn_buf_put_u8(&b, 0);
  for (size_t i = 0; i < n; i++) cairn_buf_put_u8(&b, count);
  for (size_t i = 0; i < n; i++) put_hex(&b, T0);
  cairn_buf_t o = wrap(VERSION_NODE, cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return o;
}

static void bad_children(const char *id, const uint64_t *gens, size_t n,
                         const char *word) {
  expect_bad_take(id, VERSION_NODE, version_node(gens, n, 2), word);
}

Test(version_node, arity_height_and_count) {
  expect_bad_hex("VT01 0", VERSION_NODE, "00 00", "arity");
  expect_bad_hex("VT01 17", VERSION_NODE, "11 00", "arity");
  expect_bad_hex("VT02", VERSION_NODE, "10 03 00 00", "height");
  expect_bad_hex("VT03 leaf", VERSION_NODE, "01 00 00 00", "count");
  bad_children("VT03", NULL, 0, "count");
  bad_children("VT09", (uint64_t[]){2, 4, 6}, 3, "count");
}

Test(version_node, children_are_full_windows_of_one_parent) {
  const uint64_t two[] = {2};
  expect_good_take("2", VERSION_NODE, version_node(two, 1, 2));
  bad_children("VT04", (uint64_t[]){3}, 1, "not a multiple");
  expect_bad_take("VT05", VERSION_NODE, version_node(two, 1, 3),
                  "num_generations");
  bad_children("VT06", (uint64_t[]){4, 6}, 2, "span");
  bad_children("VT07", (uint64_t[]){2, 2}, 2, "order");
  bad_children("VT08", (uint64_t[]){0}, 1, "generation");
}

/* --- b-tree nodes --- */

static cairn_buf_t leaf_of_long_key(void) {
  cairn_buf_t b = {0};
  put_hex(&b, "00 00 02 01 01 ffff03");
  for (int i = 0; i < 65536; i++) cairn_buf_put_u8(&b, 'k');
  put_hex(&b, "0000 0000");
  cairn_buf_t o = wrap(NODE, cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return o;
}

static cairn_buf_t leaf_of_long_value(void) {
  cairn_buf_t b = {0};
  put_hex(&b, "00 00 01 01 61 818040 00");
  for (int i = 0; i < 1048577; i++) cairn_buf_put_u8(&b, 'v');
  cairn_buf_t o = wrap(NODE, cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return o;
}

Test(btree_node, counts) {
  expect_bad_hex("B01 leaf", NODE, "00 00 00", "empty node");
  expect_bad_hex("B01 interior", NODE, "01 00 00", "empty node");
  expect_bad_hex("B02", NODE, "00 00 818040", "count");
  expect_bad_hex("B02", NODE, "00 00 ffffffff1f", "varint");
  expect_bad_hex("B11", NODE, "", "end of data");
  expect_bad_hex("B12", NODE, "00", "end of data");
}

Test(btree_node, keys) {
  expect_bad_hex("B03", NODE, "00 00 02 02 01 01 6162 0000 0000", "key prefix");
  expect_bad_take("B04", NODE, leaf_of_long_key(), "key length");
  expect_bad_hex("B05 a a", NODE, "00 00 02 00 01 01 6161 0000 0000",
                 "key order");
  expect_bad_hex("B05 b a", NODE, "00 00 02 00 01 01 6261 0000 0000",
                 "key order");
  expect_bad_hex("B05 empty suffix", NODE, "00 00 02 01 01 00 61 0000 0000",
                 "key order");
  expect_bad_hex("B09", NODE, "01" FILE_F "01 01 02 61 00 00 19 01 19 00",
                 "subtree prefix");
  expect_bad_hex("B10", NODE, "00 00 01 808004 61 00 00", "varint16");
}

Test(btree_node, values) {
  expect_bad_hex("B06", NODE, "00 00 01 01 61 05 02 76616c7565", "kind");
  expect_bad_take("B07", NODE, leaf_of_long_value(), "inline too long");
  expect_bad_hex("B08", NODE, "00 00 01 01 61 05 00 76616c75", "end of data");
  expect_bad_hex("B13", NODE, "00 00 01 01 61 05 00 76616c7565 00",
                 "trailing data");
}

/* --- all of them --- */

static const char *const objects[] = {
    "A_manifest", "Az_manifest",      "B_data",
    "B_manifest", "C_child_manifest", "C_parent_data",
    "D_manifest", "E_manifest",       "F_manifest"};

static uint32_t magic_of(const cairn_buf_t *o) {
  return o->p[2] == 0x3a ? MANIFEST : o->p[2] == 0x12 ? VERSION_NODE : NODE;
}

Test(objects, cut_anywhere_is_corrupt) {
  for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
    cairn_buf_t o = golden(objects[k]);
    for (size_t n = 0; n < o.n; n++) {
      cairn_error_t err = {0};
      cr_expect_eq(decode(magic_of(&o), cairn_bytes(o.p, n), "", &err),
                   CAIRN_CORRUPT, "%s cut to %zu", objects[k], n);
      cr_expect_neq(err.message[0], '\0');
    }
    cairn_buf_reset(&o);
  }
}

Test(objects, any_flipped_bit_is_corrupt) {
  for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
    cairn_buf_t o = golden(objects[k]);
    uint32_t want = magic_of(&o);
    for (size_t bit = 0; bit < 8 * o.n; bit++) {
      o.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
      cr_expect_eq(decode(want, cairn_buf_bytes(&o), "", NULL), CAIRN_CORRUPT,
                   "%s bit %zu", objects[k], bit);
      o.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    cairn_buf_reset(&o);
  }
}

/* Cut bodies with a right length and sum reach every field's end-of-data path.
 */
Test(objects, cut_bodies_are_corrupt) {
  for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
    cairn_buf_t o = golden(objects[k]);
    for (size_t n = o.n - 1; n >= 18; n--) {
      cairn_buf_t cut = {0};
      cairn_buf_put(&cut, o.p, n - 4);
      cairn_buf_put_u32le(&cut, 0);
      mend(&cut);
      cr_expect_eq(decode(magic_of(&o), cairn_buf_bytes(&cut), "", NULL),
                   CAIRN_CORRUPT, "%s body cut to %zu", objects[k], n - 18);
      cairn_buf_reset(&cut);
    }
    cairn_buf_reset(&o);
  }
}
