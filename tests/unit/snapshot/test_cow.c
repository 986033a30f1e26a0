/* Write protection, one case after another; random ones: test_schedules.c. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cairn/memory.h"
#include "held.h"

struct writing {
  region_t *r;
  atomic_bool done;
};

static void *write_all(void *arg) {
  struct writing *w = arg;
  memset(w->r->data, 0xee, w->r->n);
  atomic_store(&w->done, true);
  return NULL;
}

static bool is_all(const region_t *r, char value) {
  for (size_t i = 0; i < r->n; i++)
    if (r->data[i] != value) return false;
  return true;
}

static cairn__snapshot_stats_t stats_of(const cairn__snapshot_t *s) {
  cairn__snapshot_stats_t stats;
  cairn__snapshot_stats(s, &stats);
  return stats;
}

Test(cow, a_write_copies_its_granule_first) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 4 * G, 1);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 8 * G);
  cr_assert_eq(stats_of(s).armed_bytes, (int64_t)r.n);
  cr_assert_eq(shadowed_of(s), 0);
  r.data[G + 17] ^= 1;
  cr_assert_eq(shadowed_of(s), (int64_t)G);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cr_assert_neq(r.data[G + 17], before[G + 17]);
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, edges_are_copied_at_begin_and_not_armed) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(4096 + 3, 3 * G, 2); /* two whole granules */
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 8 * G);
  cr_assert_eq(stats_of(s).armed_bytes, (int64_t)(2 * G));
  cr_assert_eq(shadowed_of(s), (int64_t)G);
  r.data[0] ^= 1;
  r.data[r.n - 1] ^= 1;
  cr_assert_eq(faults_of(s), 0);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, a_part_below_a_granule_is_copied_at_begin) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(G - 1000, 3000, 3);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 0);
  memset(r.data, 0, r.n);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, a_part_of_nothing_is_fine) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = {0};
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, G);
  cr_assert_eq(cairn__snapshot_settle(s, SIZE_MAX, NULL), CAIRN_OK);
  cairn__snapshot_drop(s);
  cairn__pool_free(pool);
}

Test(cow, the_kernel_may_write_too) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 2 * G, 4);
  char *before = region_copy(&r), bytes[5000];
  int fds[2];
  fill_random(bytes, sizeof(bytes), 99);
  cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 4 * G);
  cr_assert_eq(write(fds[1], bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
  cr_assert_eq(read(fds[0], r.data + G - 100, sizeof(bytes)),
               (ssize_t)sizeof(bytes));
  cr_assert_geq(faults_of(s), 2); /* it lies in two granules */
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cr_assert_arr_eq(r.data + G - 100, bytes, sizeof(bytes));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, a_writer_that_meets_a_full_ring_waits_for_the_reader) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 8 * G, 5);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, G);
  struct writing w = {.r = &r};
  pthread_t t;
  pthread_create(&t, NULL, write_all, &w);
  UNTIL(faults_of(s) == 2); /* the first has the only slot */
  cr_assert_not(atomic_load(&w.done));
  for (size_t at = 0; at < r.n; at += G / 2)
    cr_assert(reads_as(s, &r, at, G / 2, before + at));
  pthread_join(t, NULL);
  cr_assert_gt(stats_of(s).waited_ns, 0);
  cr_assert_eq(stats_of(s).peak_shadow_bytes, (int64_t)G);
  cr_assert(is_all(&r, (char)0xee));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, a_dropped_snapshot_wakes_a_waiting_writer) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 4 * G, 6);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, G);
  struct writing w = {.r = &r};
  pthread_t t;
  pthread_create(&t, NULL, write_all, &w);
  UNTIL(faults_of(s) == 2);
  cairn__snapshot_drop(s);
  pthread_join(t, NULL);
  cr_assert(is_all(&r, (char)0xee));
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, consumed_granules_are_written_without_a_fault) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 7);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, G);
  cr_assert(reads_as(s, &r, 0, r.n, r.data));
  memset(r.data, 0, r.n);
  cr_assert_eq(faults_of(s), 0);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, memory_that_was_never_touched_is_zero_in_the_snapshot) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  char *zeros = calloc(1, 3 * G);
  region_t r = {.data = cairn_alloc(3 * G), .n = 3 * G};
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 4 * G);
  memset(r.data + G / 2, 1, G);
  cr_assert(reads_as(s, &r, 0, r.n, zeros));
  cairn__snapshot_drop(s);
  free(zeros);
  cairn_free(r.data);
  cairn__pool_free(pool);
}

Test(cow, memory_that_is_armed_already_is_copied) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 4 * G, 8);
  char *before = region_copy(&r);
  region_t half = {.data = r.data + 2 * G, .n = 2 * G};
  cairn__snapshot_t *first = hold(pool, &r, CAIRN_SNAPSHOT_COW, 4 * G);
  cairn__snapshot_t *second = hold(pool, &half, CAIRN_SNAPSHOT_COW, 4 * G);
  cr_assert_eq(stats_of(first).fallbacks, 0);
  cr_assert_eq(stats_of(second).fallbacks, 1);
  cr_assert_eq(cairn__snapshot_copy(second, NULL), CAIRN_OK);
  cr_assert_eq(shadowed_of(second), (int64_t)half.n);
  memset(r.data, 0, r.n);
  cr_assert(reads_as(second, &half, 0, half.n, before + 2 * G));
  cr_assert(reads_as(first, &r, 0, r.n, before));
  cairn__snapshot_drop(second);
  cairn__snapshot_drop(first);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, parts_that_overlap_are_copied_but_for_one) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 9);
  char *before = region_copy(&r), *out = malloc(2 * G);
  cairn__snapshot_part_t parts[2] = {
      {.data = r.data, .n = 2 * G, .mode = CAIRN_SNAPSHOT_COW},
      {.data = r.data + G, .n = 2 * G, .mode = CAIRN_SNAPSHOT_COW}};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 8 * G};
  cairn__snapshot_t *s;
  cr_assert_eq(cairn__snapshot_begin(pool, parts, 2, &opts, &s, NULL),
               CAIRN_OK);
  cr_assert_eq(stats_of(s).fallbacks, 1);
  cr_assert_eq(cairn__snapshot_copy(s, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(cairn__snapshot_read(s, i, r.data + i * G, 2 * G, out, NULL),
                 CAIRN_OK);
    cr_assert_arr_eq(out, before + i * G, 2 * G);
  }
  cairn__snapshot_drop(s);
  free(out);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, one_snapshot_after_another_of_the_same_memory) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 10);
  for (int i = 0; i < 50; i++) {
    char *before = region_copy(&r);
    cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 4 * G);
    cr_assert_eq(stats_of(s).armed_bytes, (int64_t)r.n);
    memset(r.data + G / 2, i, 2 * G);
    cr_assert(reads_as(s, &r, 0, r.n, before));
    cairn__snapshot_drop(s);
    free(before);
  }
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, settling_armed_memory_is_fine) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(50, 3 * G, 11);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 4 * G);
  cr_assert_eq(cairn__snapshot_settle(s, SIZE_MAX, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  cr_assert_eq(faults_of(s), 0);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

/* A handler that cannot go on: its shadow slot is armed memory, for it was
 * given back to the pool and is still written to. */
Test(cow, a_handler_that_does_not_answer_fails_the_snapshot_not_the_job) {
  need_cow();
  cairn__pool_t *pool = pool_new();
  cairn__slab_t *slab;
  cr_assert_eq(cairn__pool_get(pool, 2 * G, &slab, NULL), CAIRN_OK);
  char *data = cairn__slab_data(slab), out[16];
  cairn__pool_put(pool, slab);
  cairn__snapshot_part_t part = {
      .data = data, .n = 2 * G, .mode = CAIRN_SNAPSHOT_COW, .name = "w"};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 2 * G, .watchdog_ms = 50};
  cairn__snapshot_t *s;
  cairn_error_t err = {0};
  cr_assert_eq(cairn__snapshot_begin(pool, &part, 1, &opts, &s, NULL),
               CAIRN_OK);
  *(volatile char *)(data + G) = 1;
  cr_assert_eq(cairn__snapshot_read(s, 0, data, 16, out, &err),
               CAIRN_TIMED_OUT);
  cr_assert_not_null(strstr(err.message, "50 ms"), "%s", err.message);
  cairn__snapshot_drop(s);
  cr_assert_eq(cairn__cow_available(NULL), CAIRN_UNSUPPORTED);

  /* From now on such parts are copied. */
  region_t r = region_new(0, 2 * G, 12);
  s = hold(pool, &r, CAIRN_SNAPSHOT_COW, 2 * G);
  cr_assert_eq(stats_of(s).armed_bytes, 0);
  cr_assert_eq(stats_of(s).fallbacks, 1);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(cow, without_privilege_the_error_says_what_to_allow) {
  cairn_error_t err = {0};
  if (getuid() != 0) cr_skip_test("not root: cannot give the privilege up");
  if (access("/proc/sys/vm/unprivileged_userfaultfd", F_OK) != 0)
    cr_skip_test("no userfaultfd here");
  cr_assert_eq(setresuid(65534, 65534, 65534), 0);
  if (cairn__cow_available(&err) == CAIRN_OK)
    cr_skip_test("anybody may do it here");
  cr_assert_eq(err.code, CAIRN_UNSUPPORTED);
  cr_assert_not_null(strstr(err.message, "vm.unprivileged_userfaultfd=1"));
  cr_assert_not_null(strstr(err.message, "/dev/userfaultfd"));
  cr_assert_not_null(strstr(err.message, "CAP_SYS_PTRACE"));
}

Test(alloc, memory_is_zero_and_at_a_huge_page) {
  char *p = cairn_alloc(3 * G + 1), *q = cairn_alloc(0);
  cr_assert_eq((uintptr_t)p % G, 0);
  cr_assert_eq((uintptr_t)q % G, 0);
  for (size_t i = 0; i < 3 * G + 1; i += 4096) cr_assert_eq(p[i], 0);
  memset(p, 1, 4 * G); /* rounded up */
  cairn_free(p);
  cairn_free(q);
  cairn_free(NULL);
  cr_assert_null(cairn_alloc(SIZE_MAX));
  cr_assert_null(cairn_alloc(SIZE_MAX / 2));
}
