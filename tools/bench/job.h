/* A checkpointer and what it needs, opened together. */
#ifndef CAIRN_BENCH_JOB_H_
#define CAIRN_BENCH_JOB_H_

#include "bench.h"

typedef struct job {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck;
} job_t;

/* `staging`: bytes of staging memory that opening makes ready. */
cairn_code_t job_open(const bench_world_t *w, int64_t staging, job_t *out,
                      cairn_error_t *err);
void job_close(job_t *j);

/* One save, as its caller and the disk see it. */
typedef struct job_times {
  double stall, done; /* seconds from the call */
  int threads;
} job_times_t;

/* Begins to save the tree at `path`; *stall is what the call took. */
cairn_code_t job_begin(job_t *j, const char *path, cairn_tree_t *tree,
                       cairn_save_t **save, double *stall, cairn_error_t *err);
/* Saves, waits until it is committed, and says when. */
cairn_code_t job_save(job_t *j, const char *path, cairn_tree_t *tree,
                      job_times_t *out, cairn_error_t *err);
cairn_code_t job_restore(job_t *j, const char *path, cairn_tree_t *tree,
                         cairn_error_t *err);

#endif
