/* From holders of boxes to pieces to write. */
#include "planner.h"

#include <stdlib.h>

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

cairn_code_t cairn__planner_open(cairn__planner_t *p,
                                 const cairn_item_ctx_t *ctx,
                                 cairn_bytes_t plan, cairn_error_t *err) {
  *p = (cairn__planner_t){.ctx = ctx};
  if (cairn__desc_open(&p->in, plan, true, err) != CAIRN_OK) return err->code;
  if (p->in.ranks != ctx->num_ranks) return cairn__desc_bad(err);
  p->load = calloc((size_t)p->in.ranks, sizeof *p->load);
  return p->load != NULL ? CAIRN_OK : no_memory(err);
}

/* n boxes and the two times rank numbers of each. */
static cairn_code_t make_room(cairn__planner_t *p, size_t n, int rank,
                              cairn_error_t *err) {
  size_t numbers = n * 2 * (size_t)rank;
  if (n > p->room_n) {
    cairn_plan_box_t *room = reallocarray(p->room, n, sizeof *room);
    if (room == NULL) return no_memory(err);
    p->room = room;
    p->room_n = n;
  }
  if (numbers > p->numbers_n) {
    int64_t *v = reallocarray(p->numbers, numbers, sizeof *v);
    if (v == NULL) return no_memory(err);
    p->numbers = v;
    p->numbers_n = numbers;
  }
  return CAIRN_OK;
}

/* Every rank holds all of it: the boxes share their numbers. */
static cairn_code_t all_hold(cairn__planner_t *p, cairn_error_t *err) {
  static const int64_t zeros[CAIRN_MAX_RANK];
  size_t n = (size_t)p->in.ranks;
  if (make_room(p, n, 0, err) != CAIRN_OK) return err->code;
  for (size_t i = 0; i < n; i++)
    p->room[i] = (cairn_plan_box_t){
        .owner = (int)i, .origin = zeros, .extent = p->in.leaf.shape};
  p->num_boxes = n;
  return CAIRN_OK;
}

static cairn_code_t read_boxes(cairn__planner_t *p, size_t n,
                               cairn_error_t *err) {
  int rank = p->in.leaf.rank;
  if (make_room(p, n, rank, err) != CAIRN_OK) return err->code;
  for (size_t i = 0; i < n; i++) {
    int64_t *v = p->numbers + i * 2 * (size_t)rank;
    cairn_plan_box_t *b = &p->room[i];
    if (cairn__desc_box(&p->in, rank, &b->owner, v, v + rank, err) != CAIRN_OK)
      return err->code;
    b->origin = v;
    b->extent = v + rank;
  }
  p->num_boxes = n;
  return CAIRN_OK;
}

static cairn_code_t plan_leaf(cairn__planner_t *p, cairn_error_t *err) {
  const cairn__desc_t *d = &p->in.leaf;
  const cairn__leaf_ops_t *ops = cairn__leaf_ops(d->form);
  bool whole;
  size_t n;
  if (cairn__desc_num_boxes(&p->in, &whole, &n, err) != CAIRN_OK ||
      (whole ? all_hold(p, err) : read_boxes(p, n, err)) != CAIRN_OK)
    return err->code;
  p->boxes = p->room;
  cairn_plan_in_t in = {.size = sizeof in,
                        .name = cairn_buf_bytes(&p->name),
                        .dtype = d->dtype,
                        .rank = d->rank,
                        .shape = d->shape,
                        .boxes = p->boxes,
                        .n = p->num_boxes,
                        .load = p->load,
                        .num_ranks = p->in.ranks};
  if (ops->rule(d, p->ctx, whole, &in, err) != CAIRN_OK) return err->code;
  return cairn_plan_array(&in, &p->plan, err);
}

cairn_code_t cairn__planner_next(cairn__planner_t *p, bool *more,
                                 cairn_error_t *err) {
  cairn_plan_free(&p->plan);
  p->num_boxes = 0;
  *more = p->in.next < p->in.leaves;
  if (!*more) return CAIRN_OK;
  if (cairn__desc_next(&p->in, err) != CAIRN_OK) return err->code;
  p->name.n = 0;
  cairn__keypath_name(cairn__desc_path(&p->in.leaf), &p->name);
  if (p->name.failed) return no_memory(err);
  if (!cairn__form_info(p->in.leaf.form)->stored ||
      plan_leaf(p, err) == CAIRN_OK)
    return CAIRN_OK;
  return cairn_within(err, "leaf %s",
                      cairn__path_show(cairn__desc_path(&p->in.leaf)).s);
}

void cairn__planner_close(cairn__planner_t *p) {
  cairn_plan_free(&p->plan);
  cairn__desc_close(&p->in);
  cairn_buf_reset(&p->name);
  free(p->room);
  free(p->numbers);
  free(p->load);
  *p = (cairn__planner_t){0};
}
