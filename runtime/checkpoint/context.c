#include "checkpoint/context.h"

#include <stdlib.h>

#include "kv/kv.h"

void *cairn_item_stage(cairn_item_ctx_t *ctx, size_t n) {
  struct cairn_item_private *p = ctx->priv;
  cairn__slab_t **slabs =
      realloc(p->slabs, (p->num_slabs + 1) * sizeof(*p->slabs));
  if (slabs == NULL) return NULL;
  p->slabs = slabs;
  if (cairn__pool_get(p->pool, n, &slabs[p->num_slabs], NULL) != CAIRN_OK)
    return NULL;
  p->staged += (int64_t)n;
  return cairn__slab_data(slabs[p->num_slabs++]);
}

void cairn__item_unstage(struct cairn_item_private *p) {
  for (size_t i = 0; i < p->num_slabs; i++)
    cairn__pool_put(p->pool, p->slabs[i]);
  free(p->slabs);
  p->slabs = NULL;
  p->num_slabs = 0;
}

/* --- stores, opened when first asked for --- */

static void opened(struct cairn_item_private *p, cairn__item_store_t *store,
                   cairn_wait_t *w) {
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK)
    *p->out = cairn__item_store_kv(store);
  cairn_future_t *done = p->opening;
  p->opening = NULL;
  cairn_future_resolve(done, &err);
}

static void on_writer(cairn_wait_t *w) {
  struct cairn_item_private *p =
      cairn_container_of(w, struct cairn_item_private, wait);
  opened(p, p->writer, w);
}

static void on_reader(cairn_wait_t *w) {
  struct cairn_item_private *p =
      cairn_container_of(w, struct cairn_item_private, wait);
  opened(p, p->reader, w);
}

static cairn_future_t *open_store(cairn_item_ctx_t *ctx, bool writer,
                                  cairn_kv_t **out) {
  struct cairn_item_private *p = ctx->priv;
  cairn_future_t *done;
  if (!cairn__promise(ctx->rt, &done)) return done;
  p->out = out;
  p->opening = done;
  if (writer)
    cairn_then(cairn__item_store_create(ctx->rt, &p->place, &p->writer),
               &p->wait, on_writer);
  else
    cairn_then(cairn__item_store_open(ctx->rt, &p->place, &p->reader), &p->wait,
               on_reader);
  return done;
}

/* A store that did not open is there all the same, to be closed. */
static cairn_future_t *give(cairn_item_ctx_t *ctx, cairn_kv_t *kv,
                            cairn_kv_t **out) {
  cairn_error_t err = {0};
  if (kv == NULL)
    cairn_fail(&err, CAIRN_CLOSED, "the item's store could not be opened");
  else
    *out = kv;
  return cairn_future_done(ctx->rt, &err);
}

cairn_future_t *cairn_item_writer(cairn_item_ctx_t *ctx, cairn_kv_t **out) {
  struct cairn_item_private *p = ctx->priv;
  if (p->writer == NULL) return open_store(ctx, true, out);
  return give(ctx, cairn__item_store_kv(p->writer), out);
}

cairn_future_t *cairn_item_reader(cairn_item_ctx_t *ctx, bool ocdbt,
                                  cairn_kv_t **out) {
  struct cairn_item_private *p = ctx->priv;
  if (!ocdbt) return give(ctx, ctx->dir, out);
  if (p->reader == NULL) return open_store(ctx, false, out);
  return give(ctx, cairn__item_store_kv(p->reader), out);
}

cairn_future_t *cairn__item_close_store(struct cairn_item_private *p) {
  cairn__item_store_t **slot = p->writer != NULL ? &p->writer : &p->reader;
  cairn__item_store_t *store = *slot;
  *slot = NULL;
  return store != NULL ? cairn__item_store_close(store) : NULL;
}
