/* zarr.json: reference arrays.md A3 and the error list E2. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "array/zarr.h"
#include "docs.h"

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC "{\"name\":\"crc32c\"}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":3}}"
#define SHARD_MORE(sub, codecs, index, more)                               \
  "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" sub \
  ",\"codecs\":[" codecs "],\"index_codecs\":[" index "]" more "}}"
#define SHARD(sub, codecs, index) SHARD_MORE(sub, codecs, index, "")

static cairn_code_t parse(const char *text, cairn_error_t *err) {
  cairn_zarr_t *z;
  cairn_code_t rc = cairn_zarr_parse(3, cairn_bytes_str(text), &z, err);
  if (rc == CAIRN_OK) cairn_zarr_unref(z);
  return rc;
}

Test(zarr3, not_a_document_is_corrupt) { /* E-V3-01 */
  static const char *const texts[] = {
      "", "{", "nonsense", "{}x", "[]", "1", "null", "{\"a\":\"\xff\"}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_expect_eq(parse(texts[i], NULL), CAIRN_CORRUPT, "%s", texts[i]);
}

Test(zarr3, missing_member_is_named) { /* E-V3-02 */
  for (int i = 0; i < 8; i++) {
    cairn_error_t err = {0};
    const char *key = zarr3_members[i].key;
    cr_expect_eq(parse(doc_with(3, key, NULL), &err), CAIRN_CORRUPT, "%s", key);
    cr_expect(strstr(err.message, key) != NULL, "%s: %s", key, err.message);
  }
}

static const struct bad {
  const char *key, *value, *word; /* of the message, beside the key */
  cairn_code_t code;
} bad[] = {
    /* E-V3-03 */
    {"zarr_format", "2", "", CAIRN_CORRUPT},
    {"node_type", "\"group\"", "", CAIRN_CORRUPT},
    /* E-V3-04 */
    {"data_type", "\"int33\"", "int33", CAIRN_UNSUPPORTED},
    {"data_type", "\"uint4\"", "uint4", CAIRN_UNSUPPORTED},
    {"data_type", "\"r7\"", "r7", CAIRN_UNSUPPORTED},
    {"data_type", "\"r0\"", "r0", CAIRN_UNSUPPORTED},
    {"data_type", "7", "", CAIRN_CORRUPT},
    {"data_type", "{}", "name", CAIRN_CORRUPT},
    {"data_type", "{\"name\":\"struct\",\"configuration\":{}}", "struct",
     CAIRN_UNSUPPORTED},
    /* E-V3-05, for int32; others below */
    {"fill_value", "null", "", CAIRN_CORRUPT},
    {"fill_value", "2147483648", "", CAIRN_CORRUPT},
    /* E-V3-06 */
    {"chunk_grid",
     "{\"name\":\"rect\",\"configuration\":{\"chunk_shape\":[2,3]}}", "rect",
     CAIRN_UNSUPPORTED},
    {"chunk_grid",
     "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,3],\"a\":1}}",
     "a", CAIRN_UNSUPPORTED},
    {"chunk_grid",
     "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,0]}}",
     "chunk_shape[1]", CAIRN_CORRUPT},
    {"chunk_grid",
     "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}}",
     "chunk_shape", CAIRN_CORRUPT},
    {"chunk_grid", "{\"name\":\"regular\"}", "chunk_shape", CAIRN_CORRUPT},
    {"chunk_grid", "\"regular\"", "", CAIRN_CORRUPT},
    /* E-V3-07 */
    {"chunk_key_encoding", "{\"name\":\"v1\"}", "v1", CAIRN_UNSUPPORTED},
    {"chunk_key_encoding",
     "{\"name\":\"default\",\"configuration\":{\"separator\":\"_\"}}",
     "separator", CAIRN_CORRUPT},
    {"chunk_key_encoding",
     "{\"name\":\"default\",\"configuration\":{\"more\":1}}", "more",
     CAIRN_UNSUPPORTED},
    /* E-V3-08 */
    {"mystery", "{}", "", CAIRN_UNSUPPORTED},
    {"mystery", "{\"must_understand\":true}", "", CAIRN_UNSUPPORTED},
    {"mystery", "false", "", CAIRN_UNSUPPORTED},
    {"mystery", "{\"must_understand\":0}", "", CAIRN_UNSUPPORTED},
    /* E-V3-09 */
    {"storage_transformers", "[{\"name\":\"x\"}]", "", CAIRN_UNSUPPORTED},
    {"storage_transformers", "{}", "", CAIRN_CORRUPT},
    /* E-V3-10 */
    {"dimension_names", "[\"a\"]", "", CAIRN_CORRUPT},
    {"dimension_names", "[\"a\",3]", "", CAIRN_CORRUPT},
    {"attributes", "{\"dimension_units\":[null]}", "dimension_units",
     CAIRN_CORRUPT},
    {"attributes", "[]", "", CAIRN_CORRUPT},
    /* E-V3-11 */
    {"codecs", "[]", "", CAIRN_CORRUPT},
    {"codecs", "{}", "", CAIRN_CORRUPT},
    {"codecs", "[" CRC "]", "[0]", CAIRN_CORRUPT},
    {"codecs", "[" LITTLE "," LITTLE "]", "[1]", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE
     ",{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]",
     "[1]: transpose", CAIRN_CORRUPT},
    {"codecs", "[" ZSTD "," LITTLE "]", "[0]", CAIRN_CORRUPT},
    {"codecs", "[\"bytes\"]", "[0]", CAIRN_CORRUPT},
    {"codecs", "[" LITTLE ",{\"name\":\"zlib\"}]",
     "[1]: unknown codec \"zlib\"", CAIRN_UNSUPPORTED},
    {"codecs",
     "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\",\"x\":1}}]",
     "x", CAIRN_UNSUPPORTED},
    {"codecs", "[" LITTLE ",{\"name\":\"crc32c\",\"configuration\":{\"x\":1}}]",
     "crc32c: x", CAIRN_UNSUPPORTED},
    {"codecs", "[{\"configuration\":{}}]", "name", CAIRN_CORRUPT},
    /* E-V3-12 */
    {"codecs", "[{\"name\":\"bytes\"}]", "endian", CAIRN_CORRUPT},
    {"codecs",
     "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"native\"}}]",
     "endian", CAIRN_CORRUPT},
    /* E-V3-13 */
    {"codecs",
     "[{\"name\":\"transpose\",\"configuration\":{\"order\":[0,0]}}," LITTLE
     "]",
     "order[1]", CAIRN_CORRUPT},
    {"codecs",
     "[{\"name\":\"transpose\",\"configuration\":{\"order\":[0]}}," LITTLE "]",
     "order", CAIRN_CORRUPT},
    {"codecs",
     "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,-1]}}," LITTLE
     "]",
     "order[1]", CAIRN_CORRUPT},
    {"codecs", "[{\"name\":\"transpose\"}," LITTLE "]", "order", CAIRN_CORRUPT},
    /* E-V3-14 */
    {"codecs", "[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{}}]", "level",
     CAIRN_CORRUPT},
    {"codecs", "[" LITTLE ",{\"name\":\"zstd\"}]", "level", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE ",{\"name\":\"zstd\",\"configuration\":{\"level\":23}}]",
     "zstd: level", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE
     ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":\"x\"}}]",
     "checksum", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE ",{\"name\":\"gzip\",\"configuration\":{\"level\":10}}]",
     "level", CAIRN_CORRUPT},
    {"codecs", "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{}}]",
     "cname", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
     "\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":0,\"blocksize\":0}}]",
     "typesize", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
     "\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":256,\"blocksize\":0}}]",
     "typesize", CAIRN_CORRUPT},
    {"codecs",
     "[" LITTLE ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\","
     "\"clevel\":5,\"shuffle\":\"noshuffle\",\"blocksize\":0}}]",
     "blosc", CAIRN_UNSUPPORTED},
    /* E-V3-15 */
    {"codecs",
     "[{\"name\":\"sharding_indexed\",\"configuration\":{\"codecs\":[" LITTLE
     "],\"index_codecs\":[" LITTLE "]}}]",
     "chunk_shape", CAIRN_CORRUPT},
    {"codecs", "[" SHARD("[1,0]", LITTLE, LITTLE) "]", "chunk_shape[1]",
     CAIRN_CORRUPT},
    {"codecs", "[" SHARD("[1]", LITTLE, LITTLE) "]", "chunk_shape",
     CAIRN_CORRUPT},
    {"codecs", "[" SHARD("[2,2]", LITTLE, LITTLE) "]", "chunk_shape[1]",
     CAIRN_CORRUPT},
    {"codecs",
     "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,3],"
     "\"index_codecs\":[" LITTLE "]}}]",
     "codecs: missing", CAIRN_CORRUPT},
    {"codecs",
     "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,3],"
     "\"codecs\":[" LITTLE "]}}]",
     "index_codecs: missing", CAIRN_CORRUPT},
    {"codecs",
     "[" SHARD_MORE("[2,3]", LITTLE, LITTLE,
                    ",\"index_location\":\"middle\"") "]",
     "index_location", CAIRN_CORRUPT},
    {"codecs", "[" SHARD("[2,3]", LITTLE, LITTLE) "," CRC "]", "[1]",
     CAIRN_CORRUPT},
    {"codecs", "[" SHARD_MORE("[2,3]", LITTLE, LITTLE, ",\"x\":1") "]", "x",
     CAIRN_UNSUPPORTED},
    /* E-V3-16 */
    {"codecs", "[" SHARD("[2,3]", LITTLE, LITTLE "," ZSTD) "]", "index_codecs",
     CAIRN_UNSUPPORTED},
    {"codecs",
     "[" SHARD("[2,3]", LITTLE,
               LITTLE
               ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}") "]",
     "index_codecs", CAIRN_UNSUPPORTED},
    {"codecs", "[" SHARD("[2,3]", LITTLE, SHARD("[1,1,1]", LITTLE, LITTLE)) "]",
     "index_codecs", CAIRN_UNSUPPORTED},
    /* E-V3-18 */
    {"chunk_grid",
     "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4294967296,"
     "1073741824]}}",
     "chunk", CAIRN_CORRUPT},
};

Test(zarr3, bad_member_is_named) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_error_t err = {0};
    cairn_code_t rc = parse(doc_with(3, bad[i].key, bad[i].value), &err);
    cr_expect_eq(rc, bad[i].code, "%s: %s: %d, %s", bad[i].key, bad[i].value,
                 rc, err.message);
    bool overflow = strcmp(bad[i].word, "chunk") == 0;
    cr_expect(overflow || strstr(err.message, bad[i].key) != NULL, "%s: %s",
              bad[i].key, err.message);
    cr_expect(strstr(err.message, bad[i].word) != NULL, "%s: %s", bad[i].word,
              err.message);
  }
}

Test(zarr3, bad_fill_value_is_corrupt) { /* E-V3-05 */
  static const struct {
    const char *type, *fill;
  } cases[] = {
      {"bool", "0"},
      {"int8", "128"},
      {"int4", "8"},
      {"int2", "-3"},
      {"uint8", "-1"},
      {"float32", "\"0\""},
      {"float32", "\"0x\""},
      {"float32", "\"0xg\""},
      {"float32", "null"},
      {"float32", "\"0x123456789\""},
      {"float16", "\"0x12345\""},
      {"float8_e5m2", "\"0x123\""},
      {"complex64", "[]"},
      {"complex64", "[1,2,3]"},
      {"complex64", "1"},
      {"complex64", "\"AAAAAAAAAAA=\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_error_t err = {0};
    char type[32];
    snprintf(type, sizeof type, "\"%s\"", cases[i].type);
    cairn_code_t rc = parse(
        doc_with2(3, "data_type", type, "fill_value", cases[i].fill), &err);
    cr_expect_eq(rc, CAIRN_CORRUPT, "%s %s", cases[i].type, cases[i].fill);
    cr_expect(strstr(err.message, "fill_value") != NULL, "%s", err.message);
  }
}

Test(zarr3, huge_shards_are_refused) { /* E-V3-17 */
  const char *grid =
      "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[65536,32768]}"
      "}";
  cairn_error_t err = {0};
  cairn_code_t rc = parse(doc_with2(3, "chunk_grid", grid, "codecs",
                                    "[" SHARD("[1,1]", LITTLE, LITTLE) "]"),
                          &err);
  cr_expect_eq(rc, CAIRN_UNSUPPORTED);
  cr_expect(strstr(err.message, "2^30") != NULL, "%s", err.message);
}

/* cases.md 85 */
Test(zarr3, nesting_of_shards_is_bounded) {
  char codecs[1 << 15];
  for (int levels = 1; levels <= 200; levels = levels < 6 ? levels + 1 : 200) {
    size_t n = 0;
    for (int i = 0; i < levels; i++)
      n += (size_t)snprintf(
          codecs + n, sizeof codecs - n,
          "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":"
          "[2,3],\"index_codecs\":[" LITTLE "],\"codecs\":");
    n += (size_t)snprintf(codecs + n, sizeof codecs - n, "[" LITTLE "]");
    for (int i = 0; i < levels; i++)
      n += (size_t)snprintf(codecs + n, sizeof codecs - n, "}}]");
    cairn_error_t err = {0};
    cairn_code_t rc = parse(doc_with(3, "codecs", codecs), &err);
    if (levels <= 4)
      cr_expect_eq(rc, CAIRN_OK, "%d: %s", levels, err.message);
    else
      cr_expect(rc == CAIRN_UNSUPPORTED || rc == CAIRN_CORRUPT);
    if (levels == 200) break;
  }
}

Test(zarr3, what_may_be_ignored_is) {
  static const char *const ok[][2] = {
      {"mystery", "{\"must_understand\":false,\"x\":[1]}"},
      {"storage_transformers", "[]"},
      {"dimension_names", "[\"a\",null]"},
      {"dimension_names", "[\"\",\"\"]"},
      {"attributes", "{\"dimension_units\":[\"nm\",null],\"y\":2}"},
      {"data_type", "{\"name\":\"int32\",\"configuration\":{\"z\":0}}"},
      {"data_type", "{\"name\":\"int32\"}"},
      {"codecs", "[" LITTLE ",{\"name\":\"crc32c\",\"configuration\":{}}]"},
      {"zarr_format", "3.0"},
  };
  for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
    cairn_error_t err = {0};
    cr_expect_eq(parse(doc_with(3, ok[i][0], ok[i][1]), &err), CAIRN_OK,
                 "%s: %s", ok[i][1], err.message);
  }
}

/* The innermost chunk, through transposes and shards: outer [4,6] becomes
 * [6,4], cut in [3,2], which becomes [2,3], cut in [1,3]; in the array's order
 * that is 1 along what was transposed twice. */
Test(zarr3, read_chunk_is_in_the_arrays_dimensions) {
  static const char *transpose =
      "{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}";
  char codecs[4096], inner[2048];
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  snprintf(inner, sizeof inner, "%s,%s", transpose,
           SHARD("[1,3]", LITTLE, LITTLE));
  snprintf(codecs, sizeof codecs,
           "[%s,{\"name\":\"sharding_indexed\",\"configuration\":{"
           "\"chunk_shape\":[3,2],\"codecs\":[%s],\"index_codecs\":[%s]}}]",
           transpose, inner, LITTLE);
  const char *text = doc_with2(
      3, "chunk_grid",
      "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[4,6]}}",
      "codecs", codecs);
  cr_assert_eq(cairn_zarr_parse(3, cairn_bytes_str(text), &z, &err), CAIRN_OK,
               "%s", err.message);
  cr_expect_eq(cairn_zarr_read_chunk(z)[0], 1);
  cr_expect_eq(cairn_zarr_read_chunk(z)[1], 3);
  char names[128];
  cairn_zarr_codecs(z, names, sizeof names);
  cr_expect_str_eq(names,
                   "transpose, sharding_indexed, transpose, sharding_indexed");
  cairn_zarr_unref(z);
}
