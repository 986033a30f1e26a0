/* Fill values, in all forms of the two formats (reference arrays.md A2.4,
 * A3.4), to the bytes of one element in this machine's order. */
#include <math.h>
#include <stdlib.h>

#include "array/zarr.h"
#include "base/base.h"

static cairn_code_t want(const char *what, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT, "fill_value: want %s", what);
}

/* The low `size` bytes of v in native order. */
static void put_uint(uint8_t *out, uint64_t v, size_t size) {
  for (size_t i = 0; i < size; i++) {
    size_t at = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? size - 1 - i : i;
    out[at] = (uint8_t)(v >> 8 * i);
  }
}

/* Integers beyond int64 come as text. */
static bool take_u64(const cairn_json_t *v, uint64_t *out) {
  int64_t n;
  *out = 0;
  if (cairn_json_int(v, &n)) {
    *out = (uint64_t)n;
    return n >= 0;
  }
  if (v->kind != CAIRN_JSON_BIGINT) return false;
  for (size_t i = 0; i < v->str.n; i++) {
    unsigned digit = v->str.p[i] - '0';
    if (digit > 9 || __builtin_mul_overflow(*out, 10, out) ||
        __builtin_add_overflow(*out, digit, out))
      return false;
  }
  return true;
}

/* zarr 2 takes sub-byte integers in the range of the byte they are stored in.
 */
static cairn_code_t fill_int(int version, cairn_dtype_t t,
                             const cairn_json_t *v, uint8_t *out,
                             cairn_error_t *err) {
  size_t size = cairn_dtype_size(t);
  int bits = version == 2 ? (int)(8 * size) : cairn__dtype_bits(t);
  int64_t max = INT64_MAX >> (64 - bits), n;
  if (!cairn_json_int(v, &n) || n > max || n < -max - 1)
    return want("an integer of the element type", err);
  put_uint(out, (uint64_t)n, size);
  if (cairn__dtype_padded(t)) cairn__elements_extend(t, out, 1);
  return CAIRN_OK;
}

static cairn_code_t fill_uint(cairn_dtype_t t, const cairn_json_t *v,
                              uint8_t *out, cairn_error_t *err) {
  size_t size = cairn_dtype_size(t);
  uint64_t n;
  if (!take_u64(v, &n) || n > UINT64_MAX >> (64 - 8 * size))
    return want("an unsigned integer of the element type", err);
  put_uint(out, n, size);
  return CAIRN_OK;
}

static void put_float(cairn_dtype_t t, double v, uint8_t *out) {
  if (t == CAIRN_F32) {
    float f = isnan(v) ? (float)NAN : (float)v; /* the default NaN */
    memcpy(out, &f, sizeof f);
  } else if (t == CAIRN_F64) {
    if (isnan(v)) v = (double)NAN;
    memcpy(out, &v, sizeof v);
  } else {
    put_uint(out, cairn__float_bits(t, v), cairn_dtype_size(t));
  }
}

static bool take_number(const cairn_json_t *v, double *out) {
  char digits[400];
  switch (v->kind) {
    case CAIRN_JSON_INT:
      *out = (double)v->i;
      return true;
    case CAIRN_JSON_REAL:
      *out = v->r;
      return true;
    case CAIRN_JSON_BIGINT: /* digits only: no locale changes them */
      if (v->str.n >= sizeof digits) {
        *out = v->str.p[0] == '-' ? -INFINITY : INFINITY;
        return true;
      }
      memcpy(digits, v->str.p, v->str.n);
      digits[v->str.n] = '\0';
      *out = strtod(digits, NULL);
      return true;
    default:
      return false;
  }
}

/* A decimal number in a string, as zarr 2 allows it; JSON's grammar. */
static bool take_decimal(cairn_bytes_t text, double *out) {
  const cairn_json_limits_t strict = {.strict = true};
  cairn_json_doc_t doc;
  if (cairn_json_parse(text, &strict, &doc, NULL) != CAIRN_OK) return false;
  bool ok = take_number(doc.root, out) && isfinite(*out);
  cairn_json_free(&doc);
  return ok;
}

/* zarr 3: "0x" and up to two digits a byte, the raw bits. */
static bool take_hex(cairn_bytes_t text, size_t size, uint8_t *out) {
  uint64_t bits = 0;
  if (text.n < 3 || text.n > 2 + 2 * size || text.p[0] != '0' ||
      text.p[1] != 'x')
    return false;
  for (size_t i = 2; i < text.n; i++) {
    uint8_t two[2] = {'0', text.p[i]}, digit;
    if (!cairn__unhex(cairn_bytes(two, 2), &digit)) return false;
    bits = bits << 4 | digit;
  }
  put_uint(out, bits, size);
  return true;
}

static cairn_code_t fill_float(int version, cairn_dtype_t t,
                               const cairn_json_t *v, uint8_t *out,
                               cairn_error_t *err) {
  double r;
  if (cairn_json_is_str(v, "NaN"))
    r = (double)NAN;
  else if (cairn_json_is_str(v, "Infinity"))
    r = INFINITY;
  else if (cairn_json_is_str(v, "-Infinity"))
    r = -INFINITY;
  else if (v->kind == CAIRN_JSON_STRING && version == 3)
    return take_hex(v->str, cairn_dtype_size(t), out)
               ? CAIRN_OK
               : want("0x and the bits in hex", err);
  else if (v->kind == CAIRN_JSON_STRING ? !take_decimal(v->str, &r)
                                        : !take_number(v, &r))
    return want("a number, \"NaN\", \"Infinity\" or \"-Infinity\"", err);
  put_float(t, r, out);
  return CAIRN_OK;
}

/* zarr 2: base64 of the element as it is stored. */
static cairn_code_t fill_base64(cairn_dtype_t t, bool big,
                                const cairn_json_t *v, uint8_t *out,
                                cairn_error_t *err) {
  size_t size = cairn_dtype_size(t), unit = cairn__dtype_unit(t);
  cairn_buf_t raw = {0};
  bool ok = v->kind == CAIRN_JSON_STRING &&
            cairn__unbase64(v->str, false, &raw) && raw.n == size;
  bool native = big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  for (size_t i = 0; ok && i < size; i++) {
    size_t at = native || unit == 0 ? i : i / unit * unit + unit - 1 - i % unit;
    out[i] = raw.p[at];
  }
  if (ok && cairn__dtype_padded(t)) cairn__elements_mask(t, out, size);
  cairn_buf_reset(&raw);
  return ok ? CAIRN_OK : want("base64 of one element", err);
}

static cairn_code_t fill_complex(int version, cairn_dtype_t t, bool big,
                                 const cairn_json_t *v, uint8_t *out,
                                 cairn_error_t *err) {
  cairn_dtype_t part = t == CAIRN_C64 ? CAIRN_F32 : CAIRN_F64;
  if (version == 2 && v->kind == CAIRN_JSON_STRING)
    return fill_base64(t, big, v, out, err);
  if (v->kind != CAIRN_JSON_ARRAY || v->n != 2)
    return want("an array of two numbers", err);
  cairn_code_t rc = fill_float(version, part, v->child, out, err);
  if (rc == CAIRN_OK)
    rc = fill_float(version, part, v->last, out + cairn_dtype_size(part), err);
  return rc;
}

cairn_code_t cairn__fill_parse(int version, cairn_dtype_t t, bool big,
                               const cairn_json_t *v, uint8_t *out,
                               cairn_error_t *err) {
  memset(out, 0, CAIRN__MAX_ITEM);
  if (version == 2 && v->kind == CAIRN_JSON_NULL) return CAIRN_OK;
  if (version == 2 && t == CAIRN_F4_E2M1FN)
    return fill_base64(t, big, v, out, err);
  switch (cairn__dtype_kind(t)) {
    case CAIRN__KIND_BOOL:
      out[0] = v->b;
      return v->kind == CAIRN_JSON_BOOL ? CAIRN_OK : want("true or false", err);
    case CAIRN__KIND_INT:
      return fill_int(version, t, v, out, err);
    case CAIRN__KIND_UINT:
      return fill_uint(t, v, out, err);
    case CAIRN__KIND_FLOAT:
      return fill_float(version, t, v, out, err);
    case CAIRN__KIND_COMPLEX:
      return fill_complex(version, t, big, v, out, err);
  }
  return want("an element", err);
}
