/* What is written comes back: all types, ranks, codecs, edge chunks, empty
 * arrays, strided memories, regions cut anew on read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/region.h"
#include "calls.h"

static uint64_t seed = 0x9e3779b97f4a7c15u;

static int64_t pick(int64_t n) { /* 0 .. n-1 */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)(seed % (uint64_t)n);
}

/* A box in memory of its own, in a random order of dimensions. */
typedef struct piece {
  cairn__box_t box;
  int64_t strides[CAIRN_MAX_RANK];
  char *memory;
  cairn_region_t region;
} piece_t;

static void piece_init(piece_t *p, const cairn__box_t *box, size_t item) {
  int order[CAIRN_MAX_RANK];
  int64_t step = (int64_t)item;
  bool c_order = pick(2) == 0;
  p->box = *box;
  for (int d = 0; d < box->rank; d++) {
    int at = c_order ? d : (int)pick(d + 1);
    order[d] = order[at];
    order[at] = d;
  }
  for (int i = box->rank - 1; i >= 0; i--) {
    p->strides[order[i]] = step;
    step *= box->extent[order[i]] + (c_order ? 0 : pick(2));
  }
  p->memory = calloc(1, (size_t)step + item);
  p->region = (cairn_region_t){.origin = p->box.origin,
                               .extent = p->box.extent,
                               .strides = c_order ? NULL : p->strides,
                               .data = p->memory};
}

/* Cuts [0, shape) along one dimension at multiples of `unit`. */
static size_t cut(int rank, const int64_t *shape, const int64_t *unit,
                  size_t item, piece_t *out, size_t max) {
  cairn__box_t box = {.rank = rank};
  for (int d = 0; d < rank; d++) box.extent[d] = shape[d];
  size_t n = 0;
  if (rank > 0) {
    int d = (int)pick(rank);
    while (n + 1 < max && box.extent[d] > unit[d]) {
      int64_t units = (box.extent[d] - 1) / unit[d];
      cairn__box_t first = box;
      first.extent[d] = unit[d] * (1 + pick(units));
      piece_init(&out[n++], &first, item);
      box.origin[d] += first.extent[d];
      box.extent[d] -= first.extent[d];
    }
  }
  piece_init(&out[n++], &box, item);
  return n;
}

/* Between pieces and the whole array in C order. */
static void move(const int64_t *shape, size_t item, char *whole, piece_t *p,
                 size_t n, bool out) {
  int64_t strides[CAIRN_MAX_RANK];
  for (size_t i = 0; i < n; i++) {
    int rank = p[i].box.rank;
    cairn__c_strides(rank, shape, (int64_t)item, strides);
    char *at = whole;
    for (int d = 0; d < rank; d++) at += p[i].box.origin[d] * strides[d];
    if (out)
      cairn__copy_box(rank, p[i].box.extent, item, p[i].memory, p[i].strides,
                      at, strides, 0);
    else
      cairn__copy_box(rank, p[i].box.extent, item, at, strides, p[i].memory,
                      p[i].strides, 0);
  }
}

static void random_elements(cairn_dtype_t t, char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    int v = (int)pick(256);
    if (t == CAIRN_BOOL) v &= 1;
    if (t == CAIRN_I4) v = (v & 15) - 8;
    if (t == CAIRN_I2) v = (v & 3) - 2;
    if (t == CAIRN_F4_E2M1FN) v &= 15;
    p[i] = (char)v;
  }
}

static void round_trip(store_t *s, const cairn_zarr_spec_t *spec, int number) {
  enum { MAX = 4 };
  piece_t from[MAX], to[MAX];
  cairn_region_t regions[MAX];
  cairn_zarr_t *z, *opened;
  cairn_error_t err = {0};
  char name[32];
  size_t item = cairn_dtype_size(spec->dtype);
  cr_assert_eq(cairn_zarr_make(spec, &z, &err), CAIRN_OK, "%s", err.message);
  size_t bytes = (size_t)cairn_zarr_bytes(z);
  char *whole = malloc(bytes + 1), *back = calloc(1, bytes + 1);
  random_elements(spec->dtype, whole, bytes);
  snprintf(name, sizeof name, "a%d", number);
  cairn_array_io_t io = {.name = cairn_bytes_str(name),
                         .zarr = z,
                         .regions = regions,
                         .metadata = true};

  io.n = cut(spec->rank, spec->shape, spec->chunk, item, from, MAX);
  move(spec->shape, item, whole, from, io.n, true);
  for (size_t i = 0; i < io.n; i++) regions[i] = from[i].region;
  cr_assert_eq(call_write(s->kv, &io, 1, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(io.bytes, (int64_t)bytes);
  for (size_t i = 0; i < io.n; i++) free(from[i].memory);

  cr_assert_eq(call_open(s->kv, spec->version, &io.name, 1, &opened, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_not_null(opened);
  io.zarr = opened;
  static const int64_t ones[CAIRN_MAX_RANK] = {[0 ... CAIRN_MAX_RANK - 1] = 1};
  io.n = cut(spec->rank, spec->shape, ones, item, to, MAX);
  for (size_t i = 0; i < io.n; i++) regions[i] = to[i].region;
  cr_assert_eq(call_read(s->kv, &io, 1, &err), CAIRN_OK, "%s", err.message);
  move(spec->shape, item, back, to, io.n, false);
  cr_assert(memcmp(back, whole, bytes) == 0, "%s rank %d version %d",
            cairn_dtype_name(spec->dtype), spec->rank, spec->version);
  for (size_t i = 0; i < io.n; i++) free(to[i].memory);
  char *damage;
  cr_assert_eq(call_verify(s->kv, &io, 1, &damage, &err), CAIRN_OK);
  cr_expect_str_eq(damage, "");
  free(damage);
  free(whole);
  free(back);
  cairn_zarr_unref(z);
  cairn_zarr_unref(opened);
}

static cairn_zarr_spec_t variant(int i) {
  cairn_zarr_spec_t s = {.size = sizeof s, .version = i < 2 ? 2 : 3};
  s.compress = i & 1;
  s.crc32c = i >= 2 && (i & 2);
  s.sharded = i >= 2 && (i & 4);
  s.frame_checksum = pick(2);
  return s;
}

Test(round_trip, all_types_ranks_and_codecs) {
  store_t s = store_open();
  int number = 0;
  for (int t = 1; t < CAIRN_DTYPE_COUNT; t++) {
    for (int rank = 0; rank <= 5; rank++) {
      for (int v = 0; v < 10; v++) {
        int64_t shape[5], chunk[5];
        cairn_zarr_spec_t spec = variant(v);
        for (int d = 0; d < rank; d++) {
          shape[d] = pick(30) == 0 ? 0 : 1 + pick(rank < 3 ? 40 : 6);
          chunk[d] = 1 + pick(shape[d] + 2);
        }
        spec.dtype = (cairn_dtype_t)t;
        spec.rank = rank;
        spec.shape = shape;
        spec.chunk = chunk;
        round_trip(&s, &spec, number++);
      }
    }
  }
  store_close(&s);
}

Test(round_trip, rank_32) {
  store_t s = store_open();
  int64_t shape[32], chunk[32];
  for (int d = 0; d < 32; d++) {
    shape[d] = d % 4 == 0 ? 2 : 1;
    chunk[d] = d % 8 == 0 ? 2 : 1;
  }
  cairn_zarr_spec_t spec = {.version = 3,
                            .dtype = CAIRN_U16,
                            .rank = 32,
                            .shape = shape,
                            .chunk = chunk,
                            .compress = true};
  round_trip(&s, &spec, 0);
  store_close(&s);
}

/* Chunks that are jobs of their own, and elements written from where they lie.
 */
Test(round_trip, large_chunks) {
  store_t s = store_open();
  static const int64_t shape[2] = {1500, 1000}, chunk[2] = {500, 1000};
  for (int v = 0; v < 10; v++) {
    cairn_zarr_spec_t spec = variant(v);
    spec.dtype = CAIRN_F32;
    spec.rank = 2;
    spec.shape = shape;
    spec.chunk = chunk;
    round_trip(&s, &spec, v);
  }
  store_close(&s);
}

Test(round_trip, empty_arrays_have_no_chunks) {
  store_t s = store_open();
  static const int64_t shapes[3][3] = {{0, 1, 1}, {1000, 0, 0}, {0, 5, 1}};
  static const int64_t chunk[3] = {1, 1, 1}, origin[3] = {0};
  for (int i = 0; i < 3; i++) {
    cairn_zarr_t *z;
    cairn_zarr_spec_t spec = {.version = 2 + (i & 1),
                              .dtype = CAIRN_I8,
                              .rank = 3,
                              .shape = shapes[i],
                              .chunk = chunk};
    cairn_region_t r = {.origin = origin, .extent = shapes[i]};
    cr_assert_eq(cairn_zarr_make(&spec, &z, NULL), CAIRN_OK);
    cairn_array_io_t io = {.zarr = z, .regions = &r, .n = 1, .metadata = true};
    cr_expect_eq(call_write(s.kv, &io, 1, NULL), CAIRN_OK);
    cr_expect_eq(call_read(s.kv, &io, 1, NULL), CAIRN_OK);
    cairn_bytes_t chunk0 = store_get(&s, i & 1 ? "c/0/0/0" : "0.0.0");
    cr_expect_null(chunk0.p);
    cairn_bytes_t meta = store_get(&s, i & 1 ? "zarr.json" : ".zarray");
    cr_expect_eq(meta.n, cairn_zarr_text(z).n);
    free((void *)(uintptr_t)meta.p);
    cairn_zarr_unref(z);
  }
  store_close(&s);
}
