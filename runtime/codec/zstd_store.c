/* One frame of raw blocks: what every zstd reader takes, at the speed of a copy
 * and a 64-bit hash. libzstd cannot be asked for this (its fastest level still
 * searches). Layout, RFC 8878: magic, descriptor, content size, blocks of at
 * most 128 KiB with 3 bytes of header, low half of XXH64. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codec/zstd_store.h"

#define HEADER_MAX 13
#define SUM_BYTES 4

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

static uint8_t *put_block_header(uint8_t *p, size_t n, bool last) {
  return put_le(p, (uint64_t)n << 3 | last, CAIRN__ZSTD_BLOCK_HEADER);
}

/* One raw block; copied and hashed while it is in the cache. */
static uint8_t *put_block(uint8_t *p, const uint8_t *src, size_t n, bool last,
                          XXH64_state_t *sum) {
  p = put_block_header(p, n, last);
  if (n != 0) memcpy(p, src, n);
  if (sum != NULL && n != 0) XXH64_update(sum, src, n);
  return p + n;
}

static size_t around_max(size_t n) {
  return cairn__zstd_store_blocks(n) * CAIRN__ZSTD_BLOCK_HEADER + HEADER_MAX +
         SUM_BYTES;
}

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "zstd: out of memory");
}

cairn_code_t cairn__zstd_store(cairn_bytes_t in, bool checksum,
                               cairn_buf_t *out, cairn_error_t *err) {
  size_t room = around_max(in.n);
  if (__builtin_add_overflow(in.n, room, &room) ||
      !cairn_buf_reserve(out, room))
    return no_memory(err);
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
  if (checksum) p = put_le(p, (uint32_t)XXH64_digest(&sum), SUM_BYTES);
  out->n = (size_t)(p - out->p);
  return CAIRN_OK;
}

cairn_code_t cairn__zstd_store_around(cairn_bytes_t in, bool checksum,
                                      cairn_buf_t *out, size_t *head,
                                      cairn_error_t *err) {
  if (!cairn_buf_reserve(out, around_max(in.n))) return no_memory(err);
  uint8_t *start = out->p + out->n;
  uint8_t *p = put_header(start, in.n, checksum);
  *head = (size_t)(p - start);
  size_t done = 0;
  do {
    size_t n = in.n - done;
    if (n > CAIRN__ZSTD_BLOCK_MAX) n = CAIRN__ZSTD_BLOCK_MAX;
    done += n;
    p = put_block_header(p, n, done == in.n);
  } while (done < in.n);
  if (checksum) p = put_le(p, (uint32_t)XXH64(in.p, in.n, 0), SUM_BYTES);
  out->n += (size_t)(p - start);
  return CAIRN_OK;
}
