/* What callers hear of saves that failed: every rank the same, at the same
 * call, so that all go on together. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cairn/cairn.h"
#include "support/ranks.h"
#include "support/state.h"

#define VICTIM 1

struct job {
  const char *root;
  cairn_manager_opts_t opts;
  bool all; /* every rank brings what is wrong, not the victim alone */
};

struct rank { /* what each rank of a test has at hand */
  cairn_manager_t *m;
  state_t s;
  bool wrong; /* brings something wrong when asked to */
};

/* Ranks that get out of step wait for each other: not for 20 minutes. */
static void rank_open(struct rank *r, rank_env_t *env) {
  struct job *job = env->arg;
  cairn_error_t err = {0};
  cairn_manager_opts_t opts = job->opts;
  opts.checkpointer.deadline_ms = 5000;
  cr_assert_eq(
      cairn_manager_open(env->rt, env->comm, job->root, &opts, &r->m, &err),
      CAIRN_OK, "%s", err.message);
  state_init(&r->s, 12, 5, env->rank, env->size);
  state_fill(&r->s, 1);
  r->wrong = job->all || env->rank == VICTIM;
}

static void rank_close(struct rank *r) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_close(r->m, -1, &err), CAIRN_OK, "%s",
               err.message);
  state_free(&r->s);
}

static void save(struct rank *r, int64_t step, cairn_code_t want) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_manager_save(r->m, step, r->s.tree, NULL, &err), want,
               "step %d: %s", (int)step, err.message);
}

static cairn_code_t save_nothing(struct rank *r, int64_t step) {
  cairn_tree_t *empty;
  cr_assert_eq(cairn_tree_new(&empty, NULL), CAIRN_OK);
  cairn_code_t rc = cairn_manager_save(r->m, step, empty, NULL, NULL);
  cairn_tree_free(empty);
  return rc;
}

static void latest_is(struct rank *r, int64_t step) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_manager_wait(r->m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(cairn_manager_latest(r->m), step);
}

static void run(int ranks, void (*fn)(rank_env_t *env), struct job *job) {
  char *dir = temp_dir();
  job->root = dir;
  ranks_run(ranks, fn, job);
  temp_dir_remove(dir);
}

/* --- one rank's tree or items are wrong --- */

static void wrong_tree(rank_env_t *env) {
  struct rank r;
  rank_open(&r, env);
  if (r.wrong)
    cr_expect_eq(save_nothing(&r, 1), CAIRN_INVALID);
  else
    save(&r, 1, CAIRN_OK);
  save(&r, 2, CAIRN_INVALID); /* what became of step 1, on all ranks */
  save(&r, 3, CAIRN_OK);
  latest_is(&r, 3);
  rank_close(&r);
}

Test(errors, rank_with_a_wrong_tree_stays_in_step_with_the_others) {
  run(3, wrong_tree, &(struct job){0});
}

static void wrong_items(rank_env_t *env) {
  struct rank r;
  rank_open(&r, env);
  cairn_item_t item = {"state", "tree", r.s.tree};
  if (r.wrong) item.name = "a/b";
  cr_expect_eq(cairn_manager_save_items(r.m, 1, &item, 1, NULL, NULL),
               r.wrong ? CAIRN_INVALID : CAIRN_OK);
  save(&r, 2, CAIRN_INVALID);
  save(&r, 3, CAIRN_OK);
  latest_is(&r, 3);
  rank_close(&r);
}

Test(errors, rank_with_wrong_items_stays_in_step_with_the_others) {
  run(3, wrong_items, &(struct job){0});
}

static void all_wrong(rank_env_t *env) {
  struct rank r;
  rank_open(&r, env);
  cr_expect_eq(save_nothing(&r, 1), CAIRN_INVALID);
  save(&r, 2, CAIRN_OK);
  latest_is(&r, 2);
  rank_close(&r);
}

Test(errors, what_all_ranks_heard_at_once_is_not_told_again) {
  run(3, all_wrong, &(struct job){.all = true});
}

/* --- when it is told --- */

/* Only rank 0 knows at the skipped call that the save has failed. */
static void skipped(rank_env_t *env) {
  struct rank r;
  cairn_save_t *s = NULL;
  rank_open(&r, env);
  cairn_manager_save_opts_t o = {.save = &s};
  if (r.wrong)
    save_nothing(&r, 10);
  else
    cairn_manager_save(r.m, 10, r.s.tree, &o, NULL);
  if (env->rank == 0)
    cr_expect_eq(cairn_save_wait(s, CAIRN_SAVE_COMMITTED, -1, NULL),
                 CAIRN_INVALID);
  cairn_save_unref(s);
  save(&r, 11, CAIRN_OK);
  save(&r, 20, CAIRN_INVALID);
  save(&r, 30, CAIRN_OK);
  latest_is(&r, 30);
  rank_close(&r);
}

Test(errors, call_that_the_policy_skips_leaves_the_error_for_the_next_save) {
  run(3, skipped, &(struct job){.opts = {.save_interval_steps = 10}});
}
