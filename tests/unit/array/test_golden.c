/* Arrays that TensorStore wrote (tests/golden/array/make.py): all of each, and
 * a box of it, are the elements that it read back. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/region.h"
#include "base/base.h"
#include "calls.h"
#include "support/kv_call.h"

typedef struct golden {
  char dtype[32];
  int rank;
  int64_t shape[CAIRN_MAX_RANK];
  char *elements;
  size_t n;
} golden_t;

static void load(const char *dir, golden_t *g) {
  char path[1100], line[256];
  snprintf(path, sizeof path, "%s/expect", dir);
  FILE *f = fopen(path, "r");
  cr_assert_not_null(f, "%s", path);
  cr_assert_not_null(fgets(line, sizeof line, f));
  fclose(f);
  int at = 0, more = 0;
  long long n;
  cr_assert_eq(sscanf(line, "%31s%n", g->dtype, &at), 1);
  for (g->rank = 0; sscanf(line + at, "%lld%n", &n, &more) == 1; at += more)
    g->shape[g->rank++] = n;
  snprintf(path, sizeof path, "%s/elements", dir);
  f = fopen(path, "rb");
  cr_assert_not_null(f, "%s", path);
  g->elements = malloc(1 << 20);
  g->n = fread(g->elements, 1, 1 << 20, f);
  fclose(f);
}

/* A box of the array, compared with the same box of the elements. */
static void box_is(cairn_kv_t *kv, cairn_zarr_t *z, const golden_t *g,
                   const int64_t *origin, const int64_t *extent,
                   const char *name) {
  size_t item = cairn_dtype_size(cairn_zarr_dtype(z));
  cairn__box_t box = {.rank = g->rank};
  int64_t strides[CAIRN_MAX_RANK], own[CAIRN_MAX_RANK], n;
  const char *from = g->elements;
  cairn__c_strides(g->rank, g->shape, (int64_t)item, strides);
  cairn__c_strides(g->rank, extent, (int64_t)item, own);
  for (int d = 0; d < g->rank; d++) {
    from += origin[d] * strides[d];
    box.extent[d] = extent[d];
  }
  cr_assert(cairn__box_volume(&box, &n));
  char *want = malloc((size_t)n * item + 1),
       *got = malloc((size_t)n * item + 1);
  cairn__copy_box(g->rank, extent, item, want, own, from, strides, 0);
  cairn_region_t r = {origin, extent, NULL, got};
  cairn_array_io_t io = {
      .zarr = z, .regions = &r, .n = 1, .fill_missing = true};
  cairn_error_t err = {0};
  cr_expect_eq(call_read(kv, &io, 1, &err), CAIRN_OK, "%s: %s", name,
               err.message);
  cr_expect(memcmp(got, want, (size_t)n * item) == 0, "%s differs", name);
  free(want);
  free(got);
}

static void check(cairn_runtime_t *rt, const char *name) {
  char dir[1024], url[1100];
  golden_t g = {0};
  cairn_kv_t *kv;
  cairn_zarr_t *z = NULL;
  cairn_error_t err = {0};
  cairn_bytes_t root = {0};
  snprintf(dir, sizeof dir, CAIRN_GOLDEN "/array/%s", name);
  snprintf(url, sizeof url, "file://%s/zarr/", dir);
  load(dir, &g);
  cr_assert_eq(kv_call_open(rt, url, &kv, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(call_open(kv, name[1] - '0', &root, 1, &z, &err), CAIRN_OK,
               "%s: %s", name, err.message);
  cr_assert_not_null(z, "%s", name);
  cr_expect_str_eq(cairn_dtype_name(cairn_zarr_dtype(z)), g.dtype);
  cr_assert_eq(cairn_zarr_rank(z), g.rank);
  cr_assert_eq(cairn_zarr_bytes(z), (int64_t)g.n);
  int64_t origin[CAIRN_MAX_RANK] = {0}, extent[CAIRN_MAX_RANK];
  box_is(kv, z, &g, origin, g.shape, name);
  for (int d = 0; d < g.rank; d++) {
    origin[d] = g.shape[d] / 3;
    extent[d] = (g.shape[d] + 1) / 2;
  }
  box_is(kv, z, &g, origin, extent, name);
  cairn_zarr_unref(z);
  free(g.elements);
  cr_assert_eq(kv_call_close(kv, NULL), CAIRN_OK);
}

Test(golden, arrays_of_tensorstore_are_read) {
  cairn_runtime_t *rt;
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  DIR *d = opendir(CAIRN_GOLDEN "/array");
  cr_assert_not_null(d);
  int n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (e->d_name[0] != 'v') continue;
    check(rt, e->d_name);
    n++;
  }
  closedir(d);
  cr_expect_geq(n, 50);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_OK);
}
