/* Geometry of boxes and copying between strided memories: the array room's pure
 * part. Ranks are at most CAIRN_MAX_RANK; extents int64. */
#ifndef CAIRN_ARRAY_REGION_H_
#define CAIRN_ARRAY_REGION_H_

#include "cairn/array.h"

typedef struct cairn__box {
  int rank;
  int64_t origin[CAIRN_MAX_RANK], extent[CAIRN_MAX_RANK];
} cairn__box_t;

bool cairn__box_intersect(const cairn__box_t *a, const cairn__box_t *b,
                          cairn__box_t *out); /* false: empty */
bool cairn__box_contains(const cairn__box_t *outer, const cairn__box_t *inner);
/* Product of the extents; false on overflow. An empty box has 0, whatever the
 * other extents. */
bool cairn__box_volume(const cairn__box_t *b, int64_t *out);
void cairn__c_strides(int rank, const int64_t *extent, int64_t item,
                      int64_t *out);

/* Copies a box of `extent` between two strided memories of `item`-byte
 * elements; contiguous inner dimensions are merged, so equal layouts are one
 * memcpy. Swaps each `swap`-byte unit (0 or 1: none; complex: half an item). */
void cairn__copy_box(int rank, const int64_t *extent, size_t item, void *dst,
                     const int64_t *dst_strides, const void *src,
                     const int64_t *src_strides, size_t swap);

/* The same from memory behind a source, run by run; no swapping. */
cairn_code_t cairn__copy_box_out(const cairn_source_t *source, int rank,
                                 const int64_t *extent, size_t item, void *dst,
                                 const int64_t *dst_strides, const void *src,
                                 const int64_t *src_strides,
                                 cairn_error_t *err);

/* Text of a box for messages: "[0:4, 8:16]". */
void cairn__box_text(const cairn__box_t *b, char *out, size_t cap);

#endif
