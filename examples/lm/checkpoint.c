#include "checkpoint.h"

#include <cairn/comm_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSE_MS = 120000 };

static void print_log(void *arg, cairn_log_level_t level, const char *text) {
  const checkpoint_t *ck = arg;
  (void)level;
  fprintf(stderr, "rank %d: %s\n", ck->rank, text);
}

cairn_code_t checkpoint_open(checkpoint_t *ck, const options_t *o, MPI_Comm mpi,
                             int mpi_level, cairn_error_t *err) {
  *ck = (checkpoint_t){.mpi = mpi};
  MPI_Comm_rank(mpi, &ck->rank);
  cairn_runtime_opts_t runtime = {
      .poll = mpi_level < MPI_THREAD_MULTIPLE, .log = print_log, .log_arg = ck};
  cairn_manager_opts_t manager = {.checkpointer.profile = o->profile,
                                  .save_interval_steps = o->save_every,
                                  .max_to_keep = o->keep,
                                  .no_create = o->eval,
                                  .read_only = o->eval};
  if (cairn_runtime_open(&runtime, &ck->rt, err) == CAIRN_OK &&
      cairn_comm_mpi_open(ck->rt, mpi, &ck->comm, err) == CAIRN_OK &&
      cairn_manager_open(ck->rt, ck->comm, o->root, &manager, &ck->mgr, err) ==
          CAIRN_OK)
    return CAIRN_OK;
  checkpoint_close(ck, NULL);
  return err->code;
}

/* Resuming ------------------------------------------------------------------
 */

/* The item of random streams: rank r's blob is its rng_t. A rank for which none
 * was saved starts a stream of its own. */
static cairn_code_t resume_stream(checkpoint_t *ck, int64_t step, rng_t *stream,
                                  bool *own, cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn_blob_t blob = {.missing_ok = true};
  cairn_item_t item = cairn_item("rng", "rank_bytes", &blob);
  *own = false;
  if (cairn_manager_restore_items(ck->mgr, step, &item, 1, NULL, &local) !=
      CAIRN_OK)
    return local.code == CAIRN_NOT_FOUND ? CAIRN_OK
                                         : cairn_error_copy(err, &local);
  if (blob.out != NULL && blob.out_n != sizeof(*stream)) {
    free(blob.out);
    return cairn_fail(err, CAIRN_MISMATCH, "a random stream of %zu bytes",
                      blob.out_n);
  }
  if (blob.out != NULL) {
    memcpy(stream, blob.out, sizeof(*stream));
    *own = true;
  }
  free(blob.out);
  return CAIRN_OK;
}

cairn_code_t checkpoint_resume(checkpoint_t *ck, state_t *st, bool *own,
                               cairn_error_t *err) {
  int64_t step;
  cairn_restore_opts_t opts = {.step = &step};
  if (cairn_manager_restore(ck->mgr, CAIRN_LATEST, st->tree, &opts, err) !=
      CAIRN_OK)
    return err->code;
  return resume_stream(ck, step, &st->stream, own, err);
}

/* Saving --------------------------------------------------------------------
 */

cairn_code_t checkpoint_save(checkpoint_t *ck, state_t *st, bool last,
                             bool *begun, cairn_error_t *err) {
  cairn_blob_t blob = {.data = &st->stream, .n = sizeof(st->stream)};
  cairn_item_t items[] = {cairn_item("default", "tree", st->tree),
                          cairn_item("rng", "rank_bytes", &blob)};
  cairn_save_t *save = NULL;
  cairn_manager_save_opts_t opts = {.force = last, .save = &save};
  cairn_code_t rc =
      cairn_manager_save_items(ck->mgr, st->step, items, 2, &opts, err);
  *begun = save != NULL;
  if (save != NULL) ck->pending[ck->pending[0] != NULL] = save;
  return rc;
}

/* The save calls are the same on all ranks, so `pending` is too. */
bool checkpoint_committed(checkpoint_t *ck, saved_t *out) {
  cairn_runtime_poll(ck->rt, 0);
  if (ck->pending[0] == NULL) return false;
  int all = cairn_save_reached(ck->pending[0], CAIRN_SAVE_COMMITTED);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, ck->mpi);
  if (!all) return false;
  cairn_save_stats_t stats;
  cairn_save_stats(ck->pending[0], &stats);
  *out = (saved_t){.step = stats.step,
                   .bytes_here = stats.stored_bytes,
                   .committed_s = stats.committed_s};
  MPI_Allreduce(&stats.stored_bytes, &out->bytes_total, 1, MPI_INT64_T, MPI_SUM,
                ck->mpi);
  MPI_Allreduce(&stats.blocked_s, &out->stopped_ms, 1, MPI_DOUBLE, MPI_MAX,
                ck->mpi);
  out->stopped_ms *= 1000;
  cairn_save_unref(ck->pending[0]);
  ck->pending[0] = ck->pending[1];
  ck->pending[1] = NULL;
  return true;
}

cairn_code_t checkpoint_wait(checkpoint_t *ck, cairn_error_t *err) {
  return cairn_manager_wait(ck->mgr, CLOSE_MS, err);
}

cairn_code_t checkpoint_close(checkpoint_t *ck, cairn_error_t *err) {
  for (int i = 0; i < 2; i++) cairn_save_unref(ck->pending[i]);
  cairn_code_t rc = cairn_manager_close(ck->mgr, CLOSE_MS, err);
  if (cairn_comm_close(ck->comm, err) != CAIRN_OK && rc == CAIRN_OK)
    rc = CAIRN_BUSY;
  if (cairn_runtime_close(ck->rt, err) != CAIRN_OK && rc == CAIRN_OK)
    rc = CAIRN_BUSY;
  *ck = (checkpoint_t){0};
  return rc;
}
