/* The writer's side: bytes as they were at begin, from wherever they are. */
#include "snapshot/granule.h"

/* The part of [src, src + n) that lies in granule g. */
static size_t piece(const cairn__granule_t *g, const char *src, size_t n) {
  size_t rest = (size_t)(g->src + g->n - src);
  return n < rest ? n : rest;
}

static bool is_of_part(const cairn__snapshot_t *s, size_t i, const char *src,
                       size_t n) {
  if (i >= s->n) return false;
  const cairn__part_t *p = &s->parts[i];
  return (uintptr_t)src >= (uintptr_t)p->data && n <= p->n &&
         (size_t)((uintptr_t)src - (uintptr_t)p->data) <= p->n - n;
}

static cairn_code_t not_of_part(size_t i, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_INVALID,
                    "bytes that part %zu of the snapshot does not have", i);
}

static cairn_code_t nothing_left(const cairn__snapshot_t *s,
                                 const cairn__part_t *p, cairn_error_t *err) {
  if (atomic_load(&s->dropped))
    return cairn_fail(err, CAIRN_CANCELLED, "the save was given up");
  return cairn_fail(err, CAIRN_INVALID, "array %s is read twice", p->name);
}

cairn_code_t cairn__snapshot_read(cairn__snapshot_t *s, size_t i,
                                  const void *src, size_t n, void *dst,
                                  cairn_error_t *err) {
  const char *at = src;
  if (!is_of_part(s, i, src, n)) return not_of_part(i, err);
  for (char *out = dst; n > 0;) {
    cairn__part_t *p = &s->parts[i];
    cairn__granule_t *g = &p->granules[cairn__granule_at(p, at)];
    size_t k = piece(g, at, n);
    const char *from = cairn__granule_read(s, g, at);
    if (from == NULL) return nothing_left(s, p, err);
    memcpy(out, from, k);
    cairn__granule_done_reading(s, g, from, k);
    at += k;
    out += k;
    n -= k;
  }
  /* Looked at after the copy: who gave up protection said so before. */
  atomic_thread_fence(memory_order_acquire);
  return cairn__snapshot_verdict(s, err);
}

/* Shadows that are in the ring stay only if nobody can be waiting for their
 * slot. */
static const void *peek_granule(cairn__snapshot_t *s, cairn__granule_t *g,
                                const char *src) {
  const char *at = NULL;
  cairn__spin_lock(&g->lock);
  if (g->state == SHADOWED && (s->roomy || g->slot == UINT32_MAX))
    at = g->shadow + (src - g->src);
  cairn__spin_unlock(&g->lock);
  return at;
}

const void *cairn__snapshot_peek(cairn__snapshot_t *s, size_t i,
                                 const void *src, size_t n) {
  if (!is_of_part(s, i, src, n)) return NULL;
  cairn__part_t *p = &s->parts[i];
  if (n == 0 || p->mode == CAIRN_SNAPSHOT_BORROW) return src;
  cairn__granule_t *g = &p->granules[cairn__granule_at(p, src)];
  return piece(g, src, n) == n ? peek_granule(s, g, src) : NULL;
}

void cairn__snapshot_skip(cairn__snapshot_t *s, size_t i, const void *src,
                          size_t n) {
  const char *at = src;
  if (!is_of_part(s, i, src, n)) return;
  while (n > 0) {
    cairn__part_t *p = &s->parts[i];
    cairn__granule_t *g = &p->granules[cairn__granule_at(p, at)];
    size_t k = piece(g, at, n);
    cairn__granule_skip(s, g, k);
    at += k;
    n -= k;
  }
}
