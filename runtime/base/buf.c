/* The growing buffer of buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAP 64

void cairn__buf_reset(cairn__buf_t *b) {
  free(b->p);
  *b = (cairn__buf_t){0};
}

bool cairn__buf_reserve(cairn__buf_t *b, size_t more) {
  if (b->failed) return false;
  if (more <= b->cap - b->n) return true;
  size_t need;
  if (__builtin_add_overflow(b->n, more, &need)) goto fail;
  size_t cap = b->cap < FIRST_CAP ? FIRST_CAP : b->cap;
  while (cap < need)
    if (__builtin_mul_overflow(cap, 2, &cap)) cap = need;
  uint8_t *p = realloc(b->p, cap);
  if (p == NULL) goto fail;
  b->p = p;
  b->cap = cap;
  return true;
fail:
  b->failed = true;
  return false;
}

void cairn__buf_put(cairn__buf_t *b, const void *p, size_t n) {
  if (n == 0 || !cairn__buf_reserve(b, n)) return;
  memcpy(b->p + b->n, p, n);
  b->n += n;
}

void cairn__buf_put_u8(cairn__buf_t *b, uint8_t v) {
  if (!cairn__buf_reserve(b, 1)) return;
  b->p[b->n++] = v;
}

static void put_le(cairn__buf_t *b, uint64_t v, size_t width) {
  uint8_t bytes[8];
  for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)(v >> (8 * i));
  cairn__buf_put(b, bytes, width);
}

void cairn__buf_put_u32le(cairn__buf_t *b, uint32_t v) {
  put_le(b, v, 4);
}

void cairn__buf_put_u64le(cairn__buf_t *b, uint64_t v) {
  put_le(b, v, 8);
}

void cairn__buf_put_varint(cairn__buf_t *b, uint64_t v) {
  uint8_t bytes[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) bytes[n++] = (uint8_t)(v | 0x80);
  bytes[n++] = (uint8_t)v;
  cairn__buf_put(b, bytes, n);
}

void cairn__buf_put_str(cairn__buf_t *b, const char *s) {
  cairn__buf_put(b, s, strlen(s));
}

/* Tries the room there is, and a second time when that was too small. The NUL
 * that vsnprintf adds needs a byte of room but is not counted in n. */
void cairn__buf_printf(cairn__buf_t *b, const char *fmt, ...) {
  if (!cairn__buf_reserve(b, 1)) return;
  for (int round = 0; round < 2; round++) {
    va_list ap;
    size_t room = b->cap - b->n;
    va_start(ap, fmt);
    int len = vsnprintf((char *)b->p + b->n, room, fmt, ap);
    va_end(ap);
    if (len < 0) break;
    if ((size_t)len < room) {
      b->n += (size_t)len;
      return;
    }
    if (!cairn__buf_reserve(b, (size_t)len + 1)) return;
  }
  b->failed = true;
}

uint8_t *cairn__buf_steal(cairn__buf_t *b, size_t *n) {
  uint8_t *p = b->p;
  if (n != NULL) *n = b->n;
  *b = (cairn__buf_t){0};
  return p;
}
