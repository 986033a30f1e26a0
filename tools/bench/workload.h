/* The states that are saved: as many arrays, as large, of such numbers as the
 * peers are measured with. Every process can make every part again, so that
 * what comes back can be compared. */
#ifndef CAIRN_BENCH_WORKLOAD_H_
#define CAIRN_BENCH_WORKLOAD_H_

#include "cairn/cairn.h"

typedef struct workload {
  const char *name;
  size_t arrays;
  int64_t rows, columns; /* of each, float32 */
  bool ints;             /* small integers, that shrink; else normal numbers */
} workload_t;

/* NULL: there is none of that name. */
const workload_t *workload_find(const char *name);
/* Of all processes together. */
int64_t workload_bytes(const workload_t *w);

/* One process's rows of it: split evenly on axis 0. */
typedef struct state {
  const workload_t *w;
  int rank, ranks;
  int64_t first, rows; /* of each array */
  float *base;         /* what the arrays are made of */
  bool huge;           /* arrays are cairn_alloc's */
  float **data;
  cairn_tree_t *tree;
} state_t;

/* Memory that is touched; `filled` with the workload's numbers. */
cairn_code_t state_open(const workload_t *w, int rank, int ranks, bool filled,
                        cairn_snapshot_t snapshot, state_t *out,
                        cairn_error_t *err);
void state_close(state_t *s);
/* Writes array i as it belongs, or another number everywhere. */
void state_fill(state_t *s, size_t i);
void state_spoil(state_t *s, size_t i);
/* Compares the first, the middle and the last array with what they should be.
 */
bool state_check(const state_t *s);

#endif
