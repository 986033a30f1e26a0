/* The array of a leaf: checked, and copied with its boxes. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "tree/tree.h"

static cairn_code_t check_shape(const cairn_array_t *a, cairn_error_t *err) {
  int64_t bytes = (int64_t)cairn_dtype_size(a->dtype);
  if (bytes == 0)
    return cairn_fail(err, CAIRN_INVALID, "no element type (%d)",
                      (int)a->dtype);
  if (a->rank < 0 || a->rank > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID, "rank %d, want 0 to %d", a->rank,
                      CAIRN_MAX_RANK);
  for (int i = 0; i < a->rank; i++) {
    int64_t n = a->shape[i];
    if (n < 0)
      return cairn_fail(err, CAIRN_INVALID, "shape %" PRId64 " on axis %d", n,
                        i);
    if (!cairn__mul_ok(bytes, n > 0 ? n : 1, &bytes))
      return cairn_fail(err, CAIRN_INVALID, "more than 2^63 bytes");
  }
  return CAIRN_OK;
}

static bool all_zero(const int64_t *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i] != 0) return false;
  return true;
}

/* The bytes between a box's first element and its others must be numbers, or
 * whoever walks over them overflows. */
static bool strides_ok(const cairn_box_t *b, int rank) {
  int64_t span = 0;
  for (int i = 0; i < rank; i++) {
    int64_t n = b->extent[i] > 0 ? b->extent[i] - 1 : 0, bytes;
    if (b->strides[i] == INT64_MIN ||
        !cairn__mul_ok(llabs(b->strides[i]), n, &bytes) ||
        !cairn__add_ok(span, bytes, &span))
      return false;
  }
  return true;
}

static cairn_code_t check_box(const cairn_array_t *a, const cairn_box_t *b,
                              cairn_error_t *err) {
  bool empty = false;
  for (int i = 0; i < a->rank; i++) {
    int64_t at = b->origin[i], n = b->extent[i];
    if (at < 0 || n < 0 || at > a->shape[i] || n > a->shape[i] - at)
      return cairn_fail(err, CAIRN_INVALID,
                        "a box from %" PRId64 " of extent %" PRId64
                        " on axis %d, where the shape is %" PRId64,
                        at, n, i, a->shape[i]);
    empty |= n == 0;
  }
  if (!strides_ok(b, a->rank))
    return cairn_fail(err, CAIRN_INVALID, "strides of more than 2^63 bytes");
  if (b->data == NULL && !empty)
    return cairn_fail(err, CAIRN_INVALID,
                      "data is NULL (a process that holds nothing says empty)");
  return CAIRN_OK;
}

/* C order without gaps is spelled out, so that readers know one form only. */
static void fill_strides(cairn_box_t *b, int rank, int64_t item) {
  if (!all_zero(b->strides, rank)) return;
  for (int i = rank - 1; i >= 0; i--) {
    b->strides[i] = item;
    if (b->extent[i] > 0) item *= b->extent[i];
  }
}

static cairn_code_t set_boxes(cairn_tree_t *t, cairn_leaf_t *leaf,
                              const cairn_array_t *a, const cairn_box_t *boxes,
                              size_t n, cairn_error_t *err) {
  size_t bytes;
  for (size_t i = 0; i < n; i++) {
    cairn_code_t rc = check_box(a, &boxes[i], err);
    if (rc != CAIRN_OK)
      return n > 1 ? (cairn_within(err, "box %zu", i), rc) : rc;
  }
  if (n == 0) return CAIRN_OK;
  cairn_box_t *copy = NULL;
  if (!__builtin_mul_overflow(n, sizeof *boxes, &bytes))
    copy = cairn__tree_copy(t, boxes, bytes);
  if (copy == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "%zu boxes", n);
  for (size_t i = 0; i < n; i++)
    fill_strides(&copy[i], a->rank, (int64_t)cairn_dtype_size(a->dtype));
  leaf->boxes = copy;
  leaf->num_boxes = n;
  return CAIRN_OK;
}

/* The one box that is spelled out in the array itself. */
static cairn_code_t set_own_box(cairn_tree_t *t, cairn_leaf_t *leaf,
                                const cairn_array_t *a, cairn_error_t *err) {
  cairn_box_t b = {.data = a->data};
  memcpy(b.origin, a->origin, sizeof b.origin);
  memcpy(b.extent, a->extent, sizeof b.extent);
  memcpy(b.strides, a->strides, sizeof b.strides);
  /* Nothing said means the whole array. A place without an extent is what comes
   * of "rows * rank, no rows left": nothing is held. */
  if (all_zero(a->extent, a->rank) && all_zero(a->origin, a->rank))
    memcpy(b.extent, a->shape, sizeof b.extent);
  return set_boxes(t, leaf, a, &b, 1, err);
}

static cairn_code_t check_holding(const cairn_array_t *a, cairn_error_t *err) {
  if (a->empty && a->num_boxes > 0)
    return cairn_fail(err, CAIRN_INVALID, "empty, and %zu boxes", a->num_boxes);
  if (a->num_boxes > 0 && a->boxes == NULL)
    return cairn_fail(err, CAIRN_INVALID, "%zu boxes at NULL", a->num_boxes);
  if ((int)a->snapshot < CAIRN_SNAPSHOT_DEFAULT ||
      a->snapshot > CAIRN_SNAPSHOT_AUTO)
    return cairn_fail(err, CAIRN_INVALID, "no kind of snapshot (%d)",
                      (int)a->snapshot);
  return CAIRN_OK;
}

static cairn_code_t set_held(cairn_tree_t *t, cairn_leaf_t *leaf,
                             const cairn_array_t *a, cairn_error_t *err) {
  if (a->empty) return CAIRN_OK;
  if (a->num_boxes > 0)
    return set_boxes(t, leaf, a, a->boxes, a->num_boxes, err);
  return set_own_box(t, leaf, a, err);
}

cairn_code_t cairn__leaf_set_array(cairn_tree_t *t, cairn_leaf_t *leaf,
                                   const cairn_array_t *a, cairn_error_t *err) {
  cairn_code_t rc = check_shape(a, err);
  if (rc != CAIRN_OK) return rc;
  if ((rc = check_holding(a, err)) != CAIRN_OK) return rc;
  leaf->dtype = a->dtype;
  leaf->rank = a->rank;
  leaf->snapshot = a->snapshot;
  leaf->shape =
      cairn__tree_copy(t, a->shape, (size_t)a->rank * sizeof *a->shape);
  if (leaf->shape == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "shape");
  if ((rc = set_held(t, leaf, a, err)) != CAIRN_OK) return rc;
  if (a->sharding == NULL) return CAIRN_OK;
  rc = cairn__sharding_copy(t, a->sharding, a->rank, &leaf->sharding, err);
  if (rc != CAIRN_OK) cairn_within(err, "sharding");
  return rc;
}
