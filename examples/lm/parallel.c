#include "parallel.h"

#include <stdlib.h>

#include "split.h"

static int64_t largest_part(const model_t *model, int ranks) {
  int64_t largest = 1;
  for (int i = 0; i < NUM_PARAMS; i++) {
    int64_t part =
        split_begin(model->param[i].rows, ranks, 1) * model->param[i].cols;
    if (part > largest) largest = part;
  }
  return largest;
}

bool parallel_open(parallel_t *par, const model_t *model, MPI_Comm comm) {
  *par = (parallel_t){.comm = comm};
  MPI_Comm_rank(comm, &par->rank);
  MPI_Comm_size(comm, &par->ranks);
  size_t n = (size_t)par->ranks;
  par->counts = calloc(4 * n, sizeof(int));
  par->inbox =
      calloc(n * (size_t)largest_part(model, par->ranks), sizeof(float));
  if (par->counts == NULL || par->inbox == NULL) {
    parallel_close(par);
    return false;
  }
  par->displs = par->counts + n;
  par->counts2 = par->counts + 2 * n;
  par->displs2 = par->counts + 3 * n;
  return true;
}

void parallel_close(parallel_t *par) {
  free(par->counts);
  free(par->inbox);
  *par = (parallel_t){0};
}

/* counts, displs: n things of `width` numbers, split over the ranks. */
static void set_parts(parallel_t *par, int64_t n, int64_t width) {
  for (int r = 0; r < par->ranks; r++) {
    int64_t begin = split_begin(n, par->ranks, r);
    par->displs[r] = (int)(begin * width);
    par->counts[r] = (int)((split_begin(n, par->ranks, r + 1) - begin) * width);
  }
}

const float *parallel_sum(parallel_t *par, const matrix_t *gradient) {
  set_parts(par, gradient->rows, gradient->cols);
  int mine = par->counts[par->rank];
  for (int r = 0; r < par->ranks; r++) {
    par->counts2[r] = mine;
    par->displs2[r] = r * mine;
  }
  MPI_Alltoallv(gradient->data, par->counts, par->displs, MPI_FLOAT, par->inbox,
                par->counts2, par->displs2, MPI_FLOAT, par->comm);
  for (int i = 0; i < mine; i++) {
    double sum = par->inbox[i];
    for (int r = 1; r < par->ranks; r++)
      sum += (double)par->inbox[par->displs2[r] + i];
    par->inbox[i] = (float)sum;
  }
  return par->inbox;
}

void parallel_share(parallel_t *par, matrix_t *matrix) {
  set_parts(par, matrix->rows, matrix->cols);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, matrix->data, par->counts,
                 par->displs, MPI_FLOAT, par->comm);
}

void parallel_gather(parallel_t *par, double *all, int64_t n) {
  set_parts(par, n, 1);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, par->counts,
                 par->displs, MPI_DOUBLE, par->comm);
}
