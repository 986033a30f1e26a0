/* Walks a plan (desc.h) leaf by leaf and asks cairn_plan_array who writes what.
 * Every rank walks the same bytes and gets the same answers; combine walks them
 * first, so that what cannot be planned is refused before anything is written.
 */
#ifndef CAIRN_HANDLERS_PLANNER_H_
#define CAIRN_HANDLERS_PLANNER_H_

#include "leaf.h"

typedef struct cairn__planner {
  const cairn_item_ctx_t *ctx;
  cairn__desc_reader_t in;
  cairn_plan_t plan; /* of the stored leaf read last; else {0} */
  const cairn_plan_box_t *boxes;
  size_t num_boxes;

  cairn_plan_box_t *room; /* boxes, and their numbers */
  int64_t *numbers;
  size_t room_n, numbers_n;
  int64_t *load;    /* bytes given to each rank so far */
  cairn_buf_t name; /* parameter name of the leaf */
} cairn__planner_t;

/* Any thread; planner_close also after a failure. */
cairn_code_t cairn__planner_open(cairn__planner_t *p,
                                 const cairn_item_ctx_t *ctx,
                                 cairn_bytes_t plan, cairn_error_t *err);
/* The next leaf, in p->in.leaf, p->name and p->plan; *more false at the end.
 * Errors name the leaf. */
cairn_code_t cairn__planner_next(cairn__planner_t *p, bool *more,
                                 cairn_error_t *err);
void cairn__planner_close(cairn__planner_t *p);

#endif
