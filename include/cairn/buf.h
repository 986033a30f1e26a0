/* A growing byte buffer, and a cursor that reads untrusted bytes.
 *
 * {0} is empty and valid. An append that runs out of memory sets `failed` and
 * appends nothing from then on, so a writer checks once, at the end. Any
 * thread, one at a time for one buffer or cursor. */
#ifndef CAIRN_BUF_H_
#define CAIRN_BUF_H_

#include "cairn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_buf {
  uint8_t *p;
  size_t n, cap;
  bool failed;
} cairn_buf_t;

/* Frees the bytes; *b is {0} again. */
CAIRN_API void cairn_buf_reset(cairn_buf_t *b);

/* Makes place for `more` bytes at b->p + b->n. False: no memory, b->failed. */
CAIRN_API bool cairn_buf_reserve(cairn_buf_t *b, size_t more);

/* Each appends to *b, or sets b->failed when memory is out and from then on
 * does nothing: ask once, at the end. Numbers in little-endian order; a varint
 * is LEB128 in its shortest form; a string goes without its NUL. */
CAIRN_API void cairn_buf_put(cairn_buf_t *b, const void *p, size_t n);
CAIRN_API void cairn_buf_put_u8(cairn_buf_t *b, uint8_t v);
CAIRN_API void cairn_buf_put_u32le(cairn_buf_t *b, uint32_t v);
CAIRN_API void cairn_buf_put_u64le(cairn_buf_t *b, uint64_t v);
CAIRN_API void cairn_buf_put_varint(cairn_buf_t *b, uint64_t v);
CAIRN_API void cairn_buf_put_str(cairn_buf_t *b, const char *s);
CAIRN_API void cairn_buf_printf(cairn_buf_t *b, const char *fmt, ...)
    CAIRN_PRINTF(2, 3);

/* What is in the buffer, borrowed until the next append. */
static inline cairn_bytes_t cairn_buf_bytes(const cairn_buf_t *b) {
  return cairn_bytes(b->p, b->n);
}

/* The allocation, now the caller's to free(); *n its length. b is {0} after. */
CAIRN_API uint8_t *cairn_buf_steal(cairn_buf_t *b, size_t *n);

/* Reads forward over bytes that nobody vouches for. Each getter returns false
 * when the bytes end or the value is malformed, and leaves the position at the
 * start of what it could not read. */
typedef struct cairn_cur {
  const uint8_t *base, *p, *end;
} cairn_cur_t;

/* A cursor at the first byte of b; bytes not read yet, bytes read so far. */
static inline cairn_cur_t cairn_cur(cairn_bytes_t b) {
  cairn_cur_t c = {b.p, b.p, b.n != 0 ? b.p + b.n : b.p};
  return c;
}
static inline size_t cairn_cur_left(const cairn_cur_t *c) {
  return (size_t)(c->end - c->p);
}
static inline size_t cairn_cur_pos(const cairn_cur_t *c) {
  return (size_t)(c->p - c->base);
}

/* One number, to *out. */
CAIRN_API bool cairn_cur_u8(cairn_cur_t *c, uint8_t *out);
CAIRN_API bool cairn_cur_u32le(cairn_cur_t *c, uint32_t *out);
CAIRN_API bool cairn_cur_u64le(cairn_cur_t *c, uint64_t *out);

/* LEB128 of at most 10 bytes (5 for 32 bits); longer-than-needed forms are
 * legal. */
CAIRN_API bool cairn_cur_varint64(cairn_cur_t *c, uint64_t *out);
CAIRN_API bool cairn_cur_varint32(cairn_cur_t *c, uint32_t *out);

/* The next n bytes, borrowed from what the cursor reads. */
CAIRN_API bool cairn_cur_take(cairn_cur_t *c, size_t n, cairn_bytes_t *out);

#ifdef __cplusplus
}
#endif
#endif
