/* The two threads of write protection.
 *
 * The handler takes no lock that anybody holds while touching memory that may
 * be armed, and allocates nothing: the thread that it is to free may hold
 * malloc's locks. It never waits for room in the ring either: a writer that
 * meets a full ring is put on its snapshot's list, and looked at again when
 * there is room (cairn__cow_kick). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "snapshot/cow.h"
#include "snapshot/uffd.h"

#define STACK_BYTES ((size_t)256 << 10)
#define FAULTS_AT_ONCE 16

/* --- the handler --- */

void cairn__cow_kick(cairn__snapshot_t *s) {
  uint64_t one = 1;
  atomic_store(&s->kicked, true);
  /* Fails only if it is full of kicks that have not been looked at. */
  ssize_t n = write(cairn__cow.wake_fd, &one, sizeof(one));
  (void)n;
}

static void let_go(cairn__cow_t *c) {
  pthread_mutex_lock(&c->lock);
  c->using = NULL;
  pthread_cond_broadcast(&c->idle);
  pthread_mutex_unlock(&c->lock);
}

static cairn__snapshot_t *use_owner(cairn__cow_t *c, uintptr_t at,
                                    cairn__granule_t **g) {
  pthread_mutex_lock(&c->lock);
  cairn__snapshot_t *s = c->using = cairn__cow_find(at, g);
  pthread_mutex_unlock(&c->lock);
  return s;
}

static cairn__snapshot_t *use_kicked(cairn__cow_t *c) {
  pthread_mutex_lock(&c->lock);
  cairn__snapshot_t *s = c->all;
  while (s != NULL && !atomic_exchange(&s->kicked, false)) s = s->next;
  c->using = s;
  pthread_mutex_unlock(&c->lock);
  return s;
}

/* True if the writers of this granule go on. It is disarmed once more: whoever
 * released it may not have come to that yet, or the write is an old one. */
static bool answer(cairn__snapshot_t *s, cairn__granule_t *g) {
  if (cairn__granule_shadow(s, g) != CAIRN__RELEASED) return false;
  cairn__cow_disarm(g->src);
  return true;
}

static void retry_wanted(cairn__snapshot_t *s) {
  cairn__granule_t **at = &s->wanted;
  while (*at != NULL) {
    cairn__granule_t *g = *at;
    if (!answer(s, g)) {
      at = &g->next_wanted;
      continue;
    }
    *at = g->next_wanted;
    atomic_fetch_add(&s->waited_ns, cairn__now_ns() - g->wanted_ns);
    g->wanted_ns = 0;
    atomic_fetch_sub(&s->num_wanted, 1);
  }
}

/* Counted as wanted before the second look, so that whoever makes room after it
 * kicks. */
static void want(cairn__snapshot_t *s, cairn__granule_t *g) {
  if (g->wanted_ns == 0) {
    g->wanted_ns = cairn__now_ns();
    g->next_wanted = s->wanted;
    s->wanted = g;
    atomic_fetch_add(&s->num_wanted, 1);
  }
  retry_wanted(s);
}

static void on_fault(cairn__cow_t *c, uintptr_t at) {
  cairn__granule_t *g = NULL;
  cairn__snapshot_t *s = use_owner(c, at, &g);
  if (s == NULL) return; /* dropped meanwhile: that woke the writer */
  atomic_fetch_add(&s->faults, 1);
  if (!answer(s, g)) want(s, g);
  let_go(c);
}

static void answer_kicks(cairn__cow_t *c) {
  uint64_t kicks;
  cairn__snapshot_t *s;
  ssize_t n = read(c->wake_fd, &kicks, sizeof(kicks));
  (void)n;
  while ((s = use_kicked(c)) != NULL) {
    retry_wanted(s);
    let_go(c);
  }
}

static void answer_faults(cairn__cow_t *c) {
  uintptr_t at[FAULTS_AT_ONCE];
  size_t n = cairn__uffd_faults(c->fd, at, FAULTS_AT_ONCE);
  for (size_t i = 0; i < n; i++) {
    on_fault(c, at[i]);
    atomic_fetch_add(&c->progress, 1);
  }
}

static void *handler(void *arg) {
  cairn__cow_t *c = arg;
  for (;;) {
    struct pollfd fds[2] = {{.fd = c->fd, .events = POLLIN},
                            {.fd = c->wake_fd, .events = POLLIN}};
    atomic_store(&c->busy, false);
    if (poll(fds, 2, -1) < 0) continue;
    atomic_store(&c->busy, true);
    atomic_fetch_add(&c->progress, 1);
    if (fds[1].revents != 0) answer_kicks(c);
    if (fds[0].revents != 0) answer_faults(c);
  }
  return NULL;
}

/* --- the watchdog --- */

static bool has_to_do(cairn__cow_t *c) {
  struct pollfd p = {.fd = c->fd, .events = POLLIN};
  return atomic_load(&c->busy) ||
         (poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0);
}

/* Said before it is done, so that who reads afterwards knows. */
static void give_up(cairn__cow_t *c) {
  c->dead = true;
  for (cairn__snapshot_t *s = c->all; s != NULL; s = s->next) {
    atomic_store(&s->failed, true);
    for (size_t i = 0; i < s->num_ranges; i++)
      cairn__uffd_unregister(c->fd, s->ranges[i].lo, s->ranges[i].hi);
  }
}

static int64_t limit(const cairn__cow_t *c) {
  int64_t least = INT64_MAX;
  for (const cairn__snapshot_t *s = c->all; s != NULL; s = s->next)
    if (s->limit_ns < least) least = s->limit_ns;
  return least;
}

static void wait_ns(cairn__cow_t *c, int64_t ns) {
  int64_t until = cairn__now_ns() + ns;
  struct timespec t = {.tv_sec = until / 1000000000,
                       .tv_nsec = until % 1000000000};
  pthread_cond_timedwait(&c->work, &c->lock, &t);
}

static void *watchdog(void *arg) {
  cairn__cow_t *c = arg;
  unsigned seen = 0;
  int64_t since = cairn__now_ns();
  pthread_mutex_lock(&c->lock);
  while (!c->dead) {
    if (c->all == NULL) {
      pthread_cond_wait(&c->work, &c->lock);
      since = cairn__now_ns();
      continue;
    }
    unsigned progress = atomic_load(&c->progress);
    if (progress != seen || !has_to_do(c)) since = cairn__now_ns();
    seen = progress;
    int64_t left = limit(c) - (cairn__now_ns() - since);
    if (left <= 0)
      give_up(c);
    else
      wait_ns(c, left / 2 + 1);
  }
  pthread_mutex_unlock(&c->lock);
  return NULL;
}

/* --- starting --- */

/* Detached: they live as long as the process. */
static int start(void *(*fn)(void *), cairn__cow_t *c) {
  pthread_attr_t attr;
  pthread_t thread;
  int rc = pthread_attr_init(&attr);
  if (rc != 0) return rc;
  pthread_attr_setstacksize(&attr, STACK_BYTES);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  rc = pthread_create(&thread, &attr, fn, c);
  pthread_attr_destroy(&attr);
  return rc;
}

/* The condition variable goes by the clock that cairn__now_ns reads. */
static int init_work(cairn__cow_t *c) {
  pthread_condattr_t attr;
  int rc = pthread_condattr_init(&attr);
  if (rc != 0) return rc;
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  rc = pthread_cond_init(&c->work, &attr);
  pthread_condattr_destroy(&attr);
  return rc;
}

/* The watchdog first: alone it sleeps, since nothing is armed, and is there for
 * the next try; a handler would look at a descriptor that is closed again. */
cairn_code_t cairn__cow_threads_start(cairn_error_t *err) {
  static bool has_watchdog;
  cairn__cow_t *c = &cairn__cow;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int rc = has_watchdog ? 0 : init_work(c);
  if (rc == 0 && !has_watchdog) rc = start(watchdog, c);
  has_watchdog = has_watchdog || rc == 0;
  if (rc == 0) rc = start(handler, c);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (rc == 0) return CAIRN_OK;
  return cairn_fail_errno(err, rc, "starting the write protection's threads");
}
