/* Chunks and shards as bytes: the worked examples of reference arrays.md C and
 * cases.md, the error list E3, and that no flipped bit passes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/chain.h"
#include "base/base.h"
#include "docs.h"

#define BYTES(e) "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"" e "\"}}"
#define CRC "{\"name\":\"crc32c\"}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":3}}"
#define GRID(dims) \
  "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":" dims "}}"
#define SHARD_AT(sub, codecs, index, where)                                \
  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" sub \
  ",\"codecs\":[" codecs "],\"index_codecs\":[" index                      \
  "],\"index_location\":\"" where "\"}}"
#define SHARD(sub, codecs) SHARD_AT(sub, codecs, BYTES("little") "," CRC, "end")

static cairn_zarr_t *zarr3(const char *type, const char *fill, const char *dims,
                           const char *codecs) {
  char text[4096];
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  snprintf(
      text, sizeof text,
      "{\"zarr_format\":3,\"node_type\":\"array\",\"data_type\":\"%s\","
      "\"fill_value\":%s,\"shape\":%s,\"chunk_grid\":{\"name\":\"regular\","
      "\"configuration\":{\"chunk_shape\":%s}},\"chunk_key_encoding\":{"
      "\"name\":\"default\"},\"codecs\":[%s]}",
      type, fill, dims, dims, codecs);
  cr_assert_eq(cairn_zarr_parse(3, cairn_bytes_str(text), &z, &err), CAIRN_OK,
               "%s: %s", text, err.message);
  return z;
}

static cairn_zarr_t *zarr2(const char *type, const char *dims,
                           const char *compressor, const char *order) {
  char text[1024];
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  snprintf(
      text, sizeof text,
      "{\"chunks\":%s,\"compressor\":%s,\"dtype\":\"%s\",\"fill_value\":null,"
      "\"filters\":null,\"order\":\"%s\",\"shape\":%s,\"zarr_format\":2}",
      dims, compressor, type, order, dims);
  cr_assert_eq(cairn_zarr_parse(2, cairn_bytes_str(text), &z, &err), CAIRN_OK,
               "%s", err.message);
  return z;
}

/* A whole chunk into C order; fill_missing as asked. */
static cairn_code_t decode(const cairn_zarr_t *z, cairn_bytes_t in, void *out,
                           bool fill_missing, cairn_error_t *err) {
  cairn_error_t own = {0};
  if (err == NULL) err = &own;
  const cairn__chain_t *c = z->chain;
  cairn__decoder_t d = {.fill = z->fill, .fill_missing = fill_missing};
  cairn__target_t all = {.data = out};
  if (c->rank > 0)
    memcpy(all.extent, c->shape, (size_t)c->rank * sizeof *c->shape);
  cairn__c_strides(c->rank, c->shape, (int64_t)c->item, all.strides);
  cairn_code_t rc = cairn__chain_decode(&d, c, in, &all, 1, err);
  cairn__decoder_reset(&d);
  return rc;
}

static cairn_code_t encode(const cairn_zarr_t *z, const void *src,
                           cairn_buf_t *out, cairn_error_t *err) {
  cairn_error_t own = {0};
  if (err == NULL) err = &own;
  int64_t strides[CAIRN_MAX_RANK];
  cairn__encoder_t e = {.frame_checksum = z->frame_checksum};
  cairn__c_strides(z->rank, z->chunk, (int64_t)z->chain->item, strides);
  cairn_code_t rc = cairn__chain_encode(&e, z->chain, src, strides, out, err);
  cairn__encoder_reset(&e);
  return rc;
}

static cairn_bytes_t hex(const char *text, uint8_t *buf) {
  size_t n = 0;
  for (; *text != '\0'; text += *text == ' ' ? 1 : 2)
    if (*text != ' ')
      cr_assert(cairn__unhex(cairn_bytes(text, 2), &buf[n++]), "%s", text);
  return cairn_bytes(buf, n);
}

/* Decodes to what is wanted; if `back`, encodes to the same bytes. */
static void is(cairn_zarr_t *z, const char *stored, const char *elements,
               bool back) {
  uint8_t in[256], want[256], out[256];
  cairn_error_t err = {0};
  cairn_bytes_t s = hex(stored, in), w = hex(elements, want);
  cr_assert_eq((size_t)z->chain->bytes, w.n);
  cr_expect_eq(decode(z, s, out, false, &err), CAIRN_OK, "%s: %s", stored,
               err.message);
  cr_expect_arr_eq(out, want, w.n, "%s", stored);
  if (back) {
    cairn_buf_t again = {0};
    cr_expect_eq(encode(z, want, &again, NULL), CAIRN_OK);
    cr_expect_eq(again.n, s.n, "%s: %zu bytes", stored, again.n);
    if (again.n == s.n) cr_expect_arr_eq(again.p, in, s.n, "%s", stored);
    free(again.p);
  }
  cairn_zarr_unref(z);
}

#define ROW "0000000000000080 3f00000040000040 40000080400000a0 40"

Test(chain, worked_examples) {
  /* C1: int32 0..7, with and without a content size */
  is(zarr2("<i4", "[8]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd 20 20 010100 00000000 01000000 02000000 03000000 04000000 "
     "05000000 06000000 07000000",
     "00000000 01000000 02000000 03000000 04000000 05000000 06000000 07000000",
     true);
  is(zarr2("<i4", "[8]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd 00 00 010100 00000000 01000000 02000000 03000000 04000000 "
     "05000000 06000000 07000000",
     "00000000 01000000 02000000 03000000 04000000 05000000 06000000 07000000",
     false);
  /* C2: a shard of one inner chunk */
  is(zarr3("int32", "0", "[3]", SHARD("[3]", BYTES("little") "," ZSTD)),
     "28b52ffd200c610000 01000000 02000000 03000000 0000000000000000 "
     "1500000000000000 146c27ae",
     "01000000 02000000 03000000", true);
  /* C3: raw, zarr 2 and a zarr 3 shard */
  is(zarr2("<f4", "[1,6]", "null", "C"),
     "000000000000803f0000004000004040000080400000a040",
     "000000000000803f0000004000004040000080400000a040", true);
  is(zarr3("float32", "0.0", "[1,6]", SHARD("[1,6]", BYTES("little"))),
     "000000000000803f0000004000004040000080400000a040 0000000000000000 "
     "1800000000000000 84973d84",
     "000000000000803f0000004000004040000080400000a040", true);
  /* C4: a scalar */
  is(zarr3("float64", "0.0", "[]", SHARD("[]", BYTES("little") "," ZSTD)),
     "28b52ffd2008410000 000000000000e03f 0000000000000000 1100000000000000 "
     "79ee3a8f",
     "000000000000e03f", true);
  is(zarr2("<f8", "[]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd2008410000 000000000000e03f", "000000000000e03f", true);
  /* C5: bfloat16; C6: a PRNG key */
  is(zarr2("bfloat16", "[2,3]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd200c610000 803f 00c0 003f 4940 8047 833a",
     "803f 00c0 003f 4940 8047 833a", true);
  is(zarr2("<u4", "[2]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd2008410000 00000000 2a000000", "00000000 2a000000", true);
}

Test(chain, small_inputs) { /* cases.md */
  is(zarr2("<f4", "[2]", "{\"id\":\"zstd\"}", "C"),
     "28b52ffd00584100000000803f00000040", "0000803f 00000040", false);
  is(zarr3("uint8", "0", "[4]", SHARD("[2]", "{\"name\":\"bytes\"}")),
     "01020304 0000000000000000 0200000000000000 0200000000000000 "
     "0200000000000000 04526e88",
     "01020304", true);
  is(zarr2(">f4", "[2]", "null", "C"), "3f80000040000000", "0000803f 00000040",
     true);
  is(zarr3("float32", "0.0", "[2]", BYTES("big")), "3f80000040000000",
     "0000803f 00000040", true);
  is(zarr2(">c8", "[1]", "null", "C"), "3f80000040000000", "0000803f 00000040",
     true);
  is(zarr2(">i8", "[1]", "null", "C"), "0102030405060708", "0807060504030201",
     true);
  is(zarr2("bfloat16", "[1]", "null", "C"), "2842", "2842", true);
  is(zarr2("float8_e4m3fn", "[2]", "null", "C"), "b07e", "b07e", true);
  is(zarr2("<i2", "[2,3]", "null", "F"), "0000 0300 0100 0400 0200 0500",
     "0000 0100 0200 0300 0400 0500", true);
}

/* cases.md 80: int16 0..23 as (2,3,4). */
Test(chain, transposed_chunks) {
  static const char *const orders[] = {"[1,2,0]", "[2,0,1]", "[2,1,0]",
                                       "[0,1,2]", "\"F\"",   "\"C\""};
  static const int strides[][3] = {
      /* of the array in the chunk, elements */
      {1, 8, 2}, {3, 1, 6}, {1, 2, 6}, {12, 4, 1}, {1, 2, 6}, {12, 4, 1}};
  int16_t values[24];
  for (int16_t i = 0; i < 24; i++) values[i] = i;
  for (size_t k = 0; k < 6; k++) {
    char codecs[512];
    snprintf(codecs, sizeof codecs,
             "{\"name\":\"transpose\",\"configuration\":{\"order\":%s}},%s",
             orders[k], BYTES("little"));
    cairn_zarr_t *z = zarr3("int16", "0", "[2,3,4]", codecs);
    cairn_buf_t out = {0};
    int16_t stored[24], back[24];
    cr_assert_eq(encode(z, values, &out, NULL), CAIRN_OK);
    cr_assert_eq(out.n, 48);
    memcpy(stored, out.p, 48);
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 3; b++)
        for (int c = 0; c < 4; c++)
          cr_expect_eq(
              stored[a * strides[k][0] + b * strides[k][1] + c * strides[k][2]],
              a * 12 + b * 4 + c, "%s", orders[k]);
    if (k == 0) cr_expect(stored[1] == 12 && stored[2] == 1 && stored[3] == 13);
    cr_assert_eq(decode(z, cairn_bytes(out.p, out.n), back, false, NULL),
                 CAIRN_OK);
    cr_expect_arr_eq(back, values, 48);
    free(out.p);
    cairn_zarr_unref(z);
  }
}

/* The shard with gaps of reference arrays.md A3.6. */
static const char *gaps =
    "01000200030004000d000e000f001000 00000000000000000800000000000000 "
    "ffffffffffffffffffffffffffffffff ffffffffffffffffffffffffffffffff "
    "08000000000000000800000000000000 6729498b";

Test(chain, shard_with_gaps) {
  cairn_zarr_t *z =
      zarr3("int16", "-7", "[4,4]", SHARD("[2,2]", BYTES("little")));
  uint8_t in[256];
  int16_t out[16];
  static const int16_t want[16] = {1,  2,  -7, -7, 3,  4,  -7, -7,
                                   -7, -7, 13, 14, -7, -7, 15, 16};
  cairn_bytes_t s = hex(gaps, in);
  cairn_error_t err = {0};
  cr_expect_eq(decode(z, s, out, true, NULL), CAIRN_OK);
  cr_expect_arr_eq(out, want, sizeof want);
  cr_expect_eq(decode(z, s, out, false, &err), CAIRN_CORRUPT); /* E-SH-06 */
  cr_expect_str_eq(err.message, "inner chunk 0/1: missing");
  cairn_zarr_unref(z);
}

static void is_corrupt(const cairn_zarr_t *z, cairn_bytes_t in,
                       const char *word) {
  uint8_t out[256];
  cairn_error_t err = {0};
  cr_expect_eq(decode(z, in, out, true, &err), CAIRN_CORRUPT, "%s", word);
  cr_expect(strstr(err.message, word) != NULL, "%s, not %s", err.message, word);
}

Test(chain, chunks_of_the_wrong_length_are_corrupt) { /* E-CH-01, 03 */
  cairn_zarr_t *raw = zarr2("<f4", "[2]", "null", "C");
  uint8_t bytes[16] = {0};
  for (size_t n = 0; n <= 16; n++)
    if (n != 8) is_corrupt(raw, cairn_bytes(bytes, n), "want 8");
  cairn_zarr_unref(raw);
  cairn_zarr_t *z = zarr2("<f4", "[3]", "{\"id\":\"zstd\"}", "C");
  uint8_t in[64];
  is_corrupt(z, hex("28b52ffd2008410000 0000803f00000040", in), "want 12");
  is_corrupt(z, hex("28b52ffd2010810000 00000000000000000000000000000000", in),
             "more than 12");
  cairn_zarr_unref(z);
  z = zarr3("float32", "0.0", "[2]", BYTES("little") "," CRC); /* E-CH-06 */
  is_corrupt(z, hex("0102", in), "too short");
  is_corrupt(z, hex("0000803f00000040 00000000", in), "crc32c");
  cairn_zarr_unref(z);
}

Test(chain, huge_chunks_of_small_metadata_take_no_memory) {
  cairn_zarr_t *z = zarr2("<f4", "[1099511627776]", "{\"id\":\"zstd\"}", "C");
  uint8_t in[64], out[8];
  cairn__target_t some = {.extent = {2}, .strides = {4}, .data = (char *)out};
  cairn__decoder_t d = {.fill = z->fill};
  cairn_bytes_t s = hex("28b52ffd2008410000 0000803f00000040", in);
  cairn_error_t err = {0};
  cr_expect_eq(cairn__chain_decode(&d, z->chain, s, &some, 1, &err),
               CAIRN_CORRUPT);
  cr_expect_leq(d.scratch[0].cap, 64);
  cairn__decoder_reset(&d);
  cairn_zarr_unref(z);
}

Test(chain, bool_of_2_is_corrupt_and_never_written) { /* E-CH-07 */
  cairn_zarr_t *z = zarr2("|b1", "[3]", "null", "C");
  uint8_t in[3] = {1, 0, 2};
  cairn_buf_t out = {0};
  is_corrupt(z, cairn_bytes(in, 3), "bool element 2 is 2");
  cr_expect_eq(encode(z, in, &out, NULL), CAIRN_INVALID);
  free(out.p);
  cairn_zarr_unref(z);
}

/* A1.3: fe 0e 1f f1 is -2 -2 -1 1 as int4. */
Test(chain, sub_byte_types_use_the_low_bits) {
  static const struct {
    const char *type;
    uint8_t stored[4], memory[4], written[4];
  } cases[] = {
      {"int4",
       {0xfe, 0x0e, 0x1f, 0xf1},
       {0xfe, 0xfe, 0xff, 0x01},
       {0x0e, 0x0e, 0x0f, 0x01}},
      {"int2",
       {0x03, 0xfe, 0x01, 0x04},
       {0xff, 0xfe, 0x01, 0x00},
       {0x03, 0x02, 0x01, 0x00}},
      {"float4_e2m1fn",
       {0xf8, 0x0f, 0x17, 0x00},
       {0x08, 0x0f, 0x07, 0x00},
       {0x08, 0x0f, 0x07, 0x00}},
  };
  for (size_t i = 0; i < 3; i++) {
    cairn_zarr_t *z = zarr2(cases[i].type, "[4]", "null", "C");
    uint8_t out[4];
    cairn_buf_t again = {0};
    cr_expect_eq(decode(z, cairn_bytes(cases[i].stored, 4), out, false, NULL),
                 CAIRN_OK);
    cr_expect_arr_eq(out, cases[i].memory, 4, "%s", cases[i].type);
    cr_expect_eq(encode(z, cases[i].memory, &again, NULL), CAIRN_OK);
    cr_expect_arr_eq(again.p, cases[i].written, 4, "%s", cases[i].type);
    free(again.p);
    cairn_zarr_unref(z);
  }
}

/* E-SH-01 to 05, with an index without a sum, two inner chunks of 2 bytes. */
Test(chain, bad_shards_are_corrupt) {
  cairn_zarr_t *z =
      zarr3("uint8", "0", "[4]",
            SHARD_AT("[2]", "{\"name\":\"bytes\"}", BYTES("little"), "end"));
  static const struct {
    const char *shard, *word;
  } cases[] = {
      {"", "shorter than its index"},
      {"00000000000000000200000000000000 020000000000000002000000000000",
       "shorter than its index"},
      {"01020304 0000000000000000 0200000000000000 2300000000000000 "
       "0200000000000000",
       "outside"},
      {"01020304 0000000000000000 0200000000000000 ffffffffffffffff "
       "0200000000000000",
       "outside"},
      {"01020304 0000000000000000 0200000000000000 0200000000000000 "
       "ffffffffffffffff",
       "outside"},
      {"01020304 0000000000000000 0200000000000000 0200000000000000 "
       "0000000000000000",
       "inner chunk 1"},
      {"01020304 0000000000000000 0300000000000000 0200000000000000 "
       "0200000000000000",
       "inner chunk 0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t in[64];
    is_corrupt(z, hex(cases[i].shard, in), cases[i].word);
  }
  cairn_zarr_unref(z);
  uint8_t in[256];
  z = zarr3("int16", "0", "[4,4]", SHARD("[2,2]", BYTES("little")));
  cairn_bytes_t s = hex(gaps, in);
  for (size_t bit = 16 * 8; bit < s.n * 8; bit++) { /* E-SH-02 */
    in[bit / 8] ^= (uint8_t)(1 << bit % 8);
    is_corrupt(z, s, "shard index: crc32c");
    in[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  cairn_zarr_unref(z);
}

/* Offsets are followed in any order, also overlapping, index at the start. */
Test(chain, shard_offsets_may_be_anywhere) {
  is(zarr3("uint8", "0", "[4]",
           SHARD_AT("[2]", "{\"name\":\"bytes\"}", BYTES("big"), "start")),
     "0000000000000024 0000000000000002 0000000000000023 0000000000000002 "
     "ffffff0a0b0c",
     "0b0c 0a0b", false);
}

Test(chain, no_flipped_bit_passes) {
  static const char *const chains[] = {
      BYTES("little") "," ZSTD "," CRC, BYTES("little") "," CRC,
      SHARD("[8]", BYTES("little") "," ZSTD "," CRC),
      SHARD("[4]", BYTES("little") "," CRC)};
  float values[8];
  for (int i = 0; i < 8; i++) values[i] = (float)i / 3;
  for (size_t k = 0; k < 4; k++) {
    cairn_zarr_t *z = zarr3("float32", "0.0", "[8]", chains[k]);
    cairn_buf_t out = {0};
    float back[8];
    cr_assert_eq(encode(z, values, &out, NULL), CAIRN_OK);
    for (size_t bit = 0; bit < 8 * out.n; bit++) {
      out.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
      cr_expect_eq(decode(z, cairn_bytes(out.p, out.n), back, true, NULL),
                   CAIRN_CORRUPT, "chain %zu, bit %zu", k, bit);
      out.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    cr_expect_eq(decode(z, cairn_bytes(out.p, out.n), back, true, NULL),
                 CAIRN_OK);
    cr_expect_arr_eq(back, values, sizeof values);
    free(out.p);
    cairn_zarr_unref(z);
  }
}

/* All ways to put a chain together come back. */
Test(chain, chains_round_trip) {
  static const char *const chains[] = {
      BYTES("big"),
      BYTES("little") ",{\"name\":\"gzip\",\"configuration\":{\"level\":5}}",
      BYTES("little") "," CRC "," ZSTD,
      BYTES("little") "," ZSTD
                      ",{\"name\":\"gzip\",\"configuration\":{"
                      "\"level\":1}}," CRC "," CRC,
      "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," BYTES(
          "big") "," ZSTD,
      SHARD_AT("[2,3]", BYTES("little") "," ZSTD, BYTES("big") "," CRC,
               "start"),
      "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," SHARD(
          "[3,4]",
          "{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}," BYTES(
              "big")),
      SHARD("[4,3]", SHARD("[1,3]", BYTES("little") "," CRC)),
      SHARD(
          "[4,6]",
          SHARD_AT("[2,3]", BYTES("little"),
                   "{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,"
                   "1]}}," BYTES("little"),
                   "start")),
  };
  uint32_t values[24], back[24];
  for (uint32_t i = 0; i < 24; i++) values[i] = i * 0x01020304u;
  for (size_t k = 0; k < sizeof chains / sizeof *chains; k++) {
    cairn_zarr_t *z = zarr3("uint32", "0", "[4,6]", chains[k]);
    cairn_buf_t out = {0};
    cairn_error_t err = {0};
    cr_assert_eq(encode(z, values, &out, &err), CAIRN_OK, "%s", err.message);
    cr_expect_eq(decode(z, cairn_bytes(out.p, out.n), back, false, &err),
                 CAIRN_OK, "%zu: %s", k, err.message);
    cr_expect_arr_eq(back, values, sizeof values, "%zu", k);
    free(out.p);
    cairn_zarr_unref(z);
  }
}

/* Elements that lie as they are stored are not copied: what follows them is. */
Test(chain, detached_elements) {
  static const struct {
    const char *chain;
    size_t rest;
  } cases[] = {{BYTES("little"), 0},
               {BYTES("little") "," CRC, 4},
               {SHARD("[6]", BYTES("little") "," CRC), 4 + 20}};
  const uint32_t values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t strides[1] = {4};
  for (size_t k = 0; k < 3; k++) {
    cairn_zarr_t *z = zarr3("uint32", "0", "[6]", cases[k].chain);
    cairn__encoder_t e = {.detach = true};
    cairn_buf_t rest = {0}, whole = {0};
    cr_assert_eq(
        cairn__chain_encode(&e, z->chain, values, strides, &rest, NULL),
        CAIRN_OK);
    cr_expect_eq(e.direct.p, (const uint8_t *)values);
    cr_expect_eq(e.direct.n, sizeof values);
    cr_expect_eq(rest.n, cases[k].rest);
    cr_assert_eq(encode(z, values, &whole, NULL), CAIRN_OK);
    cr_expect_eq(whole.n, sizeof values + rest.n);
    cr_expect(rest.n == 0 ||
              memcmp(whole.p + sizeof values, rest.p, rest.n) == 0);
    free(rest.p);
    free(whole.p);
    cairn__encoder_reset(&e);
    cairn_zarr_unref(z);
  }
}

/* What does not shrink stays where it is inside a zstd frame, too: the pieces
 * together are a value that is read back, with a block that is not full at the
 * end, and the same one that is made with a copy. */
Test(chain, detached_elements_in_a_frame) {
  enum { N = 3 * 131072 / 4 + 5 };
  static const struct {
    const char *chain;
    size_t pieces; /* head, 4 of (block header, block), what follows */
  } cases[] = {{BYTES("little") "," ZSTD, 8},
               {BYTES("little") "," ZSTD "," CRC, 9},
               {SHARD("[98309]", BYTES("little") "," ZSTD "," CRC), 9}};
  static uint32_t values[N], back[N];
  const int64_t strides[1] = {4};
  uint32_t x = 1;
  for (size_t i = 0; i < N; i++)
    values[i] = x = (x ^ x >> 15) * 1664525 + 1013904223;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    cairn_zarr_t *z = zarr3("uint32", "0", "[98309]", cases[k].chain);
    cairn__encoder_t e = {.detach = true};
    cairn_buf_t around = {0}, whole = {0}, joined = {0};
    cairn_error_t err = {0};
    struct iovec iov[16];
    cr_assert_eq(
        cairn__chain_encode(&e, z->chain, values, strides, &around, NULL),
        CAIRN_OK);
    cr_assert_eq(e.direct.p, (const uint8_t *)values, "%zu", k);
    cairn_bytes_t rest = cairn_bytes(around.p, around.n);
    size_t n = cairn__encoded_pieces(e.direct, e.frame_head, rest, NULL);
    cr_assert_eq(n, cases[k].pieces, "%zu: %zu pieces", k, n);
    cairn__encoded_pieces(e.direct, e.frame_head, rest, iov);
    for (size_t i = 0; i < n; i++)
      cairn_buf_put(&joined, iov[i].iov_base, iov[i].iov_len);
    cr_assert_eq(encode(z, values, &whole, NULL), CAIRN_OK);
    cr_assert_eq(joined.n, whole.n);
    cr_expect_arr_eq(joined.p, whole.p, whole.n);
    cr_expect_eq(decode(z, cairn_bytes(joined.p, joined.n), back, false, &err),
                 CAIRN_OK, "%s", err.message);
    cr_expect_arr_eq(back, values, sizeof values);
    free(around.p);
    free(whole.p);
    free(joined.p);
    cairn__encoder_reset(&e);
    cairn_zarr_unref(z);
  }
}
