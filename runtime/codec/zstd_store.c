/* One frame of raw blocks: what every zstd reader takes, at the speed of a copy
 * and a 64-bit hash. libzstd cannot be asked for this (its fastest level still
 * searches). Layout, RFC 8878: magic, descriptor, content size, blocks of at
 * most 128 KiB with 3 bytes of header, low half of XXH64. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codec/zstd_frame.h"
#include "codec/zstd_store.h"

#define HEADER_MAX 13

static uint8_t *put_le(uint8_t *p, uint64_t v, size_t n) {
  for (size_t i = 0; i < n; i++) *p++ = (uint8_t)(v >> 8 * i);
  return p;
}

/* The header of a single-segment frame. */
static uint8_t *put_header(uint8_t *p, uint64_t n, bool checksum) {
  unsigned flag = n < 256 ? 0 : n < 65536 + 256 ? 1 : n <= UINT32_MAX ? 2 : 3;
  p = put_le(p, CAIRN__ZSTD_MAGIC, 4);
  p = put_le(p, flag << 6 | 0x20 | (checksum ? 4 : 0), 1);
  return put_le(p, flag == 1 ? n - 256 : n, (size_t)1 << flag);
}

/* One raw block; copied and hashed while it is in the cache. */
static uint8_t *put_block(uint8_t *p, const uint8_t *src, size_t n, bool last,
                          XXH64_state_t *sum) {
  p = put_le(p, (uint64_t)n << 3 | last, 3);
  if (n != 0) memcpy(p, src, n);
  if (sum != NULL && n != 0) XXH64_update(sum, src, n);
  return p + n;
}

cairn_code_t cairn__zstd_store(cairn_bytes_t in, bool checksum,
                               cairn_buf_t *out, cairn_error_t *err) {
  size_t blocks = in.n / CAIRN__ZSTD_BLOCK_MAX + 1, room;
  if (__builtin_add_overflow(in.n, 3 * blocks + HEADER_MAX + 4, &room) ||
      !cairn_buf_reserve(out, room))
    return cairn_fail(err, CAIRN_NO_MEMORY, "zstd: out of memory");
  XXH64_state_t sum;
  XXH64_reset(&sum, 0);
  uint8_t *p = put_header(out->p + out->n, in.n, checksum);
  size_t done = 0;
  do {
    size_t n = in.n - done;
    if (n > CAIRN__ZSTD_BLOCK_MAX) n = CAIRN__ZSTD_BLOCK_MAX;
    const uint8_t *src = in.n != 0 ? in.p + done : NULL;
    p = put_block(p, src, n, done + n == in.n, checksum ? &sum : NULL);
    done += n;
  } while (done < in.n);
  if (checksum) p = put_le(p, (uint32_t)XXH64_digest(&sum), 4);
  out->n = (size_t)(p - out->p);
  return CAIRN_OK;
}
