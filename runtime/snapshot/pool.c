/* Slabs of staging memory. A slab that comes back is kept for the next save:
 * its pages are there and huge, which is what makes the copy fast. The smallest
 * free slab that fits is taken; when none fits, free ones are given up first,
 * so that a state that grows does not leave its old sizes behind. */
#include "snapshot/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

struct cairn__slab {
  cairn__slab_t *next; /* in the list of free ones */
  void *data;
  size_t size, ready; /* bytes; of them, from the start, prefaulted */
};

struct cairn__pool {
  pthread_mutex_t lock;
  cairn__slab_t *free;
};

cairn_code_t cairn__pool_new(cairn__pool_t **out, cairn_error_t *err) {
  cairn__pool_t *pool = calloc(1, sizeof(*pool));
  if (pool == NULL || pthread_mutex_init(&pool->lock, NULL) != 0) {
    free(pool);
    return cairn_fail(err, CAIRN_NO_MEMORY, "staging pool");
  }
  *out = pool;
  return CAIRN_OK;
}

static size_t round_up(size_t n) {
  return (n + CAIRN__HUGE_PAGE - 1) / CAIRN__HUGE_PAGE * CAIRN__HUGE_PAGE;
}

static void slab_free(cairn__slab_t *slab) {
  munmap(slab->data, slab->size);
  free(slab);
}

static void free_all(cairn__slab_t *slab) {
  while (slab != NULL) {
    cairn__slab_t *next = slab->next;
    slab_free(slab);
    slab = next;
  }
}

void cairn__pool_free(cairn__pool_t *pool) {
  if (pool == NULL) return;
  free_all(pool->free);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

/* Maps more than asked for and gives the ends back, so that the slab starts at
 * a huge page: the kernel only makes aligned ones. */
void *cairn__map_huge(size_t size) {
  char *p = mmap(NULL, size + CAIRN__HUGE_PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t before =
      (CAIRN__HUGE_PAGE - (uintptr_t)p % CAIRN__HUGE_PAGE) % CAIRN__HUGE_PAGE;
  if (before != 0) munmap(p, before);
  size_t after = CAIRN__HUGE_PAGE - before;
  if (after != 0) munmap(p + before + size, after);
#ifdef MADV_HUGEPAGE
  madvise(p + before, size, MADV_HUGEPAGE);
#endif
  return p + before;
}

/* Touching every page now keeps the faults out of the copy. Where the kernel
 * lacks MADV_POPULATE_WRITE the copy takes them, once. ENOMEM is the kernel
 * saying that the memory is not there: better here than as a signal later. */
static bool prefault(cairn__slab_t *slab, size_t n) {
  n = round_up(n);
  if (n <= slab->ready) return true;
#ifdef MADV_POPULATE_WRITE
  if (madvise((char *)slab->data + slab->ready, n - slab->ready,
              MADV_POPULATE_WRITE) != 0 &&
      errno == ENOMEM)
    return false;
#endif
  slab->ready = n;
  return true;
}

static cairn_code_t slab_new(size_t n, cairn__slab_t **out,
                             cairn_error_t *err) {
  cairn__slab_t *slab = n <= SIZE_MAX / 2 ? calloc(1, sizeof(*slab)) : NULL;
  if (slab != NULL) slab->data = cairn__map_huge(round_up(n));
  if (slab == NULL || slab->data == NULL) {
    free(slab);
    return cairn_fail(err, CAIRN_NO_MEMORY, "%zu bytes of staging memory", n);
  }
  slab->size = round_up(n);
  *out = slab;
  return CAIRN_OK;
}

static cairn__slab_t *take_best(cairn__pool_t *pool, size_t n) {
  cairn__slab_t **best = NULL;
  for (cairn__slab_t **p = &pool->free; *p != NULL; p = &(*p)->next)
    if ((*p)->size >= n && (best == NULL || (*p)->size < (*best)->size))
      best = p;
  if (best == NULL) return NULL;
  cairn__slab_t *slab = *best;
  *best = slab->next;
  slab->next = NULL;
  return slab;
}

static cairn__slab_t *take(cairn__pool_t *pool, size_t n) {
  cairn__slab_t *stale = NULL;
  pthread_mutex_lock(&pool->lock);
  cairn__slab_t *slab = take_best(pool, n);
  if (slab == NULL) {
    stale = pool->free;
    pool->free = NULL;
  }
  pthread_mutex_unlock(&pool->lock);
  free_all(stale);
  return slab;
}

cairn_code_t cairn__pool_reserve(cairn__pool_t *pool, size_t n, size_t ready,
                                 cairn__slab_t **out, cairn_error_t *err) {
  if (n == 0) n = 1;
  cairn__slab_t *slab = take(pool, n);
  if (slab == NULL && slab_new(n, &slab, err) != CAIRN_OK)
    return CAIRN_NO_MEMORY;
  if (!prefault(slab, ready)) {
    slab_free(slab);
    return cairn_fail(err, CAIRN_NO_MEMORY, "%zu bytes of staging memory", n);
  }
  *out = slab;
  return CAIRN_OK;
}

cairn_code_t cairn__pool_get(cairn__pool_t *pool, size_t n, cairn__slab_t **out,
                             cairn_error_t *err) {
  return cairn__pool_reserve(pool, n, n, out, err);
}

void *cairn__slab_data(cairn__slab_t *slab) {
  return slab->data;
}

void cairn__pool_put(cairn__pool_t *pool, cairn__slab_t *slab) {
  if (slab == NULL) return;
  pthread_mutex_lock(&pool->lock);
  slab->next = pool->free;
  pool->free = slab;
  pthread_mutex_unlock(&pool->lock);
}
