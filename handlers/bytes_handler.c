/* The item types "bytes" and "rank_bytes": blobs, stored as a small tree of
 * uint8 arrays that Orbax reads as a dict.
 *
 *   bytes       {"data": the primary's blob}
 *   rank_bytes  {"rank_0": ..., "rank_1": ...}, each written by its rank
 *
 * Only lengths are agreed on; the plan made of them is a tree's plan, and what
 * follows is the tree's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "blob_restore.h"
#include "flow.h"
#include "handlers.h"
#include "tree_save.h"
#include "tree_stored.h"

/* Save ----------------------------------------------------------------------
 */

static cairn_code_t hold(cairn__tree_save_t *s, cairn_item_ctx_t *ctx,
                         const cairn_blob_t *blob, cairn_error_t *err) {
  void *copy = NULL;
  s->held = cairn__bump_calloc(&s->bump, 1, sizeof *s->held);
  if (blob->n != 0) copy = cairn_item_stage(ctx, blob->n);
  if (s->held == NULL || (blob->n != 0 && copy == NULL))
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for %zu bytes",
                      blob->n);
  if (blob->n != 0) memcpy(copy, blob->data, blob->n);
  s->held[0] = (cairn__held_t){.data = copy};
  s->num_held = 1;
  cairn_buf_put_varint(&s->desc, blob->n);
  return CAIRN_OK;
}

static cairn_code_t snapshot(const cairn_item_t *item, cairn_item_ctx_t *ctx,
                             bool mine, void **state, cairn_error_t *err) {
  const cairn_blob_t *blob = item->value;
  cairn_error_t local = {0};
  *state = NULL;
  if (mine && (blob == NULL || (blob->data == NULL && blob->n != 0)))
    return cairn_fail(err, CAIRN_INVALID, "an item of type %s wants a blob",
                      item->type);
  if (mine && blob->n > INT64_MAX)
    return cairn_fail(err, CAIRN_INVALID, "a blob of %zu bytes", blob->n);
  cairn__tree_save_t *s = cairn__tree_save_new();
  if (s == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (mine && hold(s, ctx, blob, &local) != CAIRN_OK) {
    cairn__tree_save_free(s);
    return cairn_error_copy(err, &local);
  }
  *state = s;
  return CAIRN_OK;
}

static cairn_code_t bytes_snapshot(const cairn_item_t *item,
                                   cairn_item_ctx_t *ctx, void **state,
                                   cairn_error_t *err) {
  return snapshot(item, ctx, ctx->rank == 0, state, err);
}

static cairn_code_t rank_snapshot(const cairn_item_t *item,
                                  cairn_item_ctx_t *ctx, void **state,
                                  cairn_error_t *err) {
  return snapshot(item, ctx, true, state, err);
}

static cairn_future_t *describe(void *state, cairn_item_ctx_t *ctx,
                                cairn_buf_t *out) {
  const cairn__tree_save_t *s = state;
  cairn_error_t err = {0};
  cairn_buf_put(out, s->desc.p, s->desc.n);
  if (out->failed) cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory");
  return cairn_future_done(ctx->rt, &err);
}

/* One array of the plan: blob `owner` under that name. */
static cairn_code_t put_blob(cairn__desc_writer_t *w, const char *name,
                             int owner, cairn_bytes_t description,
                             cairn_error_t *err) {
  static const int64_t origin;
  cairn_cur_t c = cairn_cur(description);
  int64_t n;
  cairn_key_t key = cairn_key(name);
  if (!cairn__desc_int(&c, &n)) return cairn__desc_bad(err);
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_ARRAY,
                       .path = &key,
                       .path_n = 1,
                       .dtype = CAIRN_U8,
                       .rank = 1,
                       .shape = &n};
  cairn__desc_leaf(w, &leaf);
  cairn__plan_num_boxes(w, 1);
  cairn__plan_box(w, owner, 1, &origin, &n);
  return CAIRN_OK;
}

static cairn_code_t end_plan(const cairn_buf_t *out, size_t start,
                             const cairn_item_ctx_t *ctx, cairn_error_t *err) {
  if (out->failed) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  return cairn__tree_try_plan(cairn_bytes(out->p + start, out->n - start), ctx,
                              err);
}

static cairn_code_t bytes_combine(const cairn_bytes_t *descriptions, int n,
                                  const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                                  cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn__desc_writer_t w = {.out = out};
  size_t start = out->n;
  cairn__plan_begin(&w, n, 1);
  if (put_blob(&w, "data", 0, descriptions[0], &local) != CAIRN_OK ||
      end_plan(out, start, ctx, &local) != CAIRN_OK)
    return cairn_error_copy(err, &local);
  return CAIRN_OK;
}

/* Leaves come in the order of their names: rank_10 before rank_2. */
typedef struct rank_name {
  char s[24];
  int rank;
} rank_name_t;

static int by_name(const void *a, const void *b) {
  return strcmp(((const rank_name_t *)a)->s, ((const rank_name_t *)b)->s);
}

static rank_name_t *rank_names(int n) {
  rank_name_t *names = calloc((size_t)n, sizeof *names);
  if (names == NULL) return NULL;
  for (int r = 0; r < n; r++) {
    names[r].rank = r;
    snprintf(names[r].s, sizeof names[r].s, "rank_%d", r);
  }
  qsort(names, (size_t)n, sizeof *names, by_name);
  return names;
}

static cairn_code_t rank_combine(const cairn_bytes_t *descriptions, int n,
                                 const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                                 cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn__desc_writer_t w = {.out = out};
  size_t start = out->n;
  rank_name_t *names = rank_names(n);
  if (names == NULL) cairn_fail(&local, CAIRN_NO_MEMORY, "out of memory");
  cairn__plan_begin(&w, n, (size_t)n);
  for (int i = 0; i < n && local.code == CAIRN_OK; i++)
    put_blob(&w, names[i].s, names[i].rank, descriptions[names[i].rank],
             &local);
  if (local.code == CAIRN_OK) end_plan(out, start, ctx, &local);
  free(names);
  return local.code == CAIRN_OK ? CAIRN_OK : cairn_error_copy(err, &local);
}

static cairn_future_t *commit(void *state, cairn_item_ctx_t *ctx) {
  return cairn__tree_commit(state, ctx);
}

static cairn_future_t *finalize(void *state, cairn_item_ctx_t *ctx) {
  return cairn__tree_finalize(state, ctx);
}

static void drop(void *state) {
  cairn__tree_save_free(state);
}

/* Restore -------------------------------------------------------------------
 */

static cairn_future_t *bytes_restore(const cairn_item_t *target,
                                     cairn_item_ctx_t *ctx) {
  return cairn__blob_restore(target->value, "data", ctx);
}

static cairn_future_t *rank_restore(const cairn_item_t *target,
                                    cairn_item_ctx_t *ctx) {
  return cairn__blob_restore(target->value, NULL, ctx);
}

/* Looking -------------------------------------------------------------------
 */

typedef struct look {
  cairn_item_info_t *info;
  const char *type;
  cairn_wait_t wait;
  cairn_future_t *done;
} look_t;

static void on_inspected(cairn_wait_t *w) {
  look_t *l = cairn_container_of(w, look_t, wait);
  cairn_future_t *done = l->done;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) l->info->type = l->type;
  free(l);
  cairn_future_resolve(done, &err);
}

/* A tree, under its own name. */
static cairn_future_t *inspect(cairn_item_ctx_t *ctx, cairn_item_info_t *out,
                               const char *type) {
  cairn_future_t *done;
  look_t *l = cairn__flow_new(ctx->rt, sizeof *l, &done);
  if (l == NULL) return done;
  l->info = out;
  l->type = type;
  l->done = done;
  cairn_then(cairn__tree_inspect(ctx, out), &l->wait, on_inspected);
  return done;
}

static cairn_future_t *bytes_inspect(cairn_item_ctx_t *ctx,
                                     cairn_item_info_t *out) {
  return inspect(ctx, out, "bytes");
}

static cairn_future_t *rank_inspect(cairn_item_ctx_t *ctx,
                                    cairn_item_info_t *out) {
  return inspect(ctx, out, "rank_bytes");
}

/* The tree's: to Orbax these items are trees. */
static const char *const typestrs[] = {
    "orbax.checkpoint._src.handlers.standard_checkpoint_handler."
    "StandardCheckpointHandler",
    NULL,
};
#define V1_TYPESTR                                                 \
  "orbax.checkpoint.experimental.v1._src.handlers.pytree_handler." \
  "PyTreeHandler"

const cairn_handler_ops_t cairn__bytes_handler = {
    .size = sizeof(cairn_handler_ops_t),
    .type = "bytes",
    .typestrs = typestrs,
    .v1_typestr = V1_TYPESTR,
    .snapshot = bytes_snapshot,
    .describe = describe,
    .combine = bytes_combine,
    .commit = commit,
    .finalize = finalize,
    .drop = drop,
    .load = cairn__tree_load,
    .restore = bytes_restore,
    .inspect = bytes_inspect,
    .verify = cairn__tree_verify,
};

const cairn_handler_ops_t cairn__rank_bytes_handler = {
    .size = sizeof(cairn_handler_ops_t),
    .type = "rank_bytes",
    .typestrs = typestrs,
    .v1_typestr = V1_TYPESTR,
    .snapshot = rank_snapshot,
    .describe = describe,
    .combine = rank_combine,
    .commit = commit,
    .finalize = finalize,
    .drop = drop,
    .load = cairn__tree_load,
    .restore = rank_restore,
    .inspect = rank_inspect,
    .verify = cairn__tree_verify,
};
