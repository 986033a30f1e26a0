/* Memory with known bytes, and snapshots of it, for the tests of this room. */
#ifndef TESTS_UNIT_SNAPSHOT_HELD_H_
#define TESTS_UNIT_SNAPSHOT_HELD_H_

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "snapshot/snapshot.h"

#define G CAIRN__GRANULE

/* n bytes at a granule's boundary plus `off`, filled from `seed`. */
typedef struct region {
  char *base, *data;
  size_t n, mapped;
} region_t;

region_t region_new(size_t off, size_t n, uint64_t seed);
void region_free(region_t *r);
/* A copy for free(). */
char *region_copy(const region_t *r);

/* xorshift: fills, and numbers below a bound. */
uint64_t next_random(uint64_t *state);
size_t below(uint64_t *state, size_t bound);
void fill_random(void *p, size_t n, uint64_t seed);

/* A snapshot of one part; fails the test if it cannot begin. */
cairn__snapshot_t *hold(cairn__pool_t *pool, const region_t *r,
                        cairn_snapshot_t mode, size_t shadow_bytes);
/* True if reading n bytes from `off` of part 0 gives those of `want`. */
bool reads_as(cairn__snapshot_t *s, const region_t *r, size_t off, size_t n,
              const char *want);
cairn__pool_t *pool_new(void);

/* Skips the test, with the reason, where write protection does not work. */
void need_cow(void);

/* Yields until the condition holds. */
#define UNTIL(x) \
  while (!(x)) sched_yield()
int64_t faults_of(const cairn__snapshot_t *s);
int64_t shadowed_of(const cairn__snapshot_t *s);

#endif
