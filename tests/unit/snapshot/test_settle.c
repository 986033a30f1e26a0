/* The modes that need no privilege: copy, lazy, borrow. */
#include "held.h"

static void *settle_all(void *arg) {
  cairn_error_t err = {0};
  cairn__snapshot_t *s = arg;
  return (void *)(uintptr_t)cairn__snapshot_settle(s, SIZE_MAX, &err);
}

static void *copy_all(void *arg) {
  return (void *)(uintptr_t)cairn__snapshot_copy(arg, NULL);
}

static cairn_code_t joined(pthread_t t) {
  void *code;
  pthread_join(t, &code);
  return (cairn_code_t)(uintptr_t)code;
}

Test(settle, settled_memory_may_be_overwritten) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(100, 3 * G, 1);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, 8 * G);
  cr_assert_eq(cairn__snapshot_settle(s, 0, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, what_the_writer_has_had_is_not_copied) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 4 * G, 2);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, 8 * G);
  cr_assert(reads_as(s, &r, 0, 3 * G, r.data));
  cr_assert_eq(cairn__snapshot_settle(s, 0, NULL), CAIRN_OK);
  cr_assert_eq(shadowed_of(s), G);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, one_part_does_not_wait_for_another) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 4 * G, 3);
  cairn__snapshot_part_t parts[2] = {
      {.data = r.data, .n = 2 * G, .mode = CAIRN_SNAPSHOT_LAZY, .name = "a"},
      {.data = r.data + 2 * G, .n = 2 * G, .mode = CAIRN_SNAPSHOT_LAZY}};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 2 * G};
  cairn__snapshot_t *s;
  cr_assert_eq(cairn__snapshot_begin(pool, parts, 2, &opts, &s, NULL),
               CAIRN_OK);
  cr_assert_eq(cairn__snapshot_settle(s, 1, NULL), CAIRN_OK);
  cr_assert_eq(shadowed_of(s), 2 * G);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, a_state_larger_than_the_ring_waits_for_the_writer) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(64, 24 * G, 4);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_COPY, 3 * G);
  cairn__snapshot_stats_t stats;
  pthread_t t;
  pthread_create(&t, NULL, copy_all, s);
  UNTIL(shadowed_of(s) >= (int64_t)(2 * G)); /* of a first piece and slots */
  for (size_t at = 0; at < r.n; at += G)
    cr_assert(reads_as(s, &r, at, r.n - at < G ? r.n - at : G, before + at));
  cr_assert_eq(joined(t), CAIRN_OK);
  memset(r.data, 0, r.n);
  cairn__snapshot_stats(s, &stats);
  cr_assert_leq(stats.peak_shadow_bytes, (int64_t)(3 * G));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, without_a_ring_it_waits_until_all_is_written) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 2 * G, 5);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, 0);
  pthread_t t;
  pthread_create(&t, NULL, settle_all, s);
  cr_assert(reads_as(s, &r, 0, r.n, r.data));
  cr_assert_eq(joined(t), CAIRN_OK);
  cr_assert_eq(shadowed_of(s), 0);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, a_dropped_snapshot_wakes_who_waits) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 6);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, G);
  pthread_t t;
  pthread_create(&t, NULL, settle_all, s);
  UNTIL(shadowed_of(s) == (int64_t)G); /* the ring is full from here on */
  cairn__snapshot_drop(s);
  cr_assert_eq(joined(t), CAIRN_CANCELLED);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, finishing_lets_go_of_what_nobody_reads) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 7);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, G);
  pthread_t t;
  pthread_create(&t, NULL, settle_all, s);
  UNTIL(shadowed_of(s) == (int64_t)G);
  cr_assert_eq(cairn__snapshot_finish(s, NULL), CAIRN_OK);
  cr_assert_eq(joined(t), CAIRN_OK);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, skipped_bytes_need_no_copy) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(10, 2 * G, 8);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, 0);
  cairn__snapshot_skip(s, 0, r.data, G);
  cr_assert(reads_as(s, &r, G, G, r.data + G));
  cr_assert_eq(cairn__snapshot_settle(s, 0, NULL), CAIRN_OK);
  cr_assert_eq(shadowed_of(s), 0);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

/* 4,000 parts of 4 KiB are 16 MiB; slots of 2 MiB each would be 8 GiB. */
Test(settle, small_parts_share_slots) {
  enum { PARTS = 4000, BYTES = 4096 };
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, PARTS * BYTES, 9);
  cairn__snapshot_part_t *parts = calloc(PARTS, sizeof(*parts));
  cairn__snapshot_opts_t opts = {.shadow_bytes = SIZE_MAX};
  cairn__snapshot_stats_t stats;
  cairn__snapshot_t *s;
  char *before = region_copy(&r), out[BYTES];
  for (size_t i = 0; i < PARTS; i++)
    parts[i] = (cairn__snapshot_part_t){
        .data = r.data + i * BYTES, .n = BYTES, .mode = CAIRN_SNAPSHOT_COPY};
  cr_assert_eq(cairn__snapshot_begin(pool, parts, PARTS, &opts, &s, NULL),
               CAIRN_OK);
  cr_assert_eq(cairn__snapshot_copy(s, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  for (size_t i = PARTS; i-- > 0;) {
    cr_assert_eq(cairn__snapshot_read(s, i, parts[i].data, BYTES, out, NULL),
                 CAIRN_OK);
    cr_assert_arr_eq(out, before + i * BYTES, BYTES);
  }
  cairn__snapshot_stats(s, &stats);
  cr_assert_eq(stats.peak_shadow_bytes, (int64_t)(8 * G)); /* ceil(7.8) */
  cairn__snapshot_drop(s);
  free(before);
  free(parts);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, helpers_copy_the_same) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(4096, 33 * G, 10);
  cairn__snapshot_part_t part = {
      .data = r.data, .n = r.n, .mode = CAIRN_SNAPSHOT_COPY, .name = "w"};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 64 * G, .threads = 4};
  cairn__snapshot_t *s;
  char *before = region_copy(&r);
  cr_assert_eq(cairn__snapshot_begin(pool, &part, 1, &opts, &s, NULL),
               CAIRN_OK);
  cr_assert_eq(cairn__snapshot_copy(s, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  cr_assert(reads_as(s, &r, 0, r.n, before));
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, borrowed_memory_is_read_where_it_is) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(3, 2 * G, 11);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_BORROW, 4 * G);
  cr_assert_eq(cairn__snapshot_peek(s, 0, r.data + 5, r.n - 5), r.data + 5);
  cr_assert(reads_as(s, &r, 0, r.n, r.data));
  cr_assert_eq(cairn__snapshot_settle(s, 0, NULL), CAIRN_OK);
  cr_assert_eq(shadowed_of(s), 0);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, a_whole_shadow_can_be_looked_at) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 2 * G, 12);
  char *before = region_copy(&r);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, 4 * G);
  cr_assert_null(cairn__snapshot_peek(s, 0, r.data, 100)); /* pending */
  cr_assert_eq(cairn__snapshot_settle(s, 0, NULL), CAIRN_OK);
  memset(r.data, 0, r.n);
  const char *at = cairn__snapshot_peek(s, 0, r.data + G + 10, 1000);
  cr_assert_not_null(at);
  cr_assert_arr_eq(at, before + G + 10, 1000);
  cr_assert_null(cairn__snapshot_peek(s, 0, r.data + G - 1, 2)); /* broken */
  cairn__snapshot_drop(s);
  free(before);
  region_free(&r);
  cairn__pool_free(pool);
}

/* Its slot may be wanted before the snapshot is dropped. */
Test(settle, a_shadow_in_a_tight_ring_is_not_lent) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 2 * G, 13);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, G);
  pthread_t t;
  pthread_create(&t, NULL, settle_all, s);
  UNTIL(shadowed_of(s) == (int64_t)G);
  cr_assert_null(cairn__snapshot_peek(s, 0, r.data, 100));
  cairn__snapshot_drop(s);
  joined(t);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, bytes_of_no_part_are_refused) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(10, 100, 14);
  cairn__snapshot_t *s = hold(pool, &r, CAIRN_SNAPSHOT_LAZY, G);
  char out[200];
  cr_expect_eq(cairn__snapshot_read(s, 0, r.data - 1, 1, out, NULL),
               CAIRN_INVALID);
  cr_expect_eq(cairn__snapshot_read(s, 0, r.data, 101, out, NULL),
               CAIRN_INVALID);
  cr_expect_eq(cairn__snapshot_read(s, 0, r.data + 50, SIZE_MAX, out, NULL),
               CAIRN_INVALID);
  cr_expect_eq(cairn__snapshot_read(s, 1, r.data, 1, out, NULL), CAIRN_INVALID);
  cr_expect_eq(cairn__snapshot_settle(s, 1, NULL), CAIRN_INVALID);
  cr_expect_eq(cairn__snapshot_read(s, 0, r.data, 100, out, NULL), CAIRN_OK);
  cr_expect_eq(cairn__snapshot_read(s, 0, r.data, 1, out, NULL), CAIRN_INVALID);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(settle, parts_that_cannot_be_are_refused) {
  cairn__pool_t *pool = pool_new();
  cairn__snapshot_t *s;
  char c = 0;
  cairn__snapshot_part_t bad[] = {
      {.data = &c, .n = 1, .mode = CAIRN_SNAPSHOT_DEFAULT},
      {.data = &c, .n = 1, .mode = (cairn_snapshot_t)99},
      {.data = &c, .n = SIZE_MAX, .mode = CAIRN_SNAPSHOT_LAZY},
      {.data = NULL, .n = 1, .mode = CAIRN_SNAPSHOT_LAZY}};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
    cr_expect_eq(cairn__snapshot_begin(pool, &bad[i], 1, NULL, &s, NULL),
                 CAIRN_INVALID, "%zu", i);
  cairn__pool_free(pool);
}

Test(settle, nothing_is_a_snapshot_too) {
  cairn__pool_t *pool = pool_new();
  cairn__snapshot_part_t part = {.mode = CAIRN_SNAPSHOT_LAZY, .name = "empty"};
  cairn__snapshot_t *s;
  cr_assert_eq(cairn__snapshot_begin(pool, &part, 1, NULL, &s, NULL), CAIRN_OK);
  cr_assert_eq(cairn__snapshot_copy(s, NULL), CAIRN_OK);
  cr_assert_eq(cairn__snapshot_settle(s, SIZE_MAX, NULL), CAIRN_OK);
  cairn__snapshot_drop(s);
  cr_assert_eq(cairn__snapshot_begin(pool, NULL, 0, NULL, &s, NULL), CAIRN_OK);
  cairn__snapshot_drop(s);
  cairn__pool_free(pool);
}

/* Pages that an earlier, lazier use left out are there for a copy. */
Test(pool, a_reserved_slab_is_got_whole_later) {
  cairn__pool_t *pool = pool_new();
  cairn__slab_t *slab, *again;
  cr_assert_eq(cairn__pool_reserve(pool, 4 * G, G, &slab, NULL), CAIRN_OK);
  cr_assert_eq((uintptr_t)cairn__slab_data(slab) % G, 0);
  cairn__pool_put(pool, slab);
  cr_assert_eq(cairn__pool_get(pool, 3 * G, &again, NULL), CAIRN_OK);
  cr_assert_eq(again, slab);
  memset(cairn__slab_data(again), 1, 3 * G);
  cairn__pool_put(pool, again);
  cairn__pool_free(pool);
}
