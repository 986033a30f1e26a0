/* unpack and choose (CPU) -> reader -> open -> allocate -> read. */
#include "blob_restore.h"

#include <stdio.h>
#include <stdlib.h>

#include "flow.h"
#include "tree_stored.h"

enum phase { CHOOSE, READER, OPEN, READ, DONE };

typedef struct op {
  cairn_item_ctx_t *ctx;
  cairn_blob_t *blob;
  const char *wanted; /* NULL: this rank's */
  cairn__tree_stored_t stored;
  char name[32];
  cairn_bytes_t name_bytes;
  bool nothing; /* missing_ok, and there is none */
  cairn_kv_t *reader;
  cairn_zarr_t *zarr;
  uint8_t *mem;
  int64_t origin;
  cairn_region_t region;
  cairn_array_io_t io;
  int phase;
  cairn_error_t err;
  cairn_wait_t wait;
  cairn_future_t *done;
} op_t;

/* Choosing ------------------------------------------------------------------
 */

static bool has_leaf(const op_t *o, const char *name) {
  cairn_key_t key = cairn_key(name);
  cairn__keypath_t path = {&key, 1};
  for (size_t i = 0; i < o->stored.meta.n; i++)
    if (cairn__keypath_cmp(o->stored.meta.entries[i].path, path) == 0)
      return true;
  return false;
}

static cairn_code_t need_leaf(const op_t *o, cairn_error_t *err) {
  if (has_leaf(o, o->name)) return CAIRN_OK;
  return cairn_fail(err, CAIRN_MISMATCH, "the stored item has no leaf %s",
                    o->name);
}

static size_t count_blobs(const op_t *o) {
  size_t n = 0;
  for (size_t i = 0; i < o->stored.meta.n; i++) {
    cairn_bytes_t name = o->stored.meta.entries[i].name;
    n += name.n > 5 && memcmp(name.p, "rank_", 5) == 0;
  }
  return n;
}

static cairn_code_t choose_rank(op_t *o, cairn_error_t *err) {
  size_t n = count_blobs(o), mine = (size_t)o->ctx->rank;
  bool same = n == (size_t)o->ctx->num_ranks;
  if (n == 0)
    return cairn_fail(err, CAIRN_MISMATCH,
                      "the stored item has no blobs of ranks");
  if (!same && !o->blob->any_rank && !o->blob->missing_ok)
    return cairn_fail(err, CAIRN_MISMATCH,
                      "blobs of %zu ranks, restored on %d: say any_rank or "
                      "missing_ok if that is meant",
                      n, o->ctx->num_ranks);
  if (o->blob->any_rank) mine %= n;
  o->nothing = mine >= n;
  snprintf(o->name, sizeof o->name, "rank_%zu", mine);
  return o->nothing ? CAIRN_OK : need_leaf(o, err);
}

static cairn_code_t choose(void *job, cairn_error_t *err) {
  op_t *o = job;
  if (cairn__tree_unpack(o->ctx->combined, &o->stored, err) != CAIRN_OK)
    return err->code;
  if (o->wanted == NULL) return choose_rank(o, err);
  snprintf(o->name, sizeof o->name, "%s", o->wanted);
  return need_leaf(o, err);
}

/* Reading -------------------------------------------------------------------
 */

/* A size that the file claims is no reason to take that memory: malloc of more
 * than there is fails, and what is not read is not touched. */
static cairn_code_t prepare(op_t *o) {
  if (o->zarr == NULL)
    return cairn_fail(&o->err, CAIRN_CORRUPT,
                      "%s is in _METADATA and not in the store", o->name);
  if (cairn_zarr_rank(o->zarr) != 1 || cairn_zarr_dtype(o->zarr) != CAIRN_U8)
    return cairn_fail(
        &o->err, CAIRN_MISMATCH, "%s is not a blob: %s of rank %d", o->name,
        cairn_dtype_name(cairn_zarr_dtype(o->zarr)), cairn_zarr_rank(o->zarr));
  int64_t n = cairn_zarr_shape(o->zarr)[0];
  o->mem = malloc((size_t)n + 1);
  if (o->mem == NULL)
    return cairn_fail(&o->err, CAIRN_NO_MEMORY, "out of memory for %lld bytes",
                      (long long)n);
  o->mem[n] = 0;
  o->region = (cairn_region_t){.origin = &o->origin,
                               .extent = cairn_zarr_shape(o->zarr),
                               .data = o->mem};
  o->io = (cairn_array_io_t){.name = o->name_bytes,
                             .zarr = o->zarr,
                             .regions = &o->region,
                             .n = 1,
                             .fill_missing = !o->stored.meta.stores_fill};
  return CAIRN_OK;
}

static cairn_future_t *start(op_t *o) {
  o->name_bytes = cairn_bytes_str(o->name);
  switch ((enum phase)o->phase) {
    case CHOOSE:
      return cairn_work(o->ctx->rt, choose, o);
    case READER:
      return cairn_item_reader(o->ctx, o->stored.ocdbt, &o->reader);
    case OPEN:
      return cairn_arrays_open(o->reader, cairn__stored_zarr(&o->stored),
                               &o->name_bytes, 1, &o->zarr);
    case READ:
      if (prepare(o) != CAIRN_OK) return NULL;
      return cairn_arrays_read(o->reader, &o->io, 1);
    case DONE:
      break;
  }
  return NULL;
}

static void finish(op_t *o) {
  cairn_future_t *done = o->done;
  cairn_error_t err = o->err;
  o->blob->out = NULL;
  o->blob->out_n = 0;
  if (err.code == CAIRN_OK && !o->nothing) {
    o->blob->out = o->mem;
    o->blob->out_n = (size_t)cairn_zarr_shape(o->zarr)[0];
    o->ctx->bytes += (int64_t)o->blob->out_n;
  } else {
    free(o->mem);
  }
  cairn_zarr_unref(o->zarr);
  cairn__tree_stored_free(&o->stored);
  free(o);
  cairn_future_resolve(done, &err);
}

static void advance(op_t *o);

static void on_phase(cairn_wait_t *w) {
  op_t *o = cairn_container_of(w, op_t, wait);
  cairn_wait_result(w, &o->err);
  o->phase++;
  advance(o);
}

static void advance(op_t *o) {
  if (o->err.code == CAIRN_OK && o->phase != DONE && !o->nothing) {
    cairn_future_t *next = start(o);
    if (next != NULL) {
      cairn_then(next, &o->wait, on_phase);
      return;
    }
  }
  finish(o);
}

cairn_future_t *cairn__blob_restore(cairn_blob_t *blob, const char *name,
                                    cairn_item_ctx_t *ctx) {
  cairn_error_t err = {0};
  cairn_future_t *done;
  if (blob == NULL) {
    cairn_fail(&err, CAIRN_INVALID, "the item wants a blob");
    return cairn_future_done(ctx->rt, &err);
  }
  op_t *o = cairn__flow_new(ctx->rt, sizeof *o, &done);
  if (o == NULL) return done;
  *o = (op_t){.ctx = ctx, .blob = blob, .wanted = name, .done = done};
  advance(o);
  return done;
}
