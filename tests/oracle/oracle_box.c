#include "oracle_box.h"

int64_t box_volume(int rank, const int64_t *extent) {
  int64_t n = 1;
  for (int i = 0; i < rank; i++) n *= extent[i];
  return n;
}

void box_dense(int rank, const int64_t *extent, int64_t item,
               int64_t *strides) {
  for (int i = rank - 1; i >= 0; i--) {
    strides[i] = item;
    item *= extent[i];
  }
}

static void copy_axis(const box_copy_t *c, int axis, char *to,
                      const char *from) {
  if (axis == c->rank) {
    memcpy(to, from, c->item);
    return;
  }
  for (int64_t i = 0; i < c->extent[axis]; i++)
    copy_axis(c, axis + 1, to + i * c->to_strides[axis],
              from + i * c->from_strides[axis]);
}

void box_copy(const box_copy_t *c, void *to, const void *from) {
  copy_axis(c, 0, to, from);
}
