/* Comparing, copying and hashing bytes; formatted strings; decimals. */
/* The header alone: XXH64 is stable over versions, and nothing is linked. */
#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/base.h"

static size_t shorter(cairn_bytes_t a, cairn_bytes_t b) {
  return a.n < b.n ? a.n : b.n;
}

int cairn__bytes_cmp(cairn_bytes_t a, cairn_bytes_t b) {
  size_t n = shorter(a, b);
  int c = n != 0 ? memcmp(a.p, b.p, n) : 0;
  if (c != 0) return c;
  return (a.n > b.n) - (a.n < b.n);
}

bool cairn__bytes_eq(cairn_bytes_t a, cairn_bytes_t b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool cairn__bytes_starts(cairn_bytes_t s, cairn_bytes_t prefix) {
  return s.n >= prefix.n && cairn__bytes_eq(cairn_bytes(s.p, prefix.n), prefix);
}

bool cairn__bytes_ends(cairn_bytes_t s, cairn_bytes_t suffix) {
  if (suffix.n == 0) return true;
  if (s.n < suffix.n) return false;
  return memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0;
}

size_t cairn__bytes_common(cairn_bytes_t a, cairn_bytes_t b) {
  size_t n = shorter(a, b), i = 0;
  while (i < n && a.p[i] == b.p[i]) i++;
  return i;
}

char *cairn__bytes_dup(cairn_bytes_t b) {
  if (b.n == SIZE_MAX) return NULL;
  char *s = malloc(b.n + 1);
  if (s == NULL) return NULL;
  if (b.n != 0) memcpy(s, b.p, b.n);
  s[b.n] = '\0';
  return s;
}

char *cairn__printf(const char *fmt, ...) {
  char *s = NULL;
  va_list ap;
  va_start(ap, fmt);
  int n = vasprintf(&s, fmt, ap);
  va_end(ap);
  return n < 0 ? NULL : s;
}

uint64_t cairn__hash64(const void *p, size_t n, uint64_t seed) {
  return XXH64(p, n, seed);
}

bool cairn__decimal(cairn_bytes_t b, int64_t *out) {
  int64_t v = 0;
  if (b.n == 0 || (b.n > 1 && b.p[0] == '0')) return false;
  for (size_t i = 0; i < b.n; i++) {
    if (b.p[i] < '0' || b.p[i] > '9') return false;
    if (!cairn__mul_ok(v, 10, &v) || !cairn__add_ok(v, b.p[i] - '0', &v))
      return false;
  }
  *out = v;
  return true;
}

cairn_code_t cairn__options_take(const void *in, void *out, size_t n,
                                 size_t first, cairn_error_t *err) {
  size_t size;
  memset(out, 0, n);
  if (in == NULL) return CAIRN_OK;
  memcpy(&size, in, sizeof size);
  if (size != 0 && size < first)
    return cairn_fail(err, CAIRN_INVALID,
                      "size %zu: the struct has had at least %zu bytes in all "
                      "versions (0 means as compiled)",
                      size, first);
  memcpy(out, in, size != 0 && size < n ? size : n);
  return CAIRN_OK;
}
