/* Taking data files back: first every part on the way comes to its end (finish),
 * then uploads are aborted and complete files removed, one after another. */
#include "ocdbt/datalog_impl.h"

static void next(cairn__datalog_t *log);

/* A file that cannot be removed is garbage that no manifest names: the others
 * are removed all the same, and the first error is told. */
static void on_removed(cairn_wait_t *w) {
  cairn__datalog_t *log =
      cairn_container_of(w, cairn__datalog_t, discard.wait);
  cairn_wait_result(w, &log->err);
  log->discard.i++;
  next(log);
}

static cairn_future_t *remove_file(struct log_file *f) {
  if (f->committed)
    return cairn_kv_remove(f->log->base, cairn_bytes_str(f->data->name), NULL,
                           NULL);
  if (f->upload == NULL) return NULL;
  cairn_upload_t *u = f->upload;
  f->upload = NULL;
  return cairn_upload_abort(u);
}

static void next(cairn__datalog_t *log) {
  for (; log->discard.i < log->n; log->discard.i++) {
    cairn_future_t *f = remove_file(log->files[log->discard.i]);
    if (f == NULL) continue;
    cairn_then(f, &log->discard.wait, on_removed);
    return;
  }
  cairn_future_resolve(log->discard.done, &log->err);
}

/* The error that led here was told before; one of removing is new. Parts that are
 * on the way end, but nothing more is committed. */
static void on_idle(cairn_wait_t *w) {
  cairn__datalog_t *log =
      cairn_container_of(w, cairn__datalog_t, discard.wait);
  cairn_wait_result(w, NULL);
  log->err = (cairn_error_t){0};
  next(log);
}

cairn_future_t *cairn__datalog_discard(cairn__datalog_t *log) {
  cairn_future_t *done = cairn_future_new(log->rt);
  log->discard.done = done;
  cairn_fail(&log->err, CAIRN_CANCELLED, "discarded");
  cairn_then(cairn__datalog_finish(log), &log->discard.wait, on_idle);
  return done;
}
