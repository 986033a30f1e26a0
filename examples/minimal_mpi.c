/* The same over MPI, on any number of ranks: each holds its rows of one matrix.
 * Started again on another number, each gets its new rows.
 *
 *   mpirun -n 4 minimal_mpi DIRECTORY
 *   mpirun -n 3 minimal_mpi DIRECTORY */
#include <cairn/cairn.h>
#include <cairn/comm_mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 1000, ROWS = 1024, COLS = 64 };

static int rank, ranks;
static int64_t step, first, rows; /* rows first .. first + rows - 1 are ours */
static float *w;

static void train(void) {
  for (int64_t i = 0; i < rows * COLS; i++) w[i] += (float)(first + i / COLS);
  step++;
}

static cairn_code_t run(cairn_manager_t *mgr, cairn_tree_t *state,
                        cairn_error_t *err) {
  cairn_tree_put_array(state, "params/w",
                       &(cairn_array_t){.dtype = CAIRN_F32,
                                        .rank = 2,
                                        .shape = {ROWS, COLS},
                                        .origin = {first, 0},
                                        .extent = {rows, COLS},
                                        .empty = rows == 0,
                                        .data = w},
                       err);
  cairn_tree_put_int64(state, "step", &step, err);
  if (err->code != CAIRN_OK) return err->code;

  cairn_error_t none = {0};
  cairn_code_t rc =
      cairn_manager_restore(mgr, CAIRN_LATEST, state, NULL, &none);
  if (rc != CAIRN_OK && rc != CAIRN_NOT_FOUND)
    return cairn_error_copy(err, &none);
  if (rank == 0) printf("from step %lld\n", (long long)step);
  while (step < STEPS) {
    train();
    if (cairn_manager_save(mgr, step, state, NULL, err) != CAIRN_OK)
      return err->code;
  }
  if (rank == ranks - 1 && rows > 0)
    printf("to step %lld: w[%d][0] = %g\n", (long long)step, ROWS - 1,
           (double)w[(rows - 1) * COLS]);
  return CAIRN_OK;
}

int main(int argc, char **argv) {
  cairn_runtime_t *rt = NULL;
  cairn_comm_t *comm = NULL;
  cairn_manager_t *mgr = NULL;
  cairn_tree_t *state = NULL;
  cairn_error_t err = {0};
  cairn_manager_opts_t opts = {.save_interval_steps = 100, .max_to_keep = 3};
  const char *root = argc > 1 ? argv[1] : "runs/minimal_mpi";
  int level;

  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = (int64_t)ROWS * rank / ranks;
  rows = (int64_t)ROWS * (rank + 1) / ranks - first;
  w = calloc((size_t)(rows * COLS) + 1, sizeof(*w));
  if (w == NULL) MPI_Abort(MPI_COMM_WORLD, 1);

  if (cairn_runtime_open(
          &(cairn_runtime_opts_t){.poll = level < MPI_THREAD_MULTIPLE}, &rt,
          &err) == CAIRN_OK &&
      cairn_comm_mpi_open(rt, MPI_COMM_WORLD, &comm, &err) == CAIRN_OK &&
      cairn_manager_open(rt, comm, root, &opts, &mgr, &err) == CAIRN_OK &&
      cairn_tree_new(&state, &err) == CAIRN_OK)
    run(mgr, state, &err);
  cairn_manager_close(mgr, 60000, &err);
  cairn_tree_free(state);
  cairn_comm_close(comm, &err);
  cairn_runtime_close(rt, &err);
  if (err.code != CAIRN_OK) fprintf(stderr, "rank %d: %s\n", rank, err.message);
  free(w);
  MPI_Finalize();
  return err.code != CAIRN_OK;
}
