/* The blocking part of a save. Two passes over the leaves: the first measures,
 * then memory is got once, then the second copies and describes. Nothing is
 * allocated per leaf; the tree may be gone when this returns. What is more than
 * may be staged is measured again, with large boxes held instead of copied. */
#include <stdlib.h>

#include "tree_save.h"

cairn__tree_save_t *cairn__tree_save_new(void) {
  return calloc(1, sizeof(cairn__tree_save_t));
}

void cairn__tree_save_free(cairn__tree_save_t *s) {
  if (s == NULL) return;
  for (size_t i = 0; i < s->num_io; i++) cairn_zarr_unref(s->io[i].zarr);
  free(s->io);
  free(s->write_shapes);
  cairn_buf_reset(&s->desc);
  cairn_buf_reset(&s->texts);
  cairn_buf_reset(&s->array_metadatas);
  cairn_buf_reset(&s->metadata);
  cairn_buf_reset(&s->sharding);
  cairn_buf_reset(&s->strings);
  cairn__bump_free(&s->bump);
  free(s);
}

static cairn_code_t measure_once(const cairn_tree_t *tree, cairn__take_t *t,
                                 cairn_error_t *err) {
  size_t n = cairn_tree_count(tree);
  for (size_t i = 0; i < n; i++) {
    const cairn_leaf_t *leaf = cairn_tree_leaf(tree, i);
    const cairn__leaf_ops_t *ops = cairn__leaf_ops(cairn__form_of(leaf));
    if (ops->measure == NULL || ops->measure(leaf, t, err) == CAIRN_OK)
      continue;
    return cairn_within(err, "leaf %s",
                        cairn__path_show(cairn__leaf_path(leaf)).s);
  }
  return CAIRN_OK;
}

static cairn_code_t measure(const cairn_tree_t *tree, cairn__take_t *t,
                            cairn_error_t *err) {
  int64_t room = t->ctx->staging_bytes;
  if (measure_once(tree, t, err) != CAIRN_OK) return err->code;
  if (t->stage <= (uint64_t)room) return CAIRN_OK;
  t->tight = true;
  t->stage = t->boxes = t->strides = t->parts = 0;
  return measure_once(tree, t, err);
}

static cairn_code_t get_memory(cairn__tree_save_t *s, cairn__take_t *t,
                               cairn_item_ctx_t *ctx, cairn_error_t *err) {
  s->num_held = t->boxes;
  s->held = cairn__bump_calloc(&s->bump, t->boxes, sizeof *s->held);
  t->next_box = s->held;
  t->next_strides =
      cairn__bump_calloc(&s->bump, t->strides, sizeof *t->next_strides);
  t->part = cairn__bump_calloc(&s->bump, t->parts, sizeof *t->part);
  t->part_of = cairn__bump_calloc(&s->bump, t->parts, sizeof *t->part_of);
  if (t->stage != 0) t->next = cairn_item_stage(ctx, t->stage);
  if (s->held == NULL || t->next_strides == NULL || t->part == NULL ||
      t->part_of == NULL || (t->stage != 0 && t->next == NULL))
    return cairn_fail(err, CAIRN_NO_MEMORY,
                      "out of memory for %zu bytes of state", t->stage);
  return CAIRN_OK;
}

static void take(const cairn_tree_t *tree, cairn__take_t *t) {
  size_t n = cairn_tree_count(tree);
  cairn__desc_begin(&t->desc, n);
  for (size_t i = 0; i < n; i++) {
    const cairn_leaf_t *leaf = cairn_tree_leaf(tree, i);
    const cairn__leaf_ops_t *ops = cairn__leaf_ops(cairn__form_of(leaf));
    cairn__desc_leaf(&t->desc, leaf);
    if (ops->take != NULL) ops->take(leaf, t);
  }
}

static cairn_code_t hold(cairn__tree_save_t *s, cairn__take_t *t,
                         cairn_item_ctx_t *ctx, cairn_error_t *err) {
  size_t n = t->num_parts;
  if (n == 0) return CAIRN_OK;
  const cairn_source_t **sources =
      cairn__bump_calloc(&s->bump, n, sizeof *sources);
  if (sources == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for %zu arrays", n);
  cairn_code_t rc = cairn_item_hold(ctx, t->part, n, sources, err);
  for (size_t i = 0; i < n && rc == CAIRN_OK; i++)
    t->part_of[i]->source = sources[i];
  return rc;
}

cairn_code_t cairn__tree_save_take(cairn__tree_save_t *s,
                                   const cairn_tree_t *tree,
                                   cairn_item_ctx_t *ctx, cairn_error_t *err) {
  cairn__take_t t = {.ctx = ctx, .desc = {.out = &s->desc}};
  if (cairn_tree_check(tree, err) != CAIRN_OK ||
      measure(tree, &t, err) != CAIRN_OK ||
      get_memory(s, &t, ctx, err) != CAIRN_OK)
    return err->code;
  take(tree, &t);
  s->texts = t.texts;
  if (hold(s, &t, ctx, err) != CAIRN_OK) return err->code;
  if (s->desc.failed || s->texts.failed)
    return cairn_fail(err, CAIRN_NO_MEMORY,
                      "out of memory to describe the tree");
  return CAIRN_OK;
}
