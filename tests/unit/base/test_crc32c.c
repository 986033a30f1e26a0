/* CRC-32C against published vectors, and every way to sum against a loop over
 * bits that is too simple to be wrong. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/crc32c.h"

static uint32_t bitwise(uint32_t crc, const uint8_t *p, size_t n) {
  crc = ~crc;
  for (; n > 0; p++, n--) {
    crc ^= *p;
    for (int k = 0; k < 8; k++)
      crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
  }
  return ~crc;
}

static uint8_t *numbers(size_t n) {
  uint8_t *p = malloc(n);
  uint64_t x = 88172645463325252u;
  cr_assert(p != NULL);
  for (size_t i = 0; i < n; i++) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    p[i] = (uint8_t)x;
  }
  return p;
}

/* RFC 3720, appendix B.4; the first is the check value of the CRC catalogue. */
Test(crc32c, published_vectors) {
  uint8_t b[32];
  cr_expect_eq(cairn__crc32c(0, "123456789", 9), 0xe3069283u);
  cr_expect_eq(cairn__crc32c(0, NULL, 0), 0u);
  memset(b, 0, 32);
  cr_expect_eq(cairn__crc32c(0, b, 32), 0x8a9136aau);
  memset(b, 0xff, 32);
  cr_expect_eq(cairn__crc32c(0, b, 32), 0x62a8ab43u);
  for (int i = 0; i < 32; i++) b[i] = (uint8_t)i;
  cr_expect_eq(cairn__crc32c(0, b, 32), 0x46dd794eu);
  for (int i = 0; i < 32; i++) b[i] = (uint8_t)(31 - i);
  cr_expect_eq(cairn__crc32c(0, b, 32), 0x113fdb5cu);
}

static void check_way(uint32_t (*way)(uint32_t, const uint8_t *, size_t)) {
  uint8_t *p = numbers(40000);
  for (size_t at = 0; at < 9; at++)
    for (size_t n = 0; n < 1100; n++)
      cr_assert_eq(~way(~0x1234u, p + at, n), bitwise(0x1234, p + at, n),
                   "offset %zu, %zu bytes", at, n);
  /* Around the lengths where the three streams begin. */
  static const size_t lengths[] = {1535,  1536,  1544,  12287, 12288,
                                   12289, 13056, 24576, 25353, 39990};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t at = 0; at < 9; at++)
      cr_assert_eq(~way(~0u, p + at, lengths[i]),
                   bitwise(0, p + at, lengths[i]), "offset %zu, %zu bytes", at,
                   lengths[i]);
  free(p);
}

Test(crc32c, tables_agree_with_the_loop_over_bits) {
  check_way(cairn__crc32c_tables);
}

Test(crc32c, instruction_agrees_with_the_loop_over_bits) {
  if (!cairn__crc32c_hw_have())
    cr_skip("this processor has no CRC-32C instruction");
  check_way(cairn__crc32c_hw);
}

Test(crc32c, chaining_equals_one_sum) {
  uint8_t *p = numbers(5000);
  for (size_t cut = 0; cut <= 5000; cut += 7)
    cr_assert_eq(cairn__crc32c(cairn__crc32c(0, p, cut), p + cut, 5000 - cut),
                 bitwise(0, p, 5000));
  free(p);
}

Test(crc32c, combine_equals_the_sum_of_the_whole) {
  uint8_t *p = numbers(5000);
  for (size_t cut = 0; cut <= 5000; cut += 13)
    cr_assert_eq(
        cairn__crc32c_combine(bitwise(0, p, cut),
                              bitwise(0, p + cut, 5000 - cut), 5000 - cut),
        bitwise(0, p, 5000), "cut at %zu", cut);
  free(p);
}

/* Too long to sum here: one step must equal two of half the length. */
Test(crc32c, combine_works_for_lengths_above_4_gib) {
  uint32_t two_steps = 0xdeadbeef;
  for (int i = 0; i < 2; i++)
    two_steps = cairn__crc32c_combine(two_steps, 0, UINT64_C(3) << 31);
  cr_expect_eq(cairn__crc32c_combine(0xdeadbeef, 0, UINT64_C(3) << 32),
               two_steps);
  cr_expect_neq(two_steps, 0xdeadbeefu);
}

Test(crc32c, copy_copies_and_sums) {
  uint8_t *p = numbers(40000), *q = malloc(40000);
  static const size_t lengths[] = {0, 1, 7, 4096, 12288, 12289, 39999};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    memset(q, 0, 40000);
    cr_assert_eq(cairn__crc32c_copy(5, q, p + 1, lengths[i]),
                 bitwise(5, p + 1, lengths[i]));
    cr_assert_eq(memcmp(q, p + 1, lengths[i]), 0);
    cr_assert_eq(q[lengths[i]], 0);
  }
  free(p);
  free(q);
}
