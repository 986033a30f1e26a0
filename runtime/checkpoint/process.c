#include "checkpoint/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

/* The boot id tells two boots of one host apart, the namespace's inode two
 * containers that see different processes under one number. */
static uint64_t place_hash(const char *host) {
  char text[256] = {0};
  uint64_t h = cairn__hash64(host, strlen(host), 0);
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (f != NULL) {
    size_t n = fread(text, 1, sizeof(text), f);
    h = cairn__hash64(text, n, h);
    fclose(f);
  }
  ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text));
  return n > 0 ? cairn__hash64(text, (size_t)n, h) : h;
}

/* What /proc/PID/stat says; all 0: no such process. */
struct stat_line {
  char state;      /* field 3 */
  int64_t threads; /* field 20 */
  int64_t start;   /* field 22 */
};

/* The name in field 2 may hold blanks and brackets, so counting begins after
 * the last ')'. */
static struct stat_line stat_of(int64_t pid) {
  struct stat_line line = {0};
  char path[64], text[1024];
  snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
  FILE *f = fopen(path, "re");
  if (f == NULL) return line;
  size_t n = fread(text, 1, sizeof(text) - 1, f);
  fclose(f);
  text[n] = 0;
  char *p = strrchr(text, ')');
  for (int field = 2; p != NULL && field < 22; field++) {
    p = strchr(p + 1, ' ');
    if (p == NULL) break;
    if (field == 2) line.state = p[1];
    if (field == 19) line.threads = strtoll(p + 1, NULL, 10);
    if (field == 21) line.start = strtoll(p + 1, NULL, 10);
  }
  return line;
}

/* Ended, but its parent has not asked for its status yet. (A process whose
 * first thread has ended is in this state too, with more than one thread.) */
static bool is_zombie(const struct stat_line *line) {
  return (line->state == 'Z' || line->state == 'X') && line->threads <= 1;
}

void cairn__process_self(cairn__process_t *out) {
  *out = (cairn__process_t){0};
  if (gethostname(out->host, sizeof(out->host) - 1) != 0)
    strcpy(out->host, "unknown");
  out->place = place_hash(out->host);
  out->pid = getpid();
  out->start = stat_of(out->pid).start;
}

cairn__life_t cairn__process_life(const cairn__process_t *p) {
  cairn__process_t self;
  cairn__process_self(&self);
  if (p->place != self.place) return CAIRN__ELSEWHERE;
  if (p->pid <= 0 || (kill((pid_t)p->pid, 0) != 0 && errno == ESRCH))
    return CAIRN__DEAD;
  struct stat_line line = stat_of(p->pid);
  if (is_zombie(&line)) return CAIRN__DEAD;
  return line.start == 0 || line.start == p->start ? CAIRN__ALIVE : CAIRN__DEAD;
}
