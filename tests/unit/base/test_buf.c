/* The growing buffer and the cursor over untrusted bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/buf.h"

static void expect(const cairn_buf_t *b, const void *want, size_t n) {
  cr_expect_not(b->failed);
  cr_expect(cairn__bytes_eq(cairn_buf_bytes(b), cairn_bytes(want, n)));
}

Test(buf, empty_is_valid) {
  cairn_buf_t b = {0};
  cairn_buf_put(&b, NULL, 0);
  cairn_buf_put_str(&b, "");
  expect(&b, "", 0);
  size_t n = 1;
  cr_expect_null(cairn_buf_steal(&b, &n));
  cr_expect_eq(n, 0u);
  cairn_buf_reset(&b);
}

Test(buf, integers_are_little_endian) {
  cairn_buf_t b = {0};
  cairn_buf_put_u8(&b, 0xab);
  cairn_buf_put_u32le(&b, 0x01020304);
  cairn_buf_put_u64le(&b, 0x0102030405060708);
  expect(&b, "\xab\4\3\2\1\b\7\6\5\4\3\2\1", 13);
  cairn_buf_reset(&b);
}

/* Vectors of the LEB128 specification and of the widest values. */
Test(buf, varints_take_the_fewest_bytes) {
  static const struct {
    uint64_t v;
    const char *bytes;
    size_t n;
  } want[] = {{0, "\0", 1},
              {127, "\x7f", 1},
              {128, "\x80\x01", 2},
              {624485, "\xe5\x8e\x26", 3},
              {UINT32_MAX, "\xff\xff\xff\xff\x0f", 5},
              {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    cairn_buf_t b = {0};
    uint64_t back = 1;
    cairn_buf_put_varint(&b, want[i].v);
    expect(&b, want[i].bytes, want[i].n);
    cairn_cur_t c = cairn_cur(cairn_buf_bytes(&b));
    cr_expect(cairn_cur_varint64(&c, &back));
    cr_expect_eq(back, want[i].v);
    cr_expect_eq(cairn_cur_left(&c), 0u);
    cairn_buf_reset(&b);
  }
}

Test(buf, printf_appends_texts_of_any_length) {
  cairn_buf_t b = {0};
  char *large = malloc(5001);
  memset(large, 'x', 5000);
  large[5000] = '\0';
  cairn_buf_printf(&b, "%s", "");
  cairn_buf_printf(&b, "%d-", 42);
  cairn_buf_printf(&b, "%s", large);
  cr_expect_eq(b.n, 5003u);
  cr_expect_eq(memcmp(b.p, "42-xxx", 6), 0);
  cr_expect_eq(b.p[5002], 'x');
  free(large);
  cairn_buf_reset(&b);
}

Test(buf, steal_moves) {
  cairn_buf_t b = {0};
  size_t n;
  cairn_buf_put_str(&b, "abc");
  uint8_t *p = cairn_buf_steal(&b, &n);
  cr_expect_eq(n, 3u);
  cr_expect_eq(memcmp(p, "abc", 3), 0);
  cr_expect_null(b.p);
  cr_expect_eq(b.n + b.cap, 0u);
  free(p);
}

Test(cursor, getters_stop_at_the_end_and_stay_where_they_were) {
  static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  cairn_bytes_t piece;
  uint8_t v8;
  uint32_t v32;
  uint64_t v64;
  cairn_cur_t c = cairn_cur(cairn_bytes(bytes, sizeof bytes));
  cr_expect(cairn_cur_u8(&c, &v8) && v8 == 1);
  cr_expect(cairn_cur_u64le(&c, &v64) && v64 == 0x0908070605040302);
  cr_expect_not(cairn_cur_u8(&c, &v8));
  c = cairn_cur(cairn_bytes(bytes, 7));
  cr_expect_not(cairn_cur_u64le(&c, &v64));
  cr_expect_eq(cairn_cur_pos(&c), 0u);
  cr_expect(cairn_cur_u32le(&c, &v32) && v32 == 0x04030201);
  cr_expect_not(cairn_cur_u32le(&c, &v32));
  cr_expect_not(cairn_cur_take(&c, 4, &piece));
  cr_expect_not(cairn_cur_take(&c, SIZE_MAX, &piece));
  cr_expect_eq(cairn_cur_pos(&c), 4u);
  cr_expect(cairn_cur_take(&c, 3, &piece) && piece.p == bytes + 4);
  cr_expect_eq(cairn_cur_left(&c), 0u);
}

Test(cursor, empty_bytes_give_nothing) {
  cairn_bytes_t none = {0}, piece = {0};
  uint64_t v;
  cairn_cur_t c = cairn_cur(none);
  cr_expect_not(cairn_cur_varint64(&c, &v));
  cr_expect_not(cairn_cur_u64le(&c, &v));
  cr_expect(cairn_cur_take(&c, 0, &piece));
  cr_expect_eq(piece.n, 0u);
}

typedef struct varint_case {
  const char *bytes;
  size_t n;
  bool ok;
  uint64_t v;
} varint_case_t;

Test(cursor, varint64_forms) {
  static const varint_case_t cases[] = {
      {"\x80\x00", 2, true, 0}, /* longer than needed is legal */
      {"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10, true, 1},
      {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0},
      {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, false, 0},
      {"\x80", 1, false, 0},
      {"\xff\xff", 2, false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_cur_t c = cairn_cur(cairn_bytes(cases[i].bytes, cases[i].n));
    uint64_t v = 0;
    cr_expect_eq(cairn_cur_varint64(&c, &v), cases[i].ok, "case %zu", i);
    cr_expect_eq(v, cases[i].v);
    cr_expect_eq(cairn_cur_pos(&c), cases[i].ok ? cases[i].n : 0);
  }
}

Test(cursor, varint32_forms) {
  static const varint_case_t cases[] = {
      {"\xff\xff\xff\xff\x0f", 5, true, UINT32_MAX},
      {"\xff\xff\xff\xff\x1f", 5, false, 0}, /* a 33rd bit */
      {"\x80\x80\x80\x80\x00", 5, true, 0},
      {"\x80\x80\x80\x80\x80\x00", 6, false, 0},
      {"\x80\x80\x80\x80", 4, false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_cur_t c = cairn_cur(cairn_bytes(cases[i].bytes, cases[i].n));
    uint32_t v = 0;
    cr_expect_eq(cairn_cur_varint32(&c, &v), cases[i].ok, "case %zu", i);
    cr_expect_eq(v, (uint32_t)cases[i].v);
    cr_expect_eq(cairn_cur_pos(&c), cases[i].ok ? cases[i].n : 0);
  }
}
