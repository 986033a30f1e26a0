/* JSON text to a document: one pass by recursive descent, to a depth that is
 * limited. Everything is copied, so the text may go when parsing is done.
 *
 * A function that fails has set the error and returns false. */
#include <stdlib.h>

#include "base/base.h"
#include "base/json_impl.h"
#include "base/utf8.h"

enum { MAX_BYTES = 1 << 30 };

typedef struct parser {
  cairn_cur_t c;
  cairn_json_doc_t *doc;
  cairn_error_t *err;
  int depth, max_depth;
  bool strict;
} parser_t;

static bool parse_value(parser_t *p, cairn_json_t *parent, cairn_bytes_t key);

static bool corrupt(parser_t *p, const char *want) {
  cairn_fail(p->err, CAIRN_CORRUPT, "json: byte %zu: want %s",
             cairn_cur_pos(&p->c), want);
  return false;
}

static bool no_memory(parser_t *p) {
  cairn_fail(p->err, CAIRN_NO_MEMORY, "json: byte %zu", cairn_cur_pos(&p->c));
  return false;
}

static void skip_blanks(parser_t *p) {
  while (p->c.p != p->c.end && (*p->c.p == ' ' || *p->c.p == '\n' ||
                                *p->c.p == '\t' || *p->c.p == '\r'))
    p->c.p++;
}

/* The byte at the cursor, or 0 at the end (NUL is legal nowhere in JSON). */
static uint8_t peek(const parser_t *p) {
  return p->c.p != p->c.end ? *p->c.p : 0;
}

static bool accept(parser_t *p, uint8_t byte) {
  if (p->c.p == p->c.end || *p->c.p != byte) return false;
  p->c.p++;
  return true;
}

static bool accept_word(parser_t *p, const char *word) {
  size_t n = strlen(word);
  if (cairn_cur_left(&p->c) < n || memcmp(p->c.p, word, n) != 0) return false;
  p->c.p += n;
  return true;
}

/* Strings ------------------------------------------------------------------ */

/* Moves over the text of a string up to and over its closing quote. `raw` gets
 * the text between the quotes, checked but for its escapes. */
static bool scan_string(parser_t *p, cairn_bytes_t *raw, bool *escapes) {
  cairn_cur_t *c = &p->c;
  const uint8_t *start = c->p;
  uint32_t cp;
  *escapes = false;
  for (;;) {
    while (c->p != c->end && *c->p >= 0x20 && *c->p < 0x80 && *c->p != '"' &&
           *c->p != '\\')
      c->p++;
    if (c->p == c->end) return corrupt(p, "the end of the string");
    if (*c->p == '"') break;
    if (*c->p < 0x20) return corrupt(p, "no control character in a string");
    if (*c->p == '\\') {
      if (cairn_cur_left(c) < 2) return corrupt(p, "the end of the escape");
      *escapes = true;
      c->p += 2;
    } else if (!cairn__utf8_next(c, &cp)) {
      return corrupt(p, "well-formed UTF-8");
    }
  }
  *raw = cairn_bytes(start, (size_t)(c->p - start));
  c->p++;
  return true;
}

static bool hex4(cairn_cur_t *c, uint32_t *out) {
  cairn_bytes_t digits;
  uint8_t two[2];
  if (!cairn_cur_take(c, 4, &digits) || !cairn__unhex(digits, two))
    return false;
  *out = (uint32_t)two[0] << 8 | two[1];
  return true;
}

/* After "\u". Above U+FFFF it takes two escapes; half of such a pair alone
 * names no character and has no UTF-8. */
static bool unicode_escape(cairn_cur_t *c, uint32_t *cp) {
  cairn_bytes_t intro;
  uint32_t low;
  if (!hex4(c, cp) || (*cp >= 0xdc00 && *cp < 0xe000)) return false;
  if (*cp < 0xd800 || *cp >= 0xe000) return true;
  if (!cairn_cur_take(c, 2, &intro) || memcmp(intro.p, "\\u", 2) != 0)
    return false;
  if (!hex4(c, &low) || low < 0xdc00 || low >= 0xe000) return false;
  *cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

/* After a backslash. */
static bool escape(cairn_cur_t *c, uint32_t *cp) {
  static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  uint8_t name;
  if (!cairn_cur_u8(c, &name)) return false;
  if (name == 'u') return unicode_escape(c, cp);
  const char *at = name != 0 ? strchr(names, name) : NULL;
  if (at == NULL) return false;
  *cp = (uint8_t)meanings[at - names];
  return true;
}

/* Writes the meaning of raw to out, which has room for raw.n bytes: no escape
 * is shorter than what it means. */
static bool unescape(parser_t *p, cairn_bytes_t raw, uint8_t *out, size_t *n) {
  cairn_cur_t c = cairn_cur(raw);
  uint8_t *to = out;
  while (c.p != c.end) {
    const uint8_t *start = c.p;
    uint32_t cp;
    if (*c.p != '\\') {
      *to++ = *c.p++;
      continue;
    }
    c.p++;
    if (!escape(&c, &cp)) {
      p->c.p = start;
      return corrupt(p, "a valid escape");
    }
    to += cairn__utf8_encode(cp, to);
  }
  *n = (size_t)(to - out);
  return true;
}

/* After the opening quote. */
static bool parse_string(parser_t *p, cairn_bytes_t *out) {
  cairn_bytes_t raw;
  bool escapes;
  size_t n;
  if (!scan_string(p, &raw, &escapes)) return false;
  uint8_t *own = cairn__json_alloc(p->doc, raw.n);
  if (own == NULL) return no_memory(p);
  n = raw.n;
  if (!escapes)
    memcpy(own, raw.p, raw.n);
  else if (!unescape(p, raw, own, &n))
    return false;
  *out = cairn_bytes(own, n);
  return true;
}

/* Numbers ------------------------------------------------------------------ */

static size_t skip_digits(parser_t *p) {
  const uint8_t *start = p->c.p;
  while (peek(p) >= '0' && peek(p) <= '9') p->c.p++;
  return (size_t)(p->c.p - start);
}

/* Moves over a number; *real says that it has a fraction or an exponent. */
static bool scan_number(parser_t *p, bool *real) {
  accept(p, '-');
  if (!accept(p, '0') && skip_digits(p) == 0) return corrupt(p, "a value");
  *real = false;
  if (accept(p, '.')) {
    *real = true;
    if (skip_digits(p) == 0) return corrupt(p, "a digit");
  }
  if (accept(p, 'e') || accept(p, 'E')) {
    *real = true;
    if (!accept(p, '-')) accept(p, '+');
    if (skip_digits(p) == 0) return corrupt(p, "a digit");
  }
  return true;
}

static bool int64_of(cairn_bytes_t text, int64_t *out) {
  bool minus = text.p[0] == '-';
  int64_t v = 0;
  for (size_t i = minus; i < text.n; i++) {
    int digit = text.p[i] - '0';
    if (__builtin_mul_overflow(v, 10, &v) ||
        __builtin_add_overflow(v, minus ? -digit : digit, &v))
      return false;
  }
  *out = v;
  return true;
}

/* strtod wants a NUL, which the text between two commas does not have. */
static bool real_of(parser_t *p, cairn_bytes_t text, double *out) {
  char space[64], *copy = space;
  if (text.n >= sizeof space) copy = cairn__bytes_dup(text);
  if (copy == NULL) return no_memory(p);
  if (copy == space) {
    memcpy(space, text.p, text.n);
    space[text.n] = '\0';
  }
  *out = cairn__json_strtod(copy);
  if (copy != space) free(copy);
  return true;
}

static bool parse_number(parser_t *p, cairn_json_t *v) {
  const uint8_t *start = p->c.p;
  bool real;
  if (!scan_number(p, &real)) return false;
  cairn_bytes_t text = cairn_bytes(start, (size_t)(p->c.p - start));
  if (real) {
    v->kind = CAIRN_JSON_REAL;
    return real_of(p, text, &v->r);
  }
  if (int64_of(text, &v->i)) {
    v->kind = CAIRN_JSON_INT;
    return true;
  }
  uint8_t *own = cairn__json_alloc(p->doc, text.n);
  if (own == NULL) return no_memory(p);
  memcpy(own, text.p, text.n);
  v->kind = CAIRN_JSON_BIGINT;
  v->i = 0;
  v->str = cairn_bytes(own, text.n);
  return true;
}

/* null, true, false, and what Python writes for the reals JSON does not have.
 */
static bool parse_word(parser_t *p, cairn_json_t *v) {
  static const struct {
    const char *word;
    cairn_json_kind_t kind;
    bool b, loose;
    double r;
  } words[] = {
      {"null", CAIRN_JSON_NULL, false, false, 0},
      {"true", CAIRN_JSON_BOOL, true, false, 0},
      {"false", CAIRN_JSON_BOOL, false, false, 0},
      {"NaN", CAIRN_JSON_REAL, false, true, __builtin_nan("")},
      {"Infinity", CAIRN_JSON_REAL, false, true, __builtin_inf()},
      {"-Infinity", CAIRN_JSON_REAL, false, true, -__builtin_inf()},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i].loose && p->strict) continue;
    if (!accept_word(p, words[i].word)) continue;
    v->kind = words[i].kind;
    v->b = words[i].b;
    v->r = words[i].r;
    return true;
  }
  return false;
}

/* Arrays and objects ------------------------------------------------------- */

/* After '['. */
static bool parse_array(parser_t *p, cairn_json_t *arr) {
  skip_blanks(p);
  if (accept(p, ']')) return true;
  for (;;) {
    if (!parse_value(p, arr, cairn_bytes(NULL, 0))) return false;
    skip_blanks(p);
    if (accept(p, ']')) return true;
    if (!accept(p, ',')) return corrupt(p, "',' or ']'");
  }
}

/* After '{'. */
static bool parse_object(parser_t *p, cairn_json_t *obj) {
  skip_blanks(p);
  if (accept(p, '}')) return true;
  for (;;) {
    cairn_bytes_t key;
    skip_blanks(p);
    if (!accept(p, '"')) return corrupt(p, "a key");
    if (!parse_string(p, &key)) return false;
    skip_blanks(p);
    if (!accept(p, ':')) return corrupt(p, "':'");
    if (!parse_value(p, obj, key)) return false;
    skip_blanks(p);
    if (accept(p, '}')) return cairn__json_merge(obj) || no_memory(p);
    if (!accept(p, ',')) return corrupt(p, "',' or '}'");
  }
}

static bool parse_nested(parser_t *p, cairn_json_t *v, bool object) {
  if (p->depth == p->max_depth) return corrupt(p, "fewer levels");
  p->depth++;
  v->kind = object ? CAIRN_JSON_OBJECT : CAIRN_JSON_ARRAY;
  bool ok = object ? parse_object(p, v) : parse_array(p, v);
  p->depth--;
  return ok;
}

static bool parse_value(parser_t *p, cairn_json_t *parent, cairn_bytes_t key) {
  skip_blanks(p);
  if (p->c.p == p->c.end) return corrupt(p, "a value");
  cairn_json_t *v = cairn__json_append(p->doc, parent, CAIRN_JSON_NULL);
  if (v == NULL) return no_memory(p);
  v->key = key;
  if (accept(p, '{')) return parse_nested(p, v, true);
  if (accept(p, '[')) return parse_nested(p, v, false);
  if (accept(p, '"')) {
    v->kind = CAIRN_JSON_STRING;
    return parse_string(p, &v->str);
  }
  return parse_word(p, v) || parse_number(p, v);
}

static bool parse_document(parser_t *p) {
  if (!parse_value(p, NULL, cairn_bytes(NULL, 0))) return false;
  skip_blanks(p);
  return p->c.p == p->c.end || corrupt(p, "nothing after the value");
}

cairn_code_t cairn_json_parse(cairn_bytes_t text,
                              const cairn_json_limits_t *lim,
                              cairn_json_doc_t *out, cairn_error_t *err) {
  static const cairn_json_limits_t none = {0};
  cairn_error_t why = {0};
  *out = (cairn_json_doc_t){0};
  if (lim == NULL) lim = &none;
  size_t max_bytes = lim->max_bytes != 0 ? lim->max_bytes : MAX_BYTES;
  if (text.n > max_bytes)
    return cairn_fail(err, CAIRN_CORRUPT, "json: %zu bytes, want at most %zu",
                      text.n, max_bytes);
  parser_t p = {.c = cairn_cur(text),
                .doc = out,
                .err = &why,
                .max_depth = lim->max_depth,
                .strict = lim->strict};
  if (p.max_depth <= 0) p.max_depth = CAIRN_JSON_DEPTH;
  if (p.max_depth > CAIRN_JSON_MAX_DEPTH) p.max_depth = CAIRN_JSON_MAX_DEPTH;
  if (parse_document(&p)) return CAIRN_OK;
  cairn_json_free(out);
  return cairn_error_copy(err, &why);
}
