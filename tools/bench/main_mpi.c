/* cairn-bench: the benchmarks on as many processes as mpirun starts. */
#include <cairn/comm_mpi.h>

#include "bench.h"

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static cairn_code_t comm_world(cairn_runtime_t *rt, cairn_comm_t **out,
                               cairn_error_t *err) {
  return cairn_comm_mpi_open(rt, MPI_COMM_WORLD, out, err);
}

int main(int argc, char **argv) {
  bench_world_t world = {.barrier = barrier, .comm = comm_world};
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
  world.poll = level < MPI_THREAD_MULTIPLE;
  int status = bench_main(argc, argv, &world);
  MPI_Finalize();
  return status;
}
