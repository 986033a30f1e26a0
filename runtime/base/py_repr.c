/* Python's repr of a str. */
#include <inttypes.h>

#include "base/utf8.h"
#include "cairn/json.h"

static const struct range {
  uint32_t first, last;
} printable[] = {
#include "base/py_printable.inc"
};

static bool is_printable(uint32_t cp) {
  size_t lo = 0, hi = sizeof printable / sizeof *printable;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (cp > printable[mid].last)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < sizeof printable / sizeof *printable && cp >= printable[lo].first;
}

static bool holds(cairn_bytes_t b, char c) {
  return b.n != 0 && memchr(b.p, c, b.n) != NULL;
}

static void put_escape(uint32_t cp, cairn_buf_t *out) {
  if (cp == '\n' || cp == '\r' || cp == '\t')
    cairn_buf_put_str(out, cp == '\n' ? "\\n" : cp == '\r' ? "\\r" : "\\t");
  else if (cp <= 0xff)
    cairn_buf_printf(out, "\\x%02" PRIx32, cp);
  else if (cp <= 0xffff)
    cairn_buf_printf(out, "\\u%04" PRIx32, cp);
  else
    cairn_buf_printf(out, "\\U%08" PRIx32, cp);
}

static void put_char(uint32_t cp, char quote, cairn_buf_t *out) {
  uint8_t utf8[4];
  if (!is_printable(cp)) {
    put_escape(cp, out);
    return;
  }
  if (cp == (uint32_t)quote || cp == '\\') cairn_buf_put_u8(out, '\\');
  cairn_buf_put(out, utf8, cairn__utf8_encode(cp, utf8));
}

/* A byte that is not UTF-8 is shown as Python shows it in names from the
 * operating system: as U+DC00 plus the byte. */
void cairn_py_repr(cairn_bytes_t utf8, cairn_buf_t *out) {
  char quote = holds(utf8, '\'') && !holds(utf8, '"') ? '"' : '\'';
  cairn_cur_t c = cairn_cur(utf8);
  cairn_buf_put_u8(out, (uint8_t)quote);
  while (c.p != c.end) {
    uint32_t cp;
    if (!cairn__utf8_next(&c, &cp)) cp = 0xdc00u + *c.p++;
    put_char(cp, quote, out);
  }
  cairn_buf_put_u8(out, (uint8_t)quote);
}
