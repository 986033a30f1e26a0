/* Scalars: arrays of rank 0 that rank 0 writes. Every rank has the value, and
 * only rank 0's is stored. */
#include <math.h>

#include "leaf.h"

static cairn_code_t measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                            cairn_error_t *err) {
  (void)err;
  if (t->ctx->rank != 0) return CAIRN_OK;
  t->boxes++;
  return cairn__take_reserve(t, cairn_dtype_size(leaf->dtype))
             ? CAIRN_OK
             : cairn_fail(err, CAIRN_INVALID, "more bytes than memory has");
}

static void take(const cairn_leaf_t *leaf, cairn__take_t *t) {
  static const cairn_box_t box = {0};
  size_t n = cairn_dtype_size(leaf->dtype);
  bool mine = t->ctx->rank == 0;
  if (mine) {
    void *dst = cairn__take_stage(t, n);
    memcpy(dst, leaf->data, n);
    *t->next_box++ = (cairn__held_t){.data = dst};
  }
  cairn__desc_boxes(&t->desc, 0, NULL, &box, mine);
}

static cairn_code_t rule(const cairn__desc_t *d, const cairn_item_ctx_t *ctx,
                         bool all_hold, cairn_plan_in_t *in,
                         cairn_error_t *err) {
  (void)d;
  (void)ctx;
  (void)all_hold;
  (void)err;
  in->rule = CAIRN_PLAN_PRIMARY;
  return CAIRN_OK;
}

const cairn__leaf_ops_t cairn__leaf_scalar = {
    .measure = measure,
    .take = take,
    .rule = rule,
};
