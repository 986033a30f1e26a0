/* np.ndarray: an array without a sharding. Orbax restores it anywhere. */
#include "leaf.h"

/* What Orbax calls a host array is whole on every process and one chunk; boxes
 * are an idea of ours there, and go by Orbax's rule for shards. */
static cairn_code_t rule(const cairn__desc_t *d, const cairn_item_ctx_t *ctx,
                         bool all_hold, cairn_plan_in_t *in,
                         cairn_error_t *err) {
  (void)d;
  (void)err;
  if (ctx->profile == CAIRN_PROFILE_CAIRN) {
    in->rule = CAIRN_PLAN_CAIRN;
    in->chunk_bytes = ctx->chunk_bytes;
  } else {
    in->rule = all_hold ? CAIRN_PLAN_PRIMARY : CAIRN_PLAN_ORBAX;
    in->chunk_bytes = cairn__orbax_chunk_bytes(ctx);
  }
  return CAIRN_OK;
}

const cairn__leaf_ops_t cairn__leaf_numpy = {
    .measure = cairn__boxes_measure,
    .take = cairn__boxes_take,
    .rule = rule,
};
