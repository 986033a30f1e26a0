/* Bytes, text encodings, decimals, hashes, random ids. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/utf8.h"

#define S(text) cairn_bytes_str(text)

static int sign(int v) {
  return (v > 0) - (v < 0);
}

Test(bytes, order_is_memcmp_then_length) {
  cr_expect_eq(cairn__bytes_cmp(S("a"), S("a")), 0);
  cr_expect_eq(sign(cairn__bytes_cmp(S("a"), S("ab"))), -1);
  cr_expect_eq(sign(cairn__bytes_cmp(S("b"), S("ab"))), 1);
  cr_expect_eq(sign(cairn__bytes_cmp(S("\xff"), S("a"))), 1);
  cr_expect_eq(sign(cairn__bytes_cmp(cairn_bytes(NULL, 0), S("a"))), -1);
  cr_expect_eq(cairn__bytes_cmp(cairn_bytes(NULL, 0), S("")), 0);
}

Test(bytes, prefixes_and_suffixes) {
  cr_expect(cairn__bytes_starts(S("abc"), S("ab")));
  cr_expect(cairn__bytes_starts(S("abc"), S("")));
  cr_expect_not(cairn__bytes_starts(S("ab"), S("abc")));
  cr_expect(cairn__bytes_ends(S("abc"), S("bc")));
  cr_expect(cairn__bytes_ends(cairn_bytes(NULL, 0), cairn_bytes(NULL, 0)));
  cr_expect_not(cairn__bytes_ends(S("bc"), S("abc")));
  cr_expect_eq(cairn__bytes_common(S("abc"), S("abd")), 2u);
  cr_expect_eq(cairn__bytes_common(S("abc"), S("ab")), 2u);
  cr_expect_eq(cairn__bytes_common(cairn_bytes(NULL, 0), S("a")), 0u);
}

Test(bytes, copies_end_in_nul) {
  char *s = cairn__bytes_dup(cairn_bytes("abc", 2));
  cr_expect_str_eq(s, "ab");
  free(s);
  s = cairn__bytes_dup(cairn_bytes(NULL, 0));
  cr_expect_str_eq(s, "");
  free(s);
  s = cairn__printf("%s-%d", "x", 7);
  cr_expect_str_eq(s, "x-7");
  free(s);
}

/* XXH64 of the xxHash specification's sanity checks. */
Test(bytes, hash_is_xxh64) {
  cr_expect_eq(cairn__hash64("", 0, 0), UINT64_C(0xef46db3751d8e999));
  cr_expect_eq(cairn__hash64("abc", 3, 0), UINT64_C(0x44bc2cf5ad770999));
  cr_expect_eq(cairn__hash64(NULL, 0, 0), UINT64_C(0xef46db3751d8e999));
}

Test(bytes, decimals) {
  static const char *const bad[] = {"",
                                    "-1",
                                    "+1",
                                    " 1",
                                    "1 ",
                                    "00",
                                    "01",
                                    "1a",
                                    "0x1",
                                    "9223372036854775808",
                                    "99999999999999999999"};
  int64_t v = -1;
  cr_expect(cairn__decimal(S("0"), &v) && v == 0);
  cr_expect(cairn__decimal(S("1200"), &v) && v == 1200);
  cr_expect(cairn__decimal(S("9223372036854775807"), &v) && v == INT64_MAX);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    cr_expect_not(cairn__decimal(S(bad[i]), &v), "%s", bad[i]);
}

/* --- options --- */

typedef struct opts {
  size_t size;
  int64_t a, b; /* of the first version */
  int64_t c;    /* came later */
} opts_t;

#define FIRST CAIRN__SIZE_UP_TO(opts_t, b)

Test(options, members_beyond_the_size_said_are_not_read) {
  opts_t in = {.size = FIRST, .a = 1, .b = 2, .c = 3}, out;
  cr_assert_eq(cairn__options_take(&in, &out, sizeof out, FIRST, NULL),
               CAIRN_OK);
  cr_expect(out.a == 1 && out.b == 2 && out.c == 0);
  in.size = 0;
  cr_assert_eq(cairn__options_take(&in, &out, sizeof out, FIRST, NULL),
               CAIRN_OK);
  cr_expect(out.a == 1 && out.b == 2 && out.c == 3);
  cr_assert_eq(cairn__options_take(NULL, &out, sizeof out, FIRST, NULL),
               CAIRN_OK);
  cr_expect(out.a == 0 && out.b == 0 && out.c == 0);
}

Test(options, sizes_that_no_version_had_are_refused) {
  opts_t in = {.size = 7, .a = 1}, out;
  cairn_error_t err = {0};
  cr_assert_eq(cairn__options_take(&in, &out, sizeof out, FIRST, &err),
               CAIRN_INVALID);
  cr_expect_str_eq(err.message,
                   "size 7: the struct has had at least 24 bytes in all "
                   "versions (0 means as compiled)");
  cr_expect(out.size == 0 && out.a == 0);
  in.size = FIRST - 1;
  cr_assert_eq(cairn__options_take(&in, &out, sizeof out, FIRST, NULL),
               CAIRN_INVALID);
}

Test(encode, hex_both_ways) {
  char out[9];
  uint8_t back[4];
  cairn__hex("\x00\x9f\xff\x10", 4, out);
  cr_expect_str_eq(out, "009fff10");
  cr_expect(cairn__unhex(S("009fFF10"), back));
  cr_expect_eq(memcmp(back, "\x00\x9f\xff\x10", 4), 0);
  cr_expect_not(cairn__unhex(S("123"), back));
  cr_expect_not(cairn__unhex(S("1g"), back));
  cr_expect_not(cairn__unhex(S("g1"), back));
  uint64_t n;
  cr_expect(cairn__unhex64(S("0123456789abcdef"), &n));
  cr_expect_eq(n, UINT64_C(0x0123456789abcdef));
  cr_expect_not(cairn__unhex64(S("0123456789abcde"), &n));
  cr_expect_not(cairn__unhex64(S("00123456789abcdef0"), &n));
  cr_expect_not(cairn__unhex64(S("0123456789abcdeg"), &n));
}

static void check_base64(const char *plain, size_t n, bool url,
                         const char *text) {
  cairn_buf_t out = {0};
  cairn__base64(cairn_bytes(plain, n), url, &out);
  cr_expect(cairn__bytes_eq(cairn_buf_bytes(&out), S(text)), "%s", text);
  cairn_buf_reset(&out);
  cr_expect(cairn__unbase64(S(text), url, &out), "%s", text);
  cr_expect(cairn__bytes_eq(cairn_buf_bytes(&out), cairn_bytes(plain, n)));
  cairn_buf_reset(&out);
}

/* RFC 4648, section 10; and section 5's two other digits. */
Test(encode, base64_vectors) {
  check_base64("", 0, false, "");
  check_base64("f", 1, false, "Zg==");
  check_base64("fo", 2, false, "Zm8=");
  check_base64("foo", 3, true, "Zm9v");
  check_base64("foob", 4, true, "Zm9vYg==");
  check_base64("fooba", 5, true, "Zm9vYmE=");
  check_base64("foobar", 6, true, "Zm9vYmFy");
  check_base64("\xfb\xff\xfe", 3, false, "+//+");
  check_base64("\xfb\xff\xfe", 3, true, "-__-");
}

Test(encode, malformed_base64_is_refused_and_leaves_the_buffer) {
  static const char *const bad[] = {
      "Z",    "Zg",       "Zg=",      "Zh==",     "Zm9=", "Z===",
      "====", "Zg==Zg==", "Zm9v Zg=", "Zm9v-w==", "Zm\n9"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_buf_t out = {0};
    cairn_buf_put_str(&out, "x");
    cr_expect_not(cairn__unbase64(S(bad[i]), false, &out), "%s", bad[i]);
    cr_expect_eq(out.n, 1u);
    cairn_buf_reset(&out);
  }
}

Test(utf8, every_code_point_comes_back) {
  for (uint32_t cp = 0; cp < 0x110000; cp++) {
    uint8_t bytes[4];
    uint32_t back;
    if (cp == 0xd800) cp = 0xe000;
    cairn_cur_t c =
        cairn_cur(cairn_bytes(bytes, cairn__utf8_encode(cp, bytes)));
    cr_assert(cairn__utf8_next(&c, &back));
    cr_assert_eq(back, cp);
    cr_assert_eq(cairn_cur_left(&c), 0u);
  }
}

/* RFC 3629 and the bad sequences of section 4; good text before and behind, so
 * that the eight-byte path is left and entered again. */
Test(utf8, malformed_sequences_are_found) {
  static const char *const bad[] = {"\x80",
                                    "\xc0\x80",
                                    "\xc1\xbf",
                                    "\xc3",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xed\xbf\xbf",
                                    "\xe2\x82",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xff",
                                    "\xf8\x88\x80\x80\x80"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    for (int before = 0; before < 20; before++) {
      char text[64];
      size_t n = (size_t)snprintf(text, sizeof text, "%.*s%s%s", before,
                                  "01234567890123456789", bad[i], "0123456789");
      cr_expect_not(cairn__utf8_ok(cairn_bytes(text, n)), "case %zu", i);
      text[before] = 0;
      cr_expect(cairn__utf8_ok(cairn_bytes(text, (size_t)before)));
    }
  cr_expect(
      cairn__utf8_ok(S("12345678\xc3\xa9"
                       "12345678\xf0\x9f\x98\x80")));
  cr_expect(cairn__utf8_ok(cairn_bytes("a\0b", 3)));
  cr_expect(cairn__utf8_ok(cairn_bytes(NULL, 0)));
}

Test(random, ids_are_32_hex_digits_and_differ) {
  char a[33], b[33];
  cairn__random_id(a);
  cairn__random_id(b);
  cr_expect_eq(strspn(a, "0123456789abcdef"), 32u);
  cr_expect_eq(a[32], '\0');
  cr_expect_str_neq(a, b);
}

Test(random, large_requests_are_filled) {
  size_t n = 1 << 16;
  uint8_t *p = calloc(n, 1);
  cairn__random(p, n);
  for (size_t i = 0; i < n; i += 64) {
    bool zero = true;
    for (size_t k = 0; k < 64; k++) zero &= p[i + k] == 0;
    cr_assert_not(zero, "64 zero bytes at %zu", i);
  }
  free(p);
}

Test(clock, monotonic_does_not_go_back) {
  int64_t last = cairn__now_ns();
  for (int i = 0; i < 1000; i++) {
    int64_t now = cairn__now_ns();
    cr_assert_geq(now, last);
    last = now;
  }
  /* After 2020, before 2200: nanoseconds, and not another unit. */
  cr_expect_gt(cairn__wall_ns(), INT64_C(1577836800) * 1000000000);
  cr_expect_lt(cairn__wall_ns(), INT64_C(7258118400) * 1000000000);
}
