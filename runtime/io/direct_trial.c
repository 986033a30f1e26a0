/* A fact about the machine, so it is kept for the process and not for a
 * runtime: a few file systems, found by their device number. */
#include "io/direct_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

enum { FILE_SYSTEMS = 16, ROUNDS = 3 };

static struct {
  pthread_mutex_t lock; /* also held during a trial: one at a time */
  dev_t dev[FILE_SYSTEMS];
  bool pays[FILE_SYSTEMS];
  size_t n;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Nanoseconds until a block is written to `fd` and synced; negative: it cannot
 * be. */
static int64_t timed(int fd, const void *block, off_t at) {
  int64_t begun = cairn__now_ns();
  ssize_t n = pwrite(fd, block, CAIRN__DIRECT_BLOCK, at);
  if (n != (ssize_t)CAIRN__DIRECT_BLOCK || fdatasync(fd) < 0) return -1;
  return cairn__now_ns() - begun;
}

/* A file without a name in the directory of path. */
static int open_nameless(const char *path, int flags) {
  char dir[4096];
  const char *end = strrchr(path, '/');
  int n = end != NULL ? (int)(end - path) + 1 : 0;
  if (snprintf(dir, sizeof dir, "%.*s.", n, path) >= (int)sizeof dir) return -1;
  return open(dir, O_WRONLY | O_TMPFILE | O_CLOEXEC | flags, 0600);
}

/* In turns, and the best of each: what else goes on hits both. */
static bool compare(int direct, int buffered, const void *block) {
  int64_t best[2] = {INT64_MAX, INT64_MAX};
  for (int i = 0; i < ROUNDS; i++) {
    off_t at = (off_t)(i * (int)CAIRN__DIRECT_BLOCK);
    int64_t t[2] = {timed(direct, block, at), timed(buffered, block, at)};
    for (int k = 0; k < 2; k++) {
      if (t[k] < 0) return false;
      if (t[k] < best[k]) best[k] = t[k];
    }
  }
  return best[0] < best[1];
}

static bool try_out(const char *path, const void *block) {
  int direct = open_nameless(path, O_DIRECT);
  int buffered = direct < 0 ? -1 : open_nameless(path, 0);
  bool pays = buffered >= 0 && compare(direct, buffered, block);
  if (direct >= 0) close(direct);
  if (buffered >= 0) close(buffered);
  return pays;
}

bool cairn__direct_pays(int fd, const char *path, const void *block) {
  struct stat st;
  size_t i = 0;
  if (fstat(fd, &st) < 0) return false;
  pthread_mutex_lock(&known.lock);
  while (i < known.n && known.dev[i] != st.st_dev) i++;
  if (i == known.n) {
    if (i == FILE_SYSTEMS) i = known.n = 0; /* more are rare: begin again */
    known.dev[i] = st.st_dev;
    known.pays[i] = try_out(path, block);
    known.n = i + 1;
  }
  bool pays = known.pays[i];
  pthread_mutex_unlock(&known.lock);
  return pays;
}
