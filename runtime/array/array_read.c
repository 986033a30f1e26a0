/* Reading and verifying batches of arrays; the work is in read_jobs.c. */
#include "array/read.h"

cairn_future_t *cairn_arrays_read(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                  size_t n) {
  cairn_error_t err = {0};
  if (cairn__io_check(arrays, n, false, &err) != CAIRN_OK)
    return cairn_future_done(cairn_kv_runtime(kv), &err);
  for (size_t i = 0; i < n; i++)
    for (size_t r = 0; r < arrays[i].n; r++)
      arrays[i].bytes += cairn__region_bytes(&arrays[i], r);
  return cairn__reading_start(kv, arrays, n, NULL, NULL);
}

static void ignore(void *arg, cairn_bytes_t key, const cairn_error_t *what) {
  (void)arg;
  (void)key;
  (void)what;
}

cairn_future_t *cairn_arrays_verify(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                    size_t n, cairn_damage_fn fn, void *arg) {
  cairn_error_t err = {0};
  for (size_t i = 0; i < n; i++) {
    if (arrays[i].zarr == NULL) {
      cairn_fail(&err, CAIRN_INVALID, "array %zu of %zu: no metadata", i, n);
      return cairn_future_done(cairn_kv_runtime(kv), &err);
    }
    arrays[i].bytes = cairn_zarr_bytes(arrays[i].zarr);
    arrays[i].stored_bytes = 0;
  }
  return cairn__reading_start(kv, arrays, n, fn != NULL ? fn : ignore, arg);
}
