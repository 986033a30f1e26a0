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

/* Field 22 of /proc/PID/stat. The name in field 2 may hold blanks and brackets,
 * so counting begins after the last ')'. 0: no such process. */
static int64_t start_of(int64_t pid) {
  char path[64], text[1024];
  snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
  FILE *f = fopen(path, "re");
  if (f == NULL) return 0;
  size_t n = fread(text, 1, sizeof(text) - 1, f);
  fclose(f);
  text[n] = 0;
  char *p = strrchr(text, ')');
  for (int field = 2; p != NULL && field < 22; field++) p = strchr(p + 1, ' ');
  return p != NULL ? strtoll(p + 1, NULL, 10) : 0;
}

void cairn__process_self(cairn__process_t *out) {
  *out = (cairn__process_t){0};
  if (gethostname(out->host, sizeof(out->host) - 1) != 0)
    strcpy(out->host, "unknown");
  out->place = place_hash(out->host);
  out->pid = getpid();
  out->start = start_of(out->pid);
}

cairn__life_t cairn__process_life(const cairn__process_t *p) {
  cairn__process_t self;
  cairn__process_self(&self);
  if (p->place != self.place) return CAIRN__ELSEWHERE;
  if (p->pid <= 0 || (kill((pid_t)p->pid, 0) != 0 && errno == ESRCH))
    return CAIRN__DEAD;
  int64_t start = start_of(p->pid);
  return start == 0 || start == p->start ? CAIRN__ALIVE : CAIRN__DEAD;
}
