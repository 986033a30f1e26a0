/* Strided boxes into dense memory, against the plain loop over all indices. */
#include <criterion/criterion.h>

#include "gather.h"

/* element at index = its offset in the source, so every copy can be told. */
static void check(int rank, const int64_t *extent, size_t item,
                  const int64_t *strides, const uint8_t *at) {
  uint8_t dst[4096];
  int64_t index[CAIRN_MAX_RANK] = {0};
  size_t n;
  cr_assert(cairn__box_bytes(rank, extent, item, &n));
  memset(dst, 0xee, sizeof dst);
  cairn__gather(rank, extent, item, dst, at, strides);
  for (size_t i = 0; i < n / item; i++) {
    const uint8_t *p = at;
    for (int d = 0; d < rank; d++) p += index[d] * strides[d];
    cr_assert_arr_eq(dst + i * item, p, item, "element %zu", i);
    for (int d = rank - 1; d >= 0 && ++index[d] == extent[d]; d--) index[d] = 0;
  }
  cr_assert_eq(dst[n], 0xee, "wrote beyond the box");
}

static uint8_t source[8192];

static void fill(void) {
  for (size_t i = 0; i < sizeof source; i++)
    source[i] = (uint8_t)(i * 37 + i / 256);
}

TestSuite(gather, .init = fill);

Test(gather, rows_of_a_wider_array) {
  check(2, (int64_t[]){5, 3}, 4, (int64_t[]){40, 4}, source + 8);
}
Test(gather, columns) {
  check(2, (int64_t[]){3, 5}, 4, (int64_t[]){4, 40}, source);
}
Test(gather, reversed) {
  check(1, (int64_t[]){9}, 2, (int64_t[]){-2}, source + 100);
  check(2, (int64_t[]){4, 3}, 8, (int64_t[]){-24, 8}, source + 200);
}
Test(gather, repeated_elements) {
  check(2, (int64_t[]){3, 4}, 4, (int64_t[]){0, 4}, source);
}
Test(gather, gaps_in_every_dimension) {
  check(3, (int64_t[]){2, 3, 4}, 2, (int64_t[]){500, 60, 6}, source);
}
Test(gather, items_of_all_sizes) {
  for (size_t item = 1; item <= 16; item *= 2)
    check(2, (int64_t[]){3, 7}, item, (int64_t[]){900, 48}, source);
}
Test(gather, dimensions_of_one_do_not_count) {
  check(4, (int64_t[]){1, 3, 1, 4}, 4, (int64_t[]){7, 16, 999, 4}, source);
}
Test(gather, strides_of_zero_mean_dense) {
  uint8_t dst[24];
  cairn__gather(2, (int64_t[]){2, 3}, 4, dst, source, (int64_t[]){0, 0});
  cr_assert_arr_eq(dst, source, 24);
}
Test(gather, empty_boxes_and_rank_0) {
  uint8_t dst[8] = {0};
  cairn__gather(2, (int64_t[]){0, 3}, 4, dst, NULL, (int64_t[]){12, 4});
  cairn__gather(0, NULL, 4, dst, source, NULL);
  cr_assert_arr_eq(dst, source, 4);
}
Test(gather, too_many_bytes_are_noticed) {
  size_t n;
  cr_assert_not(cairn__box_bytes(2, (int64_t[]){INT64_MAX, 2}, 4, &n));
  cr_assert(cairn__box_bytes(3, (int64_t[]){INT64_MAX, INT64_MAX, 0}, 4, &n));
  cr_assert_eq(n, 0);
}
