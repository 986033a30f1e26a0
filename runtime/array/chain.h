/* One chunk's elements to bytes and back, by the chain of its array. Pure, for
 * CPU threads; buffers are reused from chunk to chunk by keeping the coder.
 * Here err is never NULL. */
#ifndef CAIRN_ARRAY_CHAIN_H_
#define CAIRN_ARRAY_CHAIN_H_

#include <sys/uio.h>

#include "array/zarr.h"

/* --- decoding --- */

/* A box of a chunk, and where its elements go. */
typedef struct cairn__target {
  int64_t origin[CAIRN_MAX_RANK], extent[CAIRN_MAX_RANK]; /* in the chunk */
  int64_t strides[CAIRN_MAX_RANK];                        /* of data, bytes */
  char *data; /* of the element at origin */
} cairn__target_t;

typedef struct cairn__decoder { /* {0} and the first two members set */
  const uint8_t *fill;
  bool fill_missing; /* inner chunks */
  bool everything;   /* decode also what no target wants, to verify it */
  cairn_buf_t scratch[2];
} cairn__decoder_t;
void cairn__decoder_reset(cairn__decoder_t *d);

/* Decodes `in`, verifies it and copies to n targets. CAIRN_CORRUPT,
 * CAIRN_NO_MEMORY. */
cairn_code_t cairn__chain_decode(cairn__decoder_t *d, const cairn__chain_t *c,
                                 cairn_bytes_t in, const cairn__target_t *to,
                                 size_t n, cairn_error_t *err);
/* The fill value to n targets. */
void cairn__targets_fill(const cairn__chain_t *c, const uint8_t *fill,
                         const cairn__target_t *to, size_t n);

/* --- shards (of a chain that has one) --- */

#define CAIRN__SHARD_MISSING UINT64_MAX

/* The index out of exactly index_bytes: 2n numbers, offset and length of each
 * inner chunk. */
cairn_code_t cairn__shard_index(const cairn__shard_t *s, cairn_bytes_t in,
                                uint64_t *out, cairn_error_t *err);
/* Where inner chunk i lies in an object of `total` bytes. *found false:
 * missing. */
cairn_code_t cairn__shard_entry(const uint64_t *index, int64_t i,
                                uint64_t total, bool *found, uint64_t *offset,
                                uint64_t *length, cairn_error_t *err);
/* Targets in the chain's encoded dimensions, which inner chunks count in. */
void cairn__targets_encode(const cairn__chain_t *c, const cairn__target_t *from,
                           size_t n, cairn__target_t *to);
/* The inner chunks that n such targets meet; all of them if `everything`.
 * False: none. */
bool cairn__targets_range(const cairn__chain_t *c, const cairn__target_t *to,
                          size_t n, bool everything, cairn__range_t *out);
/* What such targets want of inner chunk `index`: how many go to out (of n). */
size_t cairn__targets_within(const cairn__chain_t *c, const cairn__target_t *to,
                             size_t n, const int64_t *index,
                             cairn__target_t *out);
/* Puts "inner chunk 0/1: " before an error. */
cairn_code_t cairn__within_inner(cairn_error_t *err, int rank,
                                 const int64_t *index);

/* --- encoding --- */

typedef struct cairn__encoder { /* {0} and the first two members set */
  bool frame_checksum;
  bool detach; /* elements that are stored as they lie in memory are not copied:
                  `direct` says where they are, out gets what is around them */
  cairn_bytes_t direct;
  size_t frame_head; /* 0: out follows `direct`. Else `direct` is in the blocks
                        of a zstd frame, and out gets so many bytes that begin
                        it, a header for each block, and what follows */
  cairn_buf_t raw, moved;
} cairn__encoder_t;
void cairn__encoder_reset(cairn__encoder_t *e);

/* Appends the encoding of one whole chunk, elements at src. CAIRN_INVALID: a
 * bool that is neither 0 nor 1. */
cairn_code_t cairn__chain_encode(cairn__encoder_t *e, const cairn__chain_t *c,
                                 const void *src, const int64_t *strides,
                                 cairn_buf_t *out, cairn_error_t *err);

/* What was encoded, in the order in which it is stored: pieces of `direct` and
 * of what out got, `around` it. Returns the number of pieces; they go into iov,
 * unless it is NULL. */
size_t cairn__encoded_pieces(cairn_bytes_t direct, size_t frame_head,
                             cairn_bytes_t around, struct iovec *iov);

/* True if elements with these strides lie as the chain stores them, so that
 * bytes can be taken as they are. */
bool cairn__chain_packed(const cairn__chain_t *c, const int64_t *strides);

#endif
