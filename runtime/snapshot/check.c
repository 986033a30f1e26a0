/* The debugging check: every granule is hashed at begin, and again when it is
 * copied, when the last of it is read, and (what nobody copied or read to its
 * end: borrowed memory) when the save asks. */
#include "base/sum.h"
#include "snapshot/granule.h"

void cairn__check_begin(cairn__snapshot_t *s) {
  for (size_t i = 0; i < s->num_granules; i++)
    s->granules[i].sum = cairn__sum_of(s->granules[i].src, s->granules[i].n);
}

void cairn__check_granule(cairn__snapshot_t *s, const cairn__granule_t *g,
                          const void *bytes) {
  size_t none = SIZE_MAX;
  if (cairn__sum_of(bytes, g->n) != g->sum)
    atomic_compare_exchange_strong(&s->changed, &none, g->part);
}

/* Counts as a reader meanwhile, so that it is not released. */
static void check_pending(cairn__snapshot_t *s, cairn__granule_t *g) {
  const char *from = cairn__granule_read(s, g, g->src);
  if (from == g->src) cairn__check_granule(s, g, from);
  if (from != NULL) cairn__granule_done_reading(s, g, from, 0);
}

cairn_code_t cairn__snapshot_verdict(cairn__snapshot_t *s, cairn_error_t *err) {
  size_t i = atomic_load(&s->changed);
  if (atomic_load(&s->failed))
    return cairn_fail(err, CAIRN_TIMED_OUT,
                      "write protection was given up: its handler did not "
                      "answer for %lld ms",
                      (long long)(s->limit_ns / 1000000));
  if (i != SIZE_MAX)
    return cairn_fail(err, CAIRN_MISMATCH,
                      "array %s was written to before it was saved",
                      s->parts[i].name);
  return CAIRN_OK;
}

cairn_code_t cairn__snapshot_finish(cairn__snapshot_t *s, cairn_error_t *err) {
  for (size_t i = 0; i < s->num_granules; i++) {
    cairn__granule_t *g = &s->granules[i];
    if (s->check) check_pending(s, g);
    cairn__granule_skip(s, g, g->n);
  }
  return cairn__snapshot_verdict(s, err);
}
