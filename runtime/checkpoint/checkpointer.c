/* The public checkpointer: options, opening, and paths; the work is in save*.c
 * and restore.c. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "kv/kv.h"
#include "loop/loop.h"

/* --- opening --- */

/* What is wrong with this rank's options, and whether all brought the same
 * ones: each rank plans by itself, and with other options would plan something
 * else. Lives on the caller's stack, who waits for it. */
struct opening {
  cairn_checkpointer_t *ck;
  cairn_error_t err;
  cairn__vote_t vote;
  cairn_future_t *done;
};

#define OP_CHECKPOINTER 0x434b5054u /* "CKPT" */

static uint64_t opts_hash(const cairn_checkpointer_opts_t *o) {
  int64_t v[] = {o->profile, o->chunk_bytes, o->no_compression, o->not_durable,
                 o->deadline_ms};
  return cairn__hash64(v, sizeof(v), CAIRN_VERSION_MAJOR) | 1;
}

static void on_agreed(cairn__vote_t *v) {
  struct opening *o = v->user;
  cairn_future_resolve(o->done, &o->err);
}

static cairn_future_t *start_agree(void *arg) {
  struct opening *o = arg;
  cairn_future_t *done;
  if (!cairn__promise(o->ck->rt, &done)) return done;
  o->done = done;
  o->vote = (cairn__vote_t){
      .op = OP_CHECKPOINTER,
      .phase_name = "opened",
      .step = -1,
      .hash = o->err.code == CAIRN_OK ? opts_hash(&o->ck->opts) : 0,
      .deadline_ms = o->ck->opts.deadline_ms,
      .soft_limit_ms = o->ck->opts.soft_limit_ms,
      .user = o};
  cairn__agree(o->ck->call_lane, &o->vote, &o->err, on_agreed);
  return done;
}

static cairn_code_t open_parts(cairn_checkpointer_t *ck, cairn_error_t *err) {
  cairn_code_t rc = cairn_handlers_builtin(ck->rt, err);
  if (rc == CAIRN_OK) rc = cairn__pool_new(&ck->pool, err);
  /* Opening lanes is collective: a rank that failed above has left the others
   * waiting for it, so nothing above may depend on anything but memory. What is
   * wrong with its options is brought to the first vote. */
  if (rc == CAIRN_OK)
    rc = cairn__lane_open(ck->comm, ck->opts.deadline_ms, &ck->save_lane, err);
  if (rc == CAIRN_OK)
    rc = cairn__lane_open(ck->comm, ck->opts.deadline_ms, &ck->call_lane, err);
  return rc;
}

/* After the lanes: what is wrong here is brought to the vote. */
static void make_staging(cairn_checkpointer_t *ck, cairn_error_t *err) {
  cairn__slab_t *slab;
  int64_t n = ck->opts.staging_bytes, most = ck->opts.staging_limit;
  if (n <= 0 || err->code != CAIRN_OK) return;
  if (most > 0 && n > most) n = most;
  if (cairn__pool_get(ck->pool, (size_t)n, &slab, err) == CAIRN_OK)
    cairn__pool_put(ck->pool, slab);
}

static void checkpointer_free(cairn_checkpointer_t *ck) {
  cairn_save_unref(ck->current);
  if (ck->call_lane != NULL) cairn__lane_close(ck->call_lane);
  if (ck->save_lane != NULL) cairn__lane_close(ck->save_lane);
  cairn__pool_free(ck->pool);
  cairn_buf_reset(&ck->combined);
  pthread_mutex_destroy(&ck->lock);
  cairn_runtime_drop(ck->rt, "checkpointer");
  free(ck);
}

cairn_code_t cairn_checkpointer_open(cairn_runtime_t *rt, cairn_comm_t *comm,
                                     const cairn_checkpointer_opts_t *opts,
                                     cairn_checkpointer_t **out,
                                     cairn_error_t *err) {
  cairn_checkpointer_opts_t o;
  struct opening opening = {0};
  if (rt == NULL || comm == NULL)
    return cairn_fail(err, CAIRN_INVALID,
                      "a checkpointer needs a runtime and a communicator");
  cairn__checkpointer_opts(opts, &o, &opening.err);
  cairn_checkpointer_t *ck = calloc(1, sizeof(*ck));
  if (ck == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "checkpointer");
  ck->rt = rt;
  ck->comm = comm;
  ck->opts = o;
  pthread_mutex_init(&ck->lock, NULL);
  cairn_runtime_hold(rt, "checkpointer");
  opening.ck = ck;
  cairn_code_t rc = open_parts(ck, err);
  if (rc == CAIRN_OK) make_staging(ck, &opening.err);
  if (rc == CAIRN_OK) rc = cairn__call(rt, start_agree, &opening, -1, err);
  if (rc != CAIRN_OK) {
    checkpointer_free(ck);
    return rc;
  }
  *out = ck;
  return CAIRN_OK;
}

/* --- saving and restoring at a path --- */

cairn_code_t cairn__restore_opts(const cairn_restore_opts_t *in,
                                 cairn_restore_opts_t *out,
                                 cairn_error_t *err) {
  if (cairn__options_take(in, out, sizeof(*out),
                          CAIRN__SIZE_UP_TO(cairn_restore_opts_t, step),
                          err) == CAIRN_OK)
    return CAIRN_OK;
  return cairn_within(err, "restore options");
}

/* "runs/a/7" to the directory "…/runs/a" and the name "7". */
static cairn_code_t split_path(const char *path, char **dir, const char **name,
                               cairn_error_t *err) {
  *dir = path != NULL && path[0] != 0 ? cairn__dir_absolute(path) : NULL;
  if (*dir == NULL)
    return cairn_fail(err, CAIRN_INVALID, "a checkpoint needs a path");
  size_t n = strlen(*dir);
  while (n > 1 && (*dir)[n - 1] == '/') (*dir)[--n] = 0;
  char *slash = strrchr(*dir, '/');
  bool is_root = slash == NULL || slash[1] == 0;
  if (is_root || cairn__name_is_temporary(cairn_bytes_str(slash + 1))) {
    cairn_fail(err, CAIRN_INVALID, "%s %s", path,
               is_root ? "cannot be a checkpoint's path"
                       : "is temporary by its name: being written, or left by "
                         "a save that was killed");
    free(*dir);
    return CAIRN_INVALID;
  }
  *slash = 0;
  *name = slash + 1;
  return CAIRN_OK;
}

cairn_code_t cairn_checkpointer_save(cairn_checkpointer_t *ck, const char *path,
                                     const cairn_item_t *items, size_t n,
                                     cairn_save_t **save, cairn_error_t *err) {
  cairn__save_request_t req = {.step = -1, .items = items, .n = n};
  char *dir;
  cairn_code_t rc = split_path(path, &dir, &req.name, err);
  if (rc != CAIRN_OK) return rc;
  req.dir = dir[0] != 0 ? dir : "/";
  rc = cairn__save_begin(ck, &req, save, err);
  free(dir);
  return rc;
}

cairn_code_t cairn_checkpointer_restore(cairn_checkpointer_t *ck,
                                        const char *path,
                                        const cairn_item_t *items, size_t n,
                                        const cairn_restore_opts_t *opts,
                                        cairn_error_t *err) {
  cairn__restore_request_t req = {.step = -1, .items = items, .n = n};
  cairn_restore_opts_t o;
  char *dir;
  cairn_code_t rc = cairn__restore_opts(opts, &o, err);
  if (rc == CAIRN_OK) rc = split_path(path, &dir, &req.name, err);
  if (rc != CAIRN_OK) return rc;
  req.dir = dir[0] != 0 ? dir : "/";
  req.partial = o.partial;
  rc = cairn_checkpointer_wait(ck, -1, err);
  if (rc == CAIRN_OK) rc = cairn__restore(ck, &req, err);
  free(dir);
  return rc;
}

/* --- waiting --- */

static cairn_save_t *take_ref(cairn_checkpointer_t *ck, cairn_save_t **which) {
  pthread_mutex_lock(&ck->lock);
  cairn_save_t *s = *which;
  if (s != NULL) cairn__save_ref(s);
  pthread_mutex_unlock(&ck->lock);
  return s;
}

static cairn_code_t await_done(cairn_checkpointer_t *ck, int64_t timeout_ms,
                               cairn_error_t *err) {
  cairn_save_t *s = take_ref(ck, &ck->current);
  if (s == NULL) return CAIRN_OK;
  cairn_future_wait(s->done, timeout_ms, NULL);
  bool ready = cairn_future_ready(s->done);
  cairn_save_unref(s);
  if (ready) return CAIRN_OK;
  return cairn_fail(err, CAIRN_TIMED_OUT,
                    "a save is still running after %lld ms",
                    (long long)timeout_ms);
}

cairn_code_t cairn_checkpointer_wait(cairn_checkpointer_t *ck,
                                     int64_t timeout_ms, cairn_error_t *err) {
  cairn_code_t rc = await_done(ck, timeout_ms, err);
  return rc == CAIRN_OK ? cairn__background_take(ck, err) : rc;
}

static cairn_code_t await_idle(cairn_checkpointer_t *ck, int64_t timeout_ms,
                               cairn_error_t *err) {
  cairn_code_t rc = await_done(ck, timeout_ms, err);
  if (rc != CAIRN_OK) return rc;
  cairn_save_t *s = take_ref(ck, &ck->stuck);
  if (s == NULL) return CAIRN_OK;
  cairn_future_wait(s->released, timeout_ms, NULL);
  if (!cairn_future_ready(s->released))
    rc = cairn_fail(err, CAIRN_TIMED_OUT,
                    "the save of %s failed, but the store has not answered a "
                    "call of it for %lld ms more",
                    s->name, (long long)timeout_ms);
  cairn_save_unref(s);
  return rc;
}

bool cairn__checkpointer_end(cairn_checkpointer_t *ck, int64_t timeout_ms,
                             cairn_error_t *err) {
  if (await_idle(ck, timeout_ms, err) != CAIRN_OK) return false;
  /* With a limit "timed out" may be the wait or the save: the caller, who
   * cannot tell either, calls again. */
  return cairn__background_take(ck, err) != CAIRN_TIMED_OUT || timeout_ms < 0;
}

cairn_code_t cairn_checkpointer_close(cairn_checkpointer_t *ck,
                                      int64_t timeout_ms, cairn_error_t *err) {
  cairn_error_t local = {0};
  if (ck == NULL) return CAIRN_OK;
  if (cairn__checkpointer_end(ck, timeout_ms, &local)) checkpointer_free(ck);
  return cairn_error_copy(err, &local);
}
