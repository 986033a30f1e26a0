#define XXH_INLINE_ALL
#include "base/sum.h"

#include <stdlib.h>
#include <xxhash.h>

/* Its own type, since the state's alignment is more than malloc gives. */
struct cairn__sum {
  XXH3_state_t state;
};

cairn__sum_t *cairn__sum_new(void) {
  cairn__sum_t *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
  if (s != NULL) {
    XXH3_INITSTATE(&s->state);
    XXH3_64bits_reset(&s->state);
  }
  return s;
}

void cairn__sum_reset(cairn__sum_t *s) {
  XXH3_64bits_reset(&s->state);
}

void cairn__sum_add(cairn__sum_t *s, const void *p, size_t n) {
  if (n != 0) XXH3_64bits_update(&s->state, p, n);
}

uint64_t cairn__sum_value(const cairn__sum_t *s) {
  return XXH3_64bits_digest(&s->state);
}

void cairn__sum_free(cairn__sum_t *s) {
  free(s);
}

uint64_t cairn__sum_of(const void *p, size_t n) {
  return XXH3_64bits(p, n);
}
