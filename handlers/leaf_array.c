/* jax.Array: an array with a sharding, which Orbax restores onto the devices
 * that the sharding names. */
#include "leaf.h"

/* Orbax's size of data files: no chunk is larger (arrays.md B4). */
#define DATA_FILE_BYTES ((int64_t)2 << 30)

int64_t cairn__orbax_chunk_bytes(const cairn_item_ctx_t *ctx) {
  return ctx->chunk_bytes > 0 && ctx->chunk_bytes < DATA_FILE_BYTES
             ? ctx->chunk_bytes
             : DATA_FILE_BYTES;
}

static cairn_code_t measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                            cairn_error_t *err) {
  if (cairn__sharding_check(leaf->sharding, leaf->rank, err) != CAIRN_OK)
    return err->code;
  return cairn__boxes_measure(leaf, t, err);
}

static cairn_code_t rule(const cairn__desc_t *d, const cairn_item_ctx_t *ctx,
                         bool all_hold, cairn_plan_in_t *in,
                         cairn_error_t *err) {
  (void)all_hold;
  if (ctx->profile == CAIRN_PROFILE_CAIRN) {
    in->rule = CAIRN_PLAN_CAIRN;
    in->chunk_bytes = ctx->chunk_bytes;
    return CAIRN_OK;
  }
  in->rule = CAIRN_PLAN_ORBAX;
  in->chunk_bytes = cairn__orbax_chunk_bytes(ctx);
  return cairn__sharding_replicas(d, &in->replicas, err);
}

/* The member's name is the parameter's, in base64. */
static cairn_code_t side(const cairn__desc_t *d, cairn__sides_t *sides,
                         cairn_error_t *err) {
  sides->name.n = sides->key.n = 0;
  cairn__keypath_name(cairn__desc_path(d), &sides->name);
  cairn__put_base64url(cairn_buf_bytes(&sides->name), &sides->key);
  if (sides->name.failed || sides->key.failed) sides->sharding.failed = true;
  cairn__members_add(&sides->sharding, cairn_buf_bytes(&sides->key));
  return cairn__sharding_emit(&sides->mesh, d, &sides->sharding.values, err);
}

const cairn__leaf_ops_t cairn__leaf_array = {
    .measure = measure,
    .take = cairn__boxes_take,
    .rule = rule,
    .side = side,
};
