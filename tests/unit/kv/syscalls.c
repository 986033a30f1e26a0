#include "syscalls.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char synced[1 << 16];
static size_t synced_n;
static const char *failing;

void syscalls_reset(void) {
  pthread_mutex_lock(&lock);
  synced_n = 0;
  synced[0] = '\0';
  pthread_mutex_unlock(&lock);
}

const char *syscalls_synced(void) {
  static char copy[sizeof synced];
  pthread_mutex_lock(&lock);
  memcpy(copy, synced, synced_n + 1);
  pthread_mutex_unlock(&lock);
  return copy;
}

int syscalls_count(const char *path) {
  const char *all = syscalls_synced();
  size_t n = strlen(path);
  int count = 0;
  for (const char *p = all; *p != '\0'; p = strchr(p, '\n') + 1)
    if (strncmp(p, path, n) == 0 && p[n] == '\n') count++;
  return count;
}

void syscalls_fail(const char *suffix) {
  pthread_mutex_lock(&lock);
  failing = suffix;
  pthread_mutex_unlock(&lock);
}

/* True: this one fails. */
static bool note(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  if (n < 0) return false;
  path[n] = '\0';
  pthread_mutex_lock(&lock);
  size_t m = failing != NULL ? strlen(failing) : 0;
  bool fails = failing != NULL && (size_t)n >= m &&
               strcmp(path + (size_t)n - m, failing) == 0;
  if (fails) failing = NULL;
  if (synced_n + (size_t)n + 2 < sizeof synced)
    synced_n += (size_t)sprintf(synced + synced_n, "%s\n", path);
  pthread_mutex_unlock(&lock);
  return fails;
}

int fdatasync(int fd) {
  if (note(fd)) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
  if (note(fd)) {
    errno = EIO;
    return -1;
  }
  return (int)syscall(SYS_fsync, fd);
}
