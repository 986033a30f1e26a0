/* A value in parts: a temporary file that the parts are written into, several
 * at a time and in large blocks, and that commit gives its name. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/direct.h"
#include "kv/kv_file.h"

/* The file_op is begin's first and commit's or abort's later: there is never
 * more than one of them, and cleaning up needs no memory. */
struct upload {
  struct file_op op;
  struct file_temp temp;
  cairn__direct_t *stream;
  bool durable, deferred, create_only;
  cairn_written_t written;
  void **out;
  cairn_future_t *ended; /* made at begin, for commit or abort */
};

struct part {
  struct upload *upload;
  uint64_t offset;
  const struct iovec *iov;
  int niov;
  cairn_future_t *done;
  cairn_wait_t wait;
};

/* --- begin --- */

static cairn_code_t do_begin(void *job, cairn_error_t *err) {
  struct upload *u = job;
  cairn_code_t rc = cairn__file_temp_open(&u->temp, u->op.path, err);
  if (rc != CAIRN_OK) return rc;
  u->stream = cairn__direct_new(u->temp.fd, u->temp.temp);
  if (u->stream != NULL) return CAIRN_OK;
  cairn__file_temp_drop(&u->temp);
  return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for an upload");
}

/* If it went well the struct lives on, so begin's future is resolved here. */
static bool begun(struct file_op *op, cairn_error_t *err) {
  struct upload *u = cairn_container_of(op, struct upload, op);
  if (err->code != CAIRN_OK) {
    if (u->deferred) cairn__file_defer_end(op->kv, op->path);
    cairn__promise_drop(u->ended);
    return false;
  }
  cairn_future_t *done = op->done;
  op->done = u->ended;
  *u->out = u;
  cairn_future_resolve(done, NULL);
  return true;
}

cairn_future_t *cairn__file_upload_begin(cairn_runtime_t *rt, void *self,
                                         cairn_bytes_t key,
                                         const cairn_write_opts_t *o,
                                         void **upload) {
  struct file_kv *kv = self;
  cairn_future_t *refused;
  cairn_error_t err = {0};
  struct upload *u =
      cairn__file_op_new(rt, kv, sizeof *u, key, false, &refused);
  if (u == NULL) return refused;
  u->op.end = begun;
  u->out = upload;
  u->create_only = cairn__gen_conditional(o);
  u->durable = kv->sync && !o->defer_sync;
  u->deferred = kv->sync && o->defer_sync;
  cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for an upload");
  if (!cairn__promise(rt, &u->ended)) {
    cairn_future_unref(u->ended);
    return cairn__file_op_fail(&u->op, &err);
  }
  if (u->deferred && !cairn__file_defer_begin(kv, u->op.path)) {
    cairn__promise_drop(u->ended);
    return cairn__file_op_fail(&u->op, &err);
  }
  return cairn__file_op_run(&u->op, do_begin);
}

/* --- parts --- */

static cairn_code_t do_part(void *job, cairn_error_t *err) {
  struct part *p = job;
  return cairn__direct_write(p->upload->stream, p->offset, p->iov, p->niov,
                             err);
}

static void on_part(cairn_wait_t *w) {
  struct part *p = cairn_container_of(w, struct part, wait);
  cairn_future_t *done = p->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  free(p);
  cairn_future_resolve(done, &err);
}

cairn_future_t *cairn__file_upload_part(cairn_runtime_t *rt, void *upload,
                                        uint64_t offset,
                                        const struct iovec *iov, int niov) {
  struct part *p = malloc(sizeof *p);
  if (p == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for a part");
    return cairn_future_done(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) {
    free(p);
    return done;
  }
  *p = (struct part){.upload = upload,
                     .offset = offset,
                     .iov = iov,
                     .niov = niov,
                     .done = done};
  cairn_then(cairn_work_io(rt, do_part, p), &p->wait, on_part);
  return done;
}

/* --- end --- */

static cairn_code_t do_commit(void *job, cairn_error_t *err) {
  struct upload *u = job;
  cairn_code_t rc = cairn__direct_finish(u->stream, err);
  if (rc != CAIRN_OK) return rc; /* `ended` drops the file */
  rc = cairn__file_temp_publish(&u->temp, u->create_only, u->durable,
                                &u->written, err);
  if (rc == CAIRN_OK && !u->written.condition_met)
    rc = cairn_fail(err, CAIRN_EXISTS, "%s is there already", u->op.path);
  return rc;
}

static cairn_code_t do_abort(void *job, cairn_error_t *err) {
  struct upload *u = job;
  (void)err;
  cairn__file_temp_drop(&u->temp);
  return CAIRN_OK;
}

/* A job that could not be started leaves the temporary to us. Unlinking on the
 * loop is rude, but better than leaving it. */
static bool ended(struct file_op *op, cairn_error_t *err) {
  struct upload *u = cairn_container_of(op, struct upload, op);
  (void)err;
  cairn__direct_free(u->stream);
  cairn__file_temp_drop(&u->temp);
  if (u->deferred) cairn__file_defer_end(op->kv, op->path);
  return false;
}

cairn_future_t *cairn__file_upload_commit(cairn_runtime_t *rt, void *upload) {
  struct upload *u = upload;
  (void)rt;
  u->op.end = ended;
  return cairn__file_op_run(&u->op, do_commit);
}

cairn_future_t *cairn__file_upload_abort(cairn_runtime_t *rt, void *upload) {
  struct upload *u = upload;
  (void)rt;
  u->op.end = ended;
  return cairn__file_op_run(&u->op, do_abort);
}
