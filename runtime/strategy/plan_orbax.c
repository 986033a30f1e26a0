/* Orbax's rules, reference arrays.md B4, B7.1 and B7.2: the write shape is the
 * slice of a shard that one replica writes, and the chunk a divisor of it. */
#include <inttypes.h>

#include "strategy/plan.h"

/* Orbax's default target size of a data file: a larger value is cut. */
#define TARGET_FILE ((int64_t)1 << 31)

struct chooser {
  int rank;
  int64_t elements; /* of the chunk, at most */
  int64_t *chunk;
  cairn__divisors_t divisors[CAIRN_MAX_RANK]; /* of the write shape */
  bool sharded[CAIRN_MAX_RANK];
};

/* The sharded axis where the chunk is longest, the first of equals. */
static int longest(const struct chooser *c) {
  int best = -1;
  for (int a = 0; a < c->rank; a++)
    if (c->sharded[a] && c->chunk[a] > (best < 0 ? 1 : c->chunk[best]))
      best = a;
  return best;
}

static void shrink(struct chooser *c) {
  while (cairn__plan_volume(c->rank, c->chunk) > c->elements) {
    int a = longest(c);
    if (a >= 0)
      c->chunk[a] = cairn__divisors_fit(&c->divisors[a], c->chunk[a] - 1);
    else
      for (int i = 0; i < c->rank; i++) c->sharded[i] = true;
  }
}

static cairn_code_t shrink_to(struct chooser *c, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (int a = 0; a < c->rank && rc == CAIRN_OK; a++)
    if (!cairn__divisors(c->chunk[a], &c->divisors[a]))
      rc = cairn_fail(err, CAIRN_NO_MEMORY, "choose a chunk");
  if (rc == CAIRN_OK) shrink(c);
  for (int a = 0; a < c->rank; a++) cairn__divisors_reset(&c->divisors[a]);
  return rc;
}

cairn_code_t cairn__plan_orbax_chunk(int rank, const int64_t *shape,
                                     const int64_t *write_shape, int64_t item,
                                     int64_t target, const int *cut,
                                     size_t num_cut, int64_t *chunk,
                                     cairn_error_t *err) {
  struct chooser c = {.rank = rank, .elements = target / item, .chunk = chunk};
  for (int a = 0; a < rank; a++) {
    chunk[a] = write_shape[a] > 0 ? write_shape[a] : 1;
    c.sharded[a] = shape[a] != chunk[a];
  }
  for (size_t i = 0; i < num_cut; i++) {
    if (cut[i] < 0 || cut[i] >= rank)
      return cairn_fail(err, CAIRN_INVALID, "shard axis %d of rank %d", cut[i],
                        rank);
    if (chunk[cut[i]] > 1) c.sharded[cut[i]] = true;
    chunk[cut[i]] = 1;
  }
  if (target == 0) return CAIRN_OK;
  if (target < item)
    return cairn_fail(err, CAIRN_INVALID,
                      "chunk target %" PRId64 ", below an element's %" PRId64,
                      target, item);
  return shrink_to(&c, err);
}

/* What a user's wish, 0 for none, becomes when data files have a target size.
 */
static int64_t effective_target(int64_t user, int64_t bytes) {
  if (user == 0) return bytes > TARGET_FILE ? TARGET_FILE : 0;
  return user < TARGET_FILE ? user : TARGET_FILE;
}

/* Orbax knows shards of one shape only. Such boxes tile in one way, a grid: so
 * the write shape, a part of a shard, is a grid too. */
static cairn_code_t check_equal(const cairn_plan_in_t *in,
                                const cairn__plan_groups_t *g,
                                cairn_error_t *err) {
  const cairn__plan_group_t *first = &g->v[0];
  for (size_t i = 1; i < g->n; i++) {
    const cairn__plan_group_t *v = &g->v[i];
    if (cairn__plan_same(in->rank, v->extent, first->extent)) continue;
    return cairn_fail(
        err, CAIRN_UNSUPPORTED,
        "rank %d holds %s and rank %d %s: Orbax's layout wants equal shards",
        in->boxes[first->boxes[0]].owner,
        cairn__plan_text(in->rank, first->origin, first->extent).s,
        in->boxes[v->boxes[0]].owner,
        cairn__plan_text(in->rank, v->origin, v->extent).s);
  }
  return CAIRN_OK;
}

static cairn_code_t count_replicas(const cairn_plan_in_t *in,
                                   const cairn__plan_groups_t *g, int64_t *out,
                                   cairn_error_t *err) {
  *out = in->replicas > 0 ? in->replicas : (int64_t)g->v[0].n;
  if (in->replicas > 0) return CAIRN_OK;
  for (size_t i = 1; i < g->n; i++) {
    const cairn__plan_group_t *v = &g->v[i];
    if (v->n == g->v[0].n) continue;
    return cairn_fail(
        err, CAIRN_UNSUPPORTED,
        "%s is held %zu times and %s %zu: Orbax's layout wants equally many",
        cairn__plan_text(in->rank, g->v[0].origin, g->v[0].extent).s, g->v[0].n,
        cairn__plan_text(in->rank, v->origin, v->extent).s, v->n);
  }
  return CAIRN_OK;
}

/* The axis that replicas share, or -1: then the first writes all. */
static int shared_axis(int rank, const int64_t *extent, int64_t replicas) {
  if (replicas == 1) return -1;
  for (int a = 0; a < rank; a++)
    if (extent[a] % replicas == 0) return a;
  return -1;
}

static void add_slices(const cairn_plan_in_t *in, const cairn__plan_group_t *g,
                       int axis, int64_t replicas, cairn__plan_list_t *list,
                       const int64_t *write_shape) {
  int64_t origin[CAIRN_MAX_RANK];
  if (axis < 0) {
    cairn__plan_add(list, in, g->boxes[0], g->origin, g->extent);
    return;
  }
  memcpy(origin, g->origin, (size_t)in->rank * sizeof *origin);
  /* A process with several devices may have listed its box but once. */
  for (int64_t k = 0; k < replicas && !list->failed; k++) {
    cairn__plan_add(list, in, g->boxes[(size_t)k % g->n], origin, write_shape);
    origin[axis] += write_shape[axis];
  }
}

cairn_code_t cairn__plan_orbax(const cairn_plan_in_t *in,
                               const cairn__plan_groups_t *g,
                               cairn__plan_list_t *list, cairn_plan_t *out,
                               cairn_error_t *err) {
  int64_t replicas, *w = out->write_shape;
  cairn_code_t rc = check_equal(in, g, err);
  if (rc != CAIRN_OK) return rc;
  if ((rc = count_replicas(in, g, &replicas, err)) != CAIRN_OK) return rc;
  int axis = shared_axis(in->rank, g->v[0].extent, replicas);
  for (int a = 0; a < in->rank; a++)
    w[a] = g->v[0].extent[a] / (a == axis ? replicas : 1);
  int64_t target = effective_target(
      in->chunk_bytes, cairn__plan_volume(in->rank, w) * list->item);
  rc = cairn__plan_orbax_chunk(in->rank, in->shape, w, list->item, target, NULL,
                               0, out->chunk, err);
  for (size_t i = 0; i < g->n && rc == CAIRN_OK; i++)
    add_slices(in, &g->v[i], axis, replicas, list, w);
  return rc;
}

cairn_code_t cairn__plan_primary(const cairn_plan_in_t *in,
                                 const cairn__plan_groups_t *g,
                                 cairn__plan_list_t *list, cairn_plan_t *out,
                                 cairn_error_t *err) {
  const cairn__plan_group_t *all = &g->v[0];
  /* The groups tile the shape: more than one means that none is all of it. */
  if (g->n != 1)
    return cairn_fail(err, CAIRN_INVALID,
                      "no rank holds all of it, as one that writes it must");
  for (int a = 0; a < in->rank; a++)
    out->chunk[a] = out->write_shape[a] = in->shape[a];
  /* Replicas are sorted by rank. */
  cairn__plan_add(list, in, all->boxes[0], all->origin, all->extent);
  return CAIRN_OK;
}
