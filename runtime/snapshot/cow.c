/* The register of armed memory. Its lock is never held while touching memory
 * that may be armed, so that the watchdog always gets it. */
#include "snapshot/cow.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snapshot/uffd.h"

cairn__cow_t cairn__cow = {.lock = PTHREAD_MUTEX_INITIALIZER,
                           .idle = PTHREAD_COND_INITIALIZER,
                           .fd = -1,
                           .wake_fd = -1};

/* --- starting --- */

static cairn_code_t start(cairn__cow_t *c, cairn_error_t *err) {
  c->fd = cairn__uffd_open(&c->unpopulated, err);
  if (c->fd < 0) return CAIRN_UNSUPPORTED;
  c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (c->wake_fd < 0) {
    cairn_fail_errno(err, errno, "eventfd");
    goto fail_wake;
  }
  if (cairn__cow_threads_start(err) != CAIRN_OK) goto fail_threads;
  c->pid = getpid();
  return CAIRN_OK;
fail_threads:
  close(c->wake_fd);
fail_wake:
  close(c->fd);
  c->fd = c->wake_fd = -1;
  return CAIRN_UNSUPPORTED;
}

cairn_code_t cairn__cow_start(cairn_error_t *err) {
  cairn__cow_t *c = &cairn__cow;
  cairn_code_t rc = CAIRN_OK;
  pthread_mutex_lock(&c->lock);
  if (c->fd < 0)
    rc = start(c, err);
  else if (c->pid != getpid())
    rc = cairn_fail(err, CAIRN_UNSUPPORTED,
                    "write-protected snapshots do not work in a process that "
                    "was forked from one that had them");
  else if (c->dead)
    rc = cairn_fail(err, CAIRN_UNSUPPORTED,
                    "write protection was given up in this process: its "
                    "handler did not answer");
  pthread_mutex_unlock(&c->lock);
  return rc;
}

/* --- claiming --- */

/* The first range that ends above lo; n if there is none. */
static size_t first_above(const cairn__range_t *r, size_t n, uintptr_t lo) {
  size_t a = 0, b = n;
  while (a < b) {
    size_t m = a + (b - a) / 2;
    if (r[m].hi > lo)
      b = m;
    else
      a = m + 1;
  }
  return a;
}

static bool overlaps(const cairn__range_t *r, size_t n,
                     const cairn__range_t *x) {
  size_t i = first_above(r, n, x->lo);
  return i < n && r[i].lo < x->hi;
}

static bool is_taken(const cairn__cow_t *c, const cairn__range_t *x) {
  for (const cairn__snapshot_t *s = c->all; s != NULL; s = s->next)
    if (overlaps(s->ranges, s->num_ranges, x)) return true;
  return false;
}

static int by_address(const void *a, const void *b) {
  const cairn__range_t *x = a, *y = b;
  return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* The whole granules of each cow part, by address. A part without any is left
 * out: its edges are all there is of it. */
static size_t list_ranges(const cairn__snapshot_t *s, cairn__range_t *out) {
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) {
    const cairn__part_t *p = &s->parts[i];
    uintptr_t lo = (uintptr_t)p->data, hi = lo + p->n;
    if (p->mode != CAIRN_SNAPSHOT_COW) continue;
    lo = (lo + CAIRN__GRANULE - 1) / CAIRN__GRANULE * CAIRN__GRANULE;
    hi = hi / CAIRN__GRANULE * CAIRN__GRANULE;
    if (lo < hi) out[n++] = (cairn__range_t){.lo = lo, .hi = hi, .part = i};
  }
  qsort(out, n, sizeof(*out), by_address);
  return n;
}

/* Keeps the ranges that nobody else has and the kernel lets us register. */
static void register_ranges(cairn__snapshot_t *s, size_t n) {
  cairn__cow_t *c = &cairn__cow;
  for (size_t i = 0; i < n; i++) {
    cairn__range_t r = s->ranges[i];
    if (!overlaps(s->ranges, s->num_ranges, &r) && !is_taken(c, &r) &&
        cairn__uffd_register(c->fd, r.lo, r.hi)) {
      s->ranges[s->num_ranges++] = r;
    } else {
      s->parts[r.part].mode = CAIRN_SNAPSHOT_COPY;
      s->fallbacks++;
    }
  }
}

cairn_code_t cairn__cow_claim(cairn__snapshot_t *s, cairn_error_t *err) {
  cairn__cow_t *c = &cairn__cow;
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) n += s->parts[i].mode == CAIRN_SNAPSHOT_COW;
  if (n == 0) return CAIRN_OK;
  s->ranges = calloc(n, sizeof(*s->ranges));
  if (s->ranges == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "%zu ranges to protect", n);
  n = list_ranges(s, s->ranges);
  pthread_mutex_lock(&c->lock);
  register_ranges(s, n);
  if (s->num_ranges > 0) {
    s->next = c->all;
    c->all = s;
    pthread_cond_signal(&c->work);
  }
  pthread_mutex_unlock(&c->lock);
  return CAIRN_OK;
}

/* --- arming --- */

/* Older kernels protect only pages that are there: reading makes them so. */
static void populate(uintptr_t lo, uintptr_t hi) {
#ifdef MADV_POPULATE_READ
  if (madvise((void *)lo, hi - lo, MADV_POPULATE_READ) == 0) return;
#endif
  long page = sysconf(_SC_PAGESIZE);
  for (uintptr_t p = lo; p < hi; p += (uintptr_t)page)
    (void)*(volatile const char *)p;
}

static void mark_armed(cairn__part_t *p, bool armed) {
  for (size_t i = 0; i < p->num_granules; i++)
    if (cairn__granule_whole(&p->granules[i])) p->granules[i].armed = armed;
}

/* Marked before: the first write may come while we are still arming. */
void cairn__cow_arm(cairn__snapshot_t *s) {
  cairn__cow_t *c = &cairn__cow;
  pthread_mutex_lock(&c->lock);
  s->ready = true;
  pthread_mutex_unlock(&c->lock);
  for (size_t i = 0; i < s->num_ranges; i++) {
    cairn__range_t *r = &s->ranges[i];
    cairn__part_t *p = &s->parts[r->part];
    if (!c->unpopulated) populate(r->lo, r->hi);
    mark_armed(p, true);
    if (cairn__uffd_protect(c->fd, r->lo, r->hi, true)) {
      s->armed_bytes += r->hi - r->lo;
    } else {
      cairn__uffd_protect(c->fd, r->lo, r->hi, false);
      mark_armed(p, false);
      p->mode = CAIRN_SNAPSHOT_COPY;
      s->fallbacks++;
    }
  }
}

void cairn__cow_disarm(const char *p) {
  uintptr_t lo = (uintptr_t)p;
  cairn__uffd_protect(cairn__cow.fd, lo, lo + CAIRN__GRANULE, false);
}

static void leave_register(cairn__cow_t *c, cairn__snapshot_t *s) {
  cairn__snapshot_t **at = &c->all;
  while (*at != NULL && *at != s) at = &(*at)->next;
  if (*at == s) *at = s->next;
}

/* The handler may be at work for this snapshot. If it will never be done, the
 * watchdog has woken it from whatever it was: the disarmed memory. */
void cairn__cow_release(cairn__snapshot_t *s) {
  cairn__cow_t *c = &cairn__cow;
  if (s->num_ranges == 0) return;
  pthread_mutex_lock(&c->lock);
  leave_register(c, s);
  while (c->using == s) pthread_cond_wait(&c->idle, &c->lock);
  pthread_mutex_unlock(&c->lock);
  for (size_t i = 0; i < s->num_ranges; i++)
    cairn__uffd_unregister(c->fd, s->ranges[i].lo, s->ranges[i].hi);
  s->num_ranges = 0;
}

/* A write that an earlier snapshot caught may come to the handler as late as
 * this one is being made. */
cairn__snapshot_t *cairn__cow_find(uintptr_t at, cairn__granule_t **out) {
  for (cairn__snapshot_t *s = cairn__cow.all; s != NULL; s = s->next) {
    size_t i = first_above(s->ranges, s->num_ranges, at);
    if (!s->ready || i == s->num_ranges || s->ranges[i].lo > at) continue;
    cairn__part_t *p = &s->parts[s->ranges[i].part];
    *out = &p->granules[cairn__granule_at(p, (const char *)at)];
    return s;
  }
  return NULL;
}
