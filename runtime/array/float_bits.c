/* Doubles to the small floating types, for fill values.
 *
 * One rule for all of them: scale so that the last place is 1, round to even,
 * and the integer is the bit pattern but for the exponent's offset. What
 * differs is in the table: how many bits, the bias, the largest finite value,
 * and what stands for infinity, for NaN and for "too large". */
#include <math.h>

#include "array/zarr.h"

struct format {
  int exponent, mantissa, bias;
  uint32_t max; /* bits of the largest finite value */
  uint32_t infinity, nan;
  bool negative_zero;
};

static const struct format formats[CAIRN_DTYPE_COUNT] = {
    [CAIRN_F4_E2M1FN] = {2, 1, 1, 0x7, 0x7, 0x8, true},
    [CAIRN_F8_E3M4] = {3, 4, 3, 0x6f, 0x70, 0x78, true},
    [CAIRN_F8_E4M3FN] = {4, 3, 7, 0x7e, 0x7f, 0x7f, true},
    [CAIRN_F8_E4M3FNUZ] = {4, 3, 8, 0x7f, 0x80, 0x80, false},
    [CAIRN_F8_E4M3B11FNUZ] = {4, 3, 11, 0x7f, 0x80, 0x80, false},
    [CAIRN_F8_E5M2] = {5, 2, 15, 0x7b, 0x7c, 0x7e, true},
    [CAIRN_F8_E5M2FNUZ] = {5, 2, 16, 0x7f, 0x80, 0x80, false},
    [CAIRN_F16] = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true},
    [CAIRN_BF16] = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true},
};

static uint64_t round_even(double v) {
  double whole = floor(v), rest = v - whole;
  uint64_t n = (uint64_t)whole;
  if (rest > 0.5 || (rest == 0.5 && (n & 1))) n++;
  return n;
}

/* Powers of two only, no sign, no zero: 0 is stored as the smallest. */
static uint32_t e8m0_bits(double v) {
  int e;
  if (v == 0) return 0;
  if (!isfinite(v) || v < 0) return 0xff;
  double part = frexp(v, &e); /* 0.5 .. 1: below 0.75 is nearer to 0.5 */
  int bits = e - 1 + (part >= 0.75) + 127;
  return bits < 0 ? 0 : bits > 0xfe ? 0xff : (uint32_t)bits;
}

static uint32_t magnitude_bits(const struct format *f, double v) {
  int e;
  if (isinf(v)) return f->infinity;
  frexp(v, &e);
  e = v == 0 || e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
  if (e > f->bias + 2) return f->infinity;
  uint64_t bits = round_even(ldexp(v, f->mantissa - e)) +
                  ((uint64_t)(e + f->bias - 1) << f->mantissa);
  return bits > f->max ? f->infinity : (uint32_t)bits;
}

uint32_t cairn__float_bits(cairn_dtype_t t, double v) {
  const struct format *f = &formats[t];
  if (t == CAIRN_F8_E8M0FNU) return isnan(v) ? 0xff : e8m0_bits(v);
  if (isnan(v)) return f->nan;
  uint32_t bits = magnitude_bits(f, fabs(v));
  bool negative = signbit(v) && (f->negative_zero || bits != 0);
  return negative ? bits | 1u << (f->exponent + f->mantissa) : bits;
}
