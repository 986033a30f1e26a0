/* Programs that do to their own process what saves in the background must
 * survive: they fork, run others, and end without waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#define RANKS 3

/* --- fork, system, popen --- */

static void run_others(int i) {
  fflush(NULL);
  if (i % 3 == 0) {
    cr_assert_eq(system("true"), 0);
  } else if (i % 3 == 1) {
    FILE *f = popen("echo 1", "r");
    cr_assert_not_null(f);
    cr_assert_eq(fgetc(f), '1');
    cr_assert_eq(pclose(f), 0);
  } else {
    pid_t child = fork();
    if (child == 0) exit(0); /* with all that was registered for it */
    int status = crash_end(child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void forking_rank(rank_env_t *env) {
  cairn_error_t err = {0};
  cairn_manager_opts_t o = {.max_to_keep = 2};
  cairn_manager_t *m = job_open(env, env->arg, &o);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  for (int step = 1; step <= 30; step++) {
    state_fill(&s, step);
    cr_assert_eq(cairn_manager_save(m, step, s.tree, NULL, &err), CAIRN_OK,
                 "%s", err.message);
    if (env->rank == step % RANKS) run_others(step / RANKS);
  }
  cr_assert_eq(job_restore(m, &s), 30);
  job_close(m);
  state_free(&s);
}

Test(process, forks_and_runs_others_during_saves) {
  char *root = crash_dir();
  ranks_run(RANKS, forking_rank, root);
  cr_assert_eq(job_that_goes_on(root, 1, 31), 30);
  only_steps(root);
  crash_dir_remove(root);
}

/* --- ending without waiting --- */

static void save_and_exit(rank_env_t *env) {
  cairn_error_t err = {0};
  cairn_manager_t *m = job_open(env, env->arg, NULL);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  cr_assert_eq(job_restore(m, &s), 1);
  state_fill(&s, 2);
  cr_assert_eq(cairn_manager_save(m, 2, s.tree, NULL, &err), CAIRN_OK, "%s",
               err.message);
  if (env->rank == 0) exit(0);
  for (;;) pause();
}

static void exiting_job(void *root) {
  ranks_run(RANKS, save_and_exit, root);
}

/* No hook of ours keeps the process: what was not waited for may not be there,
 * and that is all. */
Test(process, that_exits_during_a_save_ends_and_harms_nothing) {
  char *root = crash_dir();
  for (int i = 0; i < 10; i++) {
    if (!has_step(root, 1)) job_of_one_step(root, 2, 1);
    crash_must_exit_0(crash_child(exiting_job, root), "exit");
    int64_t found = job_that_goes_on(root, 1 + i % 4, 2);
    cr_assert(found == 1 || found == 2);
    only_steps(root);
    for (int64_t step = 2; step <= 3; step++) remove_step(root, step);
  }
  crash_dir_remove(root);
}
