/* Element types as the formats name and store them (reference arrays.md A1.3).
 */
#include "array/zarr.h"
#include "base/base.h"

struct info {
  const char *zarr2;
  uint8_t kind, bits;
};

static const struct info table[CAIRN_DTYPE_COUNT] = {
    [CAIRN_BOOL] = {"|b1", CAIRN__KIND_BOOL, 1},
    [CAIRN_I2] = {"int2", CAIRN__KIND_INT, 2},
    [CAIRN_I4] = {"int4", CAIRN__KIND_INT, 4},
    [CAIRN_I8] = {"|i1", CAIRN__KIND_INT, 8},
    [CAIRN_I16] = {"<i2", CAIRN__KIND_INT, 16},
    [CAIRN_I32] = {"<i4", CAIRN__KIND_INT, 32},
    [CAIRN_I64] = {"<i8", CAIRN__KIND_INT, 64},
    [CAIRN_U8] = {"|u1", CAIRN__KIND_UINT, 8},
    [CAIRN_U16] = {"<u2", CAIRN__KIND_UINT, 16},
    [CAIRN_U32] = {"<u4", CAIRN__KIND_UINT, 32},
    [CAIRN_U64] = {"<u8", CAIRN__KIND_UINT, 64},
    [CAIRN_F4_E2M1FN] = {"float4_e2m1fn", CAIRN__KIND_FLOAT, 4},
    [CAIRN_F8_E3M4] = {"float8_e3m4", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E4M3FN] = {"float8_e4m3fn", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E4M3FNUZ] = {"float8_e4m3fnuz", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E4M3B11FNUZ] = {"float8_e4m3b11fnuz", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E5M2] = {"float8_e5m2", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E5M2FNUZ] = {"float8_e5m2fnuz", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F8_E8M0FNU] = {"float8_e8m0fnu", CAIRN__KIND_FLOAT, 8},
    [CAIRN_F16] = {"<f2", CAIRN__KIND_FLOAT, 16},
    [CAIRN_BF16] = {"bfloat16", CAIRN__KIND_FLOAT, 16},
    [CAIRN_F32] = {"<f4", CAIRN__KIND_FLOAT, 32},
    [CAIRN_F64] = {"<f8", CAIRN__KIND_FLOAT, 64},
    [CAIRN_C64] = {"<c8", CAIRN__KIND_COMPLEX, 64},
    [CAIRN_C128] = {"<c16", CAIRN__KIND_COMPLEX, 128},
};

cairn__kind_t cairn__dtype_kind(cairn_dtype_t t) {
  return (cairn__kind_t)table[t].kind;
}

int cairn__dtype_bits(cairn_dtype_t t) {
  return table[t].bits;
}

size_t cairn__dtype_unit(cairn_dtype_t t) {
  size_t n = cairn_dtype_size(t);
  if (table[t].kind == CAIRN__KIND_COMPLEX) return n / 2;
  return n == 1 ? 0 : n;
}

bool cairn__dtype_padded(cairn_dtype_t t) {
  return table[t].bits < 8 && table[t].kind != CAIRN__KIND_BOOL;
}

const char *cairn__dtype_zarr2(cairn_dtype_t t) {
  return table[t].zarr2;
}

/* One-byte types take any mark ("|i1" is written, "<i1" and ">i1" are read),
 * longer ones only a byte order, and names without a mark only themselves. */
cairn_dtype_t cairn__dtype_from_zarr2(cairn_bytes_t name, bool *big) {
  *big = false;
  for (int t = 1; t < CAIRN_DTYPE_COUNT; t++) {
    cairn_bytes_t own = cairn_bytes_str(table[t].zarr2);
    if (cairn__bytes_eq(own, name)) return (cairn_dtype_t)t;
    bool marked = own.p[0] == '|' || own.p[0] == '<';
    if (!marked || name.n != own.n ||
        memcmp(own.p + 1, name.p + 1, own.n - 1) != 0)
      continue;
    if (name.p[0] != '>' && !(name.p[0] == '<' && own.p[0] == '|')) continue;
    *big = name.p[0] == '>';
    return (cairn_dtype_t)t;
  }
  return CAIRN_DTYPE_NONE;
}

bool cairn__elements_ok(cairn_dtype_t t, cairn_bytes_t raw, size_t *at) {
  uint8_t all = 0;
  if (t != CAIRN_BOOL) return true;
  for (size_t i = 0; i < raw.n; i++) all |= raw.p[i];
  if (all <= 1) return true;
  for (*at = 0; raw.p[*at] <= 1;) ++*at;
  return false;
}

void cairn__elements_mask(cairn_dtype_t t, uint8_t *p, size_t n) {
  uint8_t mask = (uint8_t)((1u << table[t].bits) - 1);
  for (size_t i = 0; i < n; i++) p[i] &= mask;
}

void cairn__elements_extend(cairn_dtype_t t, uint8_t *p, size_t n) {
  cairn__elements_mask(t, p, n);
  if (table[t].kind != CAIRN__KIND_INT) return;
  uint8_t sign = (uint8_t)(1u << (table[t].bits - 1));
  for (size_t i = 0; i < n; i++) p[i] = (uint8_t)((p[i] ^ sign) - sign);
}
