/* cairn_plan_array: from "who holds what" to "who writes what", the same on
 * every rank because nothing but the input is looked at.
 *
 *   1. check each box by itself
 *   2. group equal boxes (replicas); check that the groups tile the shape
 *   3. the rule chooses a chunk shape and gives whole chunks to ranks
 *   4. publish: pieces, and each rank's load */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "strategy/plan.h"

static cairn_code_t check_shape(const cairn_plan_in_t *in, cairn_error_t *err) {
  int64_t bytes = (int64_t)cairn_dtype_size(in->dtype);
  if (bytes == 0)
    return cairn_fail(err, CAIRN_INVALID, "no element type (%d)", in->dtype);
  if (in->rank < 0 || in->rank > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID, "rank %d, want 0 to %d", in->rank,
                      CAIRN_MAX_RANK);
  if (in->rank > 0 && in->shape == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no shape");
  for (int a = 0; a < in->rank; a++) {
    int64_t n = in->shape[a];
    if (n < 0)
      return cairn_fail(err, CAIRN_INVALID, "shape %" PRId64 " on axis %d", n,
                        a);
    /* Axes of size 0 count as 1: that is their chunk. */
    if (!cairn__mul_ok(bytes, n > 0 ? n : 1, &bytes))
      return cairn_fail(err, CAIRN_INVALID, "more than 2^63 bytes");
  }
  return CAIRN_OK;
}

static cairn_code_t check_box(const cairn_plan_in_t *in,
                              const cairn_plan_box_t *b, cairn_error_t *err) {
  if (b->owner < 0 || b->owner >= in->num_ranks)
    return cairn_fail(err, CAIRN_INVALID, "a box of rank %d, of %d ranks",
                      b->owner, in->num_ranks);
  if (in->rank > 0 && (b->origin == NULL || b->extent == NULL))
    return cairn_fail(err, CAIRN_INVALID, "rank %d: a box without extent",
                      b->owner);
  for (int a = 0; a < in->rank; a++) {
    int64_t at = b->origin[a], n = b->extent[a];
    if (at < 0 || n < 0)
      return cairn_fail(err, CAIRN_INVALID,
                        "rank %d: a box from %" PRId64 " of extent %" PRId64
                        " on axis %d",
                        b->owner, at, n, a);
    if (at > in->shape[a] || n > in->shape[a] - at)
      return cairn_fail(err, CAIRN_INVALID,
                        "rank %d: a box from %" PRId64 " of extent %" PRId64
                        " on axis %d, where the shape is %" PRId64,
                        b->owner, at, n, a, in->shape[a]);
  }
  return CAIRN_OK;
}

static cairn_code_t check(const cairn_plan_in_t *in, cairn_error_t *err) {
  cairn_code_t rc = check_shape(in, err);
  if (rc != CAIRN_OK) return rc;
  if (in->num_ranks < 1)
    return cairn_fail(err, CAIRN_INVALID, "a plan for %d ranks", in->num_ranks);
  if (in->n > 0 && in->boxes == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no boxes");
  for (size_t i = 0; i < in->n; i++)
    if ((rc = check_box(in, &in->boxes[i], err)) != CAIRN_OK) return rc;
  int64_t item = (int64_t)cairn_dtype_size(in->dtype);
  if (in->chunk_bytes < 0 || (in->chunk_bytes > 0 && in->chunk_bytes < item))
    return cairn_fail(err, CAIRN_INVALID,
                      "chunk_bytes %" PRId64
                      ", where one element takes %" PRId64,
                      in->chunk_bytes, item);
  if (in->replicas < 0)
    return cairn_fail(err, CAIRN_INVALID, "replicas %d", in->replicas);
  return CAIRN_OK;
}

/* Nothing to write but the metadata. */
static void plan_nothing(const cairn_plan_in_t *in, cairn_plan_t *out) {
  for (int a = 0; a < in->rank; a++) {
    out->chunk[a] = in->shape[a] > 0 ? in->shape[a] : 1;
    out->write_shape[a] = in->shape[a];
  }
  if (in->rule != CAIRN_PLAN_CAIRN || in->n == 0) return;
  out->meta_owner = in->boxes[0].owner;
  for (size_t i = 1; i < in->n; i++)
    if (in->boxes[i].owner < out->meta_owner)
      out->meta_owner = in->boxes[i].owner;
}

static cairn_code_t plan_cairn(const cairn_plan_in_t *in,
                               const cairn__plan_groups_t *g,
                               cairn__plan_list_t *list, cairn_plan_t *out,
                               cairn_error_t *err) {
  cairn_code_t rc = cairn__plan_chunk(in, g, out->chunk, err);
  if (rc != CAIRN_OK) return rc;
  memcpy(out->write_shape, out->chunk, sizeof out->chunk);
  if ((rc = cairn__plan_share(in, g, out->chunk, list, err)) != CAIRN_OK)
    return rc;
  if (list->n > 0) out->meta_owner = list->pieces[0].owner;
  return CAIRN_OK;
}

static cairn_code_t by_rule(const cairn_plan_in_t *in,
                            const cairn__plan_groups_t *g,
                            cairn__plan_list_t *list, cairn_plan_t *out,
                            cairn_error_t *err) {
  switch (in->rule) {
    case CAIRN_PLAN_CAIRN:
      return plan_cairn(in, g, list, out, err);
    case CAIRN_PLAN_ORBAX:
      return cairn__plan_orbax(in, g, list, out, err);
    case CAIRN_PLAN_PRIMARY:
      return cairn__plan_primary(in, g, list, out, err);
  }
  return cairn_fail(err, CAIRN_INVALID, "no planning rule %d", (int)in->rule);
}

/* Hands the pieces over, and the load back, which a failure leaves alone. */
static void publish(const cairn_plan_in_t *in, cairn__plan_list_t *list,
                    cairn_plan_t *out) {
  for (size_t i = 0; i < list->n; i++) {
    list->pieces[i].origin = list->coords + 2 * i * (size_t)list->rank;
    list->pieces[i].extent = list->pieces[i].origin + list->rank;
  }
  out->pieces = list->pieces;
  out->n = list->n;
  out->mem = list->coords;
  if (in->load != NULL)
    memcpy(in->load, list->load, (size_t)in->num_ranks * sizeof *in->load);
}

static cairn_code_t plan_groups(const cairn_plan_in_t *in,
                                const cairn__plan_groups_t *g,
                                cairn_plan_t *out, cairn_error_t *err) {
  cairn__plan_list_t list = {
      .rank = in->rank,
      .item = (int64_t)cairn_dtype_size(in->dtype),
      .load = calloc((size_t)in->num_ranks, sizeof *list.load),
  };
  cairn_code_t rc = CAIRN_OK;
  if (list.load == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "plan for %d ranks", in->num_ranks);
  else if (in->load != NULL)
    memcpy(list.load, in->load, (size_t)in->num_ranks * sizeof *in->load);
  if (rc == CAIRN_OK) rc = by_rule(in, g, &list, out, err);
  if (rc == CAIRN_OK && list.failed)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "plan of %zu boxes", in->n);
  if (rc == CAIRN_OK) {
    publish(in, &list, out);
  } else {
    free(list.pieces);
    free(list.coords);
  }
  free(list.load);
  return rc;
}

static cairn_code_t plan(const cairn_plan_in_t *in, cairn_plan_t *out,
                         cairn_error_t *err) {
  cairn__plan_groups_t groups = {0};
  cairn_code_t rc = check(in, err);
  if (rc != CAIRN_OK) return rc;
  for (int a = 0; a < in->rank; a++) {
    if (in->shape[a] != 0) continue;
    plan_nothing(in, out);
    return CAIRN_OK;
  }
  if ((rc = cairn__plan_group(in, &groups, err)) == CAIRN_OK &&
      (rc = cairn__plan_tiles(in, &groups, err)) == CAIRN_OK)
    rc = plan_groups(in, &groups, out, err);
  cairn__plan_groups_reset(&groups);
  return rc;
}

#define MAX_NAME 200 /* of a message of 960 */

cairn_code_t cairn_plan_array(const cairn_plan_in_t *in, cairn_plan_t *out,
                              cairn_error_t *err) {
  cairn_plan_in_t i;
  *out = (cairn_plan_t){0};
  cairn_code_t rc = cairn__options_take(
      in, &i, sizeof i, CAIRN__SIZE_UP_TO(cairn_plan_in_t, num_ranks), err);
  if (rc == CAIRN_OK) rc = plan(&i, out, err);
  if (rc == CAIRN_OK) return rc;
  *out = (cairn_plan_t){0};
  cairn_within(err, "array %.*s",
               (int)(i.name.n < MAX_NAME ? i.name.n : MAX_NAME),
               i.name.n > 0 ? (const char *)i.name.p : "");
  return rc;
}

void cairn_plan_free(cairn_plan_t *plan) {
  free(plan->pieces);
  free(plan->mem);
  *plan = (cairn_plan_t){0};
}
