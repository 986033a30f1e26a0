/* Building a chain: dimensions permuted, a layout, and stages over the bytes.
 */
#include "array/zarr.h"

/* item times shape, and no more than int64 can count. */
static bool chunk_bytes(size_t item, int rank, const int64_t *shape,
                        int64_t *out) {
  cairn__box_t box = {.rank = rank};
  if (rank > 0) memcpy(box.extent, shape, (size_t)rank * sizeof *shape);
  return cairn__box_volume(&box, out) &&
         !__builtin_mul_overflow(*out, (int64_t)item, out);
}

cairn_code_t cairn__chain_new(cairn_zarr_t *z, cairn_dtype_t dtype, int rank,
                              const int64_t *shape, cairn__chain_t **out,
                              cairn_error_t *err) {
  size_t item = cairn_dtype_size(dtype);
  int64_t bytes;
  if (!chunk_bytes(item, rank, shape, &bytes))
    return cairn_fail(err, CAIRN_CORRUPT, "a chunk is above 2^63-1 bytes");
  cairn__chain_t *c = cairn__zarr_alloc(z, sizeof *c);
  if (c == NULL || (c->shape = cairn__zarr_dims(z, rank, shape)) == NULL ||
      (c->encoded = cairn__zarr_dims(z, rank, shape)) == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  c->rank = rank;
  c->dtype = dtype;
  c->item = item;
  c->bytes = bytes;
  for (int d = 0; d < rank; d++) c->order[d] = (uint8_t)d;
  cairn__chain_endian(c, false);
  *out = c;
  return CAIRN_OK;
}

void cairn__chain_transpose(cairn__chain_t *c, const uint8_t *order) {
  uint8_t before[CAIRN_MAX_RANK];
  memcpy(before, c->order, sizeof before);
  for (int d = 0; d < c->rank; d++) {
    c->order[d] = before[order[d]];
    c->encoded[d] = c->shape[c->order[d]];
  }
}

void cairn__chain_endian(cairn__chain_t *c, bool big) {
  bool native = big == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  c->swap = native ? 0 : cairn__dtype_unit(c->dtype);
}

cairn_code_t cairn__chain_add(cairn_zarr_t *z, cairn__chain_t *c,
                              const cairn__stage_t *stage, cairn_error_t *err) {
  if (c->num_stages == CAIRN__MAX_STAGES)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "more than %d codecs on bytes",
                      CAIRN__MAX_STAGES);
  cairn__stage_t *stages =
      cairn__zarr_alloc(z, (size_t)(c->num_stages + 1) * sizeof *stages);
  if (stages == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  if (c->num_stages > 0)
    memcpy(stages, c->stages, (size_t)c->num_stages * sizeof *stages);
  stages[c->num_stages++] = *stage;
  c->stages = stages;
  return CAIRN_OK;
}

bool cairn__stage_is_sum(const cairn__stage_t *stage) {
  return strcmp(stage->ops->name, "crc32c") == 0;
}

int64_t cairn__chain_fixed_bytes(const cairn__chain_t *c) {
  int64_t n = c->bytes;
  if (c->shard != NULL) return -1;
  for (int i = 0; i < c->num_stages; i++) {
    if (!cairn__stage_is_sum(&c->stages[i])) return -1;
    if (__builtin_add_overflow(n, CAIRN__SUM_BYTES, &n)) return -1;
  }
  return n;
}
