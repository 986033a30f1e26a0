/* One element to another type, only if it is the same number after: integers
 * and bools go through 128 bits, floats through double, which holds every value
 * of the smaller ones. */
#include <math.h>

#include "leaf.h"

typedef struct number {
  bool real;
  __int128 i;
  double r;
} number_t;

static double from_half(uint16_t h) {
  int exp = h >> 10 & 31;
  double frac = h & 1023, v;
  if (exp == 31)
    v = frac != 0 ? NAN : INFINITY;
  else
    v = exp != 0 ? ldexp(frac + 1024, exp - 25) : ldexp(frac, -24);
  return h >> 15 != 0 ? -v : v;
}

/* The half next to v towards zero; exact if v is one. */
static uint16_t to_half(double v) {
  uint16_t sign = signbit(v) ? 0x8000 : 0;
  int exp;
  v = fabs(v);
  if (isnan(v)) return sign | 0x7e00;
  if (v >= 65536) return sign | 0x7c00;
  if (v < ldexp(1, -14)) return sign | (uint16_t)ldexp(v, 24);
  double m = frexp(v, &exp);
  return sign | (uint16_t)((exp + 14) << 10) | ((uint16_t)ldexp(m, 11) & 1023);
}

static double from_bfloat(uint16_t b) {
  uint32_t bits = (uint32_t)b << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static uint16_t to_bfloat(double v) {
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return isnan(v) ? 0x7fc0 : (uint16_t)(bits >> 16);
}

#define LOAD(type)            \
  {                           \
    type v;                   \
    memcpy(&v, in, sizeof v); \
    out->LOAD_AS = v;         \
    return true;              \
  }

static bool load_int(cairn_dtype_t t, const void *in, number_t *out) {
#define LOAD_AS i
  switch (t) {
    case CAIRN_BOOL:
    case CAIRN_U8:
      LOAD(uint8_t)
    case CAIRN_I8:
      LOAD(int8_t)
    case CAIRN_I16:
      LOAD(int16_t)
    case CAIRN_I32:
      LOAD(int32_t)
    case CAIRN_I64:
      LOAD(int64_t)
    case CAIRN_U16:
      LOAD(uint16_t)
    case CAIRN_U32:
      LOAD(uint32_t)
    case CAIRN_U64:
      LOAD(uint64_t)
    default:
      return false;
  }
#undef LOAD_AS
}

static bool load_real(cairn_dtype_t t, const void *in, number_t *out) {
  uint16_t bits;
  out->real = true;
#define LOAD_AS r
  switch (t) {
    case CAIRN_F32:
      LOAD(float)
    case CAIRN_F64:
      LOAD(double)
    case CAIRN_F16:
    case CAIRN_BF16:
      memcpy(&bits, in, sizeof bits);
      out->r = t == CAIRN_F16 ? from_half(bits) : from_bfloat(bits);
      return true;
    default:
      return false;
  }
#undef LOAD_AS
}

/* To an integer if the real is one. */
static bool as_int(const number_t *v, __int128 *out) {
  if (v->real && !(fabs(v->r) < 0x1p64 && v->r == trunc(v->r))) return false;
  *out = v->real ? (__int128)v->r : v->i;
  return true;
}

#define STORE(type)            \
  {                            \
    type x = (type)i;          \
    memcpy(out, &x, sizeof x); \
    return (__int128)x == i;   \
  }

static bool store_int(const number_t *v, cairn_dtype_t t, void *out) {
  __int128 i;
  if (!as_int(v, &i)) return false;
  switch (t) {
    case CAIRN_BOOL:
      if (i != 0 && i != 1) return false;
      STORE(uint8_t)
    case CAIRN_U8:
      STORE(uint8_t)
    case CAIRN_I8:
      STORE(int8_t)
    case CAIRN_I16:
      STORE(int16_t)
    case CAIRN_I32:
      STORE(int32_t)
    case CAIRN_I64:
      STORE(int64_t)
    case CAIRN_U16:
      STORE(uint16_t)
    case CAIRN_U32:
      STORE(uint32_t)
    case CAIRN_U64:
      STORE(uint64_t)
    default:
      return false;
  }
}

static bool same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static bool store_real(const number_t *v, cairn_dtype_t t, void *out) {
  double r = v->real ? v->r : (double)v->i;
  if (!v->real && (__int128)r != v->i) return false;
  float f = (float)r;
  uint16_t bits = t == CAIRN_F16 ? to_half(r) : to_bfloat(r);
  switch (t) {
    case CAIRN_F64:
      memcpy(out, &r, sizeof r);
      return true;
    case CAIRN_F32:
      memcpy(out, &f, sizeof f);
      return same(f, r);
    case CAIRN_F16:
    case CAIRN_BF16:
      memcpy(out, &bits, sizeof bits);
      return same(t == CAIRN_F16 ? from_half(bits) : from_bfloat(bits), r);
    default:
      return false;
  }
}

bool cairn__scalar_convert(cairn_dtype_t from, const void *in, cairn_dtype_t to,
                           void *out) {
  uint8_t made[16];
  number_t v = {0};
  if (from != to) {
    if (!load_int(from, in, &v) && !load_real(from, in, &v)) return false;
    if (!store_int(&v, to, made) && !store_real(&v, to, made)) return false;
    in = made;
  }
  memcpy(out, in, cairn_dtype_size(to));
  return true;
}
