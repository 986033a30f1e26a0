/* Writing and removing a value.
 *
 *   no condition     temporary, rename over
 *   absent           temporary, rename that does not replace
 *   a generation     under the lock: look, write into the lock file, rename it
 *
 * The lock may be taken. Then the job returns and the loop starts it again
 * after a pause that grows, for at most LOCK_WAIT_MS. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "kv/kv_file.h"

#define LOCK_WAIT_MS 30000
#define MAX_PAUSE_MS 100

struct write_op {
  struct file_op op;
  const struct iovec *iov;
  int niov;
  const cairn_gen_t *if_equal;
  bool durable; /* when ready; otherwise at the next sync */
  bool deferred;
  cairn_written_t *out;
  cairn_work_fn job;
  bool busy; /* the lock was taken */
  int64_t deadline_ns, pause_ms;
  cairn_wait_t pause;
};

/* --- writing --- */

static bool create_only(const struct write_op *w) {
  return w->if_equal != NULL && cairn__gen_eq(w->if_equal, &CAIRN_GEN_ABSENT);
}

static cairn_code_t fill_and_publish(struct write_op *w, struct file_temp *t,
                                     bool durable, cairn_error_t *err) {
  cairn_code_t rc = cairn__fs_pwritev(t->fd, t->temp, w->iov, w->niov, 0, err);
  if (rc == CAIRN_OK)
    return cairn__file_temp_publish(t, create_only(w), durable, w->out, err);
  cairn__file_temp_drop(t);
  return rc;
}

static cairn_code_t do_write(void *job, cairn_error_t *err) {
  struct write_op *w = job;
  struct file_temp t;
  struct stat st;
  /* Spares writing a value that cannot be placed; the rename decides. */
  if (create_only(w) && lstat(w->op.path, &st) == 0) return CAIRN_OK;
  cairn_code_t rc = cairn__file_temp_open(&t, w->op.path, err);
  return rc == CAIRN_OK ? fill_and_publish(w, &t, w->durable, err) : rc;
}

/* --- under the lock --- */

/* Takes the lock and compares. *mine: both went well, and t is ours to publish
 * or drop. */
static cairn_code_t lock_and_look(struct write_op *w, struct file_temp *t,
                                  bool *mine, cairn_error_t *err) {
  cairn_error_t why = {0};
  struct stat st;
  bool found;
  *mine = false;
  cairn_code_t rc = cairn__file_lock_try(t, w->op.path, &w->busy, &why);
  if (rc == CAIRN_NOT_FOUND) return CAIRN_OK; /* no directory, so no value */
  if (rc != CAIRN_OK) return cairn_error_copy(err, &why);
  if (w->busy) return CAIRN_OK;
  rc = cairn__file_stat(w->op.path, &st, &found, err);
  if (rc == CAIRN_OK && found) {
    cairn_gen_t now = cairn__file_gen(&st);
    *mine = cairn__gen_eq(w->if_equal, &now);
  }
  if (!*mine) cairn__file_temp_drop(t);
  return rc;
}

static cairn_code_t do_write_locked(void *job, cairn_error_t *err) {
  struct write_op *w = job;
  struct file_temp t;
  bool mine;
  cairn_code_t rc = lock_and_look(w, &t, &mine, err);
  if (rc != CAIRN_OK || !mine) return rc;
  if (ftruncate(t.fd, 0) < 0) { /* a crash may have left a longer value */
    rc = cairn_fail_errno(err, errno, "ftruncate %s", t.temp);
    cairn__file_temp_drop(&t);
    return rc;
  }
  return fill_and_publish(w, &t, w->durable, err);
}

static cairn_code_t unlink_value(struct write_op *w, cairn_error_t *err) {
  const char *path = w->op.path;
  bool gone = unlink(path) == 0;
  /* Nothing there, or a directory, which is no value. */
  if (!gone && errno != ENOENT && errno != ENOTDIR && errno != EISDIR)
    return cairn_fail_errno(err, errno, "unlink %s", path);
  w->out->condition_met = true;
  w->out->gen = CAIRN_GEN_ABSENT;
  return gone && w->durable ? cairn__file_settle(&path, 1, err) : CAIRN_OK;
}

static cairn_code_t do_remove_locked(void *job, cairn_error_t *err) {
  struct write_op *w = job;
  struct file_temp t;
  bool mine;
  cairn_code_t rc = lock_and_look(w, &t, &mine, err);
  if (rc != CAIRN_OK || !mine) return rc;
  rc = unlink_value(w, err);
  cairn__file_temp_drop(&t);
  return rc;
}

static cairn_code_t do_remove(void *job, cairn_error_t *err) {
  struct write_op *w = job;
  struct stat st;
  bool found;
  if (!create_only(w)) return unlink_value(w, err);
  cairn_code_t rc = cairn__file_stat(w->op.path, &st, &found, err);
  w->out->condition_met = rc == CAIRN_OK && !found;
  if (w->out->condition_met) w->out->gen = CAIRN_GEN_ABSENT;
  return rc;
}

/* --- on the loop --- */

static bool finish(struct write_op *w, cairn_error_t *err) {
  if (err->code != CAIRN_OK) *w->out = (cairn_written_t){0};
  if (w->deferred) cairn__file_defer_end(w->op.kv, w->op.path);
  return false;
}

static void on_pause(cairn_wait_t *wait) {
  struct write_op *w = cairn_container_of(wait, struct write_op, pause);
  cairn_error_t err = {0};
  if (cairn_wait_result(wait, &err) == CAIRN_OK) {
    cairn__file_op_again(&w->op, w->job);
    return;
  }
  finish(w, &err);
  cairn__file_op_fail(&w->op, &err);
}

static bool write_end(struct file_op *op, cairn_error_t *err) {
  struct write_op *w = cairn_container_of(op, struct write_op, op);
  if (err->code != CAIRN_OK || !w->busy) return finish(w, err);
  if (cairn__now_ns() >= w->deadline_ns) {
    cairn_fail(err, CAIRN_TIMED_OUT,
               "%s" CAIRN__LOCK_SUFFIX " was locked by another writer for %d s",
               op->path, LOCK_WAIT_MS / 1000);
    return finish(w, err);
  }
  w->pause_ms = w->pause_ms * 2 < MAX_PAUSE_MS ? w->pause_ms * 2 : MAX_PAUSE_MS;
  cairn_then(cairn_after(op->rt, w->pause_ms), &w->pause, on_pause);
  return true;
}

/* "<name>.__lock" has to be a name as well. */
static cairn_code_t check_lock_name(const struct write_op *w,
                                    cairn_error_t *err) {
  if (strlen(strrchr(w->op.path, '/') + 1) + strlen(CAIRN__LOCK_SUFFIX) <= 255)
    return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID,
                    "the name is too long for a write on a condition");
}

static cairn_future_t *begin(struct write_op *w, const cairn_write_opts_t *o,
                             cairn_work_fn plain, cairn_work_fn locked) {
  struct file_kv *kv = w->op.kv;
  cairn_error_t err = {0};
  if (cairn__gen_conditional(o)) w->if_equal = o->if_equal;
  bool lock = w->if_equal != NULL && !create_only(w);
  w->job = lock ? locked : plain;
  w->durable = kv->sync && !o->defer_sync;
  w->deferred = kv->sync && o->defer_sync;
  w->op.end = write_end;
  w->pause_ms = 1;
  w->deadline_ns = cairn__now_ns() + LOCK_WAIT_MS * INT64_C(1000000);
  if (lock) check_lock_name(w, &err);
  if (err.code == CAIRN_OK && w->deferred &&
      !cairn__file_defer_begin(kv, w->op.path))
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for the path");
  if (err.code != CAIRN_OK) return cairn__file_op_fail(&w->op, &err);
  return cairn__file_op_run(&w->op, w->job);
}

cairn_future_t *cairn__file_write(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t key, const struct iovec *iov,
                                  int niov, const cairn_write_opts_t *o,
                                  cairn_written_t *out) {
  cairn_future_t *refused;
  struct write_op *w =
      cairn__file_op_new(rt, self, sizeof *w, key, false, &refused);
  if (w == NULL) return refused;
  w->iov = iov;
  w->niov = niov;
  w->out = out;
  return begin(w, o, do_write, do_write_locked);
}

cairn_future_t *cairn__file_remove(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_write_opts_t *o,
                                   cairn_written_t *out) {
  cairn_future_t *refused;
  struct write_op *w =
      cairn__file_op_new(rt, self, sizeof *w, key, false, &refused);
  if (w == NULL) return refused;
  w->out = out;
  return begin(w, o, do_remove, do_remove_locked);
}
