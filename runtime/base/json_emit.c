/* Documents to text, in the three dialects of json.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/json_impl.h"
#include "base/utf8.h"

/* Reals ---------------------------------------------------------------------
 */

static void put_zeros(cairn_buf_t *out, int n) {
  while (n-- > 0) cairn_buf_put_u8(out, '0');
}

static void put_exponent_form(const cairn__digits_t *x, cairn_buf_t *out) {
  int e = x->point - 1;
  cairn_buf_put_u8(out, (uint8_t)x->d[0]);
  if (x->n > 1) {
    cairn_buf_put_u8(out, '.');
    cairn_buf_put(out, x->d + 1, (size_t)x->n - 1);
  }
  cairn_buf_printf(out, "e%c%02d", e < 0 ? '-' : '+', abs(e));
}

static void put_plain_form(const cairn__digits_t *x, cairn_buf_t *out) {
  if (x->point <= 0) {
    cairn_buf_put_str(out, "0.");
    put_zeros(out, -x->point);
    cairn_buf_put(out, x->d, (size_t)x->n);
  } else if (x->point < x->n) {
    cairn_buf_put(out, x->d, (size_t)x->point);
    cairn_buf_put_u8(out, '.');
    cairn_buf_put(out, x->d + x->point, (size_t)(x->n - x->point));
  } else {
    cairn_buf_put(out, x->d, (size_t)x->n);
    put_zeros(out, x->point - x->n);
    cairn_buf_put_str(out, ".0");
  }
}

/* TensorStore has no word for what is not finite and writes null. */
static void put_not_finite(double r, cairn_json_dialect_t d, cairn_buf_t *out) {
  if (d == CAIRN_JSON_COMPACT)
    cairn_buf_put_str(out, "null");
  else
    cairn_buf_put_str(out, isnan(r) ? "NaN" : r > 0 ? "Infinity" : "-Infinity");
}

/* Both write 0.0001 and 1e-05; upwards Python goes on to 17 places before the
 * point less one, TensorStore to 15. */
void cairn_json_emit_real(double r, cairn_json_dialect_t d, cairn_buf_t *out) {
  bool compact = d == CAIRN_JSON_COMPACT;
  cairn__digits_t x;
  if (!isfinite(r)) {
    put_not_finite(r, d, out);
    return;
  }
  if (signbit(r)) cairn_buf_put_u8(out, '-');
  if (r == 0) {
    cairn_buf_put_str(out, "0.0");
    return;
  }
  if (compact)
    cairn__digits_grisu2(fabs(r), &x);
  else
    cairn__digits_shortest(fabs(r), &x);
  if (x.point > -4 && x.point <= (compact ? 15 : 16))
    put_plain_form(&x, out);
  else
    put_exponent_form(&x, out);
}

/* Strings -------------------------------------------------------------------
 */

static bool put_short_escape(uint32_t cp, cairn_buf_t *out) {
  static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
  const char *at = cp != 0 && cp < 0x80 ? strchr(plain, (int)cp) : NULL;
  if (at == NULL) return false;
  cairn_buf_put_u8(out, '\\');
  cairn_buf_put_u8(out, (uint8_t)names[at - plain]);
  return true;
}

static void put_unicode_escape(uint32_t cp, cairn_buf_t *out) {
  if (cp >= 0x10000) {
    cp -= 0x10000;
    cairn_buf_printf(out, "\\u%04" PRIx32, 0xd800 + (cp >> 10));
    cp = 0xdc00 + (cp & 0x3ff);
  }
  cairn_buf_printf(out, "\\u%04" PRIx32, cp);
}

static void put_char(uint32_t cp, bool ascii, cairn_buf_t *out) {
  uint8_t utf8[4];
  if (put_short_escape(cp, out)) return;
  if (cp < 0x20 || (ascii && cp >= 0x7f))
    put_unicode_escape(cp, out);
  else
    cairn_buf_put(out, utf8, cairn__utf8_encode(cp, utf8));
}

static size_t plain_run(const cairn_cur_t *c) {
  const uint8_t *p = c->p;
  while (p != c->end && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\') p++;
  return (size_t)(p - c->p);
}

/* A byte that is not UTF-8 becomes U+FFFD: what is written is always JSON. */
void cairn_json_emit_str(cairn_bytes_t s, cairn_json_dialect_t d,
                         cairn_buf_t *out) {
  cairn_cur_t c = cairn_cur(s);
  cairn_buf_put_u8(out, '"');
  while (c.p != c.end) {
    size_t run = plain_run(&c);
    cairn_buf_put(out, c.p, run);
    c.p += run;
    if (c.p == c.end) break;
    uint32_t cp = 0xfffd;
    if (!cairn__utf8_next(&c, &cp)) c.p++;
    put_char(cp, d == CAIRN_JSON_PYTHON, out);
  }
  cairn_buf_put_u8(out, '"');
}

/* Trees ---------------------------------------------------------------------
 */

static void emit(const cairn_json_t *v, cairn_json_dialect_t d, int level,
                 cairn_buf_t *out);

static void put_separator(bool first, cairn_json_dialect_t d, int level,
                          cairn_buf_t *out) {
  if (!first) cairn_buf_put_u8(out, ',');
  if (d == CAIRN_JSON_PYTHON && !first) cairn_buf_put_u8(out, ' ');
  if (d != CAIRN_JSON_INDENT) return;
  cairn_buf_put_u8(out, '\n');
  for (int i = 0; i < level; i++) cairn_buf_put_str(out, "  ");
}

static void put_member(const cairn_json_t *parent, const cairn_json_t *v,
                       cairn_json_dialect_t d, int level, cairn_buf_t *out) {
  if (parent->kind == CAIRN_JSON_OBJECT) {
    cairn_json_emit_str(v->key, d, out);
    cairn_buf_put_str(out, d == CAIRN_JSON_COMPACT ? ":" : ": ");
  }
  emit(v, d, level, out);
}

static int by_key(const void *a, const void *b) {
  const cairn_json_t *const *x = a, *const *y = b;
  return cairn__bytes_cmp((*x)->key, (*y)->key);
}

static void put_sorted(const cairn_json_t *obj, cairn_json_dialect_t d,
                       int level, cairn_buf_t *out) {
  const cairn_json_t **all = calloc(obj->n, sizeof *all);
  size_t n = 0;
  if (all == NULL) {
    out->failed = true;
    return;
  }
  for (const cairn_json_t *v = obj->child; v != NULL; v = v->next) all[n++] = v;
  qsort(all, n, sizeof *all, by_key);
  for (size_t i = 0; i < n; i++) {
    put_separator(i == 0, d, level, out);
    put_member(obj, all[i], d, level, out);
  }
  free(all);
}

static void put_in_order(const cairn_json_t *parent, cairn_json_dialect_t d,
                         int level, cairn_buf_t *out) {
  for (const cairn_json_t *v = parent->child; v != NULL; v = v->next) {
    put_separator(v == parent->child, d, level, out);
    put_member(parent, v, d, level, out);
  }
}

static void put_children(const cairn_json_t *parent, cairn_json_dialect_t d,
                         int level, cairn_buf_t *out) {
  bool object = parent->kind == CAIRN_JSON_OBJECT;
  cairn_buf_put_u8(out, object ? '{' : '[');
  if (parent->n != 0) {
    if (object && d == CAIRN_JSON_COMPACT)
      put_sorted(parent, d, level + 1, out);
    else
      put_in_order(parent, d, level + 1, out);
    if (d == CAIRN_JSON_INDENT) put_separator(true, d, level, out);
  }
  cairn_buf_put_u8(out, object ? '}' : ']');
}

static void emit(const cairn_json_t *v, cairn_json_dialect_t d, int level,
                 cairn_buf_t *out) {
  switch (v->kind) {
    case CAIRN_JSON_NULL:
      cairn_buf_put_str(out, "null");
      break;
    case CAIRN_JSON_BOOL:
      cairn_buf_put_str(out, v->b ? "true" : "false");
      break;
    case CAIRN_JSON_INT:
      cairn_buf_printf(out, "%" PRId64, v->i);
      break;
    case CAIRN_JSON_BIGINT:
      cairn_buf_put(out, v->str.p, v->str.n);
      break;
    case CAIRN_JSON_REAL:
      cairn_json_emit_real(v->r, d, out);
      break;
    case CAIRN_JSON_STRING:
      cairn_json_emit_str(v->str, d, out);
      break;
    case CAIRN_JSON_ARRAY:
    case CAIRN_JSON_OBJECT:
      put_children(v, d, level, out);
      break;
  }
}

void cairn_json_emit(const cairn_json_t *v, cairn_json_dialect_t d,
                     cairn_buf_t *out) {
  emit(v, d, 0, out);
}
