/* Saving a tree: the state between snapshot and drop, and its steps. The bytes
 * handlers save their blobs as small trees through the same steps. */
#ifndef CAIRN_HANDLERS_TREE_SAVE_H_
#define CAIRN_HANDLERS_TREE_SAVE_H_

#include "leaf.h"

typedef struct cairn__tree_save {
  cairn_buf_t desc;    /* this rank's description */
  cairn__held_t *held; /* this rank's boxes, in the plan's order */
  size_t num_held;
  cairn_buf_t texts; /* the primary's strings */
  cairn__bump_t bump;

  /* made by commit */
  cairn_array_io_t *io; /* what this rank writes */
  size_t num_io, cap_io;
  const int64_t **write_shapes; /* primary: of each jax.Array, in order */
  size_t num_shapes, cap_shapes;
  cairn_buf_t array_metadatas; /* the file; empty without jax.Arrays */

  /* made by finalize */
  cairn_buf_t metadata, sharding, strings; /* files; empty: none */

  /* the step at hand */
  cairn_item_ctx_t *ctx;
  cairn_kv_t *writer;
  cairn_wait_t wait;
  cairn_future_t *done;
} cairn__tree_save_t;

/* {0} is a save of nothing. */
cairn__tree_save_t *cairn__tree_save_new(void);
void cairn__tree_save_free(cairn__tree_save_t *s);

/* Caller's thread. CAIRN_INVALID, naming the leaf. */
cairn_code_t cairn__tree_save_take(cairn__tree_save_t *s,
                                   const cairn_tree_t *tree,
                                   cairn_item_ctx_t *ctx, cairn_error_t *err);

/* All ranks' descriptions into a plan that every rank can follow.
 * CAIRN_MISMATCH: the trees differ, naming leaf and ranks; CAIRN_INVALID: the
 * boxes do not make up an array. */
cairn_code_t cairn__tree_combine(const cairn_bytes_t *descriptions, int n,
                                 const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                                 cairn_error_t *err);
/* Walks a plan, so that what is wrong with it is known. */
cairn_code_t cairn__tree_try_plan(cairn_bytes_t plan,
                                  const cairn_item_ctx_t *ctx,
                                  cairn_error_t *err);

/* CPU thread, before the writing: from ctx->combined to s->io. */
cairn_code_t cairn__tree_prepare(cairn__tree_save_t *s, cairn_error_t *err);
/* CPU thread, before the writing of files: _METADATA and those beside it. */
cairn_code_t cairn__tree_describe_files(cairn__tree_save_t *s,
                                        cairn_error_t *err);

/* Loop. */
cairn_future_t *cairn__tree_commit(cairn__tree_save_t *s,
                                   cairn_item_ctx_t *ctx);
cairn_future_t *cairn__tree_finalize(cairn__tree_save_t *s,
                                     cairn_item_ctx_t *ctx);

#endif
