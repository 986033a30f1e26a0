/* .zarray: reference arrays.md A2 and the error lists E1. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/zarr.h"
#include "docs.h"

static cairn_code_t parse(const char *text, cairn_error_t *err) {
  cairn_zarr_t *z;
  cairn_code_t rc = cairn_zarr_parse(2, cairn_bytes_str(text), &z, err);
  if (rc == CAIRN_OK) cairn_zarr_unref(z);
  return rc;
}

Test(zarr2, not_a_document_is_corrupt) { /* E-V2-01, 02 */
  static const char *const texts[] = {
      "", "{", "nonsense", "{}x", "[]", "1", "null", "{\"a\":\"\xff\"}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    cr_expect_eq(parse(texts[i], NULL), CAIRN_CORRUPT, "%s", texts[i]);
  const char *doc = doc_with(2, "order", "\"C\"");
  size_t n = strlen(doc);
  for (size_t cut = 0; cut < n; cut++) {
    cairn_zarr_t *z;
    cr_expect_eq(cairn_zarr_parse(2, cairn_bytes(doc, cut), &z, NULL),
                 CAIRN_CORRUPT);
    cr_expect_null(z);
  }
}

Test(zarr2, missing_member_is_named) { /* E-V2-03 */
  for (int i = 0; i < 8; i++) {
    cairn_error_t err = {0};
    const char *key = zarr2_members[i].key;
    cr_expect_eq(parse(doc_with(2, key, NULL), &err), CAIRN_CORRUPT, "%s", key);
    cr_expect(strstr(err.message, key) != NULL, "%s: %s", key, err.message);
  }
}

static const struct bad {
  const char *key, *value;
  cairn_code_t code;
} bad[] = {
    /* E-V2-04 */
    {"zarr_format", "3", CAIRN_CORRUPT},
    {"zarr_format", "\"2\"", CAIRN_CORRUPT},
    {"zarr_format", "2.5", CAIRN_CORRUPT},
    {"zarr_format", "null", CAIRN_CORRUPT},
    /* E-V2-05 */
    {"shape", "4", CAIRN_CORRUPT},
    {"shape", "[4,-1]", CAIRN_CORRUPT},
    {"shape", "[4,1.5]", CAIRN_CORRUPT},
    {"shape", "[4,\"6\"]", CAIRN_CORRUPT},
    {"shape", "[4,9223372036854775807]", CAIRN_CORRUPT},
    {"shape", "[4,99999999999999999999]", CAIRN_CORRUPT},
    /* E-V2-06 */
    {"chunks", "[2,0]", CAIRN_CORRUPT},
    {"chunks", "[2,-3]", CAIRN_CORRUPT},
    {"chunks", "[2]", CAIRN_CORRUPT},
    {"chunks", "[2,3,4]", CAIRN_CORRUPT},
    /* E-V2-07 */
    {"shape",
     "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
     CAIRN_UNSUPPORTED},
    /* E-V2-08 */
    {"chunks", "[4294967296,4294967296]", CAIRN_CORRUPT},
    {"chunks", "[4294967296,1073741824]", CAIRN_CORRUPT},
    /* E-V2-09 */
    {"order", "\"c\"", CAIRN_CORRUPT},
    {"order", "1", CAIRN_CORRUPT},
    {"order", "null", CAIRN_CORRUPT},
    /* E-V2-10 */
    {"filters", "{}", CAIRN_CORRUPT},
    {"filters", "[{\"id\":\"delta\"}]", CAIRN_UNSUPPORTED},
    {"filters", "0", CAIRN_CORRUPT},
    /* E-V2-11 */
    {"dimension_separator", "\"\"", CAIRN_CORRUPT},
    {"dimension_separator", "\"-\"", CAIRN_CORRUPT},
    {"dimension_separator", "3", CAIRN_CORRUPT},
    /* E-DT-01 */
    {"dtype", "\"\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"f4\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"|f4\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<f3\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<i3\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"|i2\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<b2\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"float32\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"uint4\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"float8_e4m3\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<m8\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<U4\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"=i4\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<V2\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"<bfloat16\"", CAIRN_UNSUPPORTED},
    {"dtype", "4", CAIRN_CORRUPT},
    {"dtype", "null", CAIRN_CORRUPT},
    /* E-DT-02 */
    {"dtype", "[[\"a\",\"<i4\"]]", CAIRN_UNSUPPORTED},
    {"dtype", "\"|S3\"", CAIRN_UNSUPPORTED},
    {"dtype", "\"|V8\"", CAIRN_UNSUPPORTED},
    /* E-CO-01 */
    {"compressor", "{}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":3}", CAIRN_CORRUPT},
    {"compressor", "[]", CAIRN_CORRUPT},
    {"compressor", "\"zstd\"", CAIRN_CORRUPT},
    /* E-CO-02 */
    {"compressor", "{\"id\":\"lzma\"}", CAIRN_UNSUPPORTED},
    {"compressor", "{\"id\":\"crc32c\"}", CAIRN_UNSUPPORTED},
    {"compressor", "{\"id\":\"blosc\"}", CAIRN_UNSUPPORTED},
    {"compressor", "{\"id\":\"bz2\",\"level\":9}", CAIRN_UNSUPPORTED},
    /* E-CO-03 */
    {"compressor", "{\"id\":\"zstd\",\"level\":23}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"zstd\",\"level\":-131073}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"zstd\",\"level\":\"1\"}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"zstd\",\"extra\":1}", CAIRN_UNSUPPORTED},
    {"compressor", "{\"id\":\"blosc\",\"cname\":\"x\"}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"blosc\",\"shuffle\":3}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"blosc\",\"clevel\":10}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"gzip\",\"level\":10}", CAIRN_CORRUPT},
    {"compressor", "{\"id\":\"bz2\",\"level\":0}", CAIRN_CORRUPT},
};

Test(zarr2, bad_member_is_named) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_error_t err = {0};
    cairn_code_t rc = parse(doc_with(2, bad[i].key, bad[i].value), &err);
    cr_expect_eq(rc, bad[i].code, "%s: %s: %d, %s", bad[i].key, bad[i].value,
                 rc, err.message);
    /* A longer shape is met first as too many chunks. */
    cr_expect(strstr(err.message, bad[i].key) != NULL, "%s: %s", bad[i].key,
              err.message);
  }
}

Test(zarr2, bad_fill_value_is_corrupt) { /* E-V2-12 */
  static const struct {
    const char *dtype, *fill;
  } cases[] = {
      {"<f4", "\"x\""},
      {"<f4", "\"\""},
      {"<f4", "true"},
      {"<f4", "\"1 \\u0000\""},
      {"<f4", "\"NaNs\""},
      {"|b1", "1"},
      {"|b1", "\"true\""},
      {"|u1", "300"},
      {"|u1", "-1"},
      {"<u4", "-1"},
      {"<i4", "1.5"},
      {"<i4", "\"1\""},
      {"<i4", "2147483648"},
      {"<u8", "18446744073709551616"},
      {"int4", "128"},
      {"<c8", "[1]"},
      {"<c8", "[1,2,3]"},
      {"<c8", "[1,\"x\"]"},
      {"<c8", "\"AAAAAA==\""},
      {"<c8", "\"****\""},
      {"float4_e2m1fn", "1.0"},
      {"float4_e2m1fn", "\"AAA=\""},
      {"<i4", "[]"},
      {"<i4", "{}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_error_t err = {0};
    char dtype[32];
    snprintf(dtype, sizeof dtype, "\"%s\"", cases[i].dtype);
    cairn_code_t rc =
        parse(doc_with2(2, "dtype", dtype, "fill_value", cases[i].fill), &err);
    cr_expect_eq(rc, CAIRN_CORRUPT, "%s %s", cases[i].dtype, cases[i].fill);
    cr_expect(strstr(err.message, "fill_value") != NULL, "%s", err.message);
  }
}

Test(zarr2, bombs_are_refused) { /* E-V2-13 */
  size_t n = 100000;
  char *text = malloc(10 * n + 64);
  memset(text, '[', n);
  text[n] = '\0';
  cr_expect_eq(parse(text, NULL), CAIRN_CORRUPT);
  memcpy(text, "{\"zarr_format\":", 15);
  memset(text + 15, '9', 10 * n);
  memcpy(text + 15 + 10 * n, "}", 2);
  cr_expect_eq(parse(text, NULL), CAIRN_CORRUPT);
  free(text);
  cr_expect_eq(parse("{\"zarr_format\":1e999999999}", NULL), CAIRN_CORRUPT);
}

/* A1.3, all names that are read, with what they mean. cases.md 74. */
Test(zarr2, element_types_are_read_in_all_their_forms) {
  static const struct {
    const char *name;
    cairn_dtype_t t;
    bool big;
  } cases[] = {
      {"|b1", CAIRN_BOOL, false},
      {"<b1", CAIRN_BOOL, false},
      {">b1", CAIRN_BOOL, true},
      {"|i1", CAIRN_I8, false},
      {"<i1", CAIRN_I8, false},
      {">i1", CAIRN_I8, true},
      {"|u1", CAIRN_U8, false},
      {"<u1", CAIRN_U8, false},
      {"<i2", CAIRN_I16, false},
      {">i2", CAIRN_I16, true},
      {"<u2", CAIRN_U16, false},
      {">u4", CAIRN_U32, true},
      {"<u8", CAIRN_U64, false},
      {">i8", CAIRN_I64, true},
      {"<f2", CAIRN_F16, false},
      {"bfloat16", CAIRN_BF16, false},
      {">f4", CAIRN_F32, true},
      {"<f8", CAIRN_F64, false},
      {"<c8", CAIRN_C64, false},
      {">c16", CAIRN_C128, true},
      {"int2", CAIRN_I2, false},
      {"int4", CAIRN_I4, false},
      {"float4_e2m1fn", CAIRN_F4_E2M1FN, false},
      {"float8_e8m0fnu", CAIRN_F8_E8M0FNU, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool big;
    cairn_bytes_t name = cairn_bytes_str(cases[i].name);
    cr_expect_eq(cairn__dtype_from_zarr2(name, &big), cases[i].t, "%s",
                 cases[i].name);
    cr_expect_eq(big, cases[i].big);
  }
}

Test(zarr2, unknown_members_and_integral_floats_are_accepted) {
  cr_expect_eq(parse(doc_with(2, "shape", "[4.0,6e0]"), NULL), CAIRN_OK);
  cr_expect_eq(parse(doc_with(2, "extra", "{\"a\":[1]}"), NULL), CAIRN_OK);
  cr_expect_eq(parse(doc_with(2, "filters", "[]"), NULL), CAIRN_OK);
  cr_expect_eq(parse(doc_with(2, "compressor", "{\"id\":\"zlib\"}"), NULL),
               CAIRN_OK);
  cr_expect_eq(parse(doc_with(2, "dimension_separator", "\"/\""), NULL),
               CAIRN_OK);
}
