#include <criterion/criterion.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/base.h"
#include "codec/codec.h"

static cairn_codec_params_t params(int level, bool checksum, bool store) {
  return (cairn_codec_params_t){.size = sizeof(cairn_codec_params_t),
                                .level = level,
                                .checksum = checksum,
                                .store = store};
}

static const cairn_codec_ops_t *zstd(void) {
  return cairn_codec_find(cairn_bytes_str("zstd"));
}

static cairn_bytes_t hex(const char *text, uint8_t *buf) {
  cairn_bytes_t b = cairn_bytes_str(text);
  cr_assert(cairn__unhex(b, buf), "%s", text);
  return cairn_bytes(buf, b.n / 2);
}

static uint8_t *noise(size_t n) {
  uint8_t *p = malloc(n + 1);
  uint32_t x = 1;
  for (size_t i = 0; i < n; i++) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    p[i] = (uint8_t)x;
  }
  return p;
}

static cairn_code_t decode(cairn_bytes_t in, size_t max, cairn_buf_t *out) {
  cairn_codec_params_t p = params(0, false, false);
  cairn_error_t err = {0};
  cairn_code_t rc = zstd()->decode(&p, in, max, out, &err);
  cr_assert_eq(rc, err.code);
  return rc;
}

/* The frames of reference arrays.md C and cases.md. */
Test(zstd, frames_of_the_reference_decode) {
  static const struct {
    const char *frame, *value;
  } cases[] = {
      {"28b52ffd00584100000000803f00000040", "0000803f00000040"},
      {"28b52ffd200c610000010000000200000003000000",
       "010000000200000003000000"},
      {"28b52ffd2008410000000000000000e03f", "000000000000e03f"},
      {"28b52ffd2400010000"
       "99e9d851",
       ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t in[64], want[64];
    cairn_bytes_t w = hex(cases[i].value, want);
    cairn_bytes_t f = hex(cases[i].frame, in);
    cairn_buf_t out = {0};
    cr_assert_eq(decode(f, w.n, &out), CAIRN_OK, "%s", cases[i].frame);
    cr_assert(out.n == w.n && (w.n == 0 || memcmp(out.p, w.p, w.n) == 0));
    cr_assert(w.n == 0 || decode(f, w.n - 1, &out) == CAIRN_CORRUPT);
    free(out.p);
  }
}

/* What the zstd tool makes of an empty file, and of "a" without a checksum. */
Test(zstd, stored_frames_have_these_bytes) {
  static const struct {
    const char *text;
    bool checksum;
    const char *frame;
  } cases[] = {
      {"", true,
       "28b52ffd2400010000"
       "99e9d851"},
      {"a", false, "28b52ffd200109000061"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_codec_params_t p = params(3, cases[i].checksum, true);
    cairn_buf_t out = {0};
    uint8_t want[64];
    cairn_bytes_t w = hex(cases[i].frame, want);
    cr_assert_eq(zstd()->encode(&p, cairn_bytes_str(cases[i].text), &out, NULL),
                 CAIRN_OK);
    cr_assert_eq(out.n, w.n);
    cr_assert_arr_eq(out.p, w.p, w.n);
    free(out.p);
  }
}

Test(zstd, stored_frames_of_all_header_sizes_decode_with_libzstd) {
  static const size_t sizes[] = {0,     1,      255,    256,    65535 + 256,
                                 65792, 131071, 131072, 131073, 1000000};
  uint8_t *src = noise(1000000), *dst = malloc(1000000);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    cairn_codec_params_t p = params(0, true, true);
    cairn_buf_t out = {0};
    cr_assert_eq(zstd()->encode(&p, cairn_bytes(src, sizes[i]), &out, NULL),
                 CAIRN_OK);
    cr_assert_eq(ZSTD_getFrameContentSize(out.p, out.n), sizes[i]);
    cr_assert_eq(ZSTD_decompress(dst, 1000000, out.p, out.n), sizes[i]);
    cr_assert(memcmp(dst, src, sizes[i]) == 0);
    free(out.p);
  }
  free(src);
  free(dst);
}

Test(zstd, encoded_frames_declare_size_and_checksum) {
  uint8_t *src = calloc(1, 100000);
  for (int level = -5; level <= 22; level += 9) {
    for (int checksum = 0; checksum < 2; checksum++) {
      cairn_codec_params_t p = params(level, checksum, false);
      cairn_buf_t out = {0}, back = {0};
      cr_assert_eq(zstd()->encode(&p, cairn_bytes(src, 100000), &out, NULL),
                   CAIRN_OK);
      cr_assert_eq(ZSTD_getFrameContentSize(out.p, out.n), 100000);
      cr_assert_eq(out.p[4] >> 2 & 1, checksum);
      cr_assert_eq(decode(cairn_bytes(out.p, out.n), 100000, &back), CAIRN_OK);
      cr_assert(back.n == 100000 && memcmp(back.p, src, back.n) == 0);
      free(out.p);
      free(back.p);
    }
  }
  free(src);
}

/* E-CH-02 to E-CH-04, with the frame of [1.0, 2.0]. */
Test(zstd, bad_frames_are_corrupt) {
  static const char *const cases[] = {
      "",                                           /* nothing */
      "28b52f",                                     /* in the magic */
      "28b52ffd",                                   /* no header */
      "28b52ffd00584100000000803f000000",           /* truncated */
      "28b52ffe00584100000000803f00000040",         /* magic */
      "28b52ffd00584100000000803f0000004000",       /* a byte after it */
      "28b52ffd10584100000000803f00000040",         /* unused bit */
      "28b52ffd08584100000000803f00000040",         /* reserved bit */
      "28b52ffd0158074100000000803f00000040",       /* dictionary 7 */
      "28b52ffd00584700000000803f00000040",         /* block type 3 */
      "28b52ffd20094100000000803f00000040",         /* declares 9 */
      "28b52ffd20074100000000803f00000040",         /* declares 7 */
      "28b52ffd24084100000000803f0000004000000000", /* wrong checksum */
      "502a4d180000000028b52ffd20084100000000803f00000040", /* skippable */
      "28b52ffd20084100000000803f00000040502a4d1800000000",
      "28b52ffd200001000028b52ffd20084100000000803f00000040", /* two frames */
      "28b52ffde000000000000000104100000000803f00000040", /* declares 2^60 */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t in[64], dst[8];
    cairn_bytes_t f = hex(cases[i], in);
    cairn_buf_t out = {0};
    cairn_error_t err = {0};
    cr_expect_eq(cairn__zstd_decode_into(f, dst, 8, &err), CAIRN_CORRUPT, "%s",
                 cases[i]);
    cr_expect_eq(decode(f, (size_t)1 << 40, &out), CAIRN_CORRUPT, "%s",
                 cases[i]);
    cr_expect_eq(out.n, 0);
    free(out.p);
  }
}

Test(zstd, declared_size_alone_takes_no_memory) {
  uint8_t in[64];
  cairn_bytes_t f = hex("28b52ffde000000000000000104100000000803f00000040", in);
  cairn_buf_t out = {0};
  cr_assert_eq(decode(f, (size_t)1 << 62, &out), CAIRN_CORRUPT);
  cr_assert_null(out.p);
}

/* All bits of frames with a checksum count. */
static void flip_all(cairn_buf_t *f, const uint8_t *src, size_t n) {
  uint8_t *dst = malloc(n);
  for (size_t bit = 0; bit < f->n * 8; bit++) {
    f->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    cairn_code_t rc =
        cairn__zstd_decode_into(cairn_bytes(f->p, f->n), dst, n, NULL);
    cr_expect_eq(rc, CAIRN_CORRUPT, "bit %zu of %zu", bit, f->n * 8);
    f->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  cr_expect_eq(cairn__zstd_decode_into(cairn_bytes(f->p, f->n), dst, n, NULL),
               CAIRN_OK);
  cr_expect_arr_eq(dst, src, n);
  free(dst);
}

Test(zstd, each_flipped_bit_of_a_stored_frame_is_noticed) {
  uint8_t *src = noise(700);
  cairn_codec_params_t p = params(0, true, true);
  cairn_buf_t out = {0};
  cr_assert_eq(zstd()->encode(&p, cairn_bytes(src, 700), &out, NULL), CAIRN_OK);
  flip_all(&out, src, 700);
  free(out.p);
  free(src);
}

Test(zstd, pays_for_zeros_and_not_for_noise) {
  uint8_t *zeros = calloc(1, 1 << 20), *random = noise(1 << 20);
  cr_assert(cairn__zstd_pays(zeros, 1 << 20));
  cr_assert_not(cairn__zstd_pays(random, 1 << 20));
  cr_assert(cairn__zstd_pays(random, 0));
  free(zeros);
  free(random);
}

/* Up to 64 KiB by entropy: that of noise is 8 bits in a byte, of numbers below
 * 16 it is at most 4. Floats of about one magnitude are noise in three bytes
 * of four and have 2 bits in the fourth, which in all is 7.24. */
Test(zstd, pays_for_small_values_that_shrink) {
  enum { N = 4096 };
  uint8_t *p = noise(N);
  cr_expect_not(cairn__zstd_pays(p, N));
  cr_expect_not(cairn__zstd_pays(p, 1024));
  for (size_t i = 3; i < N; i += 4) p[i] = 0x3e + (p[i] & 3);
  cr_expect_not(cairn__zstd_pays(p, N));
  for (size_t i = 0; i < N; i++) p[i] &= 15;
  cr_expect(cairn__zstd_pays(p, N));
  memset(p, 0, N);
  cr_expect(cairn__zstd_pays(p, N));
  free(p);
}
