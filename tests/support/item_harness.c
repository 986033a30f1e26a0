#include "support/item_harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop/loop.h"
#include "ocdbt/ocdbt.h"
#include "support/kv_call.h"

/* One rank of one call. */
struct rank {
  harness_t *h;
  const cairn_handler_ops_t *ops;
  cairn_item_ctx_t ctx;
  cairn_item_t item;
  void *state;
  void *staged;
  cairn_buf_t description;
  cairn_kv_t *base, *store; /* store: the writer's or the reader's */
  cairn_kv_t **out;         /* where the handler wants it */
  cairn_wait_t wait;
  cairn_future_t *opening;
  cairn__ocdbt_summary_t summary;
  /* arguments of a call on the loop */
  cairn_buf_t *buf;
  cairn_item_info_t *info;
};

/* What a handler's context can do -------------------------------------------
 *
 * Weak: where the checkpoint room's are linked, those are meant. */

#define WEAK __attribute__((weak))

WEAK void *cairn_item_stage(cairn_item_ctx_t *ctx, size_t n) {
  struct rank *r = (struct rank *)(void *)ctx->priv;
  cr_assert_null(r->staged, "memory is staged once");
  return r->staged = aligned_alloc(64, (n + 63) / 64 * 64);
}

static void on_open(cairn_wait_t *w) {
  struct rank *r = cairn_container_of(w, struct rank, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) *r->out = r->store;
  cairn_future_resolve(r->opening, &err);
}

/* Nothing is begun without a future to tell of its end: a rank must not go on
 * while its store is being opened. */
static bool opening(struct rank *r, cairn_kv_t **out) {
  r->opening = cairn_future_new(r->h->rt);
  r->out = out;
  if (!cairn_future_ready(r->opening)) return true;
  cairn_future_resolve(r->opening, NULL);
  return false;
}

/* Nothing is held here: all is copied that is not borrowed. */
WEAK cairn_snapshot_t cairn_item_snapshot(const cairn_item_ctx_t *ctx,
                                          cairn_snapshot_t asked) {
  if (asked == CAIRN_SNAPSHOT_DEFAULT) asked = ctx->snapshot;
  return asked == CAIRN_SNAPSHOT_BORROW ? asked : CAIRN_SNAPSHOT_COPY;
}

static cairn_code_t read_borrowed(const cairn_source_t *self, void *dst,
                                  const void *src, size_t n,
                                  cairn_error_t *err) {
  (void)self;
  (void)err;
  memcpy(dst, src, n);
  return CAIRN_OK;
}

WEAK cairn_code_t cairn_item_hold(cairn_item_ctx_t *ctx,
                                  const cairn_item_part_t *parts, size_t n,
                                  const cairn_source_t **sources,
                                  cairn_error_t *err) {
  static const cairn_source_t borrowed = {.copy_out = read_borrowed};
  (void)ctx;
  (void)parts;
  (void)err;
  for (size_t i = 0; i < n; i++) sources[i] = &borrowed;
  return CAIRN_OK;
}

WEAK cairn_future_t *cairn_item_writer(cairn_item_ctx_t *ctx,
                                       cairn_kv_t **out) {
  struct rank *r = (struct rank *)(void *)ctx->priv;
  cairn__ocdbt_write_opts_t o;
  char name[40];
  snprintf(name, sizeof name, "ocdbt.process_%d/", ctx->rank);
  r->base = cairn_kv_prefix(ctx->dir, cairn_bytes_str(name));
  if (r->base == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for a view");
    return cairn_future_done(ctx->rt, &err);
  }
  cairn__ocdbt_orbax_opts(&o);
  if (!opening(r, out)) return r->opening;
  cairn_future_t *done = r->opening;
  cairn_then(cairn__ocdbt_create(r->base, &o, &r->store), &r->wait, on_open);
  return done;
}

WEAK cairn_future_t *cairn_item_reader(cairn_item_ctx_t *ctx, bool ocdbt,
                                       cairn_kv_t **out) {
  struct rank *r = (struct rank *)(void *)ctx->priv;
  if (!ocdbt) {
    *out = ctx->dir;
    return cairn_future_done(ctx->rt, NULL);
  }
  if (!opening(r, out)) return r->opening;
  cairn_future_t *done = r->opening;
  cairn_then(cairn__ocdbt_open(ctx->dir, &r->store), &r->wait, on_open);
  return done;
}

/* Opening -------------------------------------------------------------------
 */

static int stores;

static void open_runtime(harness_t *h, int ranks) {
  cairn_error_t err = {0};
  *h = (harness_t){.ranks = ranks};
  cr_assert_eq(cairn_runtime_open(NULL, &h->rt, &err), CAIRN_OK, "%s",
               err.message);
}

static void open_dir(harness_t *h, const char *url) {
  cairn_error_t err = {0};
  cr_assert_eq(kv_call_open(h->rt, url, &h->dir, &err), CAIRN_OK, "%s",
               err.message);
}

void harness_open(harness_t *h, int ranks, const char *url) {
  char memory[40];
  snprintf(memory, sizeof memory, "memory://harness%d/", stores++);
  open_runtime(h, ranks);
  open_dir(h, url != NULL ? url : memory);
}

void harness_open_fault(harness_t *h, int ranks, kv_fault_t *f) {
  char url[40];
  cairn_error_t err = {0};
  snprintf(url, sizeof url, "fault://harness%d/", stores++);
  open_runtime(h, ranks);
  cr_assert_eq(kv_fault_register(h->rt, f, &err), CAIRN_OK, "%s", err.message);
  open_dir(h, url);
}

void harness_close(harness_t *h) {
  cairn_error_t err = {0};
  cr_assert_eq(kv_call_close(h->dir, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_runtime_close(h->rt, &err), CAIRN_OK, "%s", err.message);
}

static void begin(harness_t *h, const cairn_handler_ops_t *ops,
                  struct rank *all, void *const *values) {
  memset(all, 0, HARNESS_MAX_RANKS * sizeof *all);
  for (int r = 0; r < h->ranks; r++) {
    const char *name = h->opts.item != NULL ? h->opts.item : "";
    all[r] = (struct rank){
        .h = h,
        .ops = ops,
        .ctx = {.size = sizeof(cairn_item_ctx_t),
                .rt = h->rt,
                .rank = r,
                .num_ranks = h->ranks,
                .primary = r == 0,
                .step = 1,
                .item = name,
                .profile = h->opts.profile,
                .chunk_bytes = h->opts.chunk_bytes,
                .no_compression = h->opts.no_compression,
                .partial = h->opts.partial,
                .snapshot = h->opts.snapshot,
                .staging_bytes = INT64_MAX,
                .dir = h->dir},
        .item = {name, ops->type, values != NULL ? values[r] : NULL}};
    all[r].ctx.priv = (struct cairn_item_private *)(void *)&all[r];
  }
}

typedef cairn_future_t *(*on_loop_fn)(struct rank *r);

struct on_loop {
  on_loop_fn fn;
  struct rank *r;
};

static cairn_future_t *run_on_loop(void *arg) {
  struct on_loop *c = arg;
  return c->fn(c->r);
}

static cairn_code_t call(struct rank *r, on_loop_fn fn, cairn_error_t *err) {
  struct on_loop c = {fn, r};
  if (cairn__call(r->h->rt, run_on_loop, &c, -1, err) != CAIRN_OK)
    return err->code;
  return CAIRN_OK;
}

static cairn_future_t *do_close_stores(struct rank *r) {
  cairn_kv_t **kv = r->store != NULL ? &r->store : &r->base;
  cairn_kv_t *closing = *kv;
  *kv = NULL;
  return closing != NULL ? cairn_kv_close(closing)
                         : cairn_future_done(r->h->rt, NULL);
}

static void end(harness_t *h, struct rank *all) {
  if (h->over != NULL) h->over();
  for (int r = 0; r < h->ranks; r++) {
    cairn_error_t err = {0};
    h->bytes[r] = all[r].ctx.bytes;
    if (all[r].state != NULL) all[r].ops->drop(all[r].state);
    for (int i = 0; i < 2; i++)
      cr_assert_eq(call(&all[r], do_close_stores, &err), CAIRN_OK, "%s",
                   err.message);
    free(all[r].staged);
    cairn_buf_reset(&all[r].description);
    cairn__ocdbt_summary_free(&all[r].summary);
  }
}

/* Saving --------------------------------------------------------------------
 */

static cairn_future_t *do_describe(struct rank *r) {
  return r->ops->describe(r->state, &r->ctx, &r->description);
}

static cairn_future_t *do_commit(struct rank *r) {
  return r->ops->commit(r->state, &r->ctx);
}

static cairn_future_t *do_publish(struct rank *r) {
  return r->store != NULL ? cairn__ocdbt_commit(r->store, &r->summary)
                          : cairn_future_done(r->h->rt, NULL);
}

static cairn_future_t *do_finalize(struct rank *r) {
  return r->ops->finalize(r->state, &r->ctx);
}

static cairn_code_t plan(harness_t *h, struct rank *all, cairn_buf_t *out,
                         cairn_error_t *err) {
  cairn_bytes_t in[HARNESS_MAX_RANKS];
  for (int r = 0; r < h->ranks; r++)
    in[r] = cairn_buf_bytes(&all[r].description);
  return all[0].ops->combine(in, h->ranks, &all[0].ctx, out, err);
}

struct merge {
  harness_t *h;
  cairn__ocdbt_child_t children[HARNESS_MAX_RANKS];
  cairn__ocdbt_write_opts_t opts;
  cairn__ocdbt_summary_t summary;
};

static cairn_future_t *do_merge(void *arg) {
  struct merge *m = arg;
  return cairn__ocdbt_merge(m->h->dir, &m->opts, m->children,
                            (size_t)m->h->ranks, &m->summary);
}

static cairn_code_t merge(harness_t *h, struct rank *all, cairn_error_t *err) {
  struct merge m = {.h = h};
  char names[HARNESS_MAX_RANKS][40];
  cairn__ocdbt_orbax_opts(&m.opts);
  for (int r = 0; r < h->ranks; r++) {
    snprintf(names[r], sizeof names[r], "ocdbt.process_%d/", r);
    m.children[r] = (cairn__ocdbt_child_t){
        .base_path = cairn_bytes_str(names[r]),
        .leaves = cairn_buf_bytes(&all[r].summary.leaves)};
  }
  cairn_code_t rc = cairn__call(h->rt, do_merge, &m, -1, err);
  cairn__ocdbt_summary_free(&m.summary);
  return rc;
}

static cairn_code_t each(harness_t *h, struct rank *all, on_loop_fn fn,
                         cairn_error_t *err) {
  for (int r = 0; r < h->ranks; r++)
    if (call(&all[r], fn, err) != CAIRN_OK) return err->code;
  return CAIRN_OK;
}

static cairn_code_t snapshot(harness_t *h, struct rank *all,
                             cairn_error_t *err) {
  for (int r = 0; r < h->ranks; r++)
    if (all[r].ops->snapshot(&all[r].item, &all[r].ctx, &all[r].state, err) !=
        CAIRN_OK)
      return err->code;
  if (h->staged != NULL) h->staged(h->staged_arg);
  return CAIRN_OK;
}

static cairn_code_t save(harness_t *h, struct rank *all, cairn_buf_t *combined,
                         cairn_error_t *err) {
  if (snapshot(h, all, err) != CAIRN_OK ||
      each(h, all, do_describe, err) != CAIRN_OK ||
      plan(h, all, combined, err) != CAIRN_OK)
    return err->code;
  for (int r = 0; r < h->ranks; r++)
    all[r].ctx.combined = cairn_buf_bytes(combined);
  bool database = false; /* a handler need not ask for one */
  if (each(h, all, do_commit, err) != CAIRN_OK) return err->code;
  for (int r = 0; r < h->ranks; r++) database |= all[r].store != NULL;
  if (each(h, all, do_publish, err) != CAIRN_OK ||
      (database && merge(h, all, err) != CAIRN_OK))
    return err->code;
  return call(&all[0], do_finalize, err);
}

cairn_code_t harness_save(harness_t *h, const cairn_handler_ops_t *ops,
                          void *const *values, cairn_error_t *err) {
  struct rank all[HARNESS_MAX_RANKS];
  cairn_buf_t combined = {0};
  begin(h, ops, all, values);
  cairn_code_t rc = save(h, all, &combined, err);
  end(h, all);
  cairn_buf_reset(&combined);
  return rc;
}

/* Restoring and looking -----------------------------------------------------
 */

static cairn_future_t *do_load(struct rank *r) {
  return r->ops->load(&r->ctx, r->buf);
}

static cairn_future_t *do_restore(struct rank *r) {
  return r->ops->restore(&r->item, &r->ctx);
}

cairn_code_t harness_restore(harness_t *h, const cairn_handler_ops_t *ops,
                             void *const *values, cairn_error_t *err) {
  struct rank all[HARNESS_MAX_RANKS];
  cairn_buf_t loaded = {0};
  begin(h, ops, all, values);
  all[0].buf = &loaded;
  cairn_code_t rc = call(&all[0], do_load, err);
  for (int r = 0; r < h->ranks && rc == CAIRN_OK; r++) {
    all[r].ctx.combined = cairn_buf_bytes(&loaded);
    rc = call(&all[r], do_restore, err);
  }
  end(h, all);
  cairn_buf_reset(&loaded);
  return rc;
}

static cairn_future_t *do_inspect(struct rank *r) {
  return r->ops->inspect(&r->ctx, r->info);
}

cairn_code_t harness_inspect(harness_t *h, const cairn_handler_ops_t *ops,
                             cairn_item_info_t *out, cairn_error_t *err) {
  struct rank all[HARNESS_MAX_RANKS];
  begin(h, ops, all, NULL);
  all[0].info = out;
  cairn_code_t rc = call(&all[0], do_inspect, err);
  end(h, all);
  return rc;
}

static void on_damage(void *arg, cairn_bytes_t key, const cairn_error_t *what) {
  cairn_buf_printf(arg, "%.*s: %s\n", (int)key.n, (const char *)key.p,
                   what->message);
}

static cairn_future_t *do_verify(struct rank *r) {
  return r->ops->verify(&r->ctx, on_damage, r->buf);
}

char *harness_verify(harness_t *h, const cairn_handler_ops_t *ops,
                     cairn_error_t *err) {
  struct rank all[HARNESS_MAX_RANKS];
  cairn_buf_t text = {0};
  begin(h, ops, all, NULL);
  all[0].buf = &text;
  (void)call(&all[0], do_verify, err);
  end(h, all);
  cairn_buf_put_u8(&text, 0);
  return (char *)cairn_buf_steal(&text, NULL);
}
