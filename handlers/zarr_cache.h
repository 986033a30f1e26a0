/* Metadata of the arrays that a save writes: which formats the profiles use,
 * and one cairn_zarr_t for arrays that are alike, since a state has thousands
 * of the same shape. */
#ifndef CAIRN_HANDLERS_ZARR_CACHE_H_
#define CAIRN_HANDLERS_ZARR_CACHE_H_

#include "cairn/handler.h"

#define CAIRN__ZARR_SLOTS 64

typedef struct cairn__zarr_cache {
  cairn_zarr_t *slot[CAIRN__ZARR_SLOTS];
} cairn__zarr_cache_t;

/* zarr 3 or zarr 2? */
int cairn__profile_zarr(cairn_profile_t profile);

/* A new reference. Chunk has rank numbers. */
cairn_code_t cairn__zarr_cached(cairn__zarr_cache_t *cache,
                                const cairn_item_ctx_t *ctx,
                                cairn_dtype_t dtype, int rank,
                                const int64_t *shape, const int64_t *chunk,
                                cairn_zarr_t **out, cairn_error_t *err);
void cairn__zarr_cache_free(cairn__zarr_cache_t *cache);

#endif
