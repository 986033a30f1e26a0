/* Bytes to elements: the stages from last to first, then the layout. Nothing is
 * allocated on the word of the metadata alone: raw bytes must have their
 * length, and compressed ones grow a buffer only as far as the codec finds
 * content. */
#include <stdlib.h>

#include "array/chain.h"
#include "base/base.h"
#include "codec/codec.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

void cairn__decoder_reset(cairn__decoder_t *d) {
  free(d->scratch[0].p);
  free(d->scratch[1].p);
  *d = (cairn__decoder_t){0};
}

static void copy_targets(const cairn__chain_t *c, const char *elements,
                         const int64_t *strides, size_t swap,
                         const cairn__target_t *to, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const char *from = elements;
    for (int d = 0; d < c->rank; d++) from += to[i].origin[d] * strides[d];
    cairn__copy_box(c->rank, to[i].extent, c->item, to[i].data, to[i].strides,
                    from, strides, swap);
  }
}

void cairn__targets_fill(const cairn__chain_t *c, const uint8_t *fill,
                         const cairn__target_t *to, size_t n) {
  static const int64_t still[CAIRN_MAX_RANK];
  copy_targets(c, (const char *)fill, still, 0, to, n);
}

/* --- the stages --- */

/* The most that the input of stage i can be, given what comes out in the end.
 */
static size_t stage_limit(const cairn__chain_t *c, int i) {
  size_t n = (size_t)c->bytes;
  for (int k = 0; k < i; k++) {
    size_t more =
        cairn__stage_is_sum(&c->stages[k]) ? CAIRN__SUM_BYTES : n / 8 + 1024;
    n = more > SIZE_MAX - n ? SIZE_MAX : n + more;
  }
  return n;
}

/* Undoes stages num_stages - 1 down to `until`. Ends in `in` itself if there
 * was nothing but sums, in a scratch buffer otherwise. */
static cairn_code_t undo_stages(cairn__decoder_t *d, const cairn__chain_t *c,
                                int until, cairn_bytes_t *in,
                                cairn_error_t *err) {
  for (int i = c->num_stages - 1; i >= until; i--) {
    const cairn__stage_t *s = &c->stages[i];
    cairn_code_t rc;
    if (cairn__stage_is_sum(s)) {
      rc = cairn__crc32c_strip(in, err);
    } else {
      const cairn_codec_params_t p = {.size = sizeof p, .level = s->level};
      cairn_buf_t *out = &d->scratch[i & 1];
      out->n = 0;
      rc = s->ops->decode(&p, *in, stage_limit(c, i), out, err);
      *in = cairn_bytes(out->p, out->n);
    }
    if (rc != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

static cairn_code_t wrong_length(const cairn__chain_t *c, size_t n,
                                 cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT, "%zu bytes of elements, want %lld", n,
                    (long long)c->bytes);
}

/* --- the layout --- */

static void layout_strides(const cairn__chain_t *c, int64_t *out) {
  int64_t encoded[CAIRN_MAX_RANK];
  cairn__c_strides(c->rank, c->encoded, (int64_t)c->item, encoded);
  for (int d = 0; d < c->rank; d++) out[c->order[d]] = encoded[d];
}

/* Sub-byte types are cleaned in a copy, unless `raw` is one already. */
static cairn_code_t extend(cairn__decoder_t *d, const cairn__chain_t *c,
                           cairn_bytes_t *raw, cairn_error_t *err) {
  cairn_buf_t *own = &d->scratch[0];
  if (raw->p != own->p) {
    own->n = 0;
    if (!cairn_buf_reserve(own, raw->n)) return no_memory(err);
    if (raw->n != 0) memcpy(own->p, raw->p, raw->n);
    *raw = cairn_bytes(own->p, raw->n);
  }
  cairn__elements_extend(c->dtype, own->p, raw->n);
  return CAIRN_OK;
}

static cairn_code_t bad_bool(cairn_bytes_t raw, size_t at, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT, "bool element %zu is %u", at,
                    raw.p[at]);
}

/* A whole chunk, stored as the target wants it, under zstd: decoded into place.
 */
static bool goes_straight(const cairn__chain_t *c, const cairn__target_t *to,
                          size_t n) {
  if (n != 1 || c->num_stages == 0 || c->dtype == CAIRN_BOOL ||
      cairn__dtype_padded(c->dtype) ||
      strcmp(c->stages[0].ops->name, "zstd") != 0)
    return false;
  for (int d = 0; d < c->rank; d++)
    if (to->extent[d] != c->shape[d]) return false;
  return cairn__chain_packed(c, to->strides);
}

static cairn_code_t decode_elements(cairn__decoder_t *d,
                                    const cairn__chain_t *c, cairn_bytes_t in,
                                    const cairn__target_t *to, size_t n,
                                    cairn_error_t *err) {
  int64_t strides[CAIRN_MAX_RANK];
  bool straight = goes_straight(c, to, n);
  size_t at;
  cairn_code_t rc = undo_stages(d, c, straight ? 1 : 0, &in, err);
  if (rc != CAIRN_OK) return rc;
  if (straight)
    return cairn__zstd_decode_into(in, to->data, (size_t)c->bytes, err);
  if (in.n != (size_t)c->bytes) return wrong_length(c, in.n, err);
  if (!cairn__elements_ok(c->dtype, in, &at)) return bad_bool(in, at, err);
  if (n != 0 && cairn__dtype_padded(c->dtype)) rc = extend(d, c, &in, err);
  if (rc != CAIRN_OK) return rc;
  layout_strides(c, strides);
  copy_targets(c, (const char *)in.p, strides, c->swap, to, n);
  return CAIRN_OK;
}

/* --- shards --- */

static cairn_code_t decode_inner(cairn__decoder_t *d, const cairn__shard_t *s,
                                 cairn_bytes_t in, const uint64_t *index,
                                 int64_t i, const cairn__target_t *to, size_t n,
                                 cairn_error_t *err) {
  bool found;
  uint64_t offset, length;
  cairn_code_t rc =
      cairn__shard_entry(index, i, in.n, &found, &offset, &length, err);
  if (rc != CAIRN_OK) return rc;
  if (found)
    return cairn__chain_decode(d, s->inner, cairn_bytes(in.p + offset, length),
                               to, n, err);
  if (!d->fill_missing) return cairn_fail(err, CAIRN_CORRUPT, "missing");
  cairn__targets_fill(s->inner, d->fill, to, n);
  return CAIRN_OK;
}

static cairn_code_t decode_each(cairn__decoder_t *d, const cairn__chain_t *c,
                                cairn_bytes_t in, const uint64_t *index,
                                const cairn__target_t *to, size_t n,
                                cairn__target_t *inner, cairn_error_t *err) {
  const cairn__shard_t *s = c->shard;
  int64_t at[CAIRN_MAX_RANK];
  cairn__range_t range;
  if (!cairn__targets_range(c, to, n, d->everything, &range)) return CAIRN_OK;
  cairn__grid_first(&range, at);
  do {
    size_t k = cairn__targets_within(c, to, n, at, inner);
    if (k == 0 && !d->everything) continue;
    int64_t i = cairn__grid_linear(c->rank, s->grid, at);
    if (decode_inner(d, s, in, index, i, inner, k, err) != CAIRN_OK)
      return cairn__within_inner(err, c->rank, at);
  } while (cairn__grid_next(&range, at));
  return CAIRN_OK;
}

static cairn_code_t decode_shard(cairn__decoder_t *d, const cairn__chain_t *c,
                                 cairn_bytes_t in, const cairn__target_t *to,
                                 size_t n, cairn_error_t *err) {
  const cairn__shard_t *s = c->shard;
  size_t bytes = (size_t)s->index_bytes;
  if (in.n < bytes)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "shard of %zu bytes is shorter than its index of %zu",
                      in.n, bytes);
  uint64_t one[2], *index = s->n == 1 ? one : malloc(16 * (size_t)s->n);
  cairn__target_t *own = malloc((2 * n + 1) * sizeof *own);
  cairn_code_t rc = CAIRN_OK;
  if (index == NULL || own == NULL) rc = no_memory(err);
  const uint8_t *start = s->at_start ? in.p : in.p + in.n - bytes;
  if (rc == CAIRN_OK)
    rc = cairn__shard_index(s, cairn_bytes(start, bytes), index, err);
  if (rc == CAIRN_OK) {
    cairn__targets_encode(c, to, n, own);
    rc = decode_each(d, c, in, index, own, n, own + n, err);
  }
  free(own);
  if (index != one) free(index);
  return rc;
}

cairn_code_t cairn__chain_decode(cairn__decoder_t *d, const cairn__chain_t *c,
                                 cairn_bytes_t in, const cairn__target_t *to,
                                 size_t n, cairn_error_t *err) {
  return c->shard != NULL ? decode_shard(d, c, in, to, n, err)
                          : decode_elements(d, c, in, to, n, err);
}
