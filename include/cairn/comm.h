/* Communicators: which ranks act together. MPI's is opened in
 * <cairn/comm_mpi.h>; here are a communicator of one, and one whose ranks are
 * threads of one process (tests, tools).
 *
 * A communicator belongs to one runtime. It is used by opening managers on it;
 * its ranks must open the same things in the same order. It is closed after
 * them and before the runtime (see <cairn/runtime.h>). */
#ifndef CAIRN_COMM_H_
#define CAIRN_COMM_H_

#include "cairn/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_comm cairn_comm_t;

/* Rank 0 of 1; *out is the caller's, for cairn_comm_close. Any thread.
 * CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_comm_self_open(
    cairn_runtime_t *rt, cairn_comm_t **out, cairn_error_t *err);

/* n ranks in this process: rts[i] is rank i's runtime (they may be one and the
 * same only if n is 1), out[i] its communicator. Messages are copies in memory.
 * Any thread. CAIRN_INVALID, CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_comm_local_open(
    cairn_runtime_t *const *rts, int n, cairn_comm_t **out, cairn_error_t *err);

/* This process's rank, from 0, and the number of ranks. Any thread. */
CAIRN_API int cairn_comm_rank(const cairn_comm_t *comm);
CAIRN_API int cairn_comm_size(const cairn_comm_t *comm);

/* Name of a rank's host, as known here ("" before it was heard of); belongs to
 * the communicator. Any thread. */
CAIRN_API const char *cairn_comm_host(const cairn_comm_t *comm, int rank);

/* Frees it. CAIRN_BUSY while a manager or checkpointer is open on it: then
 * nothing happens. NULL is fine. Any thread but the loop's. An MPI communicator
 * is closed by all its ranks, on a thread that may call MPI, before
 * MPI_Finalize (see <cairn/comm_mpi.h> for one that was closed after it). */
CAIRN_API cairn_code_t cairn_comm_close(cairn_comm_t *comm, cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
