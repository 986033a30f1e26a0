/* Taking data files back: first every part on the way comes to its end, then
 * uploads are aborted and complete files removed, one after another. */
#include <stdlib.h>

#include "ocdbt/datalog_impl.h"

/* A file that cannot be removed is garbage that no manifest names: the others
 * are removed all the same, and the first error is told. */
static void on_removed(cairn_wait_t *w) {
  cairn__datalog_t *log = cairn_container_of(w, cairn__datalog_t, discard.wait);
  cairn_wait_result(w, &log->err);
  cairn__datalog_remove_files(log);
}

static cairn_future_t *remove_file(struct log_file *f) {
  cairn_upload_t *upload = f->upload;
  f->upload = NULL;
  if (f->committed)
    return cairn_kv_remove(f->log->base, cairn_bytes_str(f->data->name), NULL,
                           NULL);
  return upload != NULL ? cairn_upload_abort(upload) : NULL;
}

/* Called when no file is open any more. The error that led here was told
 * before; one of removing is new. */
void cairn__datalog_remove_files(cairn__datalog_t *log) {
  if (log->discard.i == 0) log->err = (cairn_error_t){0};
  while (log->discard.i < log->n) {
    cairn_future_t *f = remove_file(log->files[log->discard.i++]);
    if (f == NULL) continue;
    cairn_then(f, &log->discard.wait, on_removed);
    return;
  }
  cairn_future_resolve(log->discard.done, &log->err);
}

cairn_future_t *cairn__datalog_discard(cairn__datalog_t *log) {
  free(log->block);
  log->block = NULL;
  cairn_fail(&log->err, CAIRN_CANCELLED, "discarded");
  log->discard.asked = true;
  cairn__datalog_close_files(log);
  return log->discard.done;
}
