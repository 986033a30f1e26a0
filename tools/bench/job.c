#include "job.h"

#include "meter.h"

static cairn_code_t comm_alone(cairn_runtime_t *rt, cairn_comm_t **out,
                               cairn_error_t *err) {
  return cairn_comm_self_open(rt, out, err);
}

static void no_barrier(void) {}

const bench_world_t bench_alone = {
    .ranks = 1, .barrier = no_barrier, .comm = comm_alone};

cairn_code_t job_open(const bench_world_t *w, int64_t staging, job_t *out,
                      cairn_error_t *err) {
  job_t j = {0};
  cairn_code_t rc =
      cairn_runtime_open(&(cairn_runtime_opts_t){.poll = w->poll}, &j.rt, err);
  if (rc == CAIRN_OK) rc = w->comm(j.rt, &j.comm, err);
  if (rc == CAIRN_OK)
    rc = cairn_checkpointer_open(
        j.rt, j.comm, &(cairn_checkpointer_opts_t){.staging_bytes = staging},
        &j.ck, err);
  *out = j;
  if (rc != CAIRN_OK) job_close(out);
  return rc;
}

void job_close(job_t *j) {
  (void)cairn_checkpointer_close(j->ck, -1, NULL);
  (void)cairn_comm_close(j->comm, NULL);
  (void)cairn_runtime_close(j->rt, NULL);
  *j = (job_t){0};
}

cairn_code_t job_begin(job_t *j, const char *path, cairn_tree_t *tree,
                       cairn_save_t **save, double *stall, cairn_error_t *err) {
  cairn_item_t item = cairn_item("default", "tree", tree);
  double begun = meter_now();
  cairn_code_t rc = cairn_checkpointer_save(j->ck, path, &item, 1, save, err);
  *stall = meter_now() - begun;
  return rc;
}

cairn_code_t job_save(job_t *j, const char *path, cairn_tree_t *tree,
                      job_times_t *out, cairn_error_t *err) {
  cairn_save_t *save = NULL;
  double begun = meter_now();
  cairn_code_t rc = job_begin(j, path, tree, &save, &out->stall, err);
  out->threads = meter_threads();
  if (rc == CAIRN_OK) rc = cairn_save_wait(save, CAIRN_SAVE_COMMITTED, -1, err);
  out->done = meter_now() - begun;
  cairn_save_unref(save);
  return rc;
}

cairn_code_t job_restore(job_t *j, const char *path, cairn_tree_t *tree,
                         cairn_error_t *err) {
  cairn_item_t item = cairn_item("default", "tree", tree);
  return cairn_checkpointer_restore(j->ck, path, &item, 1, NULL, err);
}
