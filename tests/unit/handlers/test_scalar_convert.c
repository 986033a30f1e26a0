/* A stored scalar goes into another type only if it is the same number. Bit
 * patterns of halves and bfloats are worked out by hand (IEEE 754). */
#include <criterion/criterion.h>
#include <math.h>

#include "leaf.h"

#define CONVERTS(from, in, to, type, want)                                    \
  do {                                                                        \
    type got_;                                                                \
    cr_assert(cairn__scalar_convert(CAIRN_##from, &(in), CAIRN_##to, &got_)); \
    cr_assert_eq(got_, (type)(want));                                         \
  } while (0)
#define REFUSES(from, in, to)                                          \
  do {                                                                 \
    uint8_t got_[16];                                                  \
    cr_assert_not(                                                     \
        cairn__scalar_convert(CAIRN_##from, &(in), CAIRN_##to, got_)); \
  } while (0)

Test(scalar_convert, integers_that_fit) {
  int64_t small = -7, big = INT64_MAX;
  uint64_t huge = UINT64_MAX;
  CONVERTS(I64, small, I8, int8_t, -7);
  CONVERTS(I64, big, U64, uint64_t, INT64_MAX);
  REFUSES(I64, small, U8);
  REFUSES(I64, big, I32);
  REFUSES(U64, huge, I64);
}

Test(scalar_convert, integers_and_floats_only_without_rounding) {
  int64_t exact = INT64_C(1) << 53, inexact = exact + 1, min = INT64_MIN;
  double whole = -3.0, half = 0.5, edge = 0x1p63, minus_zero = -0.0;
  CONVERTS(I64, exact, F64, double, 9007199254740992.0);
  REFUSES(I64, inexact, F64);
  CONVERTS(I64, min, F64, double, -0x1p63);
  CONVERTS(F64, whole, I32, int32_t, -3);
  REFUSES(F64, half, I32);
  REFUSES(F64, edge, I64);
  CONVERTS(F64, edge, U64, uint64_t, UINT64_C(1) << 63);
  CONVERTS(F64, minus_zero, I8, int8_t, 0);
}

Test(scalar_convert, bools) {
  uint8_t yes = 1;
  int32_t two = 2;
  double one = 1.0;
  CONVERTS(BOOL, yes, I64, int64_t, 1);
  CONVERTS(F64, one, BOOL, uint8_t, 1);
  REFUSES(I32, two, BOOL);
}

Test(scalar_convert, floats_of_other_widths) {
  double tenth = 0.1, quarter = 0.25, big = 65520, top = 65504;
  double tiny = 0x1p-24, tinier = 0x1p-25;
  float single = 0.1f;
  CONVERTS(F32, single, F64, double, 0x1.99999ap-4);
  REFUSES(F64, tenth, F32);
  CONVERTS(F64, quarter, F32, float, 0.25f);
  CONVERTS(F64, quarter, F16, uint16_t, 0x3400);
  CONVERTS(F64, quarter, BF16, uint16_t, 0x3e80);
  CONVERTS(F64, top, F16, uint16_t, 0x7bff);
  REFUSES(F64, big, F16);
  CONVERTS(F64, tiny, F16, uint16_t, 0x0001);
  REFUSES(F64, tinier, F16);
}

Test(scalar_convert, halves_and_bfloats_to_double) {
  uint16_t one = 0x3c00, least = 0x0001, minus_two = 0xc000, bf = 0x4228;
  uint16_t inf = 0x7c00;
  CONVERTS(F16, one, F64, double, 1.0);
  CONVERTS(F16, least, F64, double, 0x1p-24);
  CONVERTS(F16, minus_two, I16, int16_t, -2);
  CONVERTS(BF16, bf, I64, int64_t, 42);
  CONVERTS(F16, inf, F32, float, INFINITY);
}

Test(scalar_convert, nan_and_infinity_stay_floats) {
  double nan = NAN, inf = INFINITY;
  float got;
  cr_assert(cairn__scalar_convert(CAIRN_F64, &nan, CAIRN_F32, &got));
  cr_assert(isnan(got));
  CONVERTS(F64, inf, BF16, uint16_t, 0x7f80);
  REFUSES(F64, nan, I64);
  REFUSES(F64, inf, U64);
}

Test(scalar_convert, types_without_numbers_only_to_themselves) {
  uint8_t f8 = 0x38;
  double c[2] = {1, 0};
  CONVERTS(F8_E4M3FN, f8, F8_E4M3FN, uint8_t, 0x38);
  REFUSES(F8_E4M3FN, f8, F64);
  REFUSES(C128, c, F64);
}
