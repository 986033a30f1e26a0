/* The chunks of a box in C order: how many, and the bytes of the first few.
 * Chunks at the box's far edges may be smaller (only at the array's edge). */
#include "strategy/plan.h"

cairn__plan_grid_t cairn__plan_grid(int rank, int64_t item,
                                    const int64_t *extent,
                                    const int64_t *chunk) {
  cairn__plan_grid_t g = {
      .rank = rank, .item = item, .extent = extent, .chunk = chunk};
  int64_t elements = 1;
  g.chunks = 1;
  for (int a = rank - 1; a >= 0; a--) {
    g.count[a] = (extent[a] - 1) / chunk[a] + 1;
    g.per[a] = g.chunks;
    g.inner[a] = elements;
    g.chunks *= g.count[a];
    elements *= extent[a];
  }
  g.bytes = elements * item;
  return g;
}

int64_t cairn__plan_grid_bytes(const cairn__plan_grid_t *g, int64_t i) {
  int64_t sum = 0, across = 1; /* elements of chunk i over the axes so far */
  if (i == g->chunks) return g->bytes;
  for (int a = 0; a < g->rank; a++) {
    int64_t start = i / g->per[a] * g->chunk[a];
    int64_t left = g->extent[a] - start;
    sum += across * start * g->inner[a];
    across *= left < g->chunk[a] ? left : g->chunk[a];
    i %= g->per[a];
  }
  return sum * g->item;
}

int64_t cairn__plan_grid_cut(const cairn__plan_grid_t *g, int64_t bytes) {
  int64_t lo = 0, hi = g->chunks;
  while (hi - lo > 1) { /* bytes(lo) <= bytes < bytes(hi), if not at an end */
    int64_t mid = lo + (hi - lo) / 2;
    if (cairn__plan_grid_bytes(g, mid) <= bytes)
      lo = mid;
    else
      hi = mid;
  }
  int64_t below = bytes - cairn__plan_grid_bytes(g, lo);
  return below <= cairn__plan_grid_bytes(g, hi) - bytes ? lo : hi;
}
