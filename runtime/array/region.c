/* Boxes, and the copy between two strided memories.
 *
 * The copy first makes the loop as short as it can be: dimensions of one
 * element go, the others are ordered by the destination's strides, and
 * neighbours that are contiguous in both memories become one. Equal layouts end
 * as one memcpy, whatever their rank. */
#include "array/region.h"

#include <stdio.h>

/* Boxes come from outside too: an end that does not fit is cut. */
static int64_t box_end(const cairn__box_t *b, int d) {
  int64_t end;
  bool cut = __builtin_add_overflow(b->origin[d], b->extent[d], &end);
  return cut ? INT64_MAX : end;
}

bool cairn__box_intersect(const cairn__box_t *a, const cairn__box_t *b,
                          cairn__box_t *out) {
  bool some = true;
  out->rank = a->rank;
  for (int d = 0; d < a->rank; d++) {
    int64_t a_end = box_end(a, d), b_end = box_end(b, d);
    int64_t lo = a->origin[d] > b->origin[d] ? a->origin[d] : b->origin[d];
    int64_t hi = a_end < b_end ? a_end : b_end;
    out->origin[d] = lo;
    out->extent[d] = hi > lo ? hi - lo : 0;
    some = some && hi > lo;
  }
  return some;
}

bool cairn__box_contains(const cairn__box_t *outer, const cairn__box_t *inner) {
  for (int d = 0; d < outer->rank; d++) {
    if (inner->origin[d] < outer->origin[d] ||
        box_end(inner, d) > box_end(outer, d))
      return false;
  }
  return true;
}

bool cairn__box_volume(const cairn__box_t *b, int64_t *out) {
  int64_t v = 1;
  bool ok = true;
  for (int d = 0; d < b->rank; d++) {
    if (b->extent[d] == 0) {
      *out = 0;
      return true;
    }
    ok = ok && !__builtin_mul_overflow(v, b->extent[d], &v);
  }
  if (ok) *out = v;
  return ok;
}

void cairn__c_strides(int rank, const int64_t *extent, int64_t item,
                      int64_t *out) {
  for (int d = rank - 1; d >= 0; d--) {
    out[d] = item;
    item *= extent[d];
  }
}

/* snprintf that goes on where the last one ended, also past the end. */
static size_t append_int(char *out, size_t cap, size_t at, const char *fmt,
                         long long v) {
  int n = snprintf(at < cap ? out + at : NULL, at < cap ? cap - at : 0, fmt, v);
  return at + (n > 0 ? (size_t)n : 0);
}

void cairn__box_text(const cairn__box_t *b, char *out, size_t cap) {
  size_t at = 0;
  if (cap == 0) return;
  out[0] = '\0';
  for (int d = 0; d < b->rank; d++) {
    at = append_int(out, cap, at, d == 0 ? "[%lld:" : ", %lld:", b->origin[d]);
    at = append_int(out, cap, at, "%lld", box_end(b, d));
  }
  snprintf(at < cap ? out + at : NULL, at < cap ? cap - at : 0, "%s",
           b->rank == 0 ? "[]" : "]");
}

/* --- the copy --- */

struct dim {
  int64_t n, dst, src; /* elements, strides in bytes */
};

static int64_t magnitude(int64_t v) {
  return v < 0 ? -v : v;
}

static bool outer_first(const struct dim *a, const struct dim *b) {
  int64_t x = magnitude(a->dst), y = magnitude(b->dst);
  return x != y ? x > y : magnitude(a->src) > magnitude(b->src);
}

/* Dimensions of more than one element, outermost (of dst) first; -1 if the box
 * is empty. */
static int order_dims(int rank, const int64_t *extent, const int64_t *dst,
                      const int64_t *src, struct dim *out) {
  int n = 0;
  for (int d = 0; d < rank; d++) {
    if (extent[d] <= 0) return -1;
    if (extent[d] == 1) continue;
    struct dim x = {extent[d], dst[d], src[d]};
    int at = n++;
    for (; at > 0 && outer_first(&x, &out[at - 1]); at--) out[at] = out[at - 1];
    out[at] = x;
  }
  return n;
}

static int merge_dims(struct dim *dims, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    struct dim *last = kept > 0 ? &dims[kept - 1] : NULL, x = dims[i];
    if (last != NULL && last->dst == x.dst * x.n && last->src == x.src * x.n)
      *last = (struct dim){last->n * x.n, x.dst, x.src};
    else
      dims[kept++] = x;
  }
  return kept;
}

#define STRIDED(type)                       \
  for (int64_t i = 0; i < x->n; i++) {      \
    type v;                                 \
    memcpy(&v, src + i * x->src, sizeof v); \
    memcpy(dst + i * x->dst, &v, sizeof v); \
  }                                         \
  break

static void copy_strided(const struct dim *x, size_t item, char *dst,
                         const char *src) {
  typedef struct {
    uint64_t half[2];
  } pair;
  switch (item) {
    case 1:
      STRIDED(uint8_t);
    case 2:
      STRIDED(uint16_t);
    case 4:
      STRIDED(uint32_t);
    case 8:
      STRIDED(uint64_t);
    case 16:
      STRIDED(pair);
    default:
      for (int64_t i = 0; i < x->n; i++)
        memcpy(dst + i * x->dst, src + i * x->src, item);
  }
}

#define SWAPPED(type, swap_fn)                   \
  for (size_t i = 0; i < n; i += sizeof(type)) { \
    type v;                                      \
    memcpy(&v, src + i, sizeof v);               \
    v = swap_fn(v);                              \
    memcpy(dst + i, &v, sizeof v);               \
  }                                              \
  break

/* n bytes, a multiple of the unit. */
static void copy_swapped(size_t unit, size_t n, char *dst, const char *src) {
  switch (unit) {
    case 2:
      SWAPPED(uint16_t, __builtin_bswap16);
    case 4:
      SWAPPED(uint32_t, __builtin_bswap32);
    case 8:
      SWAPPED(uint64_t, __builtin_bswap64);
    default:
      memcpy(dst, src, n);
  }
}

/* The innermost dimension. */
static void copy_run(const struct dim *x, size_t item, size_t swap, char *dst,
                     const char *src) {
  bool packed = x->dst == (int64_t)item && x->src == (int64_t)item;
  if (packed && swap <= 1)
    memcpy(dst, src, (size_t)x->n * item);
  else if (packed)
    copy_swapped(swap, (size_t)x->n * item, dst, src);
  else if (swap <= 1)
    copy_strided(x, item, dst, src);
  else
    for (int64_t i = 0; i < x->n; i++)
      copy_swapped(swap, item, dst + i * x->dst, src + i * x->src);
}

/* The runs of a box, one after another, innermost dimension last. */
struct runs {
  struct dim dims[CAIRN_MAX_RANK + 1];
  int64_t at[CAIRN_MAX_RANK];
  int n; /* dimensions, at least one; the last is a run's */
  char *to;
  const char *from;
};

static bool runs_begin(struct runs *r, int rank, const int64_t *extent,
                       size_t item, const int64_t *dst, const int64_t *src) {
  memset(r->at, 0, sizeof r->at);
  r->n = order_dims(rank, extent, dst, src, r->dims);
  if (r->n < 0) return false;
  r->n = merge_dims(r->dims, r->n);
  if (r->n == 0)
    r->dims[r->n++] = (struct dim){1, (int64_t)item, (int64_t)item};
  return true;
}

static bool runs_next(struct runs *r) {
  for (int d = r->n - 2; d >= 0; d--) {
    const struct dim *x = &r->dims[d];
    r->to += x->dst;
    r->from += x->src;
    if (++r->at[d] < x->n) return true;
    r->to -= x->dst * x->n;
    r->from -= x->src * x->n;
    r->at[d] = 0;
  }
  return false;
}

void cairn__copy_box(int rank, const int64_t *extent, size_t item, void *dst,
                     const int64_t *dst_strides, const void *src,
                     const int64_t *src_strides, size_t swap) {
  struct runs r;
  r.to = dst;
  r.from = src;
  if (!runs_begin(&r, rank, extent, item, dst_strides, src_strides)) return;
  do {
    copy_run(&r.dims[r.n - 1], item, swap, r.to, r.from);
  } while (runs_next(&r));
}

static cairn_code_t copy_run_out(const cairn_source_t *source,
                                 const struct dim *x, size_t item, char *dst,
                                 const char *src, cairn_error_t *err) {
  bool packed = x->dst == (int64_t)item && x->src == (int64_t)item;
  size_t n = packed ? (size_t)x->n * item : item;
  cairn_code_t rc = source->copy_out(source, dst, src, n, err);
  for (int64_t i = 1; !packed && i < x->n && rc == CAIRN_OK; i++)
    rc = source->copy_out(source, dst + i * x->dst, src + i * x->src, n, err);
  return rc;
}

cairn_code_t cairn__copy_box_out(const cairn_source_t *source, int rank,
                                 const int64_t *extent, size_t item, void *dst,
                                 const int64_t *dst_strides, const void *src,
                                 const int64_t *src_strides,
                                 cairn_error_t *err) {
  struct runs r;
  cairn_code_t rc;
  r.to = dst;
  r.from = src;
  if (!runs_begin(&r, rank, extent, item, dst_strides, src_strides))
    return CAIRN_OK;
  do {
    rc = copy_run_out(source, &r.dims[r.n - 1], item, r.to, r.from, err);
  } while (rc == CAIRN_OK && runs_next(&r));
  return rc;
}
