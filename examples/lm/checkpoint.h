/* Saving and resuming a run with Cairn: everything a job needs to do for it is
 * in checkpoint.c and state.c. */
#ifndef LM_CHECKPOINT_H_
#define LM_CHECKPOINT_H_

#include "options.h"
#include "state.h"

typedef struct checkpoint {
  MPI_Comm mpi;
  int rank;
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *mgr;
  cairn_save_t *pending[2]; /* begun, not yet reported, oldest first. A save
                               begins when the one before it has ended, so these
                               are enough */
} checkpoint_t;

/* Collective, as all here. mpi_level: what MPI_Init_thread provided. */
cairn_code_t checkpoint_open(checkpoint_t *ck, const options_t *o, MPI_Comm mpi,
                             int mpi_level, cairn_error_t *err);

/* Fills the state from the newest step. CAIRN_NOT_FOUND: there is none. `own`
 * tells whether this rank's random stream came back too: it does not on a rank
 * beyond those that saved, nor from a step that Orbax wrote. */
cairn_code_t checkpoint_resume(checkpoint_t *ck, state_t *st, bool *own,
                               cairn_error_t *err);

/* After every step: saves if it is time for it, or if `last`. *begun tells. */
cairn_code_t checkpoint_save(checkpoint_t *ck, state_t *st, bool last,
                             bool *begun, cairn_error_t *err);

typedef struct saved {
  int64_t step, bytes_here, bytes_total; /* stored, by this rank and by all */
  double stopped_ms;                     /* longest on any rank */
  double committed_s;
} saved_t;

/* True once for each save, when it is committed on all ranks; does not wait. In
 * poll mode this is where saves make progress. */
bool checkpoint_committed(checkpoint_t *ck, saved_t *out);

/* Waits for the save under way, so that checkpoint_committed tells of it. */
cairn_code_t checkpoint_wait(checkpoint_t *ck, cairn_error_t *err);
cairn_code_t checkpoint_close(checkpoint_t *ck, cairn_error_t *err);

#endif
