#include "snapshot/ring.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define CACHE_LINE ((size_t)64)

cairn_code_t cairn__ring_init(cairn__ring_t *r, cairn__pool_t *pool, size_t num,
                              size_t ready, cairn_error_t *err) {
  *r = (cairn__ring_t){.free = NONE, .open = NONE};
  if (num == 0) return CAIRN_OK;
  size_t n = num * CAIRN__HUGE_PAGE;
  r->slots = num < NONE ? calloc(num, sizeof(*r->slots)) : NULL;
  if (r->slots == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "%zu slots of staging memory", num);
  cairn_code_t rc =
      cairn__pool_reserve(pool, n, ready < n ? ready : n, &r->slab, err);
  if (rc != CAIRN_OK) {
    free(r->slots);
    r->slots = NULL;
    return rc;
  }
  r->data = cairn__slab_data(r->slab);
  r->num = (uint32_t)num;
  r->free = 0;
  for (uint32_t i = 0; i < r->num; i++)
    r->slots[i].next_free = i + 1 < r->num ? i + 1 : NONE;
  return CAIRN_OK;
}

void cairn__ring_reset(cairn__ring_t *r, cairn__pool_t *pool) {
  cairn__pool_put(pool, r->slab);
  free(r->slots);
  *r = (cairn__ring_t){.free = NONE, .open = NONE};
}

static uint32_t take_slot(cairn__ring_t *r) {
  uint32_t i = r->free;
  if (i == NONE) return NONE;
  r->free = r->slots[i].next_free;
  r->slots[i] = (cairn__ring_slot_t){.next_free = NONE};
  r->in_use += CAIRN__HUGE_PAGE;
  if (r->in_use > atomic_load(&r->peak)) atomic_store(&r->peak, r->in_use);
  return i;
}

static bool fits(const cairn__ring_t *r, uint32_t slot, size_t n) {
  return slot != NONE && CAIRN__HUGE_PAGE - r->slots[slot].used >= n;
}

/* The last freed slot is taken first: its pages are there. */
static void give_slot(cairn__ring_t *r, uint32_t i) {
  r->slots[i].next_free = r->free;
  r->free = i;
  r->in_use -= CAIRN__HUGE_PAGE;
}

/* The slot that is being packed stays open while a larger piece gets another,
 * unless that one then has more room. */
static uint32_t slot_for(cairn__ring_t *r, size_t n) {
  if (fits(r, r->open, n)) return r->open;
  uint32_t i = take_slot(r);
  if (i != NONE && !fits(r, r->open, CAIRN__HUGE_PAGE - n)) r->open = i;
  return i;
}

cairn__ring_piece_t cairn__ring_get(cairn__ring_t *r, size_t n) {
  cairn__ring_piece_t piece = {0};
  n = (n + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  cairn__spin_lock(&r->lock);
  uint32_t i = slot_for(r, n);
  if (i != NONE) {
    cairn__ring_slot_t *s = &r->slots[i];
    piece.data = r->data + i * CAIRN__HUGE_PAGE + s->used;
    piece.slot = i;
    s->used += (uint32_t)n;
    s->live++;
  }
  cairn__spin_unlock(&r->lock);
  return piece;
}

void cairn__ring_put(cairn__ring_t *r, uint32_t slot) {
  cairn__spin_lock(&r->lock);
  if (--r->slots[slot].live == 0) {
    if (r->open == slot) r->open = NONE;
    give_slot(r, slot);
  }
  cairn__spin_unlock(&r->lock);
}
