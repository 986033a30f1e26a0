/* The asynchronous part of a save, on the loop.
 *
 *   commit:   prepare (CPU) -> the item's database -> arrays, and beside them
 *             array_metadatas/process_N
 *   finalize: the files' texts (CPU) -> the files */
#include <stdio.h>

#include "flow.h"
#include "tree_save.h"

static void finish(cairn__tree_save_t *s, const cairn_error_t *err) {
  cairn_future_t *done = s->done;
  s->done = NULL;
  cairn_future_resolve(done, err);
}

/* The checkpoint makes all files of a rank durable together. */
static cairn_future_t *put_file(cairn__tree_save_t *s, const char *name,
                                const cairn_buf_t *text) {
  struct iovec iov = {.iov_base = text->p, .iov_len = text->n};
  cairn_write_opts_t o = {.size = sizeof o, .defer_sync = true};
  return cairn_kv_write(s->ctx->dir, cairn_bytes_str(name), &iov, 1, &o, NULL);
}

static cairn_code_t prepare_job(void *job, cairn_error_t *err) {
  return cairn__tree_prepare(job, err);
}

static cairn_code_t files_job(void *job, cairn_error_t *err) {
  return cairn__tree_describe_files(job, err);
}

/* Commit --------------------------------------------------------------------
 */

static void on_written(cairn_wait_t *w) {
  cairn__tree_save_t *s = cairn_container_of(w, cairn__tree_save_t, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  for (size_t i = 0; i < s->num_io; i++) s->ctx->bytes += s->io[i].bytes;
  finish(s, &err);
}

static cairn_future_t *put_array_metadatas(cairn__tree_save_t *s) {
  char name[64];
  if (s->array_metadatas.n == 0) return cairn_future_done(s->ctx->rt, NULL);
  snprintf(name, sizeof name, "array_metadatas/process_%d", s->ctx->rank);
  return put_file(s, name, &s->array_metadatas);
}

static void on_writer(cairn_wait_t *w) {
  cairn__tree_save_t *s = cairn_container_of(w, cairn__tree_save_t, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    finish(s, &err);
    return;
  }
  cairn_future_t *both[] = {
      cairn_arrays_write(s->writer, s->io, s->num_io),
      put_array_metadatas(s),
  };
  cairn_then(cairn_all_take(s->ctx->rt, both, 2), &s->wait, on_written);
}

static void on_prepared(cairn_wait_t *w) {
  cairn__tree_save_t *s = cairn_container_of(w, cairn__tree_save_t, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    finish(s, &err);
    return;
  }
  cairn_then(cairn_item_writer(s->ctx, &s->writer), &s->wait, on_writer);
}

cairn_future_t *cairn__tree_commit(cairn__tree_save_t *s,
                                   cairn_item_ctx_t *ctx) {
  s->ctx = ctx;
  cairn_future_t *done;
  if (!cairn__flow_begin(ctx->rt, &done)) return done;
  s->done = done;
  cairn_then(cairn_work(ctx->rt, prepare_job, s), &s->wait, on_prepared);
  return done;
}

/* Finalize ------------------------------------------------------------------
 */

static void on_files(cairn_wait_t *w) {
  cairn__tree_save_t *s = cairn_container_of(w, cairn__tree_save_t, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  finish(s, &err);
}

static void on_texts(cairn_wait_t *w) {
  cairn__tree_save_t *s = cairn_container_of(w, cairn__tree_save_t, wait);
  cairn_error_t err = {0};
  cairn_future_t *fs[3];
  size_t n = 0;
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    finish(s, &err);
    return;
  }
  if (s->sharding.n != 0) fs[n++] = put_file(s, "_sharding", &s->sharding);
  if (s->strings.n != 0) fs[n++] = put_file(s, "_strings.json", &s->strings);
  fs[n++] = put_file(s, "_METADATA", &s->metadata);
  cairn_then(cairn_all_take(s->ctx->rt, fs, n), &s->wait, on_files);
}

cairn_future_t *cairn__tree_finalize(cairn__tree_save_t *s,
                                     cairn_item_ctx_t *ctx) {
  s->ctx = ctx;
  cairn_future_t *done;
  if (!cairn__flow_begin(ctx->rt, &done)) return done;
  s->done = done;
  cairn_then(cairn_work(ctx->rt, files_job, s), &s->wait, on_texts);
  return done;
}
