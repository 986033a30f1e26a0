/* Jobs that save and are cut short, in processes of their own, and what the
 * next job must find. Step s always holds the state of seed s. */
#ifndef TESTS_CRASH_JOB_H_
#define TESTS_CRASH_JOB_H_

#include <criterion/criterion.h>

#include "cairn/cairn.h"
#include "shim.h"
#include "support/ranks.h"
#include "support/state.h"

#define JOB_ROWS 96
#define JOB_COLS 33

/* A fresh directory in memory if there is one, since only the kernel's own end
 * would lose what is not synced. For crash_dir_remove. */
char *crash_dir(void);
void crash_dir_remove(char *dir);

/* Memory that a killed child leaves readable. */
void *crash_shared(size_t bytes);
void crash_shared_free(void *p, size_t bytes);

/* fn in a child: its status as waitpid gives it. */
int crash_child(void (*fn)(void *arg), void *arg);
pid_t crash_start(void (*fn)(void *arg), void *arg);
int crash_end(pid_t child);
void crash_must_exit_0(int status, const char *what);

/* What one rank was told about a save. */
typedef struct told {
  cairn_code_t code;
  char message[CAIRN_MESSAGE_BYTES];
} told_t;

cairn_manager_t *job_open(rank_env_t *env, const char *root,
                          const cairn_manager_opts_t *opts);
void job_close(cairn_manager_t *m);
/* Saves and waits. */
void job_save(cairn_manager_t *m, state_t *s, int64_t step, told_t *told);
void job_save_well(cairn_manager_t *m, state_t *s, int64_t step);
/* The latest step, restored and compared; fails the test if there is none. */
int64_t job_restore(cairn_manager_t *m, state_t *s);

/* Whole jobs of n ranks in this process. */
void job_of_one_step(const char *root, int ranks, int64_t step);
int64_t job_that_restores(const char *root, int ranks);
/* As the next job would: restores the latest, then saves a step above it. */
int64_t job_that_goes_on(const char *root, int ranks, int64_t step);

/* Nothing but steps. */
void only_steps(const char *root);
bool has_step(const char *root, int64_t step);
void remove_step(const char *root, int64_t step);

/* Whose call it was, going by the path: files of one process say so, all else
 * is the primary's. */
int rank_of_path(const char *path);

/* Environment variable as a number. */
int crash_rounds(const char *name, int by_default);

#endif
