/* What the ranks tell each other in a step: sums of gradients, the rows that
 * were updated, losses. All sums are taken in the order of ranks, so that the
 * same number of ranks gives the same bits every time, whatever the MPI library
 * chooses to do. */
#ifndef LM_PARALLEL_H_
#define LM_PARALLEL_H_

#include <mpi.h>

#include "model.h"

typedef struct parallel {
  MPI_Comm comm;
  int rank, ranks;
  int *counts, *displs;   /* [ranks]: of what is sent */
  int *counts2, *displs2; /* [ranks]: of what is received */
  float *inbox;           /* [ranks][this rank's rows of a matrix] */
} parallel_t;

/* False: out of memory. */
bool parallel_open(parallel_t *par, const model_t *model, MPI_Comm comm);
void parallel_close(parallel_t *par);

/* This rank's rows (split_begin) of the sum of all ranks' gradients. They stay
 * in par until the next call. */
const float *parallel_sum(parallel_t *par, const matrix_t *gradient);

/* Each rank's rows of the matrix go to all. */
void parallel_share(parallel_t *par, matrix_t *matrix);

/* all[n] from each rank's part of n numbers, which begins at all[split_begin].
 */
void parallel_gather(parallel_t *par, double *all, int64_t n);

#endif
