/* A small training state for tests: a matrix sharded by rows, a replicated
 * vector, a step, a rate, a name. Values are a function of `seed`, so that what
 * comes back can be told from what was there before. */
#ifndef TESTS_SUPPORT_STATE_H_
#define TESTS_SUPPORT_STATE_H_

#include "cairn/tree.h"

typedef struct state {
  int64_t rows, cols;  /* of the matrix */
  int64_t first, mine; /* this rank's rows */
  float *matrix;       /* mine x cols */
  double vector[5];
  int64_t step;
  double rate;
  char name[32];
  cairn_tree_t *tree;
} state_t;

/* Rows are spread as evenly as goes, the first ranks having one more. */
void state_init(state_t *s, int64_t rows, int64_t cols, int rank, int size);
void state_fill(state_t *s, int seed);
void state_clear(state_t *s); /* other values than any seed gives */
void state_expect(const state_t *s, int seed); /* fails the test otherwise */
bool state_is(const state_t *s, int seed);
void state_free(state_t *s);

#endif
