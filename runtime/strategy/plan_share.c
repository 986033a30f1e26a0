/* Who writes which chunks of a box that several ranks hold.
 *
 * A box is cut among its holders by bytes, at least MIN_SLICE to each, in runs
 * of chunks in C order. Who has been given less so far gets more, up to the
 * same level: arrays that do not come out even make up for one another, and
 * small arrays, which go whole to one rank, spread. */
#include <stdlib.h>

#include "base/base.h"
#include "strategy/plan.h"

#define MIN_SLICE ((int64_t)1 << 20)

struct holder {
  size_t box; /* of in->boxes: the first of this owner */
  int owner;
  size_t place; /* in the round that begins where the array's name says */
  int64_t load;
};

struct sharer {
  const cairn_plan_in_t *in;
  cairn__plan_list_t *list;
  struct holder *holders; /* of the group at hand */
  size_t n;
  int64_t *loads;
};

size_t cairn__plan_writers(int64_t bytes, size_t holders) {
  int64_t n = bytes / MIN_SLICE;
  if (n < 1) return 1;
  return (uint64_t)n < holders ? (size_t)n : holders;
}

static int by_load(const void *x, const void *y) {
  const struct holder *a = x, *b = y;
  if (a->load != b->load) return a->load < b->load ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static void find_holders(struct sharer *s, const cairn__plan_group_t *g,
                         uint64_t seed) {
  s->n = 0;
  for (size_t i = 0; i < g->n; i++) {
    int owner = s->in->boxes[g->boxes[i]].owner;
    /* A rank with several devices may have listed the box several times. */
    if (s->n > 0 && s->holders[s->n - 1].owner == owner) continue;
    s->holders[s->n++] = (struct holder){
        .box = g->boxes[i], .owner = owner, .load = s->list->load[owner]};
  }
  for (size_t i = 0; i < s->n; i++)
    s->holders[i].place = (i + s->n - seed % s->n) % s->n;
}

static const struct holder *least_loaded(const struct sharer *s) {
  const struct holder *best = &s->holders[0];
  for (size_t i = 1; i < s->n; i++)
    if (by_load(&s->holders[i], best) < 0) best = &s->holders[i];
  return best;
}

/* Up to which load the first n holders are filled by `bytes` more. */
static int64_t level(struct sharer *s, size_t n, int64_t bytes) {
  __int128 sum = bytes;
  for (size_t i = 0; i < n; i++) s->loads[i] = s->holders[i].load;
  qsort(s->loads, n, sizeof *s->loads, cairn__plan_by_value);
  for (size_t i = 0; i < n; i++) {
    sum += s->loads[i];
    __int128 upto = (sum + (__int128)i) / ((__int128)i + 1);
    if (i + 1 == n || upto <= s->loads[i + 1])
      return upto < INT64_MAX ? (int64_t)upto : INT64_MAX;
  }
  return 0;
}

/* --- a run of chunks as boxes --- */

struct run {
  const cairn__plan_grid_t *grid;
  const int64_t *origin; /* of the grid's box */
  size_t box;
  int64_t from[CAIRN_MAX_RANK], to[CAIRN_MAX_RANK]; /* chunks along each axis */
};

static void add_run_box(struct sharer *s, const struct run *r) {
  const cairn__plan_grid_t *g = r->grid;
  int64_t origin[CAIRN_MAX_RANK], extent[CAIRN_MAX_RANK];
  for (int a = 0; a < g->rank; a++) {
    int64_t start = r->from[a] * g->chunk[a];
    int64_t end =
        r->to[a] == g->count[a] ? g->extent[a] : r->to[a] * g->chunk[a];
    origin[a] = r->origin[a] + start;
    extent[a] = end - start;
  }
  cairn__plan_add(s->list, s->in, r->box, origin, extent);
}

/* Chunks lo to hi of the axes from `a` on, those before being fixed: the end of
 * a row, whole rows, the beginning of another. */
static void add_run(struct sharer *s, struct run *r, int a, int64_t lo,
                    int64_t hi) {
  const cairn__plan_grid_t *g = r->grid;
  if (lo >= hi) return;
  if (a == g->rank) {
    add_run_box(s, r);
    return;
  }
  int64_t per = g->per[a], first = lo / per, last = hi / per;
  if (lo % per != 0) {
    int64_t end = (first + 1) * per < hi ? per : hi - first * per;
    r->from[a] = first;
    r->to[a] = first + 1;
    add_run(s, r, a + 1, lo % per, end);
    lo = ++first * per;
  }
  if (first < last) {
    r->from[a] = first;
    r->to[a] = last;
    for (int i = a + 1; i < g->rank; i++) {
      r->from[i] = 0;
      r->to[i] = g->count[i];
    }
    add_run_box(s, r);
    lo = last * per;
  }
  r->from[a] = last;
  r->to[a] = last + 1;
  if (lo < hi) add_run(s, r, a + 1, 0, hi % per);
}

/* Fills the first n holders up to one level. */
static void share(struct sharer *s, const cairn__plan_group_t *g,
                  const cairn__plan_grid_t *grid, size_t n) {
  struct run r = {.grid = grid, .origin = g->origin};
  int64_t upto = level(s, n, grid->bytes), given = 0, from = 0;
  for (size_t i = 0; i < n; i++) {
    int64_t more = upto - s->holders[i].load, left = grid->bytes - given;
    if (more > 0) given += more < left ? more : left;
    if (i + 1 == n) given = grid->bytes;
    int64_t to = cairn__plan_grid_cut(grid, given);
    r.box = s->holders[i].box;
    add_run(s, &r, 0, from, to);
    from = to;
  }
}

static void share_group(struct sharer *s, const cairn__plan_group_t *g,
                        const int64_t *chunk, uint64_t seed) {
  cairn__plan_grid_t grid =
      cairn__plan_grid(s->in->rank, s->list->item, g->extent, chunk);
  find_holders(s, g, seed);
  size_t n = cairn__plan_writers(grid.bytes, s->n);
  if (n == 1) {
    cairn__plan_add(s->list, s->in, least_loaded(s)->box, g->origin, g->extent);
    return;
  }
  if (n < s->n) qsort(s->holders, s->n, sizeof *s->holders, by_load);
  share(s, g, &grid, n);
}

size_t cairn__plan_holders(const cairn_plan_in_t *in,
                           const cairn__plan_group_t *g) {
  size_t n = 1;
  for (size_t i = 1; i < g->n; i++)
    if (in->boxes[g->boxes[i]].owner != in->boxes[g->boxes[i - 1]].owner) n++;
  return n;
}

cairn_code_t cairn__plan_share(const cairn_plan_in_t *in,
                               const cairn__plan_groups_t *g,
                               const int64_t *chunk, cairn__plan_list_t *list,
                               cairn_error_t *err) {
  size_t most = 0;
  for (size_t i = 0; i < g->n; i++)
    if (g->v[i].n > most) most = g->v[i].n;
  struct sharer s = {
      .in = in,
      .list = list,
      .holders = calloc(most, sizeof *s.holders),
      .loads = calloc(most, sizeof *s.loads),
  };
  cairn_code_t rc = CAIRN_OK;
  uint64_t seed = cairn__hash64(in->name.p, in->name.n, 0);
  if (s.holders == NULL || s.loads == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "share out %zu boxes", in->n);
  for (size_t i = 0; i < g->n && rc == CAIRN_OK; i++)
    share_group(&s, &g->v[i], chunk, seed + i);
  free(s.holders);
  free(s.loads);
  return rc;
}
