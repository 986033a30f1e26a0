/* Elements to bytes: laid out as the chain says, then its stages, all appended
 * to one buffer, so that many small chunks share it. A stage that sums is done
 * in place; only a second compressor has to move what the first one made. */
#include <stdlib.h>

#include "array/chain.h"
#include "base/base.h"
#include "codec/codec.h"
#include "codec/zstd_store.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

void cairn__encoder_reset(cairn__encoder_t *e) {
  free(e->raw.p);
  free(e->moved.p);
  *e = (cairn__encoder_t){0};
}

bool cairn__chain_packed(const cairn__chain_t *c, const int64_t *strides) {
  int64_t step = (int64_t)c->item;
  if (c->swap != 0) return false;
  for (int d = c->rank - 1; d >= 0; d--) {
    if (c->encoded[d] != 1 && strides[c->order[d]] != step) return false;
    step *= c->encoded[d];
  }
  return true;
}

static cairn_code_t append(cairn_buf_t *out, cairn_bytes_t in,
                           cairn_error_t *err) {
  if (!cairn_buf_reserve(out, in.n)) return no_memory(err);
  if (in.n != 0) memcpy(out->p + out->n, in.p, in.n);
  out->n += in.n;
  return CAIRN_OK;
}

static cairn_code_t append_sum(cairn_buf_t *out, uint32_t sum,
                               cairn_error_t *err) {
  const uint8_t le[CAIRN__SUM_BYTES] = {(uint8_t)sum, (uint8_t)(sum >> 8),
                                        (uint8_t)(sum >> 16),
                                        (uint8_t)(sum >> 24)};
  return append(out, cairn_bytes(le, sizeof le), err);
}

/* Appends the elements in the order in which they are stored. */
static cairn_code_t gather(const cairn__chain_t *c, const void *src,
                           const int64_t *strides, cairn_buf_t *out,
                           cairn_error_t *err) {
  int64_t from[CAIRN_MAX_RANK], to[CAIRN_MAX_RANK];
  size_t n = (size_t)c->bytes;
  if (!cairn_buf_reserve(out, n)) return no_memory(err);
  for (int d = 0; d < c->rank; d++) from[d] = strides[c->order[d]];
  cairn__c_strides(c->rank, c->encoded, (int64_t)c->item, to);
  cairn__copy_box(c->rank, c->encoded, c->item, out->p + out->n, to, src, from,
                  c->swap);
  if (cairn__dtype_padded(c->dtype))
    cairn__elements_mask(c->dtype, out->p + out->n, n);
  out->n += n;
  return CAIRN_OK;
}

/* --- the stages --- */

static bool stage_is_zstd(const cairn__stage_t *s) {
  return strcmp(s->ops->name, "zstd") == 0;
}

static cairn_code_t compress(const cairn__encoder_t *e, const cairn__stage_t *s,
                             cairn_bytes_t in, cairn_buf_t *out,
                             cairn_error_t *err) {
  const cairn_codec_params_t p = {
      .size = sizeof p,
      .level = s->level,
      .checksum = s->checksum || e->frame_checksum,
      .store = stage_is_zstd(s) && !cairn__zstd_pays(in.p, in.n)};
  return s->ops->encode(&p, in, out, err);
}

/* What was appended since `start` goes through a stage that rewrites it. */
static cairn_code_t rewrite(cairn__encoder_t *e, const cairn__stage_t *s,
                            size_t start, cairn_buf_t *out,
                            cairn_error_t *err) {
  e->moved.n = 0;
  cairn_code_t rc =
      append(&e->moved, cairn_bytes(out->p + start, out->n - start), err);
  out->n = start;
  if (rc != CAIRN_OK) return rc;
  return compress(e, s, cairn_bytes(e->moved.p, e->moved.n), out, err);
}

/* All stages on `in`; `inside`: it is what out holds from `start` on already.
 */
static cairn_code_t do_stages(cairn__encoder_t *e, const cairn__chain_t *c,
                              cairn_bytes_t in, bool inside, size_t start,
                              cairn_buf_t *out, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (int i = 0; i < c->num_stages && rc == CAIRN_OK; i++, inside = true) {
    const cairn__stage_t *s = &c->stages[i];
    if (!inside)
      rc = compress(e, s, in, out, err);
    else if (cairn__stage_is_sum(s))
      rc = append_sum(out, cairn__crc32c(0, out->p + start, out->n - start),
                      err);
    else
      rc = rewrite(e, s, start, out, err);
  }
  return rc != CAIRN_OK || inside ? rc : append(out, in, err);
}

static cairn_code_t check_bools(const cairn__chain_t *c, cairn_bytes_t raw,
                                cairn_error_t *err) {
  size_t at;
  if (cairn__elements_ok(c->dtype, raw, &at)) return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID, "bool element %zu is %u", at,
                    raw.p[at]);
}

/* --- elements that stay where they are --- */

static size_t put_piece(struct iovec *iov, size_t i, const uint8_t *from,
                        const uint8_t *to) {
  if (iov != NULL && from != to)
    iov[i] = (struct iovec){(void *)(uintptr_t)from, (size_t)(to - from)};
  return from != to;
}

size_t cairn__encoded_pieces(cairn_bytes_t direct, size_t frame_head,
                             cairn_bytes_t around, struct iovec *iov) {
  size_t pieces = 0, done = 0;
  size_t block = frame_head != 0 ? CAIRN__ZSTD_BLOCK_MAX : direct.n;
  const uint8_t *from = around.p, *at = around.p + frame_head;
  while (done < direct.n) {
    size_t n = direct.n - done < block ? direct.n - done : block;
    const uint8_t *p = direct.p + done;
    if (frame_head != 0) at += CAIRN__ZSTD_BLOCK_HEADER;
    pieces += put_piece(iov, pieces, from, at);
    pieces += put_piece(iov, pieces, p, p + n);
    from = at;
    done += n;
  }
  return pieces + put_piece(iov, pieces, from, around.p + around.n);
}

static cairn_code_t append_sum_of_all(const cairn__encoder_t *e, size_t start,
                                      cairn_buf_t *out, cairn_error_t *err) {
  cairn_bytes_t around = cairn_bytes(out->p + start, out->n - start);
  size_t n = cairn__encoded_pieces(e->direct, e->frame_head, around, NULL);
  struct iovec *iov = reallocarray(NULL, n, sizeof *iov);
  uint32_t sum = 0;
  if (iov == NULL) return no_memory(err);
  cairn__encoded_pieces(e->direct, e->frame_head, around, iov);
  for (size_t i = 0; i < n; i++)
    sum = cairn__crc32c(sum, iov[i].iov_base, iov[i].iov_len);
  free(iov);
  return append_sum(out, sum, err);
}

/* With at most a frame around them and a sum after them. */
static cairn_code_t detach(cairn__encoder_t *e, const cairn__chain_t *c,
                           cairn_bytes_t in, size_t start, cairn_buf_t *out,
                           cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  bool sum =
      c->num_stages != 0 && cairn__stage_is_sum(&c->stages[c->num_stages - 1]);
  e->direct = in;
  if (c->num_stages > sum) {
    bool checksum = c->stages[0].checksum || e->frame_checksum;
    rc = cairn__zstd_store_around(in, checksum, out, &e->frame_head, err);
  }
  if (rc == CAIRN_OK && sum) rc = append_sum_of_all(e, start, out, err);
  return rc;
}

static bool can_detach(const cairn__chain_t *c, cairn_bytes_t in) {
  int sums =
      c->num_stages != 0 && cairn__stage_is_sum(&c->stages[c->num_stages - 1]);
  int others = c->num_stages - sums;
  return others == 0 || (others == 1 && stage_is_zstd(&c->stages[0]) &&
                         !cairn__zstd_pays(in.p, in.n));
}

static cairn_code_t encode_elements(cairn__encoder_t *e,
                                    const cairn__chain_t *c, const void *src,
                                    const int64_t *strides, cairn_buf_t *out,
                                    cairn_error_t *err) {
  size_t start = out->n;
  cairn_bytes_t in = cairn_bytes(src, (size_t)c->bytes);
  cairn_code_t rc = CAIRN_OK;
  bool packed =
      cairn__chain_packed(c, strides) && !cairn__dtype_padded(c->dtype);
  /* Straight into out unless a compressor must read it from elsewhere. */
  bool inside =
      !packed && (c->num_stages == 0 || cairn__stage_is_sum(&c->stages[0]));
  if (!packed) {
    cairn_buf_t *to = inside ? out : &e->raw;
    if (!inside) to->n = 0;
    rc = gather(c, src, strides, to, err);
    in = cairn_bytes(to->p + to->n - in.n, in.n);
  }
  if (rc == CAIRN_OK) rc = check_bools(c, in, err);
  if (rc != CAIRN_OK) return rc;
  if (e->detach && packed && can_detach(c, in))
    return detach(e, c, in, start, out, err);
  return do_stages(e, c, in, inside, start, out, err);
}

/* --- shards --- */

static cairn_code_t encode_index(cairn__encoder_t *e, const cairn__shard_t *s,
                                 const uint64_t *index, size_t start,
                                 cairn_buf_t *out, cairn_error_t *err) {
  int64_t strides[CAIRN_MAX_RANK];
  cairn__encoder_t own = {.frame_checksum = e->frame_checksum};
  cairn_buf_t bytes = {0};
  cairn__c_strides(s->index->rank, s->index->shape, sizeof *index, strides);
  cairn_code_t rc =
      cairn__chain_encode(&own, s->index, index, strides, &bytes, err);
  if (rc == CAIRN_OK && s->at_start)
    memcpy(out->p + start, bytes.p, bytes.n);
  else if (rc == CAIRN_OK)
    rc = append(out, cairn_bytes(bytes.p, bytes.n), err);
  free(bytes.p);
  cairn__encoder_reset(&own);
  return rc;
}

static cairn_code_t encode_inner(cairn__encoder_t *e, const cairn__chain_t *c,
                                 const void *src, const int64_t *strides,
                                 uint64_t *index, cairn_buf_t *out,
                                 cairn_error_t *err) {
  const cairn__shard_t *s = c->shard;
  size_t start = out->n;
  int64_t at[CAIRN_MAX_RANK], inner[CAIRN_MAX_RANK];
  cairn__range_t all = {.rank = c->rank};
  for (int d = 0; d < c->rank; d++) {
    all.hi[d] = s->grid[d];
    inner[d] = strides[c->order[d]];
  }
  if (s->at_start) out->n += (size_t)s->index_bytes;
  cairn__grid_first(&all, at);
  do {
    const char *from = src;
    size_t before = out->n;
    for (int d = 0; d < c->rank; d++)
      from += at[d] * s->inner->shape[d] * inner[d];
    cairn_code_t rc = cairn__chain_encode(e, s->inner, from, inner, out, err);
    if (rc != CAIRN_OK) return rc;
    *index++ = before - start;
    *index++ = out->n - before + e->direct.n;
  } while (cairn__grid_next(&all, at));
  return CAIRN_OK;
}

static cairn_code_t encode_shard(cairn__encoder_t *e, const cairn__chain_t *c,
                                 const void *src, const int64_t *strides,
                                 cairn_buf_t *out, cairn_error_t *err) {
  const cairn__shard_t *s = c->shard;
  size_t start = out->n;
  uint64_t one[2], *index = s->n == 1 ? one : malloc(16 * (size_t)s->n);
  bool detachable = e->detach;
  if (s->n != 1 || s->at_start)
    e->detach = false; /* what is before and after */
  cairn_code_t rc = CAIRN_OK;
  if (index == NULL ||
      (s->at_start && !cairn_buf_reserve(out, (size_t)s->index_bytes)))
    rc = no_memory(err);
  if (rc == CAIRN_OK) rc = encode_inner(e, c, src, strides, index, out, err);
  if (rc == CAIRN_OK) rc = encode_index(e, s, index, start, out, err);
  if (index != one) free(index);
  e->detach = detachable;
  return rc;
}

cairn_code_t cairn__chain_encode(cairn__encoder_t *e, const cairn__chain_t *c,
                                 const void *src, const int64_t *strides,
                                 cairn_buf_t *out, cairn_error_t *err) {
  e->direct = (cairn_bytes_t){0};
  e->frame_head = 0;
  return c->shard != NULL ? encode_shard(e, c, src, strides, out, err)
                          : encode_elements(e, c, src, strides, out, err);
}
