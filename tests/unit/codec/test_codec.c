#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "codec/codec.h"

static const cairn_codec_ops_t *find(const char *name) {
  return cairn_codec_find(cairn_bytes_str(name));
}

static cairn_code_t run_decode(const char *name, cairn_bytes_t in, size_t max,
                               cairn_buf_t *out) {
  cairn_codec_params_t p = {.size = sizeof p};
  cairn_error_t err = {0};
  cairn_code_t rc = find(name)->decode(&p, in, max, out, &err);
  cr_assert_eq(rc, err.code);
  return rc;
}

static cairn_bytes_t hex(const char *text, uint8_t *buf) {
  cairn_bytes_t b = cairn_bytes_str(text);
  cr_assert(cairn__unhex(b, buf), "%s", text);
  return cairn_bytes(buf, b.n / 2);
}

Test(codec, names_are_found_exactly) {
  cr_assert_str_eq(find("zstd")->name, "zstd");
  cr_assert_str_eq(find("crc32c")->name, "crc32c");
  cr_assert_null(find("zst"));
  cr_assert_null(find("zstd2"));
  cr_assert_null(find(""));
}

/* The check value of CRC-32C, e3069283, little endian. */
Test(codec, crc32c_appends_the_sum) {
  cairn_codec_params_t p = {.size = sizeof p};
  cairn_buf_t out = {0}, back = {0};
  cr_assert_eq(
      find("crc32c")->encode(&p, cairn_bytes_str("123456789"), &out, NULL),
      CAIRN_OK);
  cr_assert_eq(out.n, 13);
  cr_assert_arr_eq(out.p, "123456789\x83\x92\x06\xe3", 13);
  cr_assert_eq(run_decode("crc32c", cairn_bytes(out.p, 13), 9, &back),
               CAIRN_OK);
  cr_assert_eq(back.n, 9);
  cr_assert_arr_eq(back.p, "123456789", 9);
  cr_assert_eq(run_decode("crc32c", cairn_bytes(out.p, 13), 8, &back),
               CAIRN_CORRUPT);
  free(out.p);
  free(back.p);
}

/* E-CH-06 */
Test(codec, crc32c_too_short_or_wrong_is_corrupt) {
  uint8_t bytes[13];
  memcpy(bytes, "123456789\x83\x92\x06\xe3", 13);
  cairn_buf_t out = {0};
  for (size_t n = 0; n < 13; n++)
    cr_expect_eq(run_decode("crc32c", cairn_bytes(bytes, n), 100, &out),
                 CAIRN_CORRUPT);
  for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    cr_expect_eq(run_decode("crc32c", cairn_bytes(bytes, 13), 100, &out),
                 CAIRN_CORRUPT);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  cr_expect_eq(out.n, 0);
  free(out.p);
}

/* E-CH-02 to E-CH-04 for the two wrappings; "cairn" five times by Python's
 * zlib, level 6. */
Test(codec, deflate_streams_decode_or_are_corrupt) {
  static const struct {
    const char *codec, *stream;
  } cases[] = {
      {"zlib", "789c4b4ecc2cca4bc642000084a30a42"},
      {"gzip", "1f8b08000000000000034b4ecc2cca4bc6420000f48377b619000000"}};
  const char *text = "cairncairncairncairncairn";
  for (size_t i = 0; i < 2; i++) {
    uint8_t in[128];
    cairn_bytes_t s = hex(cases[i].stream, in);
    cairn_buf_t out = {0};
    cr_assert_eq(run_decode(cases[i].codec, s, 25, &out), CAIRN_OK);
    cr_assert_eq(out.n, 25);
    cr_assert_arr_eq(out.p, text, 25);
    out.n = 0;
    cr_expect_eq(run_decode(cases[i].codec, s, 24, &out), CAIRN_CORRUPT);
    for (size_t n = 0; n < s.n; n++)
      cr_expect_eq(run_decode(cases[i].codec, cairn_bytes(in, n), 25, &out),
                   CAIRN_CORRUPT);
    in[s.n] = 0;
    cr_expect_eq(run_decode(cases[i].codec, cairn_bytes(in, s.n + 1), 25, &out),
                 CAIRN_CORRUPT);
    in[s.n - 5] ^= 1; /* in the sum */
    cr_expect_eq(run_decode(cases[i].codec, s, 25, &out), CAIRN_CORRUPT);
    cr_expect_eq(out.n, 0);
    free(out.p);
  }
}

Test(codec, deflate_round_trips_beyond_one_step) {
  static const char *const names[] = {"gzip", "zlib"};
  size_t n = 1000003;
  uint8_t *src = malloc(n);
  for (size_t i = 0; i < n; i++) src[i] = (uint8_t)(i * i >> 7);
  for (size_t i = 0; i < 2; i++) {
    for (int level = 0; level <= 9; level += 3) {
      cairn_codec_params_t p = {.size = sizeof p, .level = level};
      cairn_buf_t out = {0}, back = {0};
      cr_assert_eq(find(names[i])->encode(&p, cairn_bytes(src, n), &out, NULL),
                   CAIRN_OK);
      cr_assert_eq(run_decode(names[i], cairn_bytes(out.p, out.n), n, &back),
                   CAIRN_OK);
      cr_assert(back.n == n && memcmp(back.p, src, n) == 0);
      free(out.p);
      free(back.p);
    }
  }
  free(src);
}

Test(codec, level_out_of_range_is_invalid) {
  cairn_codec_params_t p = {.size = sizeof p, .level = 10};
  cairn_buf_t out = {0};
  cr_assert_eq(find("gzip")->encode(&p, cairn_bytes_str("a"), &out, NULL),
               CAIRN_INVALID);
}
