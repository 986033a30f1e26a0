/* Boxes of arrays: how a snapshot takes them, whatever the array's form. */
#include "gather.h"
#include "leaf.h"

#define CACHE_LINE ((size_t)64)
#define SMALL ((size_t)4096) /* below: packed closer */
#define TIGHT ((size_t)16)
#define HUGE_PAGE ((size_t)2 << 20) /* below, nothing can be protected */

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

/* What is done with a box. Small ones are not worth being held: a copy costs no
 * more than keeping count of them. Nor are those with gaps, but for borrowing,
 * since what lies between is not ours. */
enum fate { STAGED, PLAIN, HELD };

static enum fate fate_of(const cairn_leaf_t *leaf, cairn_snapshot_t mode,
                         const cairn_box_t *box, size_t bytes,
                         const cairn__take_t *t) {
  size_t item = cairn_dtype_size(leaf->dtype);
  bool dense = cairn__is_dense(leaf->rank, box->extent, item, box->strides);
  size_t worth = mode == CAIRN_SNAPSHOT_COW ? HUGE_PAGE : SMALL;
  if (dense && bytes >= worth && (mode != CAIRN_SNAPSHOT_COPY || t->tight))
    return HELD;
  return mode == CAIRN_SNAPSHOT_BORROW ? PLAIN : STAGED;
}

cairn_code_t cairn__boxes_measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                                  cairn_error_t *err) {
  size_t n = num_boxes(leaf), item = cairn_dtype_size(leaf->dtype), bytes;
  cairn_snapshot_t mode = cairn_item_snapshot(t->ctx, leaf->snapshot);
  t->boxes += n;
  for (size_t i = 0; i < n; i++) {
    const cairn_box_t *box = &leaf->boxes[i];
    enum fate fate = STAGED;
    bool ok = cairn__box_bytes(leaf->rank, box->extent, item, &bytes);
    if (ok) fate = fate_of(leaf, mode, box, bytes, t);
    if (fate == STAGED) ok = ok && cairn__take_reserve(t, bytes);
    if (!ok)
      return cairn_fail(err, CAIRN_INVALID, "more bytes than memory has");
    t->parts += fate == HELD;
    t->strides += fate == PLAIN ? (size_t)leaf->rank : 0;
  }
  return CAIRN_OK;
}

static void take_staged(const cairn_leaf_t *leaf, const cairn_box_t *box,
                        size_t bytes, cairn__take_t *t, cairn__held_t *out) {
  void *dst = cairn__take_stage(t, bytes);
  cairn__gather(leaf->rank, box->extent, cairn_dtype_size(leaf->dtype), dst,
                box->data, box->strides);
  *out = (cairn__held_t){.data = dst};
}

static void take_plain(const cairn_leaf_t *leaf, const cairn_box_t *box,
                       cairn__take_t *t, cairn__held_t *out) {
  size_t item = cairn_dtype_size(leaf->dtype);
  *out = (cairn__held_t){.data = box->data};
  if (cairn__is_dense(leaf->rank, box->extent, item, box->strides)) return;
  memcpy(t->next_strides, box->strides,
         (size_t)leaf->rank * sizeof *t->next_strides);
  out->strides = t->next_strides;
  t->next_strides += leaf->rank;
}

static void take_held(const cairn_leaf_t *leaf, const cairn_box_t *box,
                      size_t bytes, cairn_snapshot_t mode, cairn__take_t *t,
                      cairn__held_t *out) {
  *out = (cairn__held_t){.data = box->data};
  t->part[t->num_parts] = (cairn_item_part_t){
      .data = box->data, .n = bytes, .mode = mode, .name = leaf->name};
  t->part_of[t->num_parts++] = out;
}

void cairn__boxes_take(const cairn_leaf_t *leaf, cairn__take_t *t) {
  size_t n = num_boxes(leaf), item = cairn_dtype_size(leaf->dtype), bytes = 0;
  cairn_snapshot_t mode = cairn_item_snapshot(t->ctx, leaf->snapshot);
  for (size_t i = 0; i < n; i++) {
    const cairn_box_t *box = &leaf->boxes[i];
    cairn__held_t *out = t->next_box++;
    /* Cannot overflow: measured before. */
    (void)cairn__box_bytes(leaf->rank, box->extent, item, &bytes);
    enum fate fate = fate_of(leaf, mode, box, bytes, t);
    if (fate == STAGED)
      take_staged(leaf, box, bytes, t, out);
    else if (fate == PLAIN)
      take_plain(leaf, box, t, out);
    else
      take_held(leaf, box, bytes, mode, t, out);
  }
  cairn__desc_boxes(&t->desc, leaf->rank, leaf->shape, leaf->boxes, n);
}
