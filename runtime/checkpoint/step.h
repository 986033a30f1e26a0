/* A step opened for looking, as the files that inspect see it.
 *
 *   step_open.c  what is at the path, and opening it
 *   step_item.c  asking an item's handler: inspect, read
 *   verify.c     reading and checking everything
 *
 * Caller's thread, one at a time; only what is started on the loop is not. */
#ifndef CAIRN_CHECKPOINT_STEP_H_
#define CAIRN_CHECKPOINT_STEP_H_

#include "cairn/inspect.h"
#include "checkpoint/context.h"
#include "checkpoint/layout.h"
#include "checkpoint/side_files.h"

typedef struct cairn__step_item {
  char *name;   /* "" where there is no item level */
  char *prefix; /* of its keys below the step: "name/" or "" */
  const cairn_handler_ops_t *ops; /* NULL: of a kind that nobody knows */
  char *typestr;                  /* what the step says it is; NULL: nothing */
  bool inspected;
  cairn_item_info_t info;
} cairn__step_item_t;

struct cairn_step {
  cairn_runtime_t *rt;
  char *path; /* absolute, or a URL */
  int64_t number;
  cairn_kv_t *kv; /* rooted at it */
  cairn__step_look_t look;
  cairn_step_info_t info;   /* what it points to is look's and path's */
  bool temporary;           /* by its name */
  bool bound;               /* binding holds cairn.json */
  cairn__binding_t binding; /* {0} if absent or unusable */
  cairn__step_item_t *items;
  size_t n;
  bool part; /* opened by an item's path: only that item */
};

/* One question to an item's handler: its context, and what it opened. */
typedef struct cairn__item_call {
  cairn__step_item_t *item;
  cairn_item_ctx_t ctx;
  struct cairn_item_private priv;
  char *directory;
  cairn_kv_t *dir; /* view of it; ctx.dir is it, or checks it */
} cairn__item_call_t;

/* checked: plain files are compared with cairn.json when they are read.
 * CAIRN_UNSUPPORTED if no handler knows the item. After success _end. */
CAIRN_MUST_CHECK cairn_code_t cairn__item_call_begin(cairn_step_t *step,
                                                     cairn__step_item_t *item,
                                                     bool checked,
                                                     cairn__item_call_t *out,
                                                     cairn_error_t *err);
void cairn__item_call_end(cairn__item_call_t *call);

/* By name; CAIRN_NOT_FOUND naming those there are. */
CAIRN_MUST_CHECK cairn_code_t cairn__step_find_item(cairn_step_t *step,
                                                    const char *name,
                                                    cairn__step_item_t **out,
                                                    cairn_error_t *err);

#endif
