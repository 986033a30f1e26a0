/* Grisu2: a double's digits by 64-bit arithmetic.
 *
 * F. Loitsch, "Printing Floating-Point Numbers Quickly and Accurately with
 * Integers", PLDI 2010. TensorStore writes reals with the Grisu2 of nlohmann's
 * JSON library, and its digits are not always the fewest (1e23 comes out as
 * 9.999999999999999e+22); so that our files equal its files, the same algorithm
 * is used here, with the same range of exponents (alpha -60, gamma -32).
 *
 * A value w and the bounds between which all numbers read back as w are scaled
 * by a power of ten from a table, so that the part before the binary point fits
 * 32 bits; then digits are produced until what is left fits between the
 * bounds. */
#include "base/json_impl.h"

/* f * 2^e */
typedef struct fp {
  uint64_t f;
  int e;
} fp_t;

/* 10^k = f * 2^e, rounded to 64 bits. */
static const struct power {
  uint64_t f;
  int e, k;
} powers[] = {
#include "base/json_powers.inc"
};

enum { FIRST_POWER = -300, POWER_STEP = 8, ALPHA = -60 };

static fp_t normalize(fp_t x) {
  int shift = __builtin_clzll(x.f);
  return (fp_t){x.f << shift, x.e - shift};
}

static fp_t multiply(fp_t x, const struct power *y) {
  unsigned __int128 p = (unsigned __int128)x.f * y->f;
  uint64_t half = (uint64_t)1 << 63;
  return (fp_t){(uint64_t)((p + half) >> 64), x.e + y->e + 64};
}

/* The bounds lie half way to the neighbours; the one below a power of two is
 * twice as near. */
static void bounds(double r, fp_t *w, fp_t *low, fp_t *high) {
  uint64_t bits, hidden = (uint64_t)1 << 52;
  memcpy(&bits, &r, sizeof bits);
  int exponent = (int)(bits >> 52);
  uint64_t fraction = bits & (hidden - 1);
  fp_t v = {fraction, 1 - 1075};
  if (exponent != 0) v = (fp_t){fraction + hidden, exponent - 1075};
  fp_t below = {2 * v.f - 1, v.e - 1};
  if (fraction == 0 && exponent > 1) below = (fp_t){4 * v.f - 1, v.e - 2};
  *high = normalize((fp_t){2 * v.f + 1, v.e - 1});
  *low = (fp_t){below.f << (below.e - high->e), high->e};
  *w = normalize(v);
}

/* The smallest power in the table that brings an exponent e to at least ALPHA.
 * 78913 / 2^18 is log10(2). */
static const struct power *power_for(int e) {
  int f = ALPHA - e - 1;
  int k = f * 78913 / (1 << 18) + (f > 0);
  return &powers[(k - FIRST_POWER + POWER_STEP - 1) / POWER_STEP];
}

/* Lowers the last digit while that brings the number nearer to w and keeps it
 * between the bounds. All in units of the scaled value, from the upper bound
 * down: w is at `dist`, the lower bound at `delta`, the number at `rest`. */
static void round_digits(cairn__digits_t *x, uint64_t dist, uint64_t delta,
                         uint64_t rest, uint64_t unit) {
  while (rest < dist && delta - rest >= unit &&
         (rest + unit < dist || dist - rest > rest + unit - dist)) {
    x->d[x->n - 1]--;
    rest += unit;
  }
}

/* The greatest power of ten that is not above v, and its number of digits. */
static int largest_power(uint32_t v, uint32_t *power) {
  int digits = 1;
  *power = 1;
  while (v / *power >= 10) {
    *power *= 10;
    digits++;
  }
  return digits;
}

static void put_digit(cairn__digits_t *x, uint64_t digit) {
  x->d[x->n++] = (char)('0' + digit);
}

/* Digits of `high` until the rest is within delta. Returns the power of ten
 * that the last digit stands for, in the scaled value. */
static int make_digits(cairn__digits_t *x, fp_t low, fp_t w, fp_t high) {
  uint64_t delta = high.f - low.f, dist = high.f - w.f;
  int point = -high.e;
  uint64_t one = (uint64_t)1 << point, part = high.f & (one - 1);
  uint32_t whole = (uint32_t)(high.f >> point), power;
  int left = largest_power(whole, &power);
  for (; left > 0; power /= 10) {
    put_digit(x, whole / power);
    whole %= power;
    left--;
    uint64_t rest = ((uint64_t)whole << point) + part;
    if (rest > delta) continue;
    round_digits(x, dist, delta, rest, (uint64_t)power << point);
    return left;
  }
  do {
    part *= 10, delta *= 10, dist *= 10;
    put_digit(x, part >> point);
    part &= one - 1;
    left--;
  } while (part > delta);
  round_digits(x, dist, delta, part, one);
  return left;
}

/* Products are off by at most one unit, so the bounds are drawn in by one. */
void cairn__digits_grisu2(double r, cairn__digits_t *out) {
  fp_t w, low, high;
  bounds(r, &w, &low, &high);
  const struct power *ten = power_for(high.e);
  w = multiply(w, ten);
  low = multiply(low, ten);
  high = multiply(high, ten);
  low.f++;
  high.f--;
  out->n = 0;
  out->point = make_digits(out, low, w, high) - ten->k;
  out->point += out->n;
}
