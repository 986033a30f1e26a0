/* A snapshot's beginning and end. What begin does, in this order:
 *
 *   1  parts and granules are listed; nothing is touched
 *   2  cow parts are claimed; what cannot be becomes a copy part (cow.c)
 *   3  the ring is got, as large as what it may have to hold, within its bound
 *   4  edges of cow parts are copied, to a slab of their own: nobody waits for
 *      room yet that could not come
 *   5  hashes, for the check
 *   6  pages are armed */
#include <stdlib.h>

#include "snapshot/cow.h"
#include "snapshot/granule.h"

#define CACHE_LINE ((size_t)64)
#define WATCHDOG_MS 10000

static size_t lines(size_t n) {
  return (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* --- 1: the list --- */

static cairn_code_t check_part(const cairn__snapshot_part_t *p, size_t i,
                               cairn_error_t *err) {
  if (p->mode < CAIRN_SNAPSHOT_COPY || p->mode > CAIRN_SNAPSHOT_COW)
    return cairn_fail(err, CAIRN_INVALID, "part %zu: no kind of snapshot (%d)",
                      i, (int)p->mode);
  if (p->n > UINTPTR_MAX - (uintptr_t)p->data || (p->data == NULL && p->n > 0))
    return cairn_fail(err, CAIRN_INVALID, "part %zu: no %zu bytes at %p", i,
                      p->n, p->data);
  return CAIRN_OK;
}

static cairn_code_t count(const cairn__snapshot_part_t *parts, size_t n,
                          size_t *granules, cairn_error_t *err) {
  if (n >= UINT32_MAX)
    return cairn_fail(err, CAIRN_INVALID, "a snapshot of %zu parts", n);
  for (size_t i = 0; i < n; i++) {
    if (check_part(&parts[i], i, err) != CAIRN_OK) return CAIRN_INVALID;
    *granules += cairn__granules_count(parts[i].data, parts[i].n);
  }
  return CAIRN_OK;
}

static void list(cairn__snapshot_t *s, const cairn__snapshot_part_t *parts) {
  cairn__granule_t *next = s->granules;
  for (size_t i = 0; i < s->n; i++) {
    const cairn__snapshot_part_t *from = &parts[i];
    s->parts[i] = (cairn__part_t){
        .data = from->data,
        .n = from->n,
        .mode = from->mode,
        .name = from->name != NULL ? from->name : "without a name",
        .granules = next,
        .num_granules = cairn__granules_count(from->data, from->n)};
    cairn__granules_cut(&s->parts[i], (uint32_t)i);
    next += s->parts[i].num_granules;
  }
}

static cairn__snapshot_t *snapshot_new(cairn__pool_t *pool, size_t n,
                                       size_t granules,
                                       const cairn__snapshot_opts_t *o) {
  cairn__snapshot_t *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  s->pool = pool;
  s->n = n;
  s->num_granules = granules;
  s->parts = calloc(n + 1, sizeof(*s->parts));
  s->granules = calloc(granules + 1, sizeof(*s->granules));
  s->check = o->check;
  s->threads = o->threads;
  s->limit_ns =
      (int64_t)(o->watchdog_ms > 0 ? o->watchdog_ms : WATCHDOG_MS) * 1000000;
  atomic_init(&s->changed, SIZE_MAX);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->cond, NULL);
  if (s->parts != NULL && s->granules != NULL) return s;
  cairn__snapshot_drop(s);
  return NULL;
}

/* --- 2: where cow does not work, all of its parts are copied --- */

static void without_cow(cairn__snapshot_t *s) {
  int works = -1; /* not asked yet */
  for (size_t i = 0; i < s->n; i++) {
    if (s->parts[i].mode != CAIRN_SNAPSHOT_COW) continue;
    if (works < 0) works = cairn__cow_available(NULL) == CAIRN_OK;
    if (works) return;
    s->parts[i].mode = CAIRN_SNAPSHOT_COPY;
    s->fallbacks++;
  }
}

/* --- 3, 4: memory --- */

static bool is_edge(const cairn__snapshot_t *s, const cairn__granule_t *g) {
  return s->parts[g->part].mode == CAIRN_SNAPSHOT_COW &&
         !cairn__granule_whole(g);
}

/* Slots that hold every granule that may be shadowed there, however they come:
 * a piece of more than half a slot may have one for itself, smaller ones leave
 * less than half of one unused. `ready`: what will be used in any case. */
static size_t slots_for_all(const cairn__snapshot_t *s, size_t *ready) {
  size_t large = 0, small = 0;
  for (size_t i = 0; i < s->num_granules; i++) {
    const cairn__granule_t *g = &s->granules[i];
    cairn_snapshot_t mode = s->parts[g->part].mode;
    if (mode == CAIRN_SNAPSHOT_BORROW || is_edge(s, g)) continue;
    if (mode == CAIRN_SNAPSHOT_COPY) *ready += g->n;
    if (g->n > CAIRN__GRANULE / 2)
      large++;
    else
      small += lines(g->n);
  }
  return large + (small * 2 + CAIRN__GRANULE - 1) / CAIRN__GRANULE +
         (small > 0);
}

static cairn_code_t get_ring(cairn__snapshot_t *s, size_t bound,
                             cairn_error_t *err) {
  size_t ready = 0, slots = slots_for_all(s, &ready);
  size_t most = bound / CAIRN__GRANULE + (bound > 0 && bound < CAIRN__GRANULE);
  s->roomy = slots <= most;
  return cairn__ring_init(&s->ring, s->pool, s->roomy ? slots : most, ready,
                          err);
}

static cairn_code_t copy_edges(cairn__snapshot_t *s, cairn_error_t *err) {
  size_t at = 0;
  for (size_t i = 0; i < s->num_granules; i++)
    if (is_edge(s, &s->granules[i])) s->edge_bytes += lines(s->granules[i].n);
  if (s->edge_bytes == 0) return CAIRN_OK;
  if (cairn__pool_get(s->pool, s->edge_bytes, &s->edges, err) != CAIRN_OK)
    return CAIRN_NO_MEMORY;
  for (size_t i = 0; i < s->num_granules; i++) {
    cairn__granule_t *g = &s->granules[i];
    if (!is_edge(s, g)) continue;
    cairn__granule_shadow_to(s, g, (char *)cairn__slab_data(s->edges) + at);
    at += lines(g->n);
  }
  return CAIRN_OK;
}

/* --- all of it --- */

static cairn_code_t fill(cairn__snapshot_t *s,
                         const cairn__snapshot_opts_t *opts,
                         cairn_error_t *err) {
  if (cairn__cow_claim(s, err) != CAIRN_OK ||
      get_ring(s, opts->shadow_bytes, err) != CAIRN_OK)
    return CAIRN_NO_MEMORY;
  if (s->check) cairn__check_begin(s);
  if (copy_edges(s, err) != CAIRN_OK) return CAIRN_NO_MEMORY;
  cairn__cow_arm(s);
  return CAIRN_OK;
}

static cairn_code_t begin(cairn__pool_t *pool,
                          const cairn__snapshot_part_t *parts, size_t n,
                          const cairn__snapshot_opts_t *opts, bool trial,
                          cairn__snapshot_t **out, cairn_error_t *err) {
  const cairn__snapshot_opts_t none = {0};
  size_t granules = 0;
  if (opts == NULL) opts = &none;
  if (count(parts, n, &granules, err) != CAIRN_OK) return CAIRN_INVALID;
  cairn__snapshot_t *s = snapshot_new(pool, n, granules, opts);
  if (s == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "snapshot of %zu parts", n);
  list(s, parts);
  if (!trial) without_cow(s);
  if (fill(s, opts, err) != CAIRN_OK) {
    cairn__snapshot_drop(s);
    return CAIRN_NO_MEMORY;
  }
  *out = s;
  return CAIRN_OK;
}

cairn_code_t cairn__snapshot_begin(cairn__pool_t *pool,
                                   const cairn__snapshot_part_t *parts,
                                   size_t n, const cairn__snapshot_opts_t *opts,
                                   cairn__snapshot_t **out,
                                   cairn_error_t *err) {
  return begin(pool, parts, n, opts, false, out, err);
}

cairn_code_t cairn__snapshot_begin_trial(cairn__pool_t *pool,
                                         const cairn__snapshot_part_t *parts,
                                         size_t n,
                                         const cairn__snapshot_opts_t *opts,
                                         cairn__snapshot_t **out,
                                         cairn_error_t *err) {
  return begin(pool, parts, n, opts, true, out, err);
}

/* Readers look at `dropped` under the lock of the granule. */
void cairn__snapshot_cancel(cairn__snapshot_t *s) {
  atomic_store(&s->dropped, true);
  for (size_t i = 0; i < s->num_granules; i++)
    cairn__granule_await_readers(&s->granules[i]);
  cairn__cow_release(s);
  pthread_mutex_lock(&s->lock);
  pthread_cond_broadcast(&s->cond);
  pthread_mutex_unlock(&s->lock);
}

static void await_settlers(cairn__snapshot_t *s) {
  pthread_mutex_lock(&s->lock);
  while (atomic_load(&s->settlers) > 0) pthread_cond_wait(&s->cond, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

void cairn__snapshot_drop(cairn__snapshot_t *s) {
  if (s == NULL) return;
  cairn__snapshot_cancel(s);
  await_settlers(s);
  cairn__ring_reset(&s->ring, s->pool);
  cairn__pool_put(s->pool, s->edges);
  pthread_cond_destroy(&s->cond);
  pthread_mutex_destroy(&s->lock);
  free(s->ranges);
  free(s->granules);
  free(s->parts);
  free(s);
}

void cairn__snapshot_stats(const cairn__snapshot_t *s,
                           cairn__snapshot_stats_t *out) {
  *out = (cairn__snapshot_stats_t){
      .shadowed_bytes = atomic_load(&s->shadowed_bytes),
      .peak_shadow_bytes =
          (int64_t)(atomic_load(&s->ring.peak) + s->edge_bytes),
      .armed_bytes = (int64_t)s->armed_bytes,
      .fallbacks = (int64_t)s->fallbacks,
      .faults = atomic_load(&s->faults),
      .waited_ns = atomic_load(&s->waited_ns),
  };
}
