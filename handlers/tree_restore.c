/* One restore on one rank:
 *
 *   MATCH  (CPU)  parse what load packed; pair its leaves with the target's
 *   READER        the item's arrays, if any are wanted
 *   OPEN          their metadata, in one batch
 *   FIT    (CPU)  shapes, types, room for strings; the first difference fails
 *   CASTS         scalars of another type, read beside the target
 *   CAST   (CPU)  and converted
 *   READ          all else, straight into the target
 *   STORE  (CPU)  strings and converted scalars */
#include "tree_restore.h"

#include <stdlib.h>

#include "flow.h"

enum phase { MATCH, READER, OPEN, FIT, CASTS, CAST, READ, STORE, DONE };

static cairn_code_t match_job(void *job, cairn_error_t *err) {
  return cairn__restore_match(job, err);
}
static cairn_code_t fit_job(void *job, cairn_error_t *err) {
  return cairn__restore_fit(job, err);
}
static cairn_code_t cast_job(void *job, cairn_error_t *err) {
  return cairn__restore_cast(job, err);
}
static cairn_code_t store_job(void *job, cairn_error_t *err) {
  return cairn__restore_store(job, err);
}

/* NULL: nothing to do in this phase. */
static cairn_future_t *start(cairn__tree_restore_t *r) {
  cairn_runtime_t *rt = r->ctx->rt;
  switch ((enum phase)r->phase) {
    case MATCH:
      return cairn_work(rt, match_job, r);
    case READER:
      if (r->num_arrays == 0) return NULL;
      return cairn_item_reader(r->ctx, r->stored.ocdbt, &r->reader);
    case OPEN:
      if (r->num_arrays == 0) return NULL;
      return cairn_arrays_open(r->reader, cairn__stored_zarr(&r->stored),
                               r->names, r->num_arrays, r->zarrs);
    case FIT:
      return cairn_work(rt, fit_job, r);
    case CASTS:
      if (r->num_casts == 0) return NULL;
      return cairn_arrays_read(r->reader, r->cast_io, r->num_casts);
    case CAST:
      return r->num_casts != 0 ? cairn_work(rt, cast_job, r) : NULL;
    case READ:
      if (r->num_io == 0) return NULL;
      return cairn_arrays_read(r->reader, r->io, r->num_io);
    case STORE:
      return cairn_work(rt, store_job, r);
    case DONE:
      break;
  }
  return NULL;
}

static void finish(cairn__tree_restore_t *r) {
  cairn_future_t *done = r->done;
  cairn_error_t err = r->err;
  for (size_t i = 0; i < r->num_io; i++) r->ctx->bytes += r->io[i].bytes;
  for (size_t i = 0; i < r->num_casts; i++)
    r->ctx->bytes += r->cast_io[i].bytes;
  for (size_t i = 0; i < r->num_arrays; i++) cairn_zarr_unref(r->zarrs[i]);
  cairn__tree_stored_free(&r->stored);
  cairn__diffs_free(&r->diffs);
  cairn__bump_free(&r->bump);
  free(r->matches);
  free(r);
  cairn_future_resolve(done, &err);
}

static void advance(cairn__tree_restore_t *r);

static void on_phase(cairn_wait_t *w) {
  cairn__tree_restore_t *r = cairn_container_of(w, cairn__tree_restore_t, wait);
  cairn_wait_result(w, &r->err);
  r->phase++;
  advance(r);
}

static void advance(cairn__tree_restore_t *r) {
  for (; r->err.code == CAIRN_OK && r->phase != DONE; r->phase++) {
    cairn_future_t *next = start(r);
    if (next == NULL) continue;
    cairn_then(next, &r->wait, on_phase);
    return;
  }
  finish(r);
}

cairn_future_t *cairn__tree_restore(const cairn_tree_t *target,
                                    cairn_item_ctx_t *ctx) {
  cairn_future_t *done;
  cairn__tree_restore_t *r = cairn__flow_new(ctx->rt, sizeof *r, &done);
  if (r == NULL) return done;
  r->ctx = ctx;
  r->target = target;
  r->done = done;
  advance(r);
  return done;
}
