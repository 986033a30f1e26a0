/* Batches of arrays: many small ones, what is refused, what goes wrong, shards
 * read in part, verifying. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/zarr.h"
#include "base/base.h"
#include "calls.h"
#include "docs.h"
#include "loop/loop.h"

static cairn_zarr_t *parsed(int version, const char *text) {
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_zarr_parse(version, cairn_bytes_str(text), &z, &err),
               CAIRN_OK, "%s", err.message);
  return z;
}

static cairn_zarr_t *made(int version, int64_t n, int64_t chunk) {
  cairn_zarr_t *z;
  cairn_zarr_spec_t spec = {.version = version,
                            .dtype = CAIRN_I32,
                            .rank = 1,
                            .shape = &n,
                            .chunk = &chunk,
                            .frame_checksum = true,
                            .compress = true};
  cr_assert_eq(cairn_zarr_make(&spec, &z, NULL), CAIRN_OK);
  return z;
}

Test(io, ten_thousand_small_arrays_in_one_call) {
  enum { N = 10000, LEN = 16 };
  store_t s = store_open();
  cairn_array_io_t *io = calloc(N, sizeof *io);
  cairn_region_t *regions = calloc(N, sizeof *regions);
  char(*names)[16] = calloc(N, sizeof *names);
  cairn_bytes_t *keys = calloc(N, sizeof *keys);
  cairn_zarr_t **opened = calloc(N, sizeof(*opened));
  int32_t(*values)[LEN] = calloc(N, sizeof *values);
  static const int64_t origin[1], extent[1] = {LEN};
  cairn_zarr_t *z = made(2, LEN, LEN);
  cairn_error_t err = {0};
  for (int32_t i = 0; i < N; i++) {
    snprintf(names[i], sizeof names[i], "p.%d", i);
    keys[i] = cairn_bytes_str(names[i]);
    regions[i] = (cairn_region_t){origin, extent, NULL, values[i]};
    io[i] = (cairn_array_io_t){.name = keys[i],
                               .zarr = z,
                               .regions = &regions[i],
                               .n = 1,
                               .metadata = true};
    for (int32_t k = 0; k < LEN; k++) values[i][k] = i * LEN + k;
  }
  cr_assert_eq(call_write(s.kv, io, N, &err), CAIRN_OK, "%s", err.message);
  memset(values, 0, N * sizeof *values);
  cr_assert_eq(call_open(s.kv, 2, keys, N, opened, &err), CAIRN_OK, "%s",
               err.message);
  for (int i = 0; i < N; i++) io[i].zarr = opened[i];
  cr_assert_eq(call_read(s.kv, io, N, &err), CAIRN_OK, "%s", err.message);
  for (int32_t i = 0; i < N; i++) {
    for (int32_t k = 0; k < LEN; k++)
      cr_assert_eq(values[i][k], i * LEN + k, "array %d", i);
    cr_assert_eq(io[i].bytes, 64);
    cr_assert_gt(io[i].stored_bytes, 0);
    cairn_zarr_unref(opened[i]);
  }
  cairn_zarr_unref(z);
  free(io);
  free(regions);
  free(names);
  free(keys);
  free(opened);
  free(values);
  store_close(&s);
}

Test(io, names_and_empty_names_make_keys) {
  store_t s = store_open();
  cairn_zarr_t *z = made(3, 2, 2);
  int32_t values[2] = {1, 2};
  static const int64_t origin[1], extent[1] = {2};
  cairn_region_t r = {origin, extent, NULL, values};
  cairn_array_io_t io[2] = {
      {.name = cairn_bytes_str("a.b/c"),
       .zarr = z,
       .regions = &r,
       .n = 1,
       .metadata = true},
      {.zarr = z, .regions = &r, .n = 1, .metadata = true}};
  cr_assert_eq(call_write(s.kv, io, 2, NULL), CAIRN_OK);
  static const char *const keys[] = {"a.b/c/zarr.json", "a.b/c/c/0",
                                     "zarr.json", "c/0"};
  for (int i = 0; i < 4; i++) {
    cairn_bytes_t v = store_get(&s, keys[i]);
    cr_expect_not_null(v.p, "%s", keys[i]);
    free((void *)(uintptr_t)v.p);
  }
  cairn_zarr_unref(z);
  store_close(&s);
}

Test(io, bad_regions_are_refused_before_any_write) {
  store_t s = store_open();
  cairn_zarr_t *z = parsed(2, doc_with(2, "order", "\"C\"")); /* 4x6 by 2x3 */
  int32_t values[24] = {0};
  static const struct {
    int64_t origin[2], extent[2];
    bool memory;
    const char *word;
  } cases[] = {
      {{0, 0}, {1, 6}, true, "cuts a chunk"},
      {{1, 0}, {3, 6}, true, "cuts a chunk"},
      {{0, 2}, {4, 4}, true, "cuts a chunk"},
      {{0, 0}, {5, 6}, true, "outside"},
      {{-2, 0}, {2, 3}, true, "outside"},
      {{0, 0}, {2, -3}, true, "outside"},
      {{2, 0}, {INT64_MAX, 3}, true, "outside"},
      {{0, 0}, {4, 6}, false, "no memory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_error_t err = {0};
    static const int64_t origin[2], extent[2] = {4, 6};
    cairn_region_t r[2] = {{origin, extent, NULL, values},
                           {cases[i].origin, cases[i].extent, NULL,
                            cases[i].memory ? values : NULL}};
    cairn_array_io_t io = {.name = cairn_bytes_str("w"),
                           .zarr = z,
                           .regions = r,
                           .n = 2,
                           .metadata = true};
    cr_expect_eq(call_write(s.kv, &io, 1, &err), CAIRN_INVALID, "%zu", i);
    cr_expect(strstr(err.message, cases[i].word) != NULL, "%s", err.message);
    cr_expect(strstr(err.message, "array w: region 1") == err.message, "%s",
              err.message);
    cr_expect_null(store_get(&s, "w/.zarray").p);
    cr_expect_null(store_get(&s, "w/0.0").p);
  }
  cairn_zarr_unref(z);
  store_close(&s);
}

/* A region that ends with the array may end inside a chunk; the chunk is stored
 * whole, with the fill value around (arrays.md A1.4). */
Test(io, edge_chunks_are_stored_full_size) {
  store_t s = store_open();
  cairn_zarr_t *z = parsed(
      3, doc_with2(3, "shape", "[3,4]", "fill_value", "-1")); /* by 2x3 */
  static const int64_t origin[2], extent[2] = {3, 4};
  int32_t values[12];
  for (int i = 0; i < 12; i++) values[i] = i;
  cairn_region_t r = {origin, extent, NULL, values};
  cairn_array_io_t io = {.zarr = z, .regions = &r, .n = 1};
  cr_assert_eq(call_write(s.kv, &io, 1, NULL), CAIRN_OK);
  static const int32_t corner[6] = {11, -1, -1, -1, -1, -1};
  cairn_bytes_t v = store_get(&s, "c/1/1");
  cr_assert_eq(v.n, sizeof corner);
  cr_expect_arr_eq(v.p, corner, sizeof corner);
  free((void *)(uintptr_t)v.p);
  cairn_zarr_unref(z);
  store_close(&s);
}

Test(io, missing_and_damaged_chunks) { /* E-CH-05, cases.md 78 */
  store_t s = store_open();
  cairn_zarr_t *z = made(2, 8, 2);
  static const int64_t origin[1], extent[1] = {8}, tail[1] = {4}, four[1] = {4};
  int32_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  cairn_region_t r = {origin, extent, NULL, values};
  cairn_array_io_t io = {
      .name = cairn_bytes_str("w"), .zarr = z, .regions = &r, .n = 1};
  cr_assert_eq(call_write(s.kv, &io, 1, NULL), CAIRN_OK);
  store_remove(&s, "w/1");
  cairn_error_t err = {0};
  cr_expect_eq(call_read(s.kv, &io, 1, &err), CAIRN_CORRUPT);
  cr_expect_str_eq(err.message, "array w, chunk 1: missing");
  io.fill_missing = true;
  cr_expect_eq(call_read(s.kv, &io, 1, NULL), CAIRN_OK);
  cr_expect(values[2] == 0 && values[3] == 0 && values[4] == 5);
  io.fill_missing =
      false; /* of chunks that are not asked for nothing is said */
  cairn_region_t last = {tail, four, NULL, values};
  io.regions = &last;
  cr_expect_eq(call_read(s.kv, &io, 1, NULL), CAIRN_OK);
  cr_expect(values[0] == 5 && values[3] == 8);

  cairn_bytes_t v = store_get(&s, "w/3");
  ((uint8_t *)(uintptr_t)v.p)[v.n - 1] ^= 1;
  store_put(&s, "w/3", v);
  free((void *)(uintptr_t)v.p);
  err = (cairn_error_t){0};
  cr_expect_eq(call_read(s.kv, &io, 1, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "array w, chunk 3: zstd: ") == err.message,
            "%s", err.message);
  char *damage;
  cr_expect_eq(call_verify(s.kv, &io, 1, &damage, NULL), CAIRN_OK);
  cr_expect(strstr(damage, "w/1: array w, chunk 1: missing\n") != NULL, "%s",
            damage);
  cr_expect(strstr(damage, "w/3: array w, chunk 3: zstd: ") != NULL, "%s",
            damage);
  free(damage);
  cairn_zarr_unref(z);
  store_close(&s);
}

Test(io, raw_chunks_of_the_wrong_length) { /* E-CH-01, into place */
  store_t s = store_open();
  cairn_zarr_t *z =
      parsed(2, doc_with2(2, "shape", "[2,3]", "chunks", "[2,3]"));
  static const int64_t origin[2], extent[2] = {2, 3};
  int32_t values[6];
  cairn_region_t r = {origin, extent, NULL, values};
  cairn_array_io_t io = {.zarr = z, .regions = &r, .n = 1};
  uint8_t bytes[32] = {0};
  for (size_t n = 0; n <= 32; n += 4) {
    cairn_error_t err = {0};
    store_put(&s, "0.0", cairn_bytes(bytes, n));
    cr_expect_eq(call_read(s.kv, &io, 1, &err),
                 n == 24 ? CAIRN_OK : CAIRN_CORRUPT, "%zu: %s", n, err.message);
    if (n != 24)
      cr_expect(strstr(err.message, "chunk 0.0") != NULL, "%s", err.message);
  }
  cairn_zarr_unref(z);
  store_close(&s);
}

/* --- shards in part --- */

/* uint8 2048x2048 in shards of 2 MiB, inner chunks of 64x64. */
static cairn_zarr_t *sharded(const char *location) {
  char codecs[1024];
  snprintf(
      codecs, sizeof codecs,
      "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":"
      "[64,64],\"codecs\":[{\"name\":\"bytes\"},{\"name\":\"crc32c\"}],"
      "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":"
      "\"little\"}},{\"name\":\"crc32c\"}],\"index_location\":\"%s\"}}]",
      location);
  char text[2048];
  snprintf(
      text, sizeof text,
      "{\"chunk_grid\":{\"configuration\":{\"chunk_shape\":[1024,2048]},"
      "\"name\":\"regular\"},\"chunk_key_encoding\":{\"name\":\"default\"},"
      "\"codecs\":%s,\"data_type\":\"uint8\",\"fill_value\":9,"
      "\"node_type\":\"array\",\"shape\":[2048,2048],\"zarr_format\":3}",
      codecs);
  return parsed(3, text);
}

static uint8_t element(int64_t i, int64_t j) {
  return (uint8_t)(i * 7 + j * 13 + (i * j >> 5));
}

static void put_sharded(store_t *s, cairn_zarr_t *z) {
  static const int64_t origin[2], extent[2] = {2048, 2048};
  uint8_t *all = malloc(2048 * 2048);
  for (int64_t i = 0; i < 2048; i++)
    for (int64_t j = 0; j < 2048; j++) all[i * 2048 + j] = element(i, j);
  cairn_region_t r = {origin, extent, NULL, all};
  cairn_array_io_t io = {
      .name = cairn_bytes_str("s"), .zarr = z, .regions = &r, .n = 1};
  cr_assert_eq(call_write(s->kv, &io, 1, NULL), CAIRN_OK);
  free(all);
}

Test(io, shards_are_read_in_part) {
  for (int at_start = 0; at_start < 2; at_start++) {
    store_t s = store_open();
    cairn_zarr_t *z = sharded(at_start ? "start" : "end");
    put_sharded(&s, z);
    /* two boxes that share inner chunks, over the seam of two shards */
    static const int64_t o[2][2] = {{1000, 100}, {1020, 120}};
    static const int64_t e[2][2] = {{48, 30}, {10, 300}};
    uint8_t a[48 * 30], b[10 * 300];
    cairn_region_t r[2] = {{o[0], e[0], NULL, a}, {o[1], e[1], NULL, b}};
    cairn_array_io_t io = {
        .name = cairn_bytes_str("s"), .zarr = z, .regions = r, .n = 2};
    cairn_error_t err = {0};
    cr_assert_eq(call_read(s.kv, &io, 1, &err), CAIRN_OK, "%s", err.message);
    for (int64_t i = 0; i < 48; i++)
      for (int64_t j = 0; j < 30; j++)
        cr_assert_eq(a[i * 30 + j], element(1000 + i, 100 + j));
    for (int64_t i = 0; i < 10; i++)
      for (int64_t j = 0; j < 300; j++)
        cr_assert_eq(b[i * 300 + j], element(1020 + i, 120 + j));
    /* columns 100..419 are inner chunks 1..6 of 2 shards, and 2 indices */
    cr_expect_eq(io.stored_bytes, 2 * (6 * (4096 + 4) + 512 * 16 + 4));
    cr_expect_eq(io.bytes, 48 * 30 + 10 * 300);
    cairn_zarr_unref(z);
    store_close(&s);
  }
}

Test(io, damage_in_shards_is_named) {
  store_t s = store_open();
  cairn_zarr_t *z = sharded("end");
  put_sharded(&s, z);
  cairn_bytes_t v = store_get(&s, "s/c/1/0");
  ((uint8_t *)(uintptr_t)v.p)[4100 * 33 + 5] ^= 1; /* inner chunk 1/1 */
  store_put(&s, "s/c/1/0", v);
  static const int64_t origin[2] = {1088, 64}, extent[2] = {64, 64};
  uint8_t out[4096];
  cairn_region_t r = {origin, extent, NULL, out};
  cairn_array_io_t io = {
      .name = cairn_bytes_str("s"), .zarr = z, .regions = &r, .n = 1};
  cairn_error_t err = {0};
  cr_expect_eq(call_read(s.kv, &io, 1, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "array s, chunk c/1/0: inner chunk 1/1: ") ==
                err.message,
            "%s", err.message);
  char *damage;
  cr_expect_eq(call_verify(s.kv, &io, 1, &damage, NULL), CAIRN_OK);
  cr_expect(strstr(damage, "s/c/1/0: array s, chunk c/1/0: inner chunk 1/1") ==
                damage,
            "%s", damage);
  free(damage);
  /* the index, then the object cut below it, then absent */
  ((uint8_t *)(uintptr_t)v.p)[v.n - 1] ^= 1;
  store_put(&s, "s/c/1/0", v);
  err = (cairn_error_t){0};
  cr_expect_eq(call_read(s.kv, &io, 1, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "shard index: crc32c") != NULL, "%s",
            err.message);
  store_put(&s, "s/c/1/0", cairn_bytes(v.p, 100));
  err = (cairn_error_t){0};
  cr_expect_eq(call_read(s.kv, &io, 1, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "shorter than its index") != NULL, "%s",
            err.message);
  free((void *)(uintptr_t)v.p);
  store_remove(&s, "s/c/1/0");
  cr_expect_eq(call_read(s.kv, &io, 1, NULL), CAIRN_CORRUPT);
  io.fill_missing = true;
  cr_expect_eq(call_read(s.kv, &io, 1, NULL), CAIRN_OK);
  cr_expect(out[0] == 9 && out[4095] == 9);
  cairn_zarr_unref(z);
  store_close(&s);
}

Test(io, open_tells_absent_from_bad) { /* E-OP-01, 03 */
  store_t s = store_open();
  const char *good = doc_with(2, "order", "\"C\"");
  store_put(&s, "a/.zarray", cairn_bytes_str(good));
  store_put(&s, "b/.zarray", cairn_bytes_str(good));
  cairn_bytes_t names[3] = {cairn_bytes_str("a"), cairn_bytes_str("b"),
                            cairn_bytes_str("none")};
  cairn_zarr_t *z[3];
  cr_assert_eq(call_open(s.kv, 2, names, 3, z, NULL), CAIRN_OK);
  cr_expect(z[0] != NULL && z[0] == z[1] && z[2] == NULL);
  cairn_zarr_unref(z[0]);
  cairn_zarr_unref(z[1]);
  cr_assert_eq(call_open(s.kv, 3, names, 3, z, NULL), CAIRN_OK);
  cr_expect(z[0] == NULL && z[1] == NULL && z[2] == NULL);
  store_put(&s, "none/.zarray",
            cairn_bytes_str(doc_with(2, "shape", "[4,-6]")));
  cairn_error_t err = {0};
  cr_expect_eq(call_open(s.kv, 2, names, 3, z, &err), CAIRN_CORRUPT);
  cr_expect(strstr(err.message, "array none, .zarray: shape[1]") == err.message,
            "%s", err.message);
  cr_expect(z[0] == NULL && z[1] == NULL && z[2] == NULL);
  store_close(&s);
}

Test(io, empty_batches_are_fine) {
  store_t s = store_open();
  char *damage;
  cr_expect_eq(call_write(s.kv, NULL, 0, NULL), CAIRN_OK);
  cr_expect_eq(call_read(s.kv, NULL, 0, NULL), CAIRN_OK);
  cr_expect_eq(call_open(s.kv, 2, NULL, 0, NULL, NULL), CAIRN_OK);
  cr_expect_eq(call_verify(s.kv, NULL, 0, &damage, NULL), CAIRN_OK);
  free(damage);
  store_close(&s);
}

/* --- metadata that claims more than anyone can look at --- */

static cairn_zarr_t *absurd(void) {
  return parsed(
      2, doc_with2(2, "shape", "[9007199254740992, 512]", "chunks", "[1, 1]"));
}

static size_t count_lines(const char *text) {
  size_t n = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++) n++;
  return n;
}

static void verify_absurd(bool fill_missing, char **damage) {
  store_t s = store_open();
  cairn_array_io_t io[2] = {
      {.name = cairn_bytes_str("a"), .fill_missing = fill_missing},
      {.name = cairn_bytes_str("b")}};
  io[0].zarr = absurd();
  io[1].zarr = made(2, 3, 1);
  cr_expect_eq(call_verify(s.kv, io, 2, damage, NULL), CAIRN_OK);
  cr_expect_not_null(strstr(*damage, "b/2: "),
                     "the array after it is left out");
  cairn_zarr_unref(io[0].zarr);
  cairn_zarr_unref(io[1].zarr);
  store_close(&s);
}

Test(io, verify_stops_in_an_array_after_a_thousand_damaged_chunks) {
  char *damage;
  verify_absurd(false, &damage);
  cr_expect_eq(count_lines(damage), 1000 + 1 + 3);
  cr_expect_not_null(strstr(damage, "and more: "));
  free(damage);
}

Test(io, verify_stops_in_an_array_after_a_million_absent_chunks) {
  char *damage;
  verify_absurd(true, &damage);
  cr_expect_eq(count_lines(damage), 1 + 3);
  cr_expect_not_null(strstr(damage, "chunks are not stored"));
  free(damage);
}

static void no_damage(void *arg, cairn_bytes_t key, const cairn_error_t *what) {
  (void)arg, (void)key, (void)what;
}

struct verifying {
  cairn_kv_t *kv;
  cairn_array_io_t io;
};

static cairn_future_t *verify_and_cancel(void *arg) {
  struct verifying *v = arg;
  cairn_future_t *f = cairn_arrays_verify(v->kv, &v->io, 1, no_damage, NULL);
  cairn_future_cancel(f);
  return f;
}

Test(io, verify_of_it_can_be_cancelled) {
  store_t s = store_open();
  struct verifying v = {s.kv, {.zarr = absurd(), .fill_missing = true}};
  cr_expect_eq(cairn__call(s.rt, verify_and_cancel, &v, -1, NULL),
               CAIRN_CANCELLED);
  cairn_zarr_unref(v.io.zarr);
  store_close(&s);
}
