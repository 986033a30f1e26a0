/* Bytes as text: hex and base64. */
#include "base/base.h"

static const char hex_digits[] = "0123456789abcdef";

void cairn__hex(const void *p, size_t n, char *out) {
  const uint8_t *b = p;
  for (size_t i = 0; i < n; i++) {
    *out++ = hex_digits[b[i] >> 4];
    *out++ = hex_digits[b[i] & 15];
  }
  *out = '\0';
}

static int unhex_digit(uint8_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool cairn__unhex(cairn_bytes_t hex, uint8_t *out) {
  if (hex.n % 2 != 0) return false;
  for (size_t i = 0; i < hex.n; i += 2) {
    int hi = unhex_digit(hex.p[i]), lo = unhex_digit(hex.p[i + 1]);
    if (hi < 0 || lo < 0) return false;
    out[i / 2] = (uint8_t)(hi << 4 | lo);
  }
  return true;
}

bool cairn__unhex64(cairn_bytes_t hex, uint64_t *out) {
  uint8_t b[8];
  if (hex.n != 16 || !cairn__unhex(hex, b)) return false;
  *out = 0;
  for (int i = 0; i < 8; i++) *out = *out << 8 | b[i];
  return true;
}

static const char base64_common[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

static uint8_t base64_digit(uint32_t six, bool url) {
  if (six < 62) return (uint8_t)base64_common[six];
  return (uint8_t)(url ? "-_" : "+/")[six - 62];
}

static int unbase64_digit(uint8_t c, bool url) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == (url ? '-' : '+')) return 62;
  if (c == (url ? '_' : '/')) return 63;
  return -1;
}

void cairn__base64(cairn_bytes_t in, bool url, cairn_buf_t *out) {
  for (size_t i = 0; i < in.n; i += 3) {
    size_t n = in.n - i < 3 ? in.n - i : 3;
    uint32_t v = (uint32_t)in.p[i] << 16;
    if (n > 1) v |= (uint32_t)in.p[i + 1] << 8;
    if (n > 2) v |= in.p[i + 2];
    uint8_t four[4] = {'=', '=', '=', '='};
    for (size_t k = 0; k <= n; k++)
      four[k] = base64_digit(v >> (18 - 6 * k) & 63, url);
    cairn_buf_put(out, four, 4);
  }
}

/* One group of four digits, of which the last `pad` are '='. The bits that the
 * padding leaves over must be zero: each text has one meaning, each meaning one
 * text. */
static bool unbase64_group(const uint8_t *in, size_t pad, bool url,
                           cairn_buf_t *out) {
  uint32_t v = 0;
  for (size_t k = 0; k < 4; k++) {
    int six = k < 4 - pad ? unbase64_digit(in[k], url) : 0;
    if (six < 0) return false;
    v = v << 6 | (uint32_t)six;
  }
  if ((v & ((1u << 8 * pad) - 1)) != 0) return false;
  uint8_t three[3] = {(uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};
  cairn_buf_put(out, three, 3 - pad);
  return true;
}

bool cairn__unbase64(cairn_bytes_t in, bool url, cairn_buf_t *out) {
  size_t start = out->n;
  if (in.n % 4 != 0) return false;
  for (size_t i = 0; i < in.n; i += 4) {
    size_t pad = 0;
    if (i + 4 == in.n)
      pad = in.p[i + 3] != '=' ? 0 : in.p[i + 2] != '=' ? 1 : 2;
    if (!unbase64_group(in.p + i, pad, url, out)) {
      out->n = start;
      return false;
    }
  }
  return true;
}
