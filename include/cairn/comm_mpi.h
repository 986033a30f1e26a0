/* The MPI communicator: the only header that needs <mpi.h>. */
#ifndef CAIRN_COMM_MPI_H_
#define CAIRN_COMM_MPI_H_

#include <mpi.h>

#include "cairn/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over mpi_comm, on the caller's thread, with MPI initialised. Cairn
 * works on duplicates of mpi_comm only. Thread mode of the runtime needs
 * MPI_THREAD_MULTIPLE (CAIRN_UNSUPPORTED says what was provided and that
 * cairn_runtime_opts_t.poll works with less); poll mode
 * works with all levels, up to MPI_THREAD_FUNNELED with all calls from the main
 * thread (MPI_THREAD_SINGLE, which a plain MPI_Init gives, asks for no other
 * threads at all; Cairn's call no MPI, and no MPI library is known to mind).
 * All ranks leave with the same outcome: CAIRN_MISMATCH if library versions
 * differ, CAIRN_NO_MEMORY, CAIRN_IO with MPI's text. CAIRN_INVALID, on the
 * calling rank, if MPI is not initialised or was finalized, or mpi_comm is
 * MPI_COMM_NULL or an intercommunicator.
 *
 * After open no collective is called until close. If MPI_Finalize comes first,
 * what is under way ends with CAIRN_CLOSED, and closing makes no MPI call. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_comm_mpi_open(cairn_runtime_t *rt,
                                                            MPI_Comm mpi_comm,
                                                            cairn_comm_t **out,
                                                            cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
