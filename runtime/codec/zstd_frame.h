/* The outside of a zstd frame (RFC 8878, 3.1.1), without decoding it. */
#ifndef CAIRN_CODEC_ZSTD_FRAME_H_
#define CAIRN_CODEC_ZSTD_FRAME_H_

#include "cairn/error.h"

#define CAIRN__ZSTD_MAGIC 0xfd2fb528u
#define CAIRN__ZSTD_BLOCK_MAX (128 * 1024)

/* Walks over the blocks of the one frame that `in` must be: nothing before it,
 * nothing after it, no dictionary, the header's unused bit zero. *bound gets
 * what it can decode to at most, which is the declared size when the blocks can
 * hold that much. CAIRN_CORRUPT says what is wrong. */
cairn_code_t cairn__zstd_walk(cairn_bytes_t in, uint64_t *bound,
                              cairn_error_t *err);

#endif
