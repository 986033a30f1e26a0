/* The growing buffer of buf.h. */
#include "cairn/buf.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAP 64

void cairn_buf_reset(cairn_buf_t *b) {
  free(b->p);
  *b = (cairn_buf_t){0};
}

bool cairn_buf_reserve(cairn_buf_t *b, size_t more) {
  if (b->failed) return false;
  if (more <= b->cap - b->n) return true;
  size_t need;
  if (__builtin_add_overflow(b->n, more, &need)) goto fail;
  /* Doubled, so that many small appends stay cheap; a large one gets what it
   * asked for. */
  size_t cap = b->cap < SIZE_MAX / 2 ? b->cap * 2 : need;
  if (cap < need) cap = need;
  if (cap < FIRST_CAP) cap = FIRST_CAP;
  uint8_t *p = realloc(b->p, cap);
  if (p == NULL) goto fail;
  b->p = p;
  b->cap = cap;
  return true;
fail:
  b->failed = true;
  return false;
}

void cairn_buf_put(cairn_buf_t *b, const void *p, size_t n) {
  if (n == 0 || !cairn_buf_reserve(b, n)) return;
  memcpy(b->p + b->n, p, n);
  b->n += n;
}

void cairn_buf_put_u8(cairn_buf_t *b, uint8_t v) {
  if (!cairn_buf_reserve(b, 1)) return;
  b->p[b->n++] = v;
}

static void put_le(cairn_buf_t *b, uint64_t v, size_t width) {
  uint8_t bytes[8];
  for (size_t i = 0; i < width; i++) bytes[i] = (uint8_t)(v >> (8 * i));
  cairn_buf_put(b, bytes, width);
}

void cairn_buf_put_u32le(cairn_buf_t *b, uint32_t v) {
  put_le(b, v, 4);
}

void cairn_buf_put_u64le(cairn_buf_t *b, uint64_t v) {
  put_le(b, v, 8);
}

void cairn_buf_put_varint(cairn_buf_t *b, uint64_t v) {
  uint8_t bytes[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) bytes[n++] = (uint8_t)(v | 0x80);
  bytes[n++] = (uint8_t)v;
  cairn_buf_put(b, bytes, n);
}

void cairn_buf_put_str(cairn_buf_t *b, const char *s) {
  cairn_buf_put(b, s, strlen(s));
}

/* Tries the room there is, and a second time when that was too small. The NUL
 * that vsnprintf adds needs a byte of room but is not counted in n. */
void cairn_buf_printf(cairn_buf_t *b, const char *fmt, ...) {
  if (!cairn_buf_reserve(b, 1)) return;
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
    if (!cairn_buf_reserve(b, (size_t)len + 1)) return;
  }
  b->failed = true;
}

uint8_t *cairn_buf_steal(cairn_buf_t *b, size_t *n) {
  uint8_t *p = b->p;
  if (n != NULL) *n = b->n;
  *b = (cairn_buf_t){0};
  return p;
}
