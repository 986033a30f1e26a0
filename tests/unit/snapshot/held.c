#include "held.h"

#include <sys/mman.h>

uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

size_t below(uint64_t *state, size_t bound) {
  return (size_t)(next_random(state) % bound);
}

void fill_random(void *p, size_t n, uint64_t seed) {
  uint64_t state = seed * 2654435769u + 1, word;
  for (size_t i = 0; i < n; i += sizeof(word)) {
    word = next_random(&state);
    memcpy((char *)p + i, &word, n - i < sizeof(word) ? n - i : sizeof(word));
  }
}

region_t region_new(size_t off, size_t n, uint64_t seed) {
  region_t r = {.n = n, .mapped = (off + n + G - 1) / G * G};
  r.base = cairn__map_huge(r.mapped);
  cr_assert_not_null(r.base);
  r.data = r.base + off;
  fill_random(r.data, n, seed);
  return r;
}

void region_free(region_t *r) {
  munmap(r->base, r->mapped);
}

char *region_copy(const region_t *r) {
  char *copy = malloc(r->n);
  cr_assert_not_null(copy);
  memcpy(copy, r->data, r->n);
  return copy;
}

cairn__pool_t *pool_new(void) {
  cairn__pool_t *pool = NULL;
  cr_assert_eq(cairn__pool_new(&pool, NULL), CAIRN_OK);
  return pool;
}

cairn__snapshot_t *hold(cairn__pool_t *pool, const region_t *r,
                        cairn_snapshot_t mode, size_t shadow_bytes) {
  cairn__snapshot_part_t part = {
      .data = r->data, .n = r->n, .mode = mode, .name = "w"};
  cairn__snapshot_opts_t opts = {.shadow_bytes = shadow_bytes};
  cairn__snapshot_t *s = NULL;
  cairn_error_t err = {0};
  cr_assert_eq(cairn__snapshot_begin(pool, &part, 1, &opts, &s, &err), CAIRN_OK,
               "%s", err.message);
  return s;
}

bool reads_as(cairn__snapshot_t *s, const region_t *r, size_t off, size_t n,
              const char *want) {
  char *out = malloc(n + 1);
  bool same =
      cairn__snapshot_read(s, 0, r->data + off, n, out, NULL) == CAIRN_OK &&
      memcmp(out, want, n) == 0;
  free(out);
  return same;
}

void need_cow(void) {
#ifdef __SANITIZE_THREAD__
  cr_skip_test(
      "the thread sanitizer does not see that a write waits for the handler");
#endif
  cairn_error_t err = {0};
  if (cairn__cow_available(&err) != CAIRN_OK)
    cr_skip_test("%.200s", err.message);
}

int64_t faults_of(const cairn__snapshot_t *s) {
  cairn__snapshot_stats_t stats;
  cairn__snapshot_stats(s, &stats);
  return stats.faults;
}

int64_t shadowed_of(const cairn__snapshot_t *s) {
  cairn__snapshot_stats_t stats;
  cairn__snapshot_stats(s, &stats);
  return stats.shadowed_bytes;
}
