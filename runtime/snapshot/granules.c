/* The states of a granule. Its lock is held for a few instructions only: who
 * copies says so in the state or in the counts, and lets the lock go. */
#include "snapshot/cow.h"
#include "snapshot/granule.h"
#include "snapshot/stream.h"

#define GRANULE_OF(p) ((uintptr_t)(p) / CAIRN__GRANULE)

size_t cairn__granules_count(const void *data, size_t n) {
  if (n == 0) return 0;
  return GRANULE_OF((const char *)data + n - 1) - GRANULE_OF(data) + 1;
}

size_t cairn__granule_at(const cairn__part_t *part, const char *p) {
  return GRANULE_OF(p) - GRANULE_OF(part->data);
}

void cairn__granules_cut(cairn__part_t *part, uint32_t index) {
  const char *p = part->data, *end = p + part->n;
  for (size_t i = 0; i < part->num_granules; i++) {
    cairn__granule_t *g = &part->granules[i];
    size_t n = CAIRN__GRANULE - (uintptr_t)p % CAIRN__GRANULE;
    if (n > (size_t)(end - p)) n = (size_t)(end - p);
    g->src = p;
    g->n = g->left = (uint32_t)n;
    g->part = index;
    p += n;
  }
}

static bool is_released(const cairn__granule_t *g) {
  return g->state >= SHADOWED && g->readers == 0;
}

/* Under the lock: all consumed, and nobody reads. While someone copies it, it
 * is for him to see. */
static bool is_used_up(const cairn__granule_t *g) {
  if (g->left != 0) return false;
  return (g->state == PENDING && g->readers == 0) ||
         (g->state == SHADOWED && g->users == 0);
}

/* Unlocks after a change, and does what has become due: the granule is
 * consumed, its shadow is free, its pages may be written. */
static void unlock(cairn__snapshot_t *s, cairn__granule_t *g) {
  bool put = false, disarm = false;
  if (is_used_up(g)) {
    put = g->state == SHADOWED && g->slot != UINT32_MAX;
    g->state = CONSUMED;
  }
  bool released = is_released(g);
  if (released) {
    disarm = g->armed;
    g->armed = false;
  }
  uint32_t slot = g->slot;
  cairn__spin_unlock(&g->lock);
  if (disarm) cairn__cow_disarm(g->src);
  if (put) cairn__ring_put(&s->ring, slot);
  if (released || put) cairn__snapshot_changed(s);
}

static void shadowed(cairn__snapshot_t *s, cairn__granule_t *g, char *shadow,
                     uint32_t slot) {
  if (s->check) cairn__check_granule(s, g, shadow);
  atomic_fetch_add(&s->shadowed_bytes, g->n);
  cairn__spin_lock(&g->lock);
  g->shadow = shadow;
  g->slot = slot;
  g->state = SHADOWED;
  unlock(s, g);
}

void cairn__granule_shadow_to(cairn__snapshot_t *s, cairn__granule_t *g,
                              char *dst) {
  cairn__stream_copy(dst, g->src, g->n);
  shadowed(s, g, dst, UINT32_MAX);
}

/* Takes the granule for copying; false if it is not pending. */
static bool claim(cairn__snapshot_t *s, cairn__granule_t *g) {
  cairn__spin_lock(&g->lock);
  bool mine = g->state == PENDING && !atomic_load(&s->dropped);
  if (mine) g->state = SHADOWING;
  cairn__spin_unlock(&g->lock);
  return mine;
}

/* Room comes first, so that a claim is never taken back: who sees it may rely
 * on the granule being released without further doing. */
cairn__shadow_t cairn__granule_shadow(cairn__snapshot_t *s,
                                      cairn__granule_t *g) {
  cairn__spin_lock(&g->lock);
  bool pending = g->state == PENDING, released = is_released(g);
  cairn__spin_unlock(&g->lock);
  if (released) return CAIRN__RELEASED;
  if (!pending) return CAIRN__IN_USE;
  cairn__ring_piece_t piece = cairn__ring_get(&s->ring, g->n);
  if (piece.data == NULL) return CAIRN__FULL;
  if (claim(s, g)) {
    cairn__stream_copy(piece.data, g->src, g->n);
    shadowed(s, g, piece.data, piece.slot);
  } else {
    cairn__ring_put(&s->ring, piece.slot);
    cairn__snapshot_changed(s);
  }
  cairn__spin_lock(&g->lock);
  released = is_released(g);
  cairn__spin_unlock(&g->lock);
  return released ? CAIRN__RELEASED : CAIRN__IN_USE;
}

const char *cairn__granule_read(cairn__snapshot_t *s, cairn__granule_t *g,
                                const char *src) {
  const char *from = NULL;
  cairn__spin_lock(&g->lock);
  if (atomic_load(&s->dropped)) {
    cairn__spin_unlock(&g->lock);
    return NULL;
  }
  if (g->state == SHADOWED) {
    from = g->shadow + (src - g->src);
    g->users++;
  } else if (g->state != CONSUMED) {
    from = src;
    g->readers++;
  }
  cairn__spin_unlock(&g->lock);
  return from;
}

/* With a check, who reads the last bytes of the caller's memory looks at it
 * once more, before he lets go of it. */
static bool reads_last(const cairn__snapshot_t *s, const cairn__granule_t *g,
                       bool direct) {
  return s->check && direct && g->left == 0 && g->state < SHADOWED;
}

void cairn__granule_done_reading(cairn__snapshot_t *s, cairn__granule_t *g,
                                 const char *from, size_t n) {
  bool direct = from >= g->src && from < g->src + g->n;
  cairn__spin_lock(&g->lock);
  g->left -= n < g->left ? (uint32_t)n : g->left;
  if (reads_last(s, g, direct)) {
    cairn__spin_unlock(&g->lock);
    cairn__check_granule(s, g, g->src);
    cairn__spin_lock(&g->lock);
  }
  if (direct)
    g->readers--;
  else
    g->users--;
  unlock(s, g);
}

void cairn__granule_skip(cairn__snapshot_t *s, cairn__granule_t *g, size_t n) {
  cairn__spin_lock(&g->lock);
  g->left -= n < g->left ? (uint32_t)n : g->left;
  unlock(s, g);
}

void cairn__granule_await_readers(cairn__granule_t *g) {
  for (;;) {
    cairn__spin_lock(&g->lock);
    bool idle = g->readers == 0 && g->state != SHADOWING;
    cairn__spin_unlock(&g->lock);
    if (idle) return;
    sched_yield();
  }
}

void cairn__snapshot_changed(cairn__snapshot_t *s) {
  if (atomic_load(&s->num_wanted) > 0) cairn__cow_kick(s);
  if (atomic_load(&s->settlers) == 0) return;
  pthread_mutex_lock(&s->lock);
  atomic_fetch_add(&s->changes, 1);
  pthread_cond_broadcast(&s->cond);
  pthread_mutex_unlock(&s->lock);
}
