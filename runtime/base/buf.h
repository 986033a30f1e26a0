/* A growing byte buffer, and a cursor that reads untrusted bytes.
 *
 * {0} is empty and valid. An append that runs out of memory sets `failed` and
 * appends nothing from then on, so a writer checks once, at the end. */
#ifndef CAIRN_BASE_BUF_H_
#define CAIRN_BASE_BUF_H_

#include "cairn/error.h"

typedef struct cairn__buf {
  uint8_t *p;
  size_t n, cap;
  bool failed;
} cairn__buf_t;

void cairn__buf_reset(cairn__buf_t *b);                /* frees; {0} again */
bool cairn__buf_reserve(cairn__buf_t *b, size_t more); /* false: no memory */
void cairn__buf_put(cairn__buf_t *b, const void *p, size_t n);
void cairn__buf_put_u8(cairn__buf_t *b, uint8_t v);
void cairn__buf_put_u32le(cairn__buf_t *b, uint32_t v);
void cairn__buf_put_u64le(cairn__buf_t *b, uint64_t v);
void cairn__buf_put_varint(cairn__buf_t *b, uint64_t v); /* LEB128, shortest */
void cairn__buf_put_str(cairn__buf_t *b, const char *s);
void cairn__buf_printf(cairn__buf_t *b, const char *fmt, ...)
    CAIRN_PRINTF(2, 3);
static inline cairn_bytes_t cairn__buf_bytes(const cairn__buf_t *b) {
  return cairn_bytes(b->p, b->n);
}
/* The allocation, now the caller's to free(); *n its length. b is {0} after. */
uint8_t *cairn__buf_steal(cairn__buf_t *b, size_t *n);

/* Reads forward over bytes that nobody vouches for. Each getter returns false
 * when the bytes end or the value is malformed, and leaves the position at the
 * start of what it could not read. */
typedef struct cairn__cur {
  const uint8_t *base, *p, *end;
} cairn__cur_t;

static inline cairn__cur_t cairn__cur(cairn_bytes_t b) {
  cairn__cur_t c = {b.p, b.p, b.n != 0 ? b.p + b.n : b.p};
  return c;
}
static inline size_t cairn__cur_left(const cairn__cur_t *c) {
  return (size_t)(c->end - c->p);
}
static inline size_t cairn__cur_pos(const cairn__cur_t *c) {
  return (size_t)(c->p - c->base);
}
bool cairn__cur_u8(cairn__cur_t *c, uint8_t *out);
bool cairn__cur_u32le(cairn__cur_t *c, uint32_t *out);
bool cairn__cur_u64le(cairn__cur_t *c, uint64_t *out);
/* LEB128 of at most 10 bytes (5 for 32 bits); longer-than-needed forms are
 * legal. */
bool cairn__cur_varint64(cairn__cur_t *c, uint64_t *out);
bool cairn__cur_varint32(cairn__cur_t *c, uint32_t *out);
bool cairn__cur_take(cairn__cur_t *c, size_t n, cairn_bytes_t *out);

#endif
