/* The item type "json": one document in one small file. Every rank may bring
 * one; the primary's is stored. It is stored and comes back as Python's json
 * module writes it, whatever blanks or key order it came with.
 *
 * The file is `metadata` (Orbax v0), `data.json` (v1), or `metrics` for an item
 * of that name, where a manager of Orbax looks for the metrics of a step. */
#include <stdlib.h>

#include "flow.h"
#include "handlers.h"

/* Save ----------------------------------------------------------------------
 */

typedef struct save {
  cairn_buf_t text; /* the primary's */
} save_t;

static cairn_code_t to_python(cairn_bytes_t in, cairn_buf_t *out,
                              cairn_error_t *err) {
  cairn_json_doc_t doc;
  cairn_code_t rc = cairn_json_parse(in, NULL, &doc, err);
  if (rc != CAIRN_OK) return rc;
  cairn_json_emit(doc.root, CAIRN_JSON_PYTHON, out);
  cairn_json_free(&doc);
  if (out->failed)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for a document");
  return CAIRN_OK;
}

static cairn_code_t take(const cairn_blob_t *blob, save_t *s,
                         cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn_code_t rc =
      to_python(cairn_bytes(blob->data, blob->n), &s->text, &local);
  if (rc == CAIRN_CORRUPT) /* the caller's bytes, not the disk's */
    return cairn_fail(err, CAIRN_INVALID, "not a JSON document: %s",
                      local.message);
  return rc == CAIRN_OK ? CAIRN_OK : cairn_error_copy(err, &local);
}

static cairn_code_t snapshot(const cairn_item_t *item, cairn_item_ctx_t *ctx,
                             void **state, cairn_error_t *err) {
  const cairn_blob_t *blob = item->value;
  *state = NULL;
  if (ctx->primary && (blob == NULL || blob->data == NULL))
    return cairn_fail(err, CAIRN_INVALID,
                      "an item of type json wants a document on rank 0");
  save_t *s = calloc(1, sizeof *s);
  if (s == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (ctx->primary) {
    cairn_code_t rc = take(blob, s, err);
    if (rc != CAIRN_OK) {
      cairn_buf_reset(&s->text);
      free(s);
      return rc;
    }
  }
  *state = s;
  return CAIRN_OK;
}

/* Nothing about a document has to be agreed on. */
static cairn_future_t *describe(void *state, cairn_item_ctx_t *ctx,
                                cairn_buf_t *out) {
  (void)state;
  (void)out;
  return cairn_future_done(ctx->rt, NULL);
}

static cairn_code_t combine(const cairn_bytes_t *descriptions, int n,
                            const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                            cairn_error_t *err) {
  (void)descriptions;
  (void)n;
  (void)ctx;
  (void)out;
  (void)err;
  return CAIRN_OK;
}

static cairn_future_t *commit(void *state, cairn_item_ctx_t *ctx) {
  (void)state;
  return cairn_future_done(ctx->rt, NULL);
}

static const char *file_name(const cairn_item_ctx_t *ctx) {
  if (ctx->item != NULL && strcmp(ctx->item, "metrics") == 0) return "metrics";
  return ctx->profile == CAIRN_PROFILE_ORBAX_V1 ? "data.json" : "metadata";
}

static cairn_future_t *finalize(void *state, cairn_item_ctx_t *ctx) {
  const save_t *s = state;
  struct iovec iov = {.iov_base = s->text.p, .iov_len = s->text.n};
  cairn_write_opts_t o = {.size = sizeof o, .defer_sync = true};
  ctx->bytes += (int64_t)s->text.n;
  return cairn_kv_write(ctx->dir, cairn_bytes_str(file_name(ctx)), &iov, 1, &o,
                        NULL);
}

static void drop(void *state) {
  save_t *s = state;
  cairn_buf_reset(&s->text);
  free(s);
}

/* Restore -------------------------------------------------------------------
 */

static const char *const file_names[] = {"metadata", "data.json", "metrics"};
#define NUM_FILES (sizeof file_names / sizeof *file_names)

/* Reads the file, whichever of the names it has, into a buffer. */
typedef struct load {
  cairn_item_ctx_t *ctx;
  cairn_buf_t *out;
  cairn_value_t files[NUM_FILES];
  cairn_wait_t wait;
  cairn_future_t *done;
} load_t;

static cairn_code_t choose(const load_t *l, cairn_error_t *err) {
  for (size_t i = 0; i < NUM_FILES; i++) {
    if (!l->files[i].found) continue;
    cairn_buf_put(l->out, l->files[i].data.p, l->files[i].data.n);
    if (l->out->failed)
      return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for %s",
                        file_names[i]);
    return CAIRN_OK;
  }
  return cairn_fail(err, CAIRN_NOT_FOUND,
                    "no document: neither metadata, data.json nor metrics");
}

static void on_read(cairn_wait_t *w) {
  load_t *l = cairn_container_of(w, load_t, wait);
  cairn_future_t *done = l->done;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) choose(l, &err);
  for (size_t i = 0; i < NUM_FILES; i++) cairn_value_reset(&l->files[i]);
  free(l);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *load(cairn_item_ctx_t *ctx, cairn_buf_t *out) {
  cairn_future_t *all[NUM_FILES], *done;
  load_t *l = cairn__flow_new(ctx->rt, sizeof *l, &done);
  if (l == NULL) return done;
  l->ctx = ctx;
  l->out = out;
  l->done = done;
  for (size_t i = 0; i < NUM_FILES; i++)
    all[i] = cairn_kv_read(ctx->dir, cairn_bytes_str(file_names[i]),
                           CAIRN_WHOLE, &l->files[i]);
  cairn_then(cairn_all_take(ctx->rt, all, NUM_FILES), &l->wait, on_read);
  return done;
}

/* With a NUL after it; *n without. */
static cairn_code_t give(cairn_bytes_t text, void **out, size_t *n,
                         cairn_error_t *err) {
  cairn_buf_t b = {0};
  cairn_code_t rc = to_python(text, &b, err);
  cairn_buf_put_u8(&b, 0);
  if (rc == CAIRN_OK && b.failed)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for a document");
  if (rc != CAIRN_OK) {
    cairn_buf_reset(&b);
    return rc;
  }
  *out = cairn_buf_steal(&b, n);
  --*n;
  return CAIRN_OK;
}

static cairn_future_t *restore(const cairn_item_t *target,
                               cairn_item_ctx_t *ctx) {
  cairn_blob_t *blob = target->value;
  cairn_error_t err = {0};
  if (blob == NULL)
    cairn_fail(&err, CAIRN_INVALID, "an item of type json wants a blob");
  else if (give(ctx->combined, &blob->out, &blob->out_n, &err) == CAIRN_OK)
    ctx->bytes += (int64_t)blob->out_n;
  return cairn_future_done(ctx->rt, &err);
}

/* Looking -------------------------------------------------------------------
 */

static bool recognise(const cairn_bytes_t *names, size_t n) {
  if (cairn__has_name(names, n, "_METADATA")) return false;
  for (size_t i = 0; i < NUM_FILES; i++)
    if (cairn__has_name(names, n, file_names[i])) return true;
  return false;
}

/* Inspects and verifies: both load the document and parse it. */
typedef struct look {
  cairn_item_ctx_t *ctx;
  cairn_buf_t text;
  cairn_item_info_t *info; /* inspect */
  cairn_damage_fn fn;      /* verify */
  void *arg;
  cairn_wait_t wait;
  cairn_future_t *done;
} look_t;

static cairn_code_t fill_info(const look_t *l, cairn_error_t *err) {
  cairn_buf_t b = {0};
  cairn_code_t rc = to_python(cairn_buf_bytes(&l->text), &b, err);
  if (rc == CAIRN_OK) {
    uint8_t *p = cairn_item_info_alloc(l->info, b.n + 1);
    if (p == NULL) {
      rc = cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
    } else {
      memcpy(p, b.p, b.n);
      l->info->type = "json";
      l->info->value = cairn_bytes(p, b.n);
    }
  }
  cairn_buf_reset(&b);
  return rc;
}

static void report_damage(const look_t *l, cairn_error_t *err) {
  cairn_buf_t b = {0};
  cairn_error_t found = *err;
  if (found.code == CAIRN_OK)
    (void)to_python(cairn_buf_bytes(&l->text), &b, &found);
  cairn_buf_reset(&b);
  if (found.code != CAIRN_CORRUPT && found.code != CAIRN_NOT_FOUND) {
    *err = found;
    return;
  }
  *err = (cairn_error_t){0};
  l->fn(l->arg, cairn_bytes_str(file_name(l->ctx)), &found);
}

static void on_loaded(cairn_wait_t *w) {
  look_t *l = cairn_container_of(w, look_t, wait);
  cairn_future_t *done = l->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (l->fn != NULL)
    report_damage(l, &err);
  else if (err.code == CAIRN_OK)
    fill_info(l, &err);
  cairn_buf_reset(&l->text);
  free(l);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *look(cairn_item_ctx_t *ctx, const look_t *what) {
  cairn_future_t *done;
  look_t *l = cairn__flow_new(ctx->rt, sizeof *l, &done);
  if (l == NULL) return done;
  *l = *what;
  l->ctx = ctx;
  l->done = done;
  cairn_then(load(ctx, &l->text), &l->wait, on_loaded);
  return done;
}

static cairn_future_t *inspect(cairn_item_ctx_t *ctx, cairn_item_info_t *out) {
  return look(ctx, &(look_t){.info = out});
}

static cairn_future_t *verify(cairn_item_ctx_t *ctx, cairn_damage_fn fn,
                              void *arg) {
  return look(ctx, &(look_t){.fn = fn, .arg = arg});
}

static const char *const typestrs[] = {
    "orbax.checkpoint._src.handlers.json_checkpoint_handler."
    "JsonCheckpointHandler",
    "orbax.checkpoint.experimental.v1._src.handlers.json_handler."
    "MetricsHandler",
    "orbax.checkpoint.handlers.JsonCheckpointHandler",
    NULL,
};

const cairn_handler_ops_t cairn__json_handler = {
    .size = sizeof(cairn_handler_ops_t),
    .type = "json",
    .typestrs = typestrs,
    .v1_typestr =
        "orbax.checkpoint.experimental.v1._src.handlers.json_handler."
        "JsonHandler",
    .snapshot = snapshot,
    .describe = describe,
    .combine = combine,
    .commit = commit,
    .finalize = finalize,
    .drop = drop,
    .load = load,
    .restore = restore,
    .recognise = recognise,
    .inspect = inspect,
    .verify = verify,
};
