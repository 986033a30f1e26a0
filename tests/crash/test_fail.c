/* Every file system call of a save fails in turn. All ranks must tell the same
 * story, which names the call's path, its errno and the rank; it must be true
 * on disk; and the same step must save afterwards, with nothing left over.
 *
 * One job of several ranks goes through all calls, step after step. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define RANKS 3
#define MAX_CALLS 2000

struct fail {
  const char *root;
  cairn_manager_opts_t opts;
  shim_rule_t rule;
  shim_hit_t hit;
  bool once; /* not for every n */
  int failed, tolerated;
  int ops[SHIM_OPS], others;
  told_t told[RANKS];
  pthread_barrier_t all;
};

static const char *hit_text(const struct fail *f) {
  static char text[PATH_MAX + 100];
  snprintf(text, sizeof(text), "call %ld, %s %s", f->rule.at,
           shim_op_name(f->hit.op), f->hit.path);
  return text;
}

static void contains(const struct fail *f, const char *text) {
  cr_assert_not_null(strstr(f->told[0].message, text), "%s: %s not in \"%s\"",
                     hit_text(f), text, f->told[0].message);
}

static cairn_code_t code_of(int err) {
  if (err == EXDEV) return CAIRN_UNSUPPORTED;
  return err == ENOSPC || err == EDQUOT ? CAIRN_NO_SPACE : CAIRN_IO;
}

/* After the save, on one thread. */
static void same_story(struct fail *f, int step) {
  char text[64];
  for (int r = 1; r < RANKS; r++) {
    cr_assert_eq(f->told[r].code, f->told[0].code, "%s: \"%s\" and \"%s\"",
                 hit_text(f), f->told[0].message, f->told[r].message);
    cr_assert_str_eq(f->told[r].message, f->told[0].message);
  }
  if (f->told[0].code == CAIRN_OK) return;
  cr_assert(f->hit.fired, "%s", f->told[0].message);
  cr_assert_eq(f->told[0].code, code_of(f->rule.err), "%s: %s", hit_text(f),
               f->told[0].message);
  snprintf(text, sizeof(text), "step %d: ", step);
  contains(f, text);
  contains(f, f->root);
  contains(f, strerror(f->rule.err));
  int rank = rank_of_path(f->hit.path);
  if (rank > 0 && !f->rule.sticky) /* else others fail as well */
    snprintf(text, sizeof(text), "(rank %d,", rank);
  else
    snprintf(text, sizeof(text), "(rank ");
  contains(f, text);
}

/* An answer that was lost may not be missed: what counts is whether the
 * directory or the file is there. */
static bool may_be_tolerated(const struct fail *f) {
  return f->rule.how == SHIM_SHORT ||
         (f->rule.how == SHIM_LOST &&
          (f->hit.op == SHIM_MKDIR || f->hit.op == SHIM_OPEN));
}

static void count(struct fail *f) {
  if (!f->hit.fired) return;
  f->ops[f->hit.op]++;
  if (rank_of_path(f->hit.path) > 0) f->others++;
  if (f->told[0].code != CAIRN_OK) {
    f->failed++;
    return;
  }
  f->tolerated++;
  cr_expect(may_be_tolerated(f), "%s: the save went well", hit_text(f));
}

/* The step got its name and then neither became durable nor went again. */
static bool is_unsure(const struct fail *f) {
  return strstr(f->told[0].message, "not confirmed") != NULL;
}

static bool one_save(struct fail *f, rank_env_t *env, cairn_manager_t *m,
                     state_t *s, int step) {
  pthread_barrier_wait(&f->all);
  if (env->rank == 0) shim_arm(&f->rule);
  pthread_barrier_wait(&f->all);
  job_save(m, s, step, &f->told[env->rank]);
  pthread_barrier_wait(&f->all);
  if (env->rank == 0) {
    shim_disarm();
    same_story(f, step);
    count(f);
  }
  pthread_barrier_wait(&f->all);
  bool went_well = f->told[env->rank].code == CAIRN_OK;
  if (!is_unsure(f))
    cr_assert_eq(has_step(f->root, step), went_well, "%s: \"%s\"", hit_text(f),
                 f->told[0].message);
  cr_assert_eq(job_restore(m, s), went_well ? step : step - 1, "%s",
               hit_text(f));
  return went_well;
}

static void rank(rank_env_t *env) {
  struct fail *f = env->arg;
  cairn_manager_t *m = job_open(env, f->root, &f->opts);
  state_t s;
  bool more = true;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  job_save_well(m, &s, 1);
  for (int n = 1, step = 2; more; n++, step++) {
    pthread_barrier_wait(&f->all);
    if (env->rank == 0) f->rule.at = n;
    bool saved = one_save(f, env, m, &s, step);
    more = f->hit.fired && !f->once;
    if (f->rule.sticky) { /* what the clean-up could not do the next job does */
      job_close(m);
      m = job_open(env, f->root, &f->opts);
    }
    if (!saved && !(is_unsure(f) && has_step(f->root, step)))
      job_save_well(m, &s, step);
    cr_assert_eq(job_restore(m, &s), step, "%s", hit_text(f));
    pthread_barrier_wait(&f->all);
    if (env->rank == 0) {
      only_steps(f->root);
      remove_step(f->root, step - 1);
    }
    cr_assert_lt(n, MAX_CALLS, "there is no end of calls");
  }
  job_close(m);
  state_free(&s);
}

static void run(struct fail *f) {
  char *root = crash_dir();
  f->root = f->rule.root = root;
  f->rule.hit = &f->hit;
  pthread_barrier_init(&f->all, NULL, RANKS);
  ranks_run(RANKS, rank, f);
  crash_dir_remove(root);
  printf("%d failed saves, %d calls that no save needs, %d of other ranks:",
         f->failed, f->tolerated, f->others);
  for (int op = 0; op < SHIM_OPS; op++)
    printf(" %s %d", shim_op_name((shim_op_t)op), f->ops[op]);
  printf("\n");
}

static void covers_a_save(const struct fail *f) {
  cr_assert_gt(f->failed, 40);
  cr_assert_gt(f->others, 10);
  cr_assert_gt(f->ops[SHIM_OPEN], 5);
  cr_assert_gt(f->ops[SHIM_WRITE], 5);
  cr_assert_gt(f->ops[SHIM_SYNC], 5);
  cr_assert_gt(f->ops[SHIM_CLOSE], 5);
  cr_assert_gt(f->ops[SHIM_RENAME], 5);
  cr_assert_gt(f->ops[SHIM_MKDIR], 2);
}

Test(fail, every_call_once_with_a_full_disk) {
  struct fail f = {.rule = {.how = SHIM_FAIL, .err = ENOSPC}};
  run(&f);
  covers_a_save(&f);
}

/* Also the clean-up fails, and what it leaves must not stand in the way. */
Test(fail, every_call_and_all_after_it_with_a_sick_disk) {
  struct fail f = {.rule = {.how = SHIM_FAIL, .err = EIO, .sticky = true}};
  run(&f);
  covers_a_save(&f);
}

/* Done, but told as failed: the answer was lost on the way. */
Test(fail, every_answer_is_lost_once) {
  struct fail f = {.rule = {.how = SHIM_LOST, .err = EIO}};
  run(&f);
  covers_a_save(&f);
}

Test(fail, a_quota_that_shows_at_fsync_only) {
  struct fail f = {.rule = {.how = SHIM_FAIL,
                            .err = EDQUOT,
                            .ops = 1u << SHIM_SYNC,
                            .sticky = true}};
  run(&f);
  cr_assert_gt(f.failed, 5);
}

Test(fail, a_quota_that_shows_at_close_only) {
  struct fail f = {.rule = {.how = SHIM_FAIL,
                            .err = EDQUOT,
                            .ops = 1u << SHIM_CLOSE,
                            .sticky = true}};
  run(&f);
  cr_assert_gt(f.failed, 5);
}

Test(fail, mkdir_once_on_another_rank) {
  struct fail f = {.once = true,
                   .rule = {.how = SHIM_FAIL,
                            .err = EIO,
                            .ops = 1u << SHIM_MKDIR,
                            .part = "ocdbt.process_1"}};
  run(&f);
  cr_assert_eq(f.failed, 1);
  contains(&f, "mkdir");
  contains(&f, "(rank 1,");
}

Test(fail, renames_that_leave_the_file_system) {
  struct fail f = {
      .rule = {.how = SHIM_FAIL, .err = EXDEV, .ops = 1u << SHIM_RENAME}};
  run(&f);
  cr_assert_gt(f.failed, 5);
}

/* Each write takes one byte at a time. */
Test(fail, writes_that_fall_short_are_gone_on_with) {
  struct fail f = {
      .once = true,
      .rule = {.how = SHIM_SHORT, .ops = 1u << SHIM_WRITE, .sticky = true}};
  run(&f);
  cr_assert_eq(f.failed, 0);
}
