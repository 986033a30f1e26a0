/* XXH3 against the values its own specification lists, and in pieces. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/sum.h"

/* XXH3_64bits of nothing and of one zero byte, seed 0 (xxHash's published
 * vectors). */
Test(sum, has_the_published_values) {
  cr_assert_eq(cairn__sum_of("", 0), UINT64_C(0x2d06800538d394c2));
  cr_assert_eq(cairn__sum_of("\0", 1), UINT64_C(0xc44bdff4074eecdb));
}

Test(sum, in_pieces_is_the_sum_of_the_whole) {
  uint8_t *p = malloc(100000);
  for (int i = 0; i < 100000; i++) p[i] = (uint8_t)(i * 7 + i / 251);
  for (size_t piece = 1; piece < 100000; piece = piece * 3 + 1) {
    cairn__sum_t *s = cairn__sum_new();
    for (size_t at = 0; at < 100000; at += piece)
      cairn__sum_add(s, p + at, piece < 100000 - at ? piece : 100000 - at);
    cr_assert_eq(cairn__sum_value(s), cairn__sum_of(p, 100000));
    cairn__sum_reset(s);
    cr_assert_eq(cairn__sum_value(s), cairn__sum_of("", 0));
    cairn__sum_free(s);
  }
  free(p);
}

/* Why it is not CRC-32C: that one is the same for all that ends in its own. */
Test(sum, tells_texts_apart_that_end_in_their_own_crc) {
  uint8_t a[12] = "manifest", b[12] = "MANIFEST";
  uint8_t *both[] = {a, b};
  for (int i = 0; i < 2; i++) {
    uint32_t c = cairn__crc32c(0, both[i], 8);
    for (int k = 0; k < 4; k++) both[i][8 + k] = (uint8_t)(c >> 8 * k);
    cr_assert_eq(cairn__crc32c(0, both[i], 12), 0x48674bc7);
  }
  cr_assert_neq(cairn__sum_of(a, 12), cairn__sum_of(b, 12));
}
