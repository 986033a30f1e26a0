/* Equal boxes sorted together, and the growing list of pieces. */
#include <stdlib.h>

#include "array/region.h"
#include "base/base.h"
#include "strategy/plan.h"

static int compare(int rank, const int64_t *a, const int64_t *b) {
  for (int i = 0; i < rank; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

/* Replicas come in rank order, those of one rank in the order they were given.
 */
static int by_box(const void *x, const void *y, void *arg) {
  const cairn_plan_in_t *in = arg;
  size_t i = *(const size_t *)x, j = *(const size_t *)y;
  const cairn_plan_box_t *a = &in->boxes[i], *b = &in->boxes[j];
  int c = compare(in->rank, a->origin, b->origin);
  if (c == 0) c = compare(in->rank, a->extent, b->extent);
  if (c == 0) c = (a->owner > b->owner) - (a->owner < b->owner);
  return c != 0 ? c : (i > j) - (i < j);
}

static bool is_empty(int rank, const int64_t *extent) {
  for (int a = 0; a < rank; a++)
    if (extent[a] == 0) return true;
  return false;
}

static size_t sort_boxes(const cairn_plan_in_t *in, size_t *order) {
  size_t n = 0;
  for (size_t i = 0; i < in->n; i++)
    if (!is_empty(in->rank, in->boxes[i].extent)) order[n++] = i;
  qsort_r(order, n, sizeof *order, by_box, (void *)in);
  return n;
}

static void add_box(const cairn_plan_in_t *in, cairn__plan_groups_t *g,
                    const size_t *at) {
  const cairn_plan_box_t *b = &in->boxes[*at];
  cairn__plan_group_t *last = g->n > 0 ? &g->v[g->n - 1] : NULL;
  if (last != NULL && cairn__plan_same(in->rank, last->origin, b->origin) &&
      cairn__plan_same(in->rank, last->extent, b->extent)) {
    last->n++;
    return;
  }
  g->v[g->n++] = (cairn__plan_group_t){
      .origin = b->origin, .extent = b->extent, .boxes = at, .n = 1};
}

cairn_code_t cairn__plan_group(const cairn_plan_in_t *in,
                               cairn__plan_groups_t *out, cairn_error_t *err) {
  cairn__plan_groups_t g = {
      .v = calloc(in->n + 1, sizeof *g.v),
      .order = calloc(in->n + 1, sizeof *g.order),
  };
  if (g.v == NULL || g.order == NULL) {
    cairn__plan_groups_reset(&g);
    return cairn_fail(err, CAIRN_NO_MEMORY, "plan of %zu boxes", in->n);
  }
  size_t n = sort_boxes(in, g.order);
  for (size_t i = 0; i < n; i++) add_box(in, &g, &g.order[i]);
  *out = g;
  return CAIRN_OK;
}

void cairn__plan_groups_reset(cairn__plan_groups_t *g) {
  free(g->v);
  free(g->order);
  *g = (cairn__plan_groups_t){0};
}

cairn__plan_text_t cairn__plan_text(int rank, const int64_t *origin,
                                    const int64_t *extent) {
  cairn__plan_text_t t;
  cairn__box_t b = {.rank = rank};
  if (rank > 0) {
    memcpy(b.origin, origin, (size_t)rank * sizeof *origin);
    memcpy(b.extent, extent, (size_t)rank * sizeof *extent);
  }
  cairn__box_text(&b, t.s, sizeof t.s);
  return t;
}

static bool grow(cairn__plan_list_t *l) {
  size_t cap = l->cap == 0 ? 8 : l->cap * 2;
  size_t width = 2 * (size_t)(l->rank > 0 ? l->rank : 1);
  cairn_plan_piece_t *p = reallocarray(l->pieces, cap, sizeof *p);
  if (p != NULL) l->pieces = p;
  int64_t *c =
      p != NULL ? reallocarray(l->coords, cap, width * sizeof *c) : NULL;
  if (c == NULL) return false;
  l->coords = c;
  l->cap = cap;
  return true;
}

void cairn__plan_add(cairn__plan_list_t *l, const cairn_plan_in_t *in,
                     size_t box, const int64_t *origin, const int64_t *extent) {
  if (l->failed || (l->n == l->cap && !grow(l))) {
    l->failed = true;
    return;
  }
  int owner = in->boxes[box].owner;
  size_t r = (size_t)l->rank;
  if (r > 0) {
    memcpy(l->coords + 2 * l->n * r, origin, r * sizeof *origin);
    memcpy(l->coords + (2 * l->n + 1) * r, extent, r * sizeof *extent);
  }
  l->pieces[l->n++] = (cairn_plan_piece_t){.owner = owner, .box = box};
  int64_t bytes = cairn__plan_volume(l->rank, extent) * l->item;
  if (!cairn__add_ok(l->load[owner], bytes, &l->load[owner]))
    l->load[owner] = INT64_MAX;
}
