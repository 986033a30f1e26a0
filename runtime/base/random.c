/* Random bytes and ids, and the two clocks. */
#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static int64_t clock_ns(clockid_t id) {
  struct timespec t = {0};
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t cairn__now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

int64_t cairn__wall_ns(void) {
  return clock_ns(CLOCK_REALTIME);
}

/* Where the kernel gives none (a sandbox that forbids the call): ids must be
 * unique, not secret, so clock, process and a counter will do. */
static void without_kernel(uint8_t *p, size_t n) {
  static uint64_t counter;
  while (n > 0) {
    uint64_t seed[4] = {(uint64_t)cairn__now_ns(), (uint64_t)cairn__wall_ns(),
                        (uint64_t)getpid(),
                        __atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED)};
    uint64_t v = cairn__hash64(seed, sizeof seed, (uintptr_t)p);
    size_t part = n < sizeof v ? n : sizeof v;
    memcpy(p, &v, part);
    p += part;
    n -= part;
  }
}

void cairn__random(void *p, size_t n) {
  uint8_t *at = p;
  while (n > 0) {
    ssize_t got = getrandom(at, n, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      without_kernel(at, n);
      return;
    }
    at += got;
    n -= (size_t)got;
  }
}

void cairn__random_id(char out[33]) {
  uint8_t id[16];
  cairn__random(id, sizeof id);
  cairn__hex(id, sizeof id, out);
}
