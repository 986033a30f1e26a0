/* Neighbouring dimensions that lie on one line in memory are made one, so a
 * dense box is one memcpy and a row-sliced one a memcpy per row. */
#include "gather.h"

typedef struct dims {
  int n;
  /* One more than the rank: the bytes of an element are a dimension. */
  int64_t extent[CAIRN_MAX_RANK + 1], stride[CAIRN_MAX_RANK + 1];
} dims_t;

bool cairn__box_bytes(int rank, const int64_t *extent, size_t item,
                      size_t *out) {
  size_t n = item;
  for (int i = 0; i < rank; i++)
    if (extent[i] == 0) {
      *out = 0;
      return true;
    }
  for (int i = 0; i < rank; i++)
    if (__builtin_mul_overflow(n, (size_t)extent[i], &n) || n > INT64_MAX)
      return false;
  *out = n;
  return true;
}

void cairn__dense_strides(int rank, const int64_t *extent, size_t item,
                          int64_t *out) {
  int64_t step = (int64_t)item;
  for (int i = rank - 1; i >= 0; i--) {
    out[i] = step;
    step *= extent[i];
  }
}

static bool all_zero(int rank, const int64_t *v) {
  for (int i = 0; i < rank; i++)
    if (v[i] != 0) return false;
  return true;
}

bool cairn__is_dense(int rank, const int64_t *extent, size_t item,
                     const int64_t *strides) {
  int64_t step = (int64_t)item;
  if (all_zero(rank, strides)) return true;
  for (int i = rank - 1; i >= 0; i--) {
    if (extent[i] != 1 && strides[i] != step) return false;
    step *= extent[i];
  }
  return true;
}

/* Outermost first; the innermost is in bytes when the elements touch. */
static void merge_dims(int rank, const int64_t *extent, const int64_t *strides,
                       size_t item, dims_t *d) {
  d->n = 1;
  d->extent[0] = (int64_t)item;
  d->stride[0] = 1;
  for (int i = rank - 1; i >= 0; i--) {
    int top = d->n - 1;
    if (extent[i] == 1) continue;
    if (strides[i] == d->extent[top] * d->stride[top]) {
      d->extent[top] *= extent[i];
    } else {
      d->extent[d->n] = extent[i];
      d->stride[d->n++] = strides[i];
    }
  }
}

/* Level 0 is the run of bytes, d->n - 1 the outermost dimension. */
static uint8_t *copy_level(const dims_t *d, int level, uint8_t *dst,
                           const uint8_t *src) {
  if (level == 0) {
    memcpy(dst, src, (size_t)d->extent[0]);
    return dst + d->extent[0];
  }
  for (int64_t i = 0; i < d->extent[level]; i++)
    dst = copy_level(d, level - 1, dst, src + i * d->stride[level]);
  return dst;
}

/* Elements that do not touch, the commonest sizes without a call each. */
#define COPY_ELEMENTS(type)                           \
  for (int64_t i = 0; i < n; i++) {                   \
    type v;                                           \
    memcpy(&v, src + i * stride, sizeof v);           \
    memcpy(dst + (size_t)i * sizeof v, &v, sizeof v); \
  }

static void copy_elements(uint8_t *dst, const uint8_t *src, int64_t n,
                          int64_t stride, size_t item) {
  if (item == 4) {
    COPY_ELEMENTS(uint32_t)
  } else if (item == 8) {
    COPY_ELEMENTS(uint64_t)
  } else if (item == 2) {
    COPY_ELEMENTS(uint16_t)
  } else {
    for (int64_t i = 0; i < n; i++)
      memcpy(dst + (size_t)i * item, src + i * stride, item);
  }
}

static uint8_t *copy_sparse(const dims_t *d, int level, uint8_t *dst,
                            const uint8_t *src) {
  if (level <= 1) {
    copy_elements(dst, src, d->extent[1], d->stride[1], (size_t)d->extent[0]);
    return dst + d->extent[0] * d->extent[1];
  }
  for (int64_t i = 0; i < d->extent[level]; i++)
    dst = copy_sparse(d, level - 1, dst, src + i * d->stride[level]);
  return dst;
}

void cairn__gather(int rank, const int64_t *extent, size_t item, void *dst,
                   const void *src, const int64_t *strides) {
  size_t bytes;
  dims_t d;
  if (!cairn__box_bytes(rank, extent, item, &bytes) || bytes == 0) return;
  if (cairn__is_dense(rank, extent, item, strides)) {
    memcpy(dst, src, bytes);
    return;
  }
  merge_dims(rank, extent, strides, item, &d);
  if (d.n > 1 && d.extent[0] == (int64_t)item)
    copy_sparse(&d, d.n - 1, dst, src);
  else
    copy_level(&d, d.n - 1, dst, src);
}
