/* Do the distinct boxes fill the shape, each element exactly once?
 *
 * The shape is cut in two, and its parts again, along edges of boxes, until one
 * box fills a part. Of all edges that one is taken which leaves the fewest
 * boxes on the fuller side: a grid of n boxes is done in log n rounds, and any
 * other tiling in about as many, with few boxes met twice.
 *
 * In each part the volumes of the boxes are added up. As long as the sum is the
 * part's volume both halves are looked at; where it is not, there is a hole or
 * an overlap for certain, in one of the halves again, and the way there is
 * short. */
#include <inttypes.h>
#include <stdlib.h>

#include "strategy/plan.h"

struct part { /* a box of the shape, and how many groups meet it */
  int64_t lo[CAIRN_MAX_RANK], hi[CAIRN_MAX_RANK];
  size_t n;
};

struct tiler {
  const cairn_plan_in_t *in;
  const cairn__plan_groups_t *groups;
  struct part *stack; /* parts to be looked at */
  size_t depth, cap;
  size_t *pool; /* groups that meet each part of the stack, bottom first */
  size_t used, pool_cap;
  int64_t *starts, *ends; /* scratch, one a group */
  int wrong;              /* sign of what we follow: overlap 1, hole -1 */
};

struct cut {
  int axis;
  int64_t at;
  size_t cost; /* boxes on the fuller side */
};

static int64_t start_in(const cairn__plan_group_t *g, const struct part *p,
                        int a) {
  return g->origin[a] > p->lo[a] ? g->origin[a] : p->lo[a];
}

static int64_t end_in(const cairn__plan_group_t *g, const struct part *p,
                      int a) {
  int64_t end = g->origin[a] + g->extent[a];
  return end < p->hi[a] ? end : p->hi[a];
}

/* The sign of (volume of the boxes in the part) - (its volume). */
static int surplus(const struct tiler *t, const struct part *p,
                   const size_t *list) {
  int64_t volume = 1;
  __int128 sum = 0;
  for (int a = 0; a < t->in->rank; a++) volume *= p->hi[a] - p->lo[a];
  for (size_t i = 0; i < p->n; i++) {
    const cairn__plan_group_t *g = &t->groups->v[list[i]];
    int64_t v = 1;
    for (int a = 0; a < t->in->rank; a++)
      v *= end_in(g, p, a) - start_in(g, p, a);
    sum += v;
  }
  return (sum > volume) - (sum < volume);
}

/* The edges along one axis in ascending order, against the best cut so far. */
static void best_on_axis(struct tiler *t, const struct part *p,
                         const size_t *list, int a, struct cut *best) {
  size_t n = p->n, left = 0, gone = 0;
  for (size_t i = 0; i < n; i++) {
    t->starts[i] = start_in(&t->groups->v[list[i]], p, a);
    t->ends[i] = end_in(&t->groups->v[list[i]], p, a);
  }
  qsort(t->starts, n, sizeof *t->starts, cairn__plan_by_value);
  qsort(t->ends, n, sizeof *t->ends, cairn__plan_by_value);
  while (gone < n) {
    int64_t at = t->ends[gone];
    if (left < n && t->starts[left] < at) at = t->starts[left];
    /* `left` boxes begin before the edge, n - gone end after it. */
    size_t before = left;
    while (gone < n && t->ends[gone] == at) gone++;
    size_t cost = before > n - gone ? before : n - gone;
    if (at > p->lo[a] && at < p->hi[a] && cost < best->cost)
      *best = (struct cut){.axis = a, .at = at, .cost = cost};
    while (left < n && t->starts[left] == at) left++;
  }
}

static bool best_cut(struct tiler *t, const struct part *p, const size_t *list,
                     struct cut *best) {
  *best = (struct cut){.axis = -1, .cost = SIZE_MAX};
  for (int a = 0; a < t->in->rank; a++)
    if (p->hi[a] - p->lo[a] > 1) best_on_axis(t, p, list, a, best);
  return best->axis >= 0;
}

static bool reserve(struct tiler *t, size_t more) {
  if (t->depth == t->cap) {
    size_t cap = t->cap == 0 ? 32 : t->cap * 2;
    struct part *s = reallocarray(t->stack, cap, sizeof *s);
    if (s == NULL) return false;
    t->stack = s;
    t->cap = cap;
  }
  if (t->pool_cap - t->used < more) {
    size_t cap = t->used + more + t->pool_cap;
    size_t *p = reallocarray(t->pool, cap, sizeof *p);
    if (p == NULL) return false;
    t->pool = p;
    t->pool_cap = cap;
  }
  return true;
}

/* Replaces the top of the stack by its two halves. */
static bool split(struct tiler *t, const struct cut *c) {
  if (!reserve(t, t->stack[t->depth - 1].n)) return false;
  struct part *low = &t->stack[t->depth - 1], *high = low + 1;
  size_t *list = t->pool + t->used - low->n, *beyond = t->pool + t->used;
  size_t n = low->n;
  *high = *low;
  low->hi[c->axis] = high->lo[c->axis] = c->at;
  low->n = high->n = 0;
  for (size_t i = 0; i < n; i++) {
    const cairn__plan_group_t *g = &t->groups->v[list[i]];
    if (g->origin[c->axis] + g->extent[c->axis] > c->at)
      beyond[high->n++] = list[i];
    if (g->origin[c->axis] < c->at) list[low->n++] = list[i];
  }
  memmove(list + low->n, beyond, high->n * sizeof *list);
  t->used = (size_t)(list - t->pool) + low->n + high->n;
  t->depth++;
  return true;
}

static bool meets_but(int rank, const cairn__plan_group_t *g,
                      const struct part *p, int but) {
  for (int a = 0; a < rank; a++)
    if (a != but &&
        (g->origin[a] >= p->hi[a] || g->origin[a] + g->extent[a] <= p->lo[a]))
      return false;
  return true;
}

/* The cuts have left a splinter of the hole: as far as it reaches, last axis
 * first, so that what is missing comes out in whole rows. */
static void grow_hole(const struct tiler *t, struct part *p) {
  for (int a = t->in->rank - 1; a >= 0; a--) {
    int64_t lo = 0, hi = t->in->shape[a];
    for (size_t i = 0; i < t->groups->n; i++) {
      const cairn__plan_group_t *g = &t->groups->v[i];
      int64_t start = g->origin[a], end = start + g->extent[a];
      if (!meets_but(t->in->rank, g, p, a)) continue;
      if (end <= p->lo[a] && end > lo) lo = end;
      if (start >= p->hi[a] && start < hi) hi = start;
    }
    p->lo[a] = lo;
    p->hi[a] = hi;
  }
}

static cairn_code_t hole(const struct tiler *t, struct part *p,
                         cairn_error_t *err) {
  int64_t extent[CAIRN_MAX_RANK];
  grow_hole(t, p);
  for (int a = 0; a < t->in->rank; a++) extent[a] = p->hi[a] - p->lo[a];
  return cairn_fail(err, CAIRN_INVALID, "%s is held by no rank",
                    cairn__plan_text(t->in->rank, p->lo, extent).s);
}

static cairn_code_t overlap(const struct tiler *t, const size_t *list,
                            cairn_error_t *err) {
  const cairn__plan_group_t *a = &t->groups->v[list[0]];
  const cairn__plan_group_t *b = &t->groups->v[list[1]];
  return cairn_fail(
      err, CAIRN_INVALID,
      "rank %d holds %s and rank %d %s, which overlap and are not equal",
      t->in->boxes[a->boxes[0]].owner,
      cairn__plan_text(t->in->rank, a->origin, a->extent).s,
      t->in->boxes[b->boxes[0]].owner,
      cairn__plan_text(t->in->rank, b->origin, b->extent).s);
}

static cairn_code_t out_of_memory(const struct tiler *t, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "check of %zu boxes", t->groups->n);
}

static cairn_code_t run(struct tiler *t, cairn_error_t *err) {
  while (t->depth > 0) {
    struct part *p = &t->stack[t->depth - 1];
    size_t *list = t->pool + t->used - p->n;
    int sign = surplus(t, p, list);
    struct cut c;
    if (t->wrong == 0) t->wrong = sign;
    if (sign != t->wrong || (sign == 0 && p->n == 1)) {
      t->used -= p->n;
      t->depth--;
      continue;
    }
    if (p->n == 0) return hole(t, p, err);
    if (!best_cut(t, p, list, &c)) return overlap(t, list, err);
    if (!split(t, &c)) return out_of_memory(t, err);
  }
  return CAIRN_OK;
}

static bool begin(struct tiler *t) {
  size_t n = t->groups->n, rank = (size_t)t->in->rank;
  t->starts = calloc(n + 1, sizeof *t->starts);
  t->ends = calloc(n + 1, sizeof *t->ends);
  if (t->starts == NULL || t->ends == NULL || !reserve(t, n + 1)) return false;
  for (size_t i = 0; i < n; i++) t->pool[t->used++] = i;
  t->stack[0] = (struct part){.n = n};
  if (rank > 0) memcpy(t->stack[0].hi, t->in->shape, rank * sizeof(int64_t));
  t->depth = 1;
  return true;
}

cairn_code_t cairn__plan_tiles(const cairn_plan_in_t *in,
                               const cairn__plan_groups_t *g,
                               cairn_error_t *err) {
  struct tiler t = {.in = in, .groups = g};
  cairn_code_t rc = begin(&t) ? run(&t, err) : out_of_memory(&t, err);
  free(t.stack);
  free(t.pool);
  free(t.starts);
  free(t.ends);
  return rc;
}
