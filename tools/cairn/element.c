#include "element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "out.h"

/* --- the small floats --- */

enum special {
  IEEE,    /* all exponent bits set: infinity and NaN */
  NONE,    /* every pattern is a number */
  FN,      /* all bits set: NaN; no infinity */
  NEG_ZERO /* what would be -0 is NaN; no infinity */
};

static const struct format {
  int exponent, mantissa, bias;
  enum special special;
} formats[CAIRN_DTYPE_COUNT] = {
    [CAIRN_F4_E2M1FN] = {2, 1, 1, NONE},
    [CAIRN_F8_E3M4] = {3, 4, 3, IEEE},
    [CAIRN_F8_E4M3FN] = {4, 3, 7, FN},
    [CAIRN_F8_E4M3FNUZ] = {4, 3, 8, NEG_ZERO},
    [CAIRN_F8_E4M3B11FNUZ] = {4, 3, 11, NEG_ZERO},
    [CAIRN_F8_E5M2] = {5, 2, 15, IEEE},
    [CAIRN_F8_E5M2FNUZ] = {5, 2, 16, NEG_ZERO},
    [CAIRN_F16] = {5, 10, 15, IEEE},
    [CAIRN_BF16] = {8, 7, 127, IEEE},
};

static double magnitude(const struct format *f, int e, uint32_t fraction) {
  int top = (1 << f->exponent) - 1;
  uint32_t one = 1u << f->mantissa;
  if (f->special == IEEE && e == top)
    return fraction != 0 ? (double)NAN : (double)INFINITY;
  if (f->special == FN && e == top && fraction == one - 1) return (double)NAN;
  if (e == 0) return ldexp(fraction, 1 - f->bias - f->mantissa);
  return ldexp(fraction + one, e - f->bias - f->mantissa);
}

double element_small_float(cairn_dtype_t t, uint32_t bits) {
  const struct format *f = &formats[t];
  if (t == CAIRN_F8_E8M0FNU) /* a power of two, no sign */
    return bits == 0xff ? (double)NAN : ldexp(1, (int)bits - 127);
  uint32_t sign = 1u << (f->exponent + f->mantissa);
  if (f->special == NEG_ZERO && bits == sign) return (double)NAN;
  int e = (int)(bits >> f->mantissa) & ((1 << f->exponent) - 1);
  double v = magnitude(f, e, bits & ((1u << f->mantissa) - 1));
  return bits & sign ? -v : v;
}

/* --- any element --- */

enum kind { BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX };

struct number {
  enum kind kind;
  int64_t i;
  uint64_t u;
  double re, im;
  bool single; /* re and im have the digits of a float */
};

#define LOAD(type, as, member)       \
  do {                               \
    type load_;                      \
    memcpy(&load_, p, sizeof load_); \
    n.kind = (as);                   \
    n.member = load_;                \
  } while (0)

static uint32_t load_bits(cairn_dtype_t t, const void *p) {
  uint8_t b = 0;
  uint16_t w = 0;
  if (cairn_dtype_size(t) == 2) {
    memcpy(&w, p, sizeof w);
    return w;
  }
  memcpy(&b, p, sizeof b);
  return t == CAIRN_F4_E2M1FN ? b & 15u : b;
}

static int sign_extended(uint8_t b, int bits) {
  int v = b & ((1 << bits) - 1);
  return v >= 1 << (bits - 1) ? v - (1 << bits) : v;
}

static struct number load_complex(cairn_dtype_t t, const void *p) {
  struct number n = {.kind = COMPLEX};
  if (t == CAIRN_C64) {
    float v[2];
    memcpy(v, p, sizeof v);
    n.re = (double)v[0];
    n.im = (double)v[1];
    n.single = true;
  } else {
    double v[2];
    memcpy(v, p, sizeof v);
    n.re = v[0];
    n.im = v[1];
  }
  return n;
}

static struct number load(cairn_dtype_t t, const void *p) {
  struct number n = {0};
  switch (t) {
    case CAIRN_BOOL:
      LOAD(uint8_t, BOOL, u);
      break;
    case CAIRN_I2:
    case CAIRN_I4:
      n.kind = SIGNED;
      n.i = sign_extended(*(const uint8_t *)p, t == CAIRN_I2 ? 2 : 4);
      break;
    case CAIRN_I8:
      LOAD(int8_t, SIGNED, i);
      break;
    case CAIRN_I16:
      LOAD(int16_t, SIGNED, i);
      break;
    case CAIRN_I32:
      LOAD(int32_t, SIGNED, i);
      break;
    case CAIRN_I64:
      LOAD(int64_t, SIGNED, i);
      break;
    case CAIRN_U8:
      LOAD(uint8_t, UNSIGNED, u);
      break;
    case CAIRN_U16:
      LOAD(uint16_t, UNSIGNED, u);
      break;
    case CAIRN_U32:
      LOAD(uint32_t, UNSIGNED, u);
      break;
    case CAIRN_U64:
      LOAD(uint64_t, UNSIGNED, u);
      break;
    case CAIRN_F32:
      LOAD(float, FLOAT, re);
      n.single = true;
      break;
    case CAIRN_F64:
      LOAD(double, FLOAT, re);
      break;
    case CAIRN_C64:
    case CAIRN_C128:
      return load_complex(t, p);
    default:
      n.kind = FLOAT;
      n.re = element_small_float(t, load_bits(t, p));
  }
  return n;
}

/* --- text --- */

/* The double that reads as the float's shortest digits do: printed as doubles
 * are, it is those digits, in the same form. */
static double shortened(double v) {
  char text[40];
  for (int digits = 1; digits <= 9; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v);
    if ((double)strtof(text, NULL) == v) break;
  }
  return strtod(text, NULL);
}

static void put_real(cairn_buf_t *b, double v, bool single) {
  if (single && isfinite(v)) v = shortened(v);
  cairn_json_emit_real(v, CAIRN_JSON_PYTHON, b);
}

void put_element(cairn_buf_t *b, cairn_dtype_t t, const void *element) {
  struct number n = load(t, element);
  switch (n.kind) {
    case BOOL:
      cairn_buf_put_str(b, n.u != 0 ? "true" : "false");
      break;
    case SIGNED:
      cairn_buf_printf(b, "%" PRId64, n.i);
      break;
    case UNSIGNED:
      cairn_buf_printf(b, "%" PRIu64, n.u);
      break;
    case FLOAT:
      put_real(b, n.re, n.single);
      break;
    case COMPLEX:
      put_real(b, n.re, n.single);
      if (!signbit(n.im) || isnan(n.im)) cairn_buf_put_str(b, "+");
      put_real(b, n.im, n.single);
      cairn_buf_put_str(b, "j");
  }
}

void json_element(cairn_buf_t *b, cairn_dtype_t t, const void *element) {
  struct number n = load(t, element);
  switch (n.kind) {
    case BOOL:
      cairn_buf_put_str(b, n.u != 0 ? "true" : "false");
      break;
    case SIGNED:
      cairn_buf_printf(b, "%" PRId64, n.i);
      break;
    case UNSIGNED:
      json_uint(b, n.u);
      break;
    case FLOAT:
      json_real(b, n.re);
      break;
    case COMPLEX:
      cairn_buf_put_str(b, "[");
      json_real(b, n.re);
      cairn_buf_put_str(b, ", ");
      json_real(b, n.im);
      cairn_buf_put_str(b, "]");
  }
}

/* --- bytes --- */

static void mask(uint8_t *p, size_t n, uint8_t bits) {
  for (size_t i = 0; i < n; i++) p[i] &= bits;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static void swap(cairn_dtype_t t, uint8_t *p, size_t n) {
  size_t size = cairn_dtype_size(t);
  bool pairs = t == CAIRN_C64 || t == CAIRN_C128;
  if (pairs) size /= 2;
  for (size_t i = 0; i < n * (pairs ? 2 : 1); i++, p += size)
    for (size_t k = 0; k < size / 2; k++) {
      uint8_t b = p[k];
      p[k] = p[size - 1 - k];
      p[size - 1 - k] = b;
    }
}
#endif

void elements_to_stored(cairn_dtype_t t, void *p, size_t n) {
  if (t == CAIRN_I2) mask(p, n, 3);
  if (t == CAIRN_I4 || t == CAIRN_F4_E2M1FN) mask(p, n, 15);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  swap(t, p, n);
#endif
}

const char *element_npy_type(cairn_dtype_t t, bool *carried) {
  static const char *const own[CAIRN_DTYPE_COUNT] = {
      [CAIRN_BOOL] = "|b1", [CAIRN_I8] = "|i1",   [CAIRN_I16] = "<i2",
      [CAIRN_I32] = "<i4",  [CAIRN_I64] = "<i8",  [CAIRN_U8] = "|u1",
      [CAIRN_U16] = "<u2",  [CAIRN_U32] = "<u4",  [CAIRN_U64] = "<u8",
      [CAIRN_F16] = "<f2",  [CAIRN_F32] = "<f4",  [CAIRN_F64] = "<f8",
      [CAIRN_C64] = "<c8",  [CAIRN_C128] = "<c16"};
  *carried = own[t] == NULL;
  if (!*carried) return own[t];
  if (t == CAIRN_I2 || t == CAIRN_I4) return "|i1";
  return cairn_dtype_size(t) == 2 ? "<u2" : "|u1";
}

void elements_to_npy(cairn_dtype_t t, void *p, size_t n) {
  int8_t *b = p;
  if (t != CAIRN_I2 && t != CAIRN_I4) return;
  for (size_t i = 0; i < n; i++)
    b[i] = (int8_t)sign_extended((uint8_t)b[i], t == CAIRN_I2 ? 2 : 4);
}
