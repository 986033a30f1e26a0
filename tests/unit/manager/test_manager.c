/* Jobs of several ranks that save, end, and come back on other numbers of
 * ranks. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "support/ranks.h"
#include "support/state.h"

struct job {
  const char *root;
  cairn_manager_opts_t opts;
  int64_t first, last; /* steps to save */
  int64_t want;        /* step to restore, or CAIRN_LATEST */
  int seed;            /* expected */
};

static cairn_manager_t *open_manager(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(
      cairn_manager_open(env->rt, env->comm, job->root, &job->opts, &m, &err),
      CAIRN_OK, "%s", err.message);
  return m;
}

static void close_manager(cairn_manager_t *m) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
}

static void save_steps(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 37, 11, env->rank, env->size);
  for (int64_t step = job->first; step <= job->last; step++) {
    state_fill(&s, (int)step);
    cr_assert_eq(cairn_manager_save(m, step, s.tree, NULL, &err), CAIRN_OK,
                 "%s", err.message);
    state_clear(&s); /* the memory is ours again */
  }
  close_manager(m);
  state_free(&s);
}

static void restore_one(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  int64_t step = -1;
  state_t s;
  state_init(&s, 37, 11, env->rank, env->size);
  state_clear(&s);
  cr_assert_eq(
      cairn_manager_restore(m, job->want, s.tree,
                            &(cairn_restore_opts_t){.step = &step}, &err),
      CAIRN_OK, "%s", err.message);
  cr_assert_eq(step, job->seed);
  state_expect(&s, job->seed);
  close_manager(m);
  state_free(&s);
}

static void round_trip(int writers, int readers, cairn_profile_t profile,
                       const char *root) {
  struct job job = {.root = root, .first = 1, .last = 3, .want = CAIRN_LATEST};
  job.opts.checkpointer.profile = profile;
  job.seed = 3;
  ranks_run(writers, save_steps, &job);
  ranks_run(readers, restore_one, &job);
  job.want = job.seed = 2;
  ranks_run(readers, restore_one, &job);
}

Test(manager, restores_on_any_number_of_ranks) {
  static const int counts[] = {1, 2, 3, 4, 7};
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < 5; k++) {
      char *dir = temp_dir();
      round_trip(counts[i], counts[k], CAIRN_PROFILE_CAIRN, dir);
      temp_dir_remove(dir);
    }
}

Test(manager, restores_what_each_profile_writes) {
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    char *dir = temp_dir();
    round_trip(1, 3, (cairn_profile_t)p, dir);
    temp_dir_remove(dir);
  }
}

/* --- what is in the root afterwards --- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "1 2 3": names in the root, sorted as text. */
static void names_are(const char *root, const char *want) {
  char *names[64], text[1024] = "";
  int n = 0;
  DIR *d = opendir(root);
  cr_assert_not_null(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      names[n++] = strdup(e->d_name);
  closedir(d);
  qsort(names, (size_t)n, sizeof(char *), by_text);
  for (int i = 0; i < n; i++) {
    if (i > 0) strcat(text, " ");
    strcat(text, names[i]);
    free(names[i]);
  }
  cr_assert_str_eq(text, want);
}

Test(manager, leaves_only_steps_in_the_root) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 1, .last = 3};
  ranks_run(2, save_steps, &job);
  names_are(dir, "1 2 3");
  temp_dir_remove(dir);
}

/* As a step of Orbax without the mark: cairn.json would miss it. */
static void unmark(const char *root, int64_t step) {
  static const char *const names[] = {"cairn.json", "commit_success.txt"};
  char path[300];
  for (size_t i = 0; i < 2; i++) {
    snprintf(path, sizeof(path), "%s/%d/%s", root, (int)step, names[i]);
    cr_assert_eq(unlink(path), 0);
  }
}

/* Orbax's COMMIT_FILE mode, killed between the commit time and the mark. */
Test(manager, step_without_the_mark_that_earlier_ones_have_is_none) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 1, .last = 4, .want = CAIRN_LATEST};
  ranks_run(2, save_steps, &job);
  unmark(dir, 4);
  job.seed = 3;
  ranks_run(3, restore_one, &job);
  unmark(dir, 3);
  job.seed = 2;
  ranks_run(1, restore_one, &job);
  temp_dir_remove(dir);
}

/* Orbax before 0.12.3, in whose roots a later release may go on. */
Test(manager, mark_is_not_asked_of_steps_older_than_the_first_that_has_it) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 1, .last = 3, .want = CAIRN_LATEST};
  ranks_run(2, save_steps, &job);
  unmark(dir, 1);
  unmark(dir, 2);
  job.seed = 3;
  ranks_run(2, restore_one, &job);
  job.want = job.seed = 1;
  ranks_run(1, restore_one, &job);
  unmark(dir, 3);
  job.want = CAIRN_LATEST;
  job.seed = 3;
  ranks_run(2, restore_one, &job);
  temp_dir_remove(dir);
}

Test(manager, keeps_the_newest_of_this_and_earlier_runs) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 1, .last = 5};
  job.opts.max_to_keep = 5;
  ranks_run(2, save_steps, &job);
  job.first = job.last = 6;
  job.opts.max_to_keep = 2;
  ranks_run(3, save_steps, &job);
  names_are(dir, "5 6");
  temp_dir_remove(dir);
}

Test(manager, keep_never_touches_names_that_are_not_steps) {
  char *dir = temp_dir(), path[300];
  static const char *const dirs[] = {"notes", "7.bak", "step_x", "007"};
  for (size_t i = 0; i < 4; i++) {
    snprintf(path, sizeof(path), "%s/%s", dir, dirs[i]);
    cr_assert_eq(mkdir(path, 0777), 0);
  }
  snprintf(path, sizeof(path), "%s/8", dir);
  fclose(fopen(path, "w")); /* a plain file */
  struct job job = {.root = dir, .first = 10, .last = 12};
  job.opts.max_to_keep = 1;
  ranks_run(1, save_steps, &job);
  names_are(dir, "007 12 7.bak 8 notes step_x");
  temp_dir_remove(dir);
}

Test(manager, names_steps_by_prefix_and_digits) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 9, .last = 10, .want = CAIRN_LATEST};
  job.opts.step_prefix = "ckpt";
  job.opts.step_digits = 4;
  ranks_run(2, save_steps, &job);
  names_are(dir, "ckpt_0009 ckpt_0010");
  job.seed = 10;
  ranks_run(1, restore_one, &job);
  temp_dir_remove(dir);
}

/* --- decisions --- */

static cairn_save_decision_t try_save(cairn_manager_t *m, int64_t step,
                                      bool force, state_t *s,
                                      cairn_code_t want) {
  cairn_error_t err = {0};
  cairn_save_decision_t decision = 0;
  cairn_manager_save_opts_t o = {.force = force, .decision = &decision};
  cr_assert_eq(cairn_manager_save(m, step, s->tree, &o, &err), want, "%s",
               err.message);
  return decision;
}

static void decisions(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  state_t s;
  state_init(&s, 4, 4, env->rank, env->size);
  state_fill(&s, 1);
  cr_assert_eq(cairn_manager_latest(m), -1);
  cr_assert_eq(try_save(m, 10, false, &s, CAIRN_OK), CAIRN_SAVED);
  cr_assert_eq(try_save(m, 15, false, &s, CAIRN_OK), CAIRN_SKIPPED_POLICY);
  cr_assert_eq(try_save(m, 15, true, &s, CAIRN_OK), CAIRN_SAVED);
  cr_assert_eq(try_save(m, 10, false, &s, CAIRN_OK), CAIRN_SKIPPED_NOT_ABOVE);
  cr_assert_eq(try_save(m, 0, false, &s, CAIRN_OK), CAIRN_SKIPPED_NOT_ABOVE);
  cr_assert_eq(try_save(m, 0, true, &s, CAIRN_OK), CAIRN_SAVED);
  try_save(m, 10, true, &s, CAIRN_EXISTS);
  try_save(m, -1, true, &s, CAIRN_INVALID);
  cr_assert_eq(cairn_manager_wait(m, -1, NULL), CAIRN_OK);
  cr_assert_eq(cairn_manager_latest(m), 15);
  int64_t *steps;
  size_t n;
  cr_assert_eq(cairn_manager_steps(m, &steps, &n, NULL), CAIRN_OK);
  cr_assert_eq(n, 3);
  cr_assert(steps[0] == 0 && steps[1] == 10 && steps[2] == 15);
  free(steps);
  close_manager(m);
  state_free(&s);
}

Test(manager, says_what_it_decided) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  job.opts.save_interval_steps = 10;
  ranks_run(3, decisions, &job);
  temp_dir_remove(dir);
}

static void another_job(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env), *other = open_manager(env);
  state_t s;
  state_init(&s, 4, 4, env->rank, env->size);
  state_fill(&s, 1);
  cr_assert_eq(try_save(m, 1, false, &s, CAIRN_OK), CAIRN_SAVED);
  cr_assert_eq(try_save(other, 5, false, &s, CAIRN_OK), CAIRN_SAVED);
  cr_assert_eq(cairn_manager_wait(other, -1, NULL), CAIRN_OK);
  cr_assert_eq(cairn_manager_reload(m, NULL), CAIRN_OK);
  cr_expect_eq(try_save(m, 5, false, &s, CAIRN_OK), CAIRN_SKIPPED_NOT_ABOVE);
  cr_expect_eq(try_save(m, 4, false, &s, CAIRN_OK), CAIRN_SKIPPED_NOT_ABOVE);
  cr_expect_eq(try_save(m, 6, false, &s, CAIRN_OK), CAIRN_SAVED);
  close_manager(m);
  close_manager(other);
  state_free(&s);
}

Test(manager, is_not_above_a_step_of_another_job_either) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  ranks_run(2, another_job, &job);
  names_are(dir, "1 5 6");
  temp_dir_remove(dir);
}

/* --- calls that cannot succeed --- */

static void fails_to_open(const char *root, const cairn_manager_opts_t *o,
                          cairn_code_t want) {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_manager_open(rt, comm, root, o, &m, &err), want, "%s",
               err.message);
  cr_assert_neq(err.message[0], 0);
  cairn_comm_close(comm, NULL);
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_OK, "%s", err.message);
}

Test(manager, refuses_options_that_make_no_sense) {
  char *dir = temp_dir();
  fails_to_open(dir, &(cairn_manager_opts_t){.save_interval_steps = -1},
                CAIRN_INVALID);
  fails_to_open(dir, &(cairn_manager_opts_t){.max_to_keep = -2}, CAIRN_INVALID);
  fails_to_open(dir, &(cairn_manager_opts_t){.step_digits = 20}, CAIRN_INVALID);
  fails_to_open(dir, &(cairn_manager_opts_t){.step_prefix = "a/b"},
                CAIRN_INVALID);
  fails_to_open("", NULL, CAIRN_INVALID);
  fails_to_open(NULL, NULL, CAIRN_INVALID);
  temp_dir_remove(dir);
}

Test(manager, refuses_text_for_numbers_from_the_environment) {
  static const char *const bad[] = {"abc", "", "0", "-2", "1.5", " 3"};
  char *dir = temp_dir();
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    setenv("CAIRN_MAX_TO_KEEP", bad[i], 1);
    fails_to_open(dir, NULL, CAIRN_INVALID);
  }
  temp_dir_remove(dir);
}

Test(manager, does_not_open_a_root_that_is_a_file) {
  char *dir = temp_dir(), path[300];
  snprintf(path, sizeof(path), "%s/file", dir);
  fclose(fopen(path, "w"));
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, NULL), CAIRN_OK);
  cr_assert_neq(cairn_manager_open(rt, comm, path, NULL, &m, &err), CAIRN_OK);
  cr_assert_not_null(strstr(err.message, path), "%s", err.message);
  cairn_comm_close(comm, NULL);
  cairn_runtime_close(rt, NULL);
  temp_dir_remove(dir);
}

Test(manager, needs_a_root_when_it_may_not_create_one) {
  char *dir = temp_dir(), path[300];
  snprintf(path, sizeof(path), "%s/absent", dir);
  fails_to_open(path, &(cairn_manager_opts_t){.no_create = true},
                CAIRN_NOT_FOUND);
  cr_assert_neq(access(path, F_OK), 0);
  temp_dir_remove(dir);
}

static void nothing_there(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 4, 4, env->rank, env->size);
  cr_assert_eq(cairn_manager_restore(m, CAIRN_LATEST, s.tree, NULL, &err),
               CAIRN_NOT_FOUND);
  err = (cairn_error_t){0};
  cr_assert_eq(cairn_manager_restore(m, 7, s.tree, NULL, &err), CAIRN_NOT_FOUND,
               "%s", err.message);
  cr_assert_not_null(strstr(err.message, "step 7"), "%s", err.message);
  close_manager(m);
  state_free(&s);
}

Test(manager, says_that_there_is_no_step) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  ranks_run(3, nothing_there, &job);
  temp_dir_remove(dir);
}

/* --- ranks that disagree --- */

static void other_root(rank_env_t *env) {
  struct job *job = env->arg;
  char root[300];
  cairn_manager_t *m;
  cairn_error_t err = {0};
  snprintf(root, sizeof(root), "%s/%d", job->root, env->rank == 2);
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, root, NULL, &m, &err),
               CAIRN_MISMATCH, "%s", err.message);
}

Test(manager, ranks_with_different_roots_hear_of_it) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  ranks_run(3, other_root, &job);
  temp_dir_remove(dir);
}

static void other_step(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 8, 4, env->rank, env->size);
  state_fill(&s, 1);
  cr_assert_eq(
      cairn_manager_save(m, env->rank == 3 ? 6 : 5, s.tree, NULL, &err),
      CAIRN_OK);
  cr_assert_eq(cairn_manager_wait(m, -1, &err), CAIRN_MISMATCH, "%s",
               err.message);
  cr_assert_eq(cairn_manager_latest(m), -1);
  cr_assert_eq(cairn_manager_close(m, -1, NULL), CAIRN_OK);
  state_free(&s);
}

Test(manager, ranks_that_save_different_steps_hear_of_it) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  ranks_run(4, other_step, &job);
  names_are(dir, "");
  temp_dir_remove(dir);
}

/* --- going back --- */

static void go_back(rank_env_t *env) {
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 8, 4, env->rank, env->size);
  state_fill(&s, 7);
  cr_assert_eq(try_save(m, 3, false, &s, CAIRN_OK), CAIRN_SKIPPED_NOT_ABOVE);
  cr_assert_eq(cairn_manager_rollback(m, 9, &err), CAIRN_NOT_FOUND);
  err = (cairn_error_t){0};
  cr_assert_eq(cairn_manager_rollback(m, 2, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_latest(m), 2);
  cr_assert_eq(try_save(m, 3, false, &s, CAIRN_OK), CAIRN_SAVED);
  close_manager(m);
  state_free(&s);
}

Test(manager, goes_on_from_an_earlier_step_after_a_rollback) {
  char *dir = temp_dir();
  struct job job = {.root = dir, .first = 1, .last = 5, .want = CAIRN_LATEST};
  ranks_run(2, save_steps, &job);
  ranks_run(3, go_back, &job);
  names_are(dir, "1 2 3");
  temp_dir_remove(dir);
}

/* --- roots and steps that are something else --- */

Test(manager, does_not_take_a_step_for_a_root) {
  char *dir = temp_dir(), path[300];
  struct job job = {.root = dir, .first = 1, .last = 1};
  ranks_run(2, save_steps, &job);
  snprintf(path, sizeof(path), "%s/1", dir);
  fails_to_open(path, NULL, CAIRN_INVALID);
  snprintf(path, sizeof(path), "%s/1/default", dir);
  fails_to_open(path, NULL, CAIRN_INVALID);
  temp_dir_remove(dir);
}

static void save_over_broken(rank_env_t *env) {
  struct job *job = env->arg;
  char path[300];
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 37, 11, env->rank, env->size);
  cr_assert_eq(cairn_manager_latest(m), 1);
  cr_assert_eq(try_save(m, 2, false, &s, CAIRN_OK), CAIRN_SAVED);
  cr_assert_eq(cairn_manager_wait(m, -1, &err), CAIRN_EXISTS, "%s",
               err.message);
  snprintf(path, sizeof(path), "%s/2", job->root);
  cr_assert_not_null(strstr(err.message, path), "%s", err.message);
  cr_assert_not_null(strstr(err.message, "incomplete"), "%s", err.message);
  cr_assert_not_null(strstr(err.message, "move it away"), "%s", err.message);
  close_manager(m);
  state_free(&s);
}

Test(manager, says_what_to_do_about_a_broken_step_in_the_way) {
  char *dir = temp_dir(), path[300];
  struct job job = {.root = dir, .first = 1, .last = 2};
  ranks_run(2, save_steps, &job);
  snprintf(path, sizeof(path), "%s/2/default/manifest.ocdbt", dir);
  cr_assert_eq(unlink(path), 0);
  ranks_run(2, save_over_broken, &job);
  temp_dir_remove(dir);
}

static void other_options(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cairn_manager_opts_t o = {.max_to_keep = env->rank == 1 ? 4 : 3};
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, job->root, &o, &m, &err),
               CAIRN_MISMATCH);
  cr_assert_not_null(strstr(err.message, "rank 0 max_to_keep 3"), "%s",
                     err.message);
  cr_assert_not_null(strstr(err.message, "rank 1 max_to_keep 4"), "%s",
                     err.message);
}

Test(manager, names_the_option_in_which_ranks_differ) {
  char *dir = temp_dir();
  struct job job = {.root = dir};
  ranks_run(3, other_options, &job);
  temp_dir_remove(dir);
}
