/* A direct-mapped cache: two kinds of array that meet in a slot only cost a
 * metadata text each time. */
#include "zarr_cache.h"

/* In the cairn profile the chunk's own codec sums it, in the others the zstd
 * frame does: stock readers check both. Its level is the fastest: the next ones
 * take twice the time for a few hundredths of the bytes. */
static void choose(const cairn_item_ctx_t *ctx, cairn_zarr_spec_t *spec) {
  spec->version = cairn__profile_zarr(ctx->profile);
  spec->compress = !ctx->no_compression;
  switch (ctx->profile) {
    case CAIRN_PROFILE_CAIRN:
      spec->level = 1;
      spec->crc32c = true;
      break;
    case CAIRN_PROFILE_ORBAX:
      spec->level = 1;
      spec->frame_checksum = true;
      break;
    case CAIRN_PROFILE_ORBAX_V1:
      spec->level = 3;
      spec->sharded = true;
      spec->frame_checksum = true;
      break;
  }
}

int cairn__profile_zarr(cairn_profile_t profile) {
  return profile == CAIRN_PROFILE_ORBAX ? 2 : 3;
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static size_t slot_of(cairn_dtype_t dtype, int rank, const int64_t *shape,
                      const int64_t *chunk) {
  uint64_t h = mix((uint64_t)dtype, (uint64_t)rank);
  for (int i = 0; i < rank; i++)
    h = mix(mix(h, (uint64_t)shape[i]), (uint64_t)chunk[i]);
  return h % CAIRN__ZARR_SLOTS;
}

static bool is_like(const cairn_zarr_t *z, cairn_dtype_t dtype, int rank,
                    const int64_t *shape, const int64_t *chunk) {
  size_t n = (size_t)rank * sizeof *shape;
  return cairn_zarr_dtype(z) == dtype && cairn_zarr_rank(z) == rank &&
         (n == 0 || (memcmp(cairn_zarr_shape(z), shape, n) == 0 &&
                     memcmp(cairn_zarr_chunk(z), chunk, n) == 0));
}

cairn_code_t cairn__zarr_cached(cairn__zarr_cache_t *cache,
                                const cairn_item_ctx_t *ctx,
                                cairn_dtype_t dtype, int rank,
                                const int64_t *shape, const int64_t *chunk,
                                cairn_zarr_t **out, cairn_error_t *err) {
  cairn_zarr_t **slot = &cache->slot[slot_of(dtype, rank, shape, chunk)];
  if (*slot == NULL || !is_like(*slot, dtype, rank, shape, chunk)) {
    cairn_zarr_spec_t spec = {.size = sizeof spec,
                              .dtype = dtype,
                              .rank = rank,
                              .shape = shape,
                              .chunk = chunk};
    cairn_zarr_t *made;
    choose(ctx, &spec);
    if (cairn_zarr_make(&spec, &made, err) != CAIRN_OK) return err->code;
    cairn_zarr_unref(*slot);
    *slot = made;
  }
  *out = cairn_zarr_ref(*slot);
  return CAIRN_OK;
}

void cairn__zarr_cache_free(cairn__zarr_cache_t *cache) {
  for (int i = 0; i < CAIRN__ZARR_SLOTS; i++) cairn_zarr_unref(cache->slot[i]);
  *cache = (cairn__zarr_cache_t){0};
}
