/* Thread pools: one for computing, one for calls that block. A job is queued
 * with its future in one block; a thread is started when a job finds none idle
 * and there may be more. Threads stay until the runtime is closed. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop/internal.h"

struct cairn__work {
  cairn_future_t done; /* first: the block is freed as a future */
  cairn__work_t *next;
  cairn_work_fn fn;
  void *job;
};

/* -- On the pool's threads ------------------------------------------------- */

static cairn__work_t *take(cairn__pool_t *p) {
  cairn__work_t *w;
  uv_mutex_lock(&p->lock);
  p->idle++;
  while (p->head == NULL && !p->stop) uv_cond_wait(&p->more, &p->lock);
  p->idle--;
  w = p->head;
  if (w != NULL) {
    p->head = w->next;
    p->queued--;
  }
  uv_mutex_unlock(&p->lock);
  return w;
}

static void run(cairn__work_t *w) {
  cairn_error_t err = {0};
  cairn_code_t code;
  if (cairn_future_cancelled(&w->done)) {
    code = cairn_fail(&err, CAIRN_CANCELLED, "cancelled before it began");
  } else {
    code = w->fn(w->job, &err);
    if (code != CAIRN_OK) cairn_fail(&err, code, "%s", cairn_code_text(code));
  }
  cairn_future_resolve(&w->done, code == CAIRN_OK ? NULL : &err);
}

static void *pool_main(void *arg) {
  cairn__pool_t *p = arg;
  cairn__work_t *w;
  while ((w = take(p)) != NULL) {
    run(w);
    /* Only now: cairn_runtime_close waits for 0, and resolving uses rt. The
     * wake-up makes a closing loop look again. */
    if (atomic_fetch_sub(&p->rt->jobs, 1) == 1 && atomic_load(&p->rt->closing))
      uv_async_send(&p->rt->gate);
  }
  return NULL;
}

/* -- Giving them work ------------------------------------------------------ */

/* lock is held. False: there is no thread at all that could do the work. */
static bool ensure_thread(cairn__pool_t *p, int *sys_errno) {
  char name[16];
  int rc;
  if (p->idle > p->queued || p->n == p->max) return true;
  snprintf(name, sizeof name, "cairn-%s-%d", p->name, p->n);
  rc = cairn__thread_start(&p->threads[p->n], name, pool_main, p);
  if (rc == 0) p->n++;
  *sys_errno = rc;
  return p->n > 0;
}

static bool enqueue(cairn__pool_t *p, cairn__work_t *w, int *sys_errno) {
  bool ok;
  uv_mutex_lock(&p->lock);
  ok = ensure_thread(p, sys_errno);
  if (ok) {
    if (p->head == NULL)
      p->head = w;
    else
      p->tail->next = w;
    p->tail = w;
    p->queued++;
    uv_cond_signal(&p->more);
  }
  uv_mutex_unlock(&p->lock);
  return ok;
}

static cairn_future_t *submit(cairn__pool_t *p, cairn_work_fn fn, void *job) {
  cairn__work_t *w = cairn__future_block(p->rt, sizeof *w);
  int sys_errno = 0;
  if (w == NULL) return cairn__future_no_memory(p->rt);
  w->fn = fn;
  w->job = job;
  atomic_fetch_add(&p->rt->jobs, 1);
  if (!enqueue(p, w, &sys_errno)) {
    cairn_error_t err = {0};
    cairn_fail_errno(&err, sys_errno, "start thread cairn-%s-0", p->name);
    cairn_future_resolve(&w->done, &err);
    atomic_fetch_sub(&p->rt->jobs, 1);
  }
  return &w->done;
}

cairn_future_t *cairn_work(cairn_runtime_t *rt, cairn_work_fn fn, void *job) {
  return submit(&rt->cpu, fn, job);
}

cairn_future_t *cairn_work_io(cairn_runtime_t *rt, cairn_work_fn fn,
                              void *job) {
  return submit(&rt->io, fn, job);
}

int cairn__cpu_threads(const cairn_runtime_t *rt) {
  return rt->opts.cpu_threads;
}

/* -- Open and close -------------------------------------------------------- */

int cairn__pool_init(cairn__pool_t *p, cairn_runtime_t *rt, const char *name,
                     int max) {
  int rc;
  p->rt = rt;
  p->name = name;
  p->max = max;
  p->threads = calloc((size_t)max, sizeof *p->threads);
  if (p->threads == NULL) return UV_ENOMEM;
  if ((rc = uv_mutex_init(&p->lock)) < 0) goto fail_lock;
  if ((rc = uv_cond_init(&p->more)) < 0) goto fail_cond;
  return 0;
fail_cond:
  uv_mutex_destroy(&p->lock);
fail_lock:
  free(p->threads);
  return rc;
}

void cairn__pool_reset(cairn__pool_t *p) {
  uv_mutex_lock(&p->lock);
  assert(p->head == NULL);
  p->stop = true;
  uv_cond_broadcast(&p->more);
  uv_mutex_unlock(&p->lock);
  for (int i = 0; i < p->n; i++) pthread_join(p->threads[i], NULL);
  uv_cond_destroy(&p->more);
  uv_mutex_destroy(&p->lock);
  free(p->threads);
}
