/* What writing and reading batches of arrays share: checked regions, the walk
 * over their chunks, keys and names. */
#ifndef CAIRN_ARRAY_IO_H_
#define CAIRN_ARRAY_IO_H_

#include "array/chain.h"

/* Chunks go to a CPU thread together up to this much. */
#define CAIRN__GROUP_BYTES ((int64_t)1 << 20)
#define CAIRN__GROUP_CHUNKS 256
/* Elements of fewer bytes are copied, not written from where they lie. */
#define CAIRN__DETACH_BYTES ((int64_t)16 << 10)

/* The arrays of a call: CAIRN_INVALID names array and region. `write`: chunks
 * that a region meets lie in it whole. Sets bytes and stored_bytes of each to
 * 0. */
cairn_code_t cairn__io_check(cairn_array_io_t *arrays, size_t n, bool write,
                             cairn_error_t *err);

cairn__box_t cairn__region_box(const cairn_array_io_t *io, size_t region);
/* What of a region lies in a chunk, as a target in that chunk; false: nothing.
 */
bool cairn__region_target(const cairn_array_io_t *io, size_t region,
                          const cairn__box_t *cells, cairn__target_t *out);
/* Elements times their size. */
int64_t cairn__region_bytes(const cairn_array_io_t *io, size_t region);

/* All chunks that regions meet, array by array, region by region; or, `whole`,
 * all chunks of the arrays. */
typedef struct cairn__walk {
  const cairn_array_io_t *arrays;
  size_t n, array, region;
  bool whole, inside;
  cairn__range_t range;
  int64_t index[CAIRN_MAX_RANK];
} cairn__walk_t;
bool cairn__walk_next(cairn__walk_t *w);
/* Leaves out the rest of the region at hand (`whole`: of the array). */
void cairn__walk_skip(cairn__walk_t *w);
/* False if an earlier region of the same array meets this chunk. */
bool cairn__walk_is_first(const cairn__walk_t *w);

/* name + "/" + last into b, from its start. False: no memory. */
bool cairn__io_key(cairn_buf_t *b, cairn_bytes_t name, const char *last);
bool cairn__io_chunk_key(cairn_buf_t *b, const cairn_array_io_t *io,
                         const int64_t *index);
/* Puts "array params.w, chunk c/0/1: " before an error (index NULL: no chunk).
 */
void cairn__io_within(cairn_error_t *err, const cairn_array_io_t *io,
                      const int64_t *index);

#endif
