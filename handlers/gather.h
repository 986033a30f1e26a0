/* Copying a strided box into memory without gaps: what a snapshot does. */
#ifndef CAIRN_HANDLERS_GATHER_H_
#define CAIRN_HANDLERS_GATHER_H_

#include "cairn/types.h"

/* Bytes of a box; false on overflow. Extents are not negative. */
bool cairn__box_bytes(int rank, const int64_t *extent, size_t item,
                      size_t *out);
/* True if strides (all 0: C order without gaps) are those of C order. */
bool cairn__is_dense(int rank, const int64_t *extent, size_t item,
                     const int64_t *strides);
/* dst in C order without gaps; strides in bytes, any sign, all 0 as above. */
void cairn__gather(int rank, const int64_t *extent, size_t item, void *dst,
                   const void *src, const int64_t *strides);
void cairn__dense_strides(int rank, const int64_t *extent, size_t item,
                          int64_t *out);

#endif
