#include "limit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "meter.h"

#define BLOCK ((int64_t)8 << 20)
enum { THREADS = 2 };

/* Memory in huge pages where there are some, touched. NULL: none. */
static char *memory(int64_t n) {
  char *p = aligned_alloc(
      (size_t)2 << 20, (size_t)(n + (2 << 20) - 1) & ~(((size_t)2 << 20) - 1));
  if (p == NULL) return NULL;
  madvise(p, (size_t)n, MADV_HUGEPAGE);
  memset(p, 1, (size_t)n);
  return p;
}

double limit_memcpy(int64_t bytes) {
  int64_t n = bytes < (int64_t)256 << 20 ? bytes : (int64_t)256 << 20;
  char *from = memory(n), *to = memory(n);
  double best = -1;
  for (int i = 0; from != NULL && to != NULL && i < 5; i++) {
    double begun = meter_now();
    memcpy(to, from, (size_t)n);
    __asm__ volatile("" ::"r"(to) : "memory");
    double t = meter_now() - begun;
    if (best < 0 || t < best) best = t;
  }
  free(from);
  free(to);
  return best < 0 ? best : best * (double)bytes / (double)n;
}

/* --- files --- */

struct stream {
  int fd;
  bool reads;
  int64_t bytes;
  atomic_llong next;
  atomic_bool failed;
};

static void *transfer(void *arg) {
  struct stream *s = arg;
  char *p = memory(BLOCK);
  int64_t at;
  while (p != NULL && (at = atomic_fetch_add(&s->next, BLOCK)) < s->bytes) {
    size_t n = (size_t)(s->bytes - at < BLOCK ? s->bytes - at : BLOCK);
    ssize_t did = s->reads ? pread(s->fd, p, n, at) : pwrite(s->fd, p, n, at);
    if (did != (ssize_t)n) atomic_store(&s->failed, true);
  }
  if (p == NULL) atomic_store(&s->failed, true);
  free(p);
  return NULL;
}

static double stream(const char *path, int flags, bool reads, int64_t bytes) {
  struct stream s = {.reads = reads, .bytes = bytes};
  pthread_t other[THREADS - 1];
  double begun = meter_now();
  s.fd = open(path, flags | O_CLOEXEC, 0666);
  if (s.fd < 0) return -1;
  int n = 0;
  while (n < THREADS - 1 && pthread_create(&other[n], NULL, transfer, &s) == 0)
    n++;
  transfer(&s);
  while (n > 0) pthread_join(other[--n], NULL);
  if (!reads && fdatasync(s.fd) != 0) atomic_store(&s.failed, true);
  close(s.fd);
  return atomic_load(&s.failed) ? -1 : meter_now() - begun;
}

static int64_t whole_blocks(int64_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

static double write_new(const char *dir, int64_t bytes, int flags, bool back) {
  char path[4096];
  snprintf(path, sizeof path, "%s/cairn-bench.limit", dir);
  unlink(path);
  double t =
      stream(path, O_WRONLY | O_CREAT | flags, false, whole_blocks(bytes));
  if (back && t >= 0)
    t = stream(path, O_RDONLY | flags, true, whole_blocks(bytes));
  unlink(path);
  return t;
}

double limit_write(const char *dir, int64_t bytes) {
  return write_new(dir, bytes, O_DIRECT, false);
}

double limit_buffered(const char *dir, int64_t bytes) {
  meter_prewarm(bytes);
  return write_new(dir, bytes, 0, false);
}

double limit_read(const char *dir, int64_t bytes) {
  return write_new(dir, bytes, O_DIRECT, true);
}

/* --- zstd --- */

enum { MAX_CORES = 64 };

struct encoding {
  const void *in;
  size_t n;
};

static void *encode(void *arg) {
  struct encoding *e = arg;
  size_t cap = ZSTD_compressBound(e->n);
  void *out = malloc(cap);
  if (out != NULL) {
    memset(out, 1, cap);
    ZSTD_compress(out, cap, e->in, e->n, 1);
  }
  free(out);
  return NULL;
}

double limit_zstd(const void *sample, int64_t n, int64_t bytes) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t t[MAX_CORES];
  struct encoding e = {sample, (size_t)n};
  double best = -1;
  if (cores > MAX_CORES) cores = MAX_CORES;
  for (int round = 0; round < 3; round++) {
    double begun = meter_now();
    long started = 0;
    while (started < cores &&
           pthread_create(&t[started], NULL, encode, &e) == 0)
      started++;
    for (long i = 0; i < started; i++) pthread_join(t[i], NULL);
    double each = started == 0 ? -1 : (meter_now() - begun) / (double)started;
    if (best < 0 || each < best) best = each;
  }
  return best < 0 ? best : best * (double)bytes / (double)n;
}
