/* Boxes of memory with any strides. */
#ifndef TESTS_ORACLE_BOX_H_
#define TESTS_ORACLE_BOX_H_

#include "cairn/types.h"

/* What target memory holds before a restore: a5a5... is no value of any test.
 */
#define BOX_POISON 0xa5

int64_t box_volume(int rank, const int64_t *extent);
void box_dense(int rank, const int64_t *extent, int64_t item, int64_t *strides);

typedef struct box_copy { /* from one place to another */
  int rank;
  const int64_t *extent, *to_strides, *from_strides;
  size_t item;
} box_copy_t;
void box_copy(const box_copy_t *c, void *to, const void *from);

#endif
