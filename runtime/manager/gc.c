/* Deleting steps. Each is first renamed to a name that nobody takes for a step,
 * so that a half-deleted one is never listed; then removed. A step that is gone
 * already is done. Errors are logged: keeping too much loses nothing, and what
 * stays under a trash name goes at the next open. One deletion at a time,
 * behind the saves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "kv/kv.h"
#include "manager/internal.h"

struct cairn__gc {
  cairn_manager_t *m;
  cairn_kv_t *root;
  int64_t *steps; /* a queue: from `at` on */
  size_t n, at;
  char trash[256];
  cairn_wait_t wait;
  cairn_future_t *done; /* under m->lock; waiters take references */
};

static void next(struct cairn__gc *gc);
static void open_root(struct cairn__gc *gc);

static void warn(struct cairn__gc *gc, const cairn_error_t *err) {
  cairn_log(gc->m->rt, CAIRN_LOG_WARN, "deleting step %" PRId64 " of %s: %s",
            gc->steps[gc->at], gc->m->root, err->message);
}

static void on_closed(cairn_wait_t *w) {
  struct cairn__gc *gc = cairn_container_of(w, struct cairn__gc, wait);
  cairn_error_t ignored = {0};
  cairn_wait_result(w, &ignored);
  if (gc->at < gc->n) { /* more came while the store was being closed */
    open_root(gc);
    return;
  }
  cairn_manager_t *m = gc->m;
  pthread_mutex_lock(&m->lock);
  m->gc = NULL;
  pthread_mutex_unlock(&m->lock);
  cairn_future_t *done = gc->done;
  free(gc->steps);
  free(gc);
  cairn_future_resolve(done, NULL);
  cairn_future_unref(done);
}

static void on_removed(cairn_wait_t *w) {
  struct cairn__gc *gc = cairn_container_of(w, struct cairn__gc, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    warn(gc, &err);
  else
    cairn_log(gc->m->rt, CAIRN_LOG_INFO, "deleted step %" PRId64 " of %s",
              gc->steps[gc->at], gc->m->root);
  gc->at++;
  next(gc);
}

static void on_renamed(cairn_wait_t *w) {
  struct cairn__gc *gc = cairn_container_of(w, struct cairn__gc, wait);
  cairn_error_t err = {0};
  cairn_code_t rc = cairn_wait_result(w, &err);
  if (rc == CAIRN_OK) {
    cairn_then(cairn_kv_remove_prefix(gc->root, cairn_bytes_str(gc->trash)),
               &gc->wait, on_removed);
    return;
  }
  if (rc != CAIRN_NOT_FOUND) warn(gc, &err);
  gc->at++;
  next(gc);
}

static void next(struct cairn__gc *gc) {
  char name[200], from[210];
  uint64_t once;
  if (gc->at == gc->n) {
    cairn_then(cairn_kv_close(gc->root), &gc->wait, on_closed);
    return;
  }
  cairn__step_name(&gc->m->format, gc->steps[gc->at], name, sizeof(name));
  cairn__random(&once, sizeof(once));
  snprintf(from, sizeof(from), "%s/", name);
  snprintf(gc->trash, sizeof(gc->trash),
           CAIRN__TRASH_PREFIX "%s-%016" PRIx64 "/", name, once);
  cairn_then(cairn_kv_rename_prefix(gc->root, cairn_bytes_str(from),
                                    cairn_bytes_str(gc->trash)),
             &gc->wait, on_renamed);
}

static void on_opened(cairn_wait_t *w) {
  struct cairn__gc *gc = cairn_container_of(w, struct cairn__gc, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) {
    next(gc);
    return;
  }
  warn(gc, &err);
  gc->at = gc->n;
  cairn_then(cairn_future_done(gc->m->rt, NULL), &gc->wait, on_closed);
}

static void open_root(struct cairn__gc *gc) {
  cairn_manager_t *m = gc->m;
  cairn_then(
      cairn__open_directory(m->rt, m->opts.checkpointer.strategy, m->root,
                            m->opts.checkpointer.not_durable, &gc->root),
      &gc->wait, on_opened);
}

static struct cairn__gc *gc_new(cairn_manager_t *m) {
  struct cairn__gc *gc = calloc(1, sizeof(*gc));
  if (gc == NULL) return NULL;
  gc->m = m;
  if (cairn__promise(m->rt, &gc->done)) return gc;
  cairn_future_unref(gc->done);
  free(gc);
  return NULL;
}

static bool append(struct cairn__gc *gc, const int64_t *steps, size_t n) {
  int64_t *p = realloc(gc->steps, (gc->n + n) * sizeof(*p));
  if (p == NULL) return false;
  memcpy(p + gc->n, steps, n * sizeof(*p));
  gc->steps = p;
  gc->n += n;
  return true;
}

void cairn__gc_add(cairn_manager_t *m, int64_t *steps, size_t n) {
  bool running = m->gc != NULL;
  struct cairn__gc *gc = running ? m->gc : gc_new(m);
  bool ok = gc != NULL && append(gc, steps, n);
  free(steps);
  if (!ok)
    cairn_log(m->rt, CAIRN_LOG_WARN, "out of memory: old steps of %s stay",
              m->root);
  if (running || gc == NULL) return;
  pthread_mutex_lock(&m->lock);
  m->gc = gc;
  pthread_mutex_unlock(&m->lock);
  open_root(gc);
}

cairn_future_t *cairn__gc_done(cairn_manager_t *m) {
  return m->gc != NULL ? cairn_future_ref(m->gc->done)
                       : cairn_future_done(m->rt, NULL);
}

cairn_code_t cairn__gc_wait(cairn_manager_t *m, int64_t timeout_ms,
                            cairn_error_t *err) {
  pthread_mutex_lock(&m->lock);
  cairn_future_t *done = m->gc != NULL ? cairn_future_ref(m->gc->done) : NULL;
  pthread_mutex_unlock(&m->lock);
  if (done == NULL) return CAIRN_OK;
  cairn_code_t rc = cairn_future_wait(done, timeout_ms, NULL);
  cairn_future_unref(done);
  if (rc == CAIRN_TIMED_OUT)
    return cairn_fail(err, CAIRN_TIMED_OUT,
                      "old steps are still being deleted after %lld ms",
                      (long long)timeout_ms);
  return CAIRN_OK;
}
