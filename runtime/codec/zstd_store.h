/* A zstd frame that does not compress: as one piece, or as what lies around
 * bytes that stay where they are. */
#ifndef CAIRN_CODEC_ZSTD_STORE_H_
#define CAIRN_CODEC_ZSTD_STORE_H_

#include "cairn/codec.h"
#include "codec/zstd_frame.h"

#define CAIRN__ZSTD_BLOCK_HEADER 3

cairn_code_t cairn__zstd_store(cairn_bytes_t in, bool checksum,
                               cairn_buf_t *out, cairn_error_t *err);

/* Appends the frame without its contents: *head bytes, which begin it; then,
 * for each CAIRN__ZSTD_BLOCK_MAX bytes of `in` and what is left over, a block
 * header that goes before them; then the checksum, if there is one. */
cairn_code_t cairn__zstd_store_around(cairn_bytes_t in, bool checksum,
                                      cairn_buf_t *out, size_t *head,
                                      cairn_error_t *err);
/* Blocks of a frame of n bytes: an empty one has a block, too. */
static inline size_t cairn__zstd_store_blocks(size_t n) {
  return n == 0 ? 1 : (n - 1) / CAIRN__ZSTD_BLOCK_MAX + 1;
}

#endif
