/* Boxes, chunk keys, and the copy against a loop over single elements. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/region.h"
#include "array/zarr.h"
#include "docs.h"

static uint64_t seed = 88172645463325252u;

static int64_t pick(int64_t n) { /* 0 .. n-1 */
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (int64_t)(seed % (uint64_t)n);
}

/* What the copy should do, one byte at a time. */
static void naive(int rank, const int64_t *extent, size_t item, char *dst,
                  const int64_t *ds, const char *src, const int64_t *ss,
                  size_t swap) {
  if (rank > 0) {
    for (int64_t i = 0; i < extent[0]; i++)
      naive(rank - 1, extent + 1, item, dst + i * ds[0], ds + 1,
            src + i * ss[0], ss + 1, swap);
    return;
  }
  for (size_t b = 0; b < item; b++) {
    size_t unit = swap > 1 ? swap : 1;
    dst[b] = src[b / unit * unit + unit - 1 - b % unit];
  }
}

/* Strides of a random order of dimensions, with gaps, some backwards. Returns
 * the offset of the first element; *bytes what is spanned. */
static int64_t random_layout(int rank, const int64_t *extent, int64_t item,
                             int64_t *strides, int64_t *bytes) {
  int order[8] = {0};
  int64_t step = item * (1 + pick(2)), first = 0;
  for (int d = 0; d < rank; d++) {
    int at = (int)pick(d + 1);
    order[d] = order[at];
    order[at] = d;
  }
  if (pick(3) == 0) step = item;
  for (int i = rank - 1; i >= 0; i--) {
    int d = order[i];
    strides[d] = step;
    step *= extent[d] + (pick(4) == 0 ? 1 : 0);
    if (pick(5) != 0) continue;
    first += strides[d] * (extent[d] > 0 ? extent[d] - 1 : 0);
    strides[d] = -strides[d];
  }
  *bytes = step + item;
  return first;
}

Test(region, copy_is_that_of_single_elements) {
  static const size_t items[] = {1, 2, 4, 8, 16, 3};
  for (int round = 0; round < 4000; round++) {
    int rank = (int)pick(6);
    size_t item = items[pick(6)];
    size_t swap = item == 3 || item == 1 || pick(2) == 0 ? (size_t)pick(2)
                  : item == 16 || (item == 8 && pick(2)) ? item / 2
                                                         : item;
    int64_t extent[6], ds[6], ss[6], dn, sn;
    for (int d = 0; d < rank; d++)
      extent[d] = pick(20) == 0 ? 0 : 1 + pick(pick(2) ? 2 : 6);
    int64_t d0 = random_layout(rank, extent, (int64_t)item, ds, &dn);
    int64_t s0 = random_layout(rank, extent, (int64_t)item, ss, &sn);
    if (pick(6) == 0) { /* a fill: one element, all strides 0 */
      memset(ss, 0, sizeof ss);
      s0 = 0;
    }
    char *src = malloc((size_t)sn), *a = calloc(1, (size_t)dn),
         *b = calloc(1, (size_t)dn);
    for (int64_t i = 0; i < sn; i++) src[i] = (char)pick(256);
    naive(rank, extent, item, a + d0, ds, src + s0, ss, swap);
    cairn__copy_box(rank, extent, item, b + d0, ds, src + s0, ss, swap);
    cr_assert(memcmp(a, b, (size_t)dn) == 0,
              "round %d: rank %d item %zu swap %zu", round, rank, item, swap);
    free(src);
    free(a);
    free(b);
  }
}

static cairn__box_t box2(int64_t r, int64_t c, int64_t nr, int64_t nc) {
  return (cairn__box_t){.rank = 2, .origin = {r, c}, .extent = {nr, nc}};
}

Test(region, boxes) {
  cairn__box_t a = box2(0, 0, 4, 6), b = box2(3, 5, 4, 4), out;
  cr_expect(cairn__box_intersect(&a, &b, &out));
  cr_expect(out.origin[0] == 3 && out.origin[1] == 5);
  cr_expect(out.extent[0] == 1 && out.extent[1] == 1);
  cairn__box_t far = box2(4, 0, 1, 1);
  cr_expect_not(cairn__box_intersect(&a, &far, &out));
  cr_expect(cairn__box_contains(&a, &out) || out.extent[0] == 0);
  cr_expect_not(cairn__box_contains(&a, &b));
  char text[64], small[6];
  cairn__box_text(&b, text, sizeof text);
  cr_expect_str_eq(text, "[3:7, 5:9]");
  cairn__box_text(&b, small, sizeof small);
  cr_expect_str_eq(small, "[3:7,");
  cairn__box_t point = {.rank = 0};
  cairn__box_text(&point, text, sizeof text);
  cr_expect_str_eq(text, "[]");
}

Test(region, volume) {
  int64_t n;
  cairn__box_t a = box2(0, 0, (int64_t)1 << 40, (int64_t)1 << 40);
  cr_expect_not(cairn__box_volume(&a, &n));
  cairn__box_t none = {.rank = 3,
                       .extent = {(int64_t)1 << 40, (int64_t)1 << 40, 0}};
  cr_expect(cairn__box_volume(&none, &n) && n == 0);
  cairn__box_t point = {.rank = 0};
  cr_expect(cairn__box_volume(&point, &n) && n == 1);
}

static void keys_are(int version, const char *member, const char *value,
                     const char *want) {
  cairn_zarr_t *z;
  char key[CAIRN_MAX_CHUNK_KEY];
  const int64_t index[2] = {3, 10};
  const char *text = doc_with(version, member, value);
  cr_assert_eq(cairn_zarr_parse(version, cairn_bytes_str(text), &z, NULL),
               CAIRN_OK);
  cairn_zarr_chunk_key(z, index, key, sizeof key);
  cr_expect_str_eq(key, want);
  cairn_zarr_unref(z);
}

/* cases.md 84: all seven. */
Test(grid, chunk_keys) {
#define KEYS(name, s) \
  "{\"name\":\"" name "\",\"configuration\":{\"separator\":\"" s "\"}}"
  keys_are(2, "dimension_separator", NULL, "3.10");
  keys_are(2, "dimension_separator", "\".\"", "3.10");
  keys_are(2, "dimension_separator", "\"/\"", "3/10");
  keys_are(3, "chunk_key_encoding", "{\"name\":\"default\"}", "c/3/10");
  keys_are(3, "chunk_key_encoding", KEYS("default", "."), "c.3.10");
  keys_are(3, "chunk_key_encoding", KEYS("v2", "."), "3.10");
  keys_are(3, "chunk_key_encoding", "{\"name\":\"v2\"}", "3.10");
  keys_are(3, "chunk_key_encoding", KEYS("v2", "/"), "3/10");
}

Test(grid, keys_of_rank_0) {
  static const struct {
    int version;
    const char *encoding, *key;
  } cases[] = {{2, NULL, "0"},
               {3, "{\"name\":\"default\"}", "c"},
               {3, "{\"name\":\"v2\"}", "0"}};
  for (int i = 0; i < 3; i++) {
    char text[1024], key[CAIRN_MAX_CHUNK_KEY];
    cairn_zarr_t *z;
    snprintf(
        text, sizeof text,
        cases[i].version == 2
            ? "{\"chunks\":[],\"compressor\":null,\"dtype\":\"<i4\","
              "\"fill_value\":0,\"filters\":null,\"order\":\"F\","
              "\"shape\":[],\"zarr_format\":2}"
            : "{\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{"
              "\"chunk_shape\":[]}},\"chunk_key_encoding\":%s,\"codecs\":[{"
              "\"name\":\"bytes\"}],\"data_type\":\"int8\",\"fill_value\":"
              "0,\"node_type\":\"array\",\"shape\":[],\"zarr_format\":3}",
        cases[i].encoding);
    cr_assert_eq(
        cairn_zarr_parse(cases[i].version, cairn_bytes_str(text), &z, NULL),
        CAIRN_OK);
    cr_expect_eq(cairn_zarr_num_chunks(z), 1);
    cairn_zarr_chunk_key(z, NULL, key, sizeof key);
    cr_expect_str_eq(key, cases[i].key);
    cairn_zarr_unref(z);
  }
}

Test(grid, number_of_chunks) {
  static const struct {
    const char *shape;
    int64_t n, bytes;
  } cases[] = {
      {"[4,6]", 4, 96},
      {"[5,7]", 9, 140},
      {"[1,1]", 1, 4},
      {"[0,6]", 0, 0},
      {"[0,9223372036854775806]", 0, 0},
      {"[9223372036854775806,9223372036854775806]", INT64_MAX, INT64_MAX}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cairn_zarr_t *z;
    const char *text = doc_with(2, "shape", cases[i].shape);
    cr_assert_eq(cairn_zarr_parse(2, cairn_bytes_str(text), &z, NULL),
                 CAIRN_OK);
    cr_expect_eq(cairn_zarr_num_chunks(z), cases[i].n, "%s", cases[i].shape);
    cr_expect_eq(cairn_zarr_bytes(z), cases[i].bytes, "%s", cases[i].shape);
    cairn_zarr_unref(z);
  }
}
