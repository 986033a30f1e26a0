/* Blocks on their way to a file; see direct.h. */
#include "io/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "io/direct_trial.h"

#define BLOCK CAIRN__DIRECT_BLOCK
#define HUGE_PAGE ((size_t)2 << 20)

struct block {
  struct block *next;
  uint64_t offset;    /* in the file; a multiple of BLOCK */
  size_t filled, end; /* bytes that are there; end of the last one */
  char *data;
};

struct cairn__direct {
  int fd;
  const char *path;
  pthread_mutex_t lock;
  struct block *open, *spare;
  enum { UNDECIDED, DIRECT, BUFFERED } mode;
};

cairn__direct_t *cairn__direct_new(int fd, const char *path) {
  cairn__direct_t *d = calloc(1, sizeof *d);
  if (d == NULL || pthread_mutex_init(&d->lock, NULL) != 0) {
    free(d);
    return NULL;
  }
  d->fd = fd;
  d->path = path;
  return d;
}

static void free_blocks(struct block *b) {
  while (b != NULL) {
    struct block *next = b->next;
    munmap(b->data, BLOCK);
    free(b);
    b = next;
  }
}

void cairn__direct_free(cairn__direct_t *d) {
  if (d == NULL) return;
  free_blocks(d->open);
  free_blocks(d->spare);
  pthread_mutex_destroy(&d->lock);
  free(d);
}

/* --- blocks --- */

/* At a huge page, of which the kernel makes a block if it may: a transfer from
 * small pages is slower. Much is mapped, and what is not needed given back. */
static char *map_block(void) {
  char *p = mmap(NULL, BLOCK + HUGE_PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
  if (before != 0) munmap(p, before);
  munmap(p + before + BLOCK, HUGE_PAGE - before);
  return p + before;
}

static struct block *block_new(void) {
  struct block *b = calloc(1, sizeof *b);
  if (b == NULL) return NULL;
  b->data = map_block();
  if (b->data != NULL) return b;
  free(b);
  return NULL;
}

/* A small file must not touch a huge page. */
static void expect(struct block *b, size_t n) {
#ifdef MADV_HUGEPAGE
  if (n >= HUGE_PAGE / 4) madvise(b->data, BLOCK, MADV_HUGEPAGE);
#else
  (void)b, (void)n;
#endif
}

/* lock is held. NULL: no memory. */
static struct block *block_at(cairn__direct_t *d, uint64_t offset, size_t n) {
  struct block *b = d->open;
  while (b != NULL && b->offset != offset) b = b->next;
  if (b != NULL) return b;
  b = d->spare;
  if (b != NULL)
    d->spare = b->next;
  else if ((b = block_new()) != NULL)
    expect(b, n);
  if (b == NULL) return NULL;
  b->offset = offset;
  b->filled = b->end = 0;
  b->next = d->open;
  d->open = b;
  return b;
}

/* lock is held. */
static void unlink_block(cairn__direct_t *d, const struct block *b) {
  struct block **p = &d->open;
  while (*p != b) p = &(*p)->next;
  *p = b->next;
}

/* --- writing --- */

static bool set_direct(int fd, bool on) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return false;
  return fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

/* lock is held: others wait for the outcome. */
static void decide(cairn__direct_t *d, const struct block *b) {
  if (d->mode != UNDECIDED) return;
  d->mode =
      cairn__direct_pays(d->fd, d->path, b->data) && set_direct(d->fd, true)
          ? DIRECT
          : BUFFERED;
}

static cairn_code_t put(cairn__direct_t *d, const struct block *b, size_t n,
                        cairn_error_t *err) {
  struct iovec iov = {b->data, n};
  return cairn__fs_pwritev(d->fd, d->path, &iov, 1, (int64_t)b->offset, err);
}

/* A full block that no one else looks at any more. Writing begins in the
 * background at once, and not only with the sync. */
static cairn_code_t put_full(cairn__direct_t *d, struct block *b,
                             cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn_code_t rc = put(d, b, BLOCK, &local);
  if (rc != CAIRN_OK && local.sys_errno == EINVAL && d->mode == DIRECT) {
    local = (cairn_error_t){0}; /* not for this file after all */
    set_direct(d->fd, false);
    rc = put(d, b, BLOCK, &local);
  }
  if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
  if (d->mode == BUFFERED)
    sync_file_range(d->fd, (off_t)b->offset, (off_t)BLOCK,
                    SYNC_FILE_RANGE_WRITE);
  return CAIRN_OK;
}

/* What a part has for a block. */
struct rest {
  const struct iovec *iov;
  int niov;
  size_t skip; /* of iov[0] */
};

static void gather(struct rest *r, char *to, size_t n) {
  while (n > 0) {
    size_t here = r->iov->iov_len - r->skip;
    if (here > n) here = n;
    if (here != 0) memcpy(to, (const char *)r->iov->iov_base + r->skip, here);
    to += here;
    n -= here;
    r->skip += here;
    if (r->skip == r->iov->iov_len) {
      r->iov++;
      r->niov--;
      r->skip = 0;
    }
  }
}

/* Copies without the lock: the block cannot be full before these bytes count.
 */
static cairn_code_t fill(cairn__direct_t *d, struct rest *r, uint64_t offset,
                         size_t n, cairn_error_t *err) {
  size_t at = (size_t)(offset % BLOCK);
  pthread_mutex_lock(&d->lock);
  struct block *b = block_at(d, offset - at, n);
  pthread_mutex_unlock(&d->lock);
  if (b == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "write %s: no memory for a block",
                      d->path);
  gather(r, b->data + at, n);
  pthread_mutex_lock(&d->lock);
  b->filled += n;
  if (b->end < at + n) b->end = at + n;
  bool full = b->filled == BLOCK;
  if (full) {
    unlink_block(d, b);
    decide(d, b);
  }
  pthread_mutex_unlock(&d->lock);
  if (!full) return CAIRN_OK;
  cairn_code_t rc = put_full(d, b, err);
  pthread_mutex_lock(&d->lock);
  b->next = d->spare;
  d->spare = b;
  pthread_mutex_unlock(&d->lock);
  return rc;
}

static uint64_t total(const struct iovec *iov, int niov) {
  uint64_t n = 0;
  for (int i = 0; i < niov; i++) n += iov[i].iov_len;
  return n;
}

cairn_code_t cairn__direct_write(cairn__direct_t *d, uint64_t offset,
                                 const struct iovec *iov, int niov,
                                 cairn_error_t *err) {
  struct rest r = {iov, niov, 0};
  uint64_t left = total(iov, niov);
  while (left > 0) {
    uint64_t room = BLOCK - offset % BLOCK;
    size_t n = (size_t)(left < room ? left : room);
    cairn_code_t rc = fill(d, &r, offset, n, err);
    if (rc != CAIRN_OK) return rc;
    offset += n;
    left -= n;
  }
  return CAIRN_OK;
}

cairn_code_t cairn__direct_finish(cairn__direct_t *d, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  if (d->mode == DIRECT && d->open != NULL && !set_direct(d->fd, false))
    return cairn_fail_errno(err, errno, "fcntl %s", d->path);
  for (struct block *b = d->open; b != NULL && rc == CAIRN_OK; b = b->next)
    rc = put(d, b, b->end, err);
  return rc;
}
