/* Boxes of arrays: how a snapshot takes them, whatever the array's form. */
#include "gather.h"
#include "leaf.h"

#define CACHE_LINE ((size_t)64)
#define SMALL ((size_t)4096) /* below: packed closer */
#define TIGHT ((size_t)16)

static size_t aligned(size_t at, size_t n) {
  size_t a = n >= SMALL ? CACHE_LINE : TIGHT;
  return (at + a - 1) & ~(a - 1);
}

bool cairn__take_reserve(cairn__take_t *t, size_t n) {
  if (t->stage > SIZE_MAX / 2 || n > SIZE_MAX / 2) return false;
  t->stage = aligned(t->stage, n) + n;
  return true;
}

void *cairn__take_stage(cairn__take_t *t, size_t n) {
  size_t at = aligned(t->at, n);
  t->at = at + n;
  return t->next + at;
}

/* An array of rank 0 has one box, however often it is named. */
static size_t num_boxes(const cairn_leaf_t *leaf) {
  return leaf->rank == 0 && leaf->num_boxes > 1 ? 1 : leaf->num_boxes;
}

static bool borrows(const cairn_leaf_t *leaf, const cairn__take_t *t) {
  cairn_snapshot_t mode = leaf->snapshot;
  if (mode == CAIRN_SNAPSHOT_DEFAULT) mode = t->ctx->snapshot;
  return mode == CAIRN_SNAPSHOT_BORROW;
}

cairn_code_t cairn__boxes_measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                                  cairn_error_t *err) {
  size_t n = num_boxes(leaf), item = cairn_dtype_size(leaf->dtype), bytes;
  bool borrow = borrows(leaf, t);
  t->boxes += n;
  if (borrow) t->strides += n * (size_t)leaf->rank;
  for (size_t i = 0; i < n && !borrow; i++)
    if (!cairn__box_bytes(leaf->rank, leaf->boxes[i].extent, item, &bytes) ||
        !cairn__take_reserve(t, bytes))
      return cairn_fail(err, CAIRN_INVALID, "more bytes than memory has");
  return CAIRN_OK;
}

static void take_copy(const cairn_leaf_t *leaf, const cairn_box_t *box,
                      cairn__take_t *t, cairn__held_t *out) {
  size_t item = cairn_dtype_size(leaf->dtype), bytes = 0;
  /* Cannot overflow: measured before. */
  (void)cairn__box_bytes(leaf->rank, box->extent, item, &bytes);
  void *dst = cairn__take_stage(t, bytes);
  cairn__gather(leaf->rank, box->extent, item, dst, box->data, box->strides);
  *out = (cairn__held_t){.data = dst};
}

static void take_borrowed(const cairn_leaf_t *leaf, const cairn_box_t *box,
                          cairn__take_t *t, cairn__held_t *out) {
  size_t item = cairn_dtype_size(leaf->dtype);
  *out = (cairn__held_t){.data = box->data};
  if (cairn__is_dense(leaf->rank, box->extent, item, box->strides)) return;
  memcpy(t->next_strides, box->strides,
         (size_t)leaf->rank * sizeof *t->next_strides);
  out->strides = t->next_strides;
  t->next_strides += leaf->rank;
}

void cairn__boxes_take(const cairn_leaf_t *leaf, cairn__take_t *t) {
  size_t n = num_boxes(leaf);
  bool borrow = borrows(leaf, t);
  for (size_t i = 0; i < n; i++)
    (borrow ? take_borrowed : take_copy)(leaf, &leaf->boxes[i], t,
                                         t->next_box++);
  cairn__desc_boxes(&t->desc, leaf->rank, leaf->shape, leaf->boxes, n);
}
