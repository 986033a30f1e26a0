/* Letting the caller have his memory: what is pending is copied, as far as the
 * ring has room, and what it has no room for waits until the writer has had
 * something. The writer never waits for the ring, so this ends. */
#include <signal.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "base/base.h"
#include "snapshot/granule.h"

#define MAX_THREADS 4
/* Below, a thread takes longer to start than it saves. */
#define BYTES_PER_THREAD ((size_t)16 << 20)

/* False: dropped. `seen` is from before the look that made us wait. */
static bool wait_change(cairn__snapshot_t *s, unsigned seen) {
  pthread_mutex_lock(&s->lock);
  while (atomic_load(&s->changes) == seen && !atomic_load(&s->dropped))
    pthread_cond_wait(&s->cond, &s->lock);
  pthread_mutex_unlock(&s->lock);
  return !atomic_load(&s->dropped);
}

static cairn_code_t settle_granule(cairn__snapshot_t *s, cairn__granule_t *g,
                                   cairn_error_t *err) {
  for (;;) {
    unsigned seen = atomic_load(&s->changes);
    cairn__shadow_t got = cairn__granule_shadow(s, g);
    if (got == CAIRN__RELEASED) return CAIRN_OK;
    int64_t since = cairn__now_ns();
    bool on = wait_change(s, seen);
    if (got == CAIRN__FULL)
      atomic_fetch_add(&s->waited_ns, cairn__now_ns() - since);
    if (!on) return cairn_fail(err, CAIRN_CANCELLED, "the save was given up");
  }
}

/* Borrowed memory is released when the writer has it. Nobody copies it. */
static cairn_code_t settle_borrowed(cairn__snapshot_t *s, cairn__granule_t *g,
                                    cairn_error_t *err) {
  for (;;) {
    unsigned seen = atomic_load(&s->changes);
    cairn__spin_lock(&g->lock);
    bool released = g->state == CONSUMED;
    cairn__spin_unlock(&g->lock);
    if (released) return CAIRN_OK;
    if (!wait_change(s, seen))
      return cairn_fail(err, CAIRN_CANCELLED, "the save was given up");
  }
}

static cairn_code_t settle_part(cairn__snapshot_t *s, const cairn__part_t *p,
                                cairn_error_t *err) {
  bool borrowed = p->mode == CAIRN_SNAPSHOT_BORROW;
  cairn_code_t rc = CAIRN_OK;
  for (size_t k = 0; k < p->num_granules && rc == CAIRN_OK; k++)
    rc = (borrowed ? settle_borrowed : settle_granule)(s, &p->granules[k], err);
  return rc;
}

/* Counted before the first look, so that no change after it is missed. */
static void enter(cairn__snapshot_t *s) {
  atomic_fetch_add(&s->settlers, 1);
}

static void leave(cairn__snapshot_t *s) {
  pthread_mutex_lock(&s->lock);
  atomic_fetch_sub(&s->settlers, 1);
  pthread_cond_broadcast(&s->cond);
  pthread_mutex_unlock(&s->lock);
}

cairn_code_t cairn__snapshot_settle(cairn__snapshot_t *s, size_t i,
                                    cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  if (i != SIZE_MAX && i >= s->n)
    return cairn_fail(err, CAIRN_INVALID, "the snapshot has no part %zu", i);
  enter(s);
  if (i != SIZE_MAX)
    rc = settle_part(s, &s->parts[i], err);
  else
    for (size_t k = 0; k < s->n && rc == CAIRN_OK; k++)
      rc = settle_part(s, &s->parts[k], err);
  leave(s);
  return rc;
}

/* --- copy: granules one after another, to whoever comes for the next --- */

struct copying {
  cairn__snapshot_t *s;
  atomic_size_t next;
};

static void *copy(void *arg) {
  struct copying *c = arg;
  cairn__snapshot_t *s = c->s;
  size_t i;
  while ((i = atomic_fetch_add(&c->next, 1)) < s->num_granules) {
    cairn__granule_t *g = &s->granules[i];
    if (s->parts[g->part].mode != CAIRN_SNAPSHOT_COPY) continue;
    if (settle_granule(s, g, NULL) != CAIRN_OK) break; /* dropped */
  }
  return NULL;
}

/* Cores that have nothing else to do, ours among them. */
static size_t idle_cores(void) {
  cpu_set_t set;
  struct sysinfo info;
  if (sched_getaffinity(0, sizeof(set), &set) != 0 || sysinfo(&info) != 0)
    return 1;
  long cores = CPU_COUNT(&set);
  long busy = (long)(info.loads[0] >> SI_LOAD_SHIFT);
  return cores > busy ? (size_t)(cores - busy) : 1;
}

static size_t num_threads(const cairn__snapshot_t *s) {
  size_t bytes = 0;
  for (size_t i = 0; i < s->n; i++)
    if (s->parts[i].mode == CAIRN_SNAPSHOT_COPY) bytes += s->parts[i].n;
  size_t most = bytes / BYTES_PER_THREAD;
  if (most <= 1) return 1;
  size_t n = s->threads > 0 ? (size_t)s->threads : idle_cores();
  if (n > MAX_THREADS) n = MAX_THREADS;
  return n < most ? n : most;
}

/* The application's signals are not for our threads. */
static size_t start_helpers(pthread_t *threads, size_t n, struct copying *c) {
  sigset_t all, old;
  size_t started = 0;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (started < n && pthread_create(&threads[started], NULL, copy, c) == 0)
    started++;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return started;
}

cairn_code_t cairn__snapshot_copy(cairn__snapshot_t *s, cairn_error_t *err) {
  struct copying c = {.s = s};
  pthread_t helpers[MAX_THREADS];
  enter(s);
  size_t n = start_helpers(helpers, num_threads(s) - 1, &c);
  copy(&c);
  for (size_t i = 0; i < n; i++) pthread_join(helpers[i], NULL);
  bool dropped = atomic_load(&s->dropped);
  leave(s);
  if (dropped) return cairn_fail(err, CAIRN_CANCELLED, "the save was given up");
  return CAIRN_OK;
}
