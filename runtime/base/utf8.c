/* UTF-8 as in RFC 3629: shortest forms only, no surrogates, up to U+10FFFF. */
#include "base/utf8.h"

#include "base/base.h"

/* Length of the form that starts with c (0: none does), its payload bits, and
 * the least code point that needs that length. */
static size_t lead(uint8_t c, uint32_t *bits, uint32_t *least) {
  if (c < 0x80) return *bits = c, *least = 0, 1;
  if (c >= 0xc0 && c < 0xe0) return *bits = c & 0x1f, *least = 0x80, 2;
  if (c >= 0xe0 && c < 0xf0) return *bits = c & 0x0f, *least = 0x800, 3;
  if (c >= 0xf0 && c < 0xf8) return *bits = c & 0x07, *least = 0x10000, 4;
  return 0;
}

bool cairn__utf8_next(cairn_cur_t *c, uint32_t *out) {
  uint32_t cp, least;
  if (c->p == c->end) return false;
  size_t n = lead(*c->p, &cp, &least);
  if (n == 0 || n > cairn_cur_left(c)) return false;
  for (size_t i = 1; i < n; i++) {
    if ((c->p[i] & 0xc0) != 0x80) return false;
    cp = cp << 6 | (c->p[i] & 0x3f);
  }
  if (cp < least || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
    return false;
  c->p += n;
  *out = cp;
  return true;
}

size_t cairn__utf8_encode(uint32_t cp, uint8_t out[4]) {
  if (cp < 0x80) {
    out[0] = (uint8_t)cp;
    return 1;
  }
  size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, cp >>= 6)
    out[i] = (uint8_t)(0x80 | (cp & 0x3f));
  out[0] = (uint8_t)(0xf00 >> n | cp);
  return n;
}

bool cairn__utf8_ok(cairn_bytes_t b) {
  cairn_cur_t c = cairn_cur(b);
  uint32_t cp;
  while (c.p != c.end) {
    /* Nearly all text is ASCII: eight bytes at once while it is. */
    uint64_t eight;
    while (cairn_cur_left(&c) >= 8) {
      memcpy(&eight, c.p, 8);
      if ((eight & 0x8080808080808080u) != 0) break;
      c.p += 8;
    }
    if (c.p != c.end && !cairn__utf8_next(&c, &cp)) return false;
  }
  return true;
}
