/* Shards: the index, and which inner chunks a target meets (reference arrays.md
 * A3.6). Offsets are followed wherever they point inside the object: gaps,
 * overlaps and any order are legal. */
#include <stdio.h>

#include "array/chain.h"

cairn_code_t cairn__shard_index(const cairn__shard_t *s, cairn_bytes_t in,
                                uint64_t *out, cairn_error_t *err) {
  const cairn__chain_t *c = s->index;
  cairn__decoder_t d = {0};
  cairn__target_t all = {.data = (char *)out};
  memcpy(all.extent, c->shape, (size_t)c->rank * sizeof *c->shape);
  cairn__c_strides(c->rank, c->shape, (int64_t)c->item, all.strides);
  cairn_code_t rc = cairn__chain_decode(&d, c, in, &all, 1, err);
  cairn__decoder_reset(&d);
  return rc == CAIRN_OK ? rc : cairn_within(err, "shard index");
}

cairn_code_t cairn__shard_entry(const uint64_t *index, int64_t i,
                                uint64_t total, bool *found, uint64_t *offset,
                                uint64_t *length, cairn_error_t *err) {
  uint64_t end;
  *offset = index[2 * i];
  *length = index[2 * i + 1];
  *found = *offset != CAIRN__SHARD_MISSING || *length != CAIRN__SHARD_MISSING;
  if (!*found) return CAIRN_OK;
  if (__builtin_add_overflow(*offset, *length, &end) || end > total)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "bytes %llu + %llu lie outside the shard of %llu",
                      (unsigned long long)*offset, (unsigned long long)*length,
                      (unsigned long long)total);
  return CAIRN_OK;
}

void cairn__targets_encode(const cairn__chain_t *c, const cairn__target_t *from,
                           size_t n, cairn__target_t *to) {
  for (size_t i = 0; i < n; i++) {
    to[i].data = from[i].data;
    for (int d = 0; d < c->rank; d++) {
      to[i].origin[d] = from[i].origin[c->order[d]];
      to[i].extent[d] = from[i].extent[c->order[d]];
      to[i].strides[d] = from[i].strides[c->order[d]];
    }
  }
}

bool cairn__targets_range(const cairn__chain_t *c, const cairn__target_t *to,
                          size_t n, bool everything, cairn__range_t *out) {
  const int64_t *sub = c->shard->inner->shape;
  out->rank = c->rank;
  for (int d = 0; d < c->rank; d++) {
    int64_t lo = everything ? 0 : INT64_MAX,
            hi = everything ? c->encoded[d] : 0;
    for (size_t i = 0; i < n; i++) {
      int64_t end = to[i].origin[d] + to[i].extent[d];
      if (to[i].origin[d] < lo) lo = to[i].origin[d];
      if (end > hi) hi = end;
    }
    if (lo >= hi) return false;
    out->lo[d] = lo / sub[d];
    out->hi[d] = (hi - 1) / sub[d] + 1;
  }
  return everything || n > 0;
}

/* The part of t inside inner chunk `index`. */
static bool part_within(const cairn__chain_t *c, const cairn__target_t *t,
                        const int64_t *index, cairn__target_t *out) {
  const int64_t *sub = c->shard->inner->shape;
  out->data = t->data;
  for (int d = 0; d < c->rank; d++) {
    int64_t start = index[d] * sub[d], end = t->origin[d] + t->extent[d];
    int64_t lo = t->origin[d] > start ? t->origin[d] : start;
    int64_t hi = end < start + sub[d] ? end : start + sub[d];
    if (lo >= hi) return false;
    out->origin[d] = lo - start;
    out->extent[d] = hi - lo;
    out->strides[d] = t->strides[d];
    out->data += (lo - t->origin[d]) * t->strides[d];
  }
  return true;
}

size_t cairn__targets_within(const cairn__chain_t *c, const cairn__target_t *to,
                             size_t n, const int64_t *index,
                             cairn__target_t *out) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += part_within(c, &to[i], index, &out[k]);
  return k;
}

cairn_code_t cairn__within_inner(cairn_error_t *err, int rank,
                                 const int64_t *index) {
  char text[CAIRN_MAX_RANK * 21 + 1] = "";
  size_t at = 0;
  for (int d = 0; d < rank; d++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           d == 0 ? "%lld" : "/%lld", (long long)index[d]);
  return cairn_within(err, "inner chunk %s", text);
}
