/* Adam (Kingma and Ba), each rank for its rows of every matrix: a rank holds
 * the two moments of these rows only. */
#ifndef LM_ADAM_H_
#define LM_ADAM_H_

#include "model.h"

typedef struct moment {
  int64_t first, rows; /* this rank's rows of the matrix; may be none */
  float *m, *v;        /* [rows][cols] */
} moment_t;

typedef struct adam {
  moment_t moment[NUM_PARAMS];
  float *memory;
} adam_t;

/* The moments of one rank of `ranks`, zero. False: out of memory. */
bool adam_open(adam_t *adam, const model_t *model, int rank, int ranks);
void adam_close(adam_t *adam);

/* One update of this rank's rows of `matrix`; gradient: [rows][cols]. `step`
 * counts from 1. */
void adam_update(const moment_t *moment, matrix_t *matrix,
                 const float *gradient, int64_t step, double learning_rate);

#endif
