#include "meter.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

double meter_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double meter_median(double *v, int n) {
  if (n == 0) return 0;
  qsort(v, (size_t)n, sizeof *v, by_value);
  return n % 2 != 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* --- memory and threads --- */

static int64_t status(const char *key) {
  char line[256];
  long long n = 0;
  size_t k = strlen(key);
  FILE *f = fopen("/proc/self/status", "r");
  if (f == NULL) return 0;
  while (fgets(line, sizeof line, f) != NULL)
    if (strncmp(line, key, k) == 0 && line[k] == ':')
      n = strtoll(line + k + 1, NULL, 10);
  fclose(f);
  return n;
}

int64_t meter_rss(void) {
  return status("VmRSS") * 1024;
}

int64_t meter_peak(void) {
  return status("VmHWM") * 1024;
}

static bool write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  return close(fd) == 0 && ok;
}

int64_t meter_reset_peak(void) {
  write_text("/proc/self/clear_refs", "5");
  return meter_rss();
}

int meter_threads(void) {
  return (int)status("Threads");
}

void meter_prewarm(int64_t n) {
  char *p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  for (int64_t i = 0; i < n; i += 4096) p[i] = 1;
  munmap(p, (size_t)n);
}

bool meter_drop_caches(void) {
  sync();
  return write_text("/proc/sys/vm/drop_caches", "3");
}

/* --- trees of files --- */

static void sync_path(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

static int sync_entry(const char *path, const struct stat *st, int type,
                      struct FTW *at) {
  (void)st, (void)type, (void)at;
  sync_path(path);
  return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *at) {
  (void)st, (void)type, (void)at;
  remove(path);
  return 0;
}

double meter_sync_tree(const char *dir) {
  char parent[4096];
  double begun = meter_now();
  nftw(dir, sync_entry, 16, FTW_PHYS | FTW_DEPTH);
  snprintf(parent, sizeof parent, "%s/..", dir);
  sync_path(parent);
  return meter_now() - begun;
}

void meter_remove_tree(const char *dir) {
  nftw(dir, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
}

/* --- a computation --- */

enum { SIDE = 160 };

void meter_compute(void) {
  static float a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
  a[0][0] = b[0][0] = 1;
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++)
      for (int j = 0; j < SIDE; j++) c[i][j] += a[i][k] * b[k][j];
  __asm__ volatile("" ::"r"(c) : "memory"); /* not computed away */
}

double meter_compute_rate(void) {
  double begun = meter_now(), t = 0;
  int n = 0;
  for (; (t = meter_now() - begun) < 1; n++) meter_compute();
  return n / t;
}
