/* The item type "tree": a state tree, as Orbax's pytree items are. */
#include "handlers.h"
#include "tree_restore.h"
#include "tree_save.h"

static cairn_code_t snapshot(const cairn_item_t *item, cairn_item_ctx_t *ctx,
                             void **state, cairn_error_t *err) {
  cairn_error_t local = {0};
  *state = NULL;
  if (item->value == NULL)
    return cairn_fail(err, CAIRN_INVALID, "an item of type tree wants a tree");
  cairn__tree_save_t *s = cairn__tree_save_new();
  if (s == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (cairn__tree_save_take(s, item->value, ctx, &local) != CAIRN_OK) {
    cairn__tree_save_free(s);
    return cairn_error_copy(err, &local);
  }
  *state = s;
  return CAIRN_OK;
}

static cairn_future_t *describe(void *state, cairn_item_ctx_t *ctx,
                                cairn_buf_t *out) {
  const cairn__tree_save_t *s = state;
  cairn_error_t err = {0};
  cairn_buf_put(out, s->desc.p, s->desc.n);
  if (out->failed)
    cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory to describe the tree");
  return cairn_future_done(ctx->rt, &err);
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

static cairn_future_t *restore(const cairn_item_t *target,
                               cairn_item_ctx_t *ctx) {
  cairn_error_t err = {0};
  if (target->value != NULL) return cairn__tree_restore(target->value, ctx);
  cairn_fail(&err, CAIRN_INVALID, "an item of type tree wants a tree");
  return cairn_future_done(ctx->rt, &err);
}

static bool recognise(const cairn_bytes_t *names, size_t n) {
  return cairn__has_name(names, n, "_METADATA");
}

/* The Standard handler restores without arguments whatever is in a tree, also
 * jax.Arrays without their sharding; written by all profiles but V1. */
static const char *const typestrs[] = {
    "orbax.checkpoint._src.handlers.standard_checkpoint_handler."
    "StandardCheckpointHandler",
    "orbax.checkpoint._src.handlers.pytree_checkpoint_handler."
    "PyTreeCheckpointHandler",
    "orbax.checkpoint._src.handlers.array_checkpoint_handler."
    "ArrayCheckpointHandler",
    "orbax.checkpoint.handlers.StandardCheckpointHandler",
    "orbax.checkpoint.handlers.PyTreeCheckpointHandler",
    NULL,
};

const cairn_handler_ops_t cairn__tree_handler = {
    .size = sizeof(cairn_handler_ops_t),
    .type = "tree",
    .typestrs = typestrs,
    .v1_typestr =
        "orbax.checkpoint.experimental.v1._src.handlers.pytree_handler."
        "PyTreeHandler",
    .snapshot = snapshot,
    .describe = describe,
    .combine = cairn__tree_combine,
    .commit = commit,
    .finalize = finalize,
    .drop = drop,
    .load = cairn__tree_load,
    .restore = restore,
    .recognise = recognise,
    .inspect = cairn__tree_inspect,
    .verify = cairn__tree_verify,
};
