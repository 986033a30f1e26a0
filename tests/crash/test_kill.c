/* A job is killed at every file system call of a save, of a deletion, of an
 * opening. The next job, on another number of ranks, must find the step before
 * or the new one, whole; save the step that was cut; and leave nothing over.
 *
 * Two workers share the calls of a save: odd ones and even ones. Each has a
 * root of its own, in which step 1 stays and what is above it goes after each
 * round. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#define RANKS 3
#define WORKERS 2
#define MAX_CALLS 2000

struct cut {
  const char *root;
  cairn_manager_opts_t opts;
  bool opening; /* the open is cut, not the save */
  shim_rule_t rule;
  pthread_barrier_t all;
};

static void arm_together(struct cut *c, rank_env_t *env) {
  pthread_barrier_wait(&c->all);
  if (env->rank == 0) shim_arm(&c->rule);
  pthread_barrier_wait(&c->all);
}

static void cut_rank(rank_env_t *env) {
  struct cut *c = env->arg;
  state_t s;
  if (c->opening) arm_together(c, env);
  cairn_manager_t *m = job_open(env, c->root, &c->opts);
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  cr_assert_eq(job_restore(m, &s), 1);
  if (!c->opening) {
    arm_together(c, env);
    job_save_well(m, &s, 2);
  }
  job_close(m);
  state_free(&s);
}

static void cut_job(void *arg) {
  struct cut *c = arg;
  pthread_barrier_init(&c->all, NULL, RANKS);
  ranks_run(RANKS, cut_rank, c);
}

/* --- what the next job finds --- */

struct after {
  const char *root;
  int ranks;
};

static void next_job(void *arg) {
  struct after *a = arg;
  int64_t found = job_that_goes_on(a->root, a->ranks, 2);
  cr_assert(found == 1 || found == 2);
  only_steps(a->root);
}

/* --- every n --- */

struct tally {
  atomic_int kills, primary, others, committed;
  atomic_int ops[SHIM_OPS];
};

struct worker {
  struct tally *tally;
  struct cut cut;
  int number;
  /* before each round, in the root */
  void (*prepare)(const char *root);
};

static void count_kill(struct tally *t, const shim_hit_t *hit, bool committed) {
  t->kills++;
  if (rank_of_path(hit->path) == 0)
    t->primary++;
  else
    t->others++;
  t->ops[hit->op]++;
  if (committed) t->committed++;
}

static void clear_root(const char *root) {
  for (int64_t step = 2; step <= 3; step++) remove_step(root, step);
  if (!has_step(root, 1)) job_of_one_step(root, 2, 1);
}

static void prepare_in_child(void *arg) {
  struct worker *w = arg;
  clear_root(w->cut.root);
  if (w->prepare != NULL) w->prepare(w->cut.root);
}

static void work(void *arg) {
  struct worker *w = arg;
  char *root = crash_dir();
  shim_hit_t *hit = crash_shared(sizeof(*hit));
  w->cut.root = w->cut.rule.root = root;
  w->cut.rule.hit = hit;
  for (int n = 1 + w->number;; n += WORKERS) {
    crash_must_exit_0(crash_child(prepare_in_child, w), "preparing");
    hit->fired = false;
    w->cut.rule.at = n;
    int status = crash_child(cut_job, &w->cut);
    struct after after = {root, n / WORKERS % 2 == 0 ? 1 : RANKS + 1};
    char what[PATH_MAX + 100];
    snprintf(what, sizeof(what), "after call %d, %s %s", n,
             hit->fired ? shim_op_name(hit->op) : "none",
             hit->fired ? hit->path : "");
    cr_assert_eq(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, hit->fired,
                 "%s: status %x", what, status);
    bool committed = has_step(root, 2);
    crash_must_exit_0(crash_child(next_job, &after), what);
    if (!hit->fired) break;
    count_kill(w->tally, hit, committed);
    cr_assert_lt(n, MAX_CALLS, "there is no end of calls");
  }
  crash_shared_free(hit, sizeof(*hit));
  crash_dir_remove(root);
}

static struct tally *every_call(struct worker w) {
  struct tally *t = crash_shared(sizeof(*t));
  pid_t children[WORKERS];
  w.tally = t;
  for (int i = 0; i < WORKERS; i++) {
    w.number = i;
    children[i] = crash_start(work, &w);
  }
  for (int i = 0; i < WORKERS; i++)
    crash_must_exit_0(crash_end(children[i]), "worker");
  printf("%d kills: %d on paths of the primary, %d of others; %d after commit:",
         t->kills, t->primary, t->others, t->committed);
  for (int op = 0; op < SHIM_OPS; op++)
    printf(" %s %d", shim_op_name((shim_op_t)op), t->ops[op]);
  printf("\n");
  return t;
}

/* What a save cannot do without. */
static void covers_a_save(const struct tally *t) {
  cr_assert_gt(t->primary, 20);
  cr_assert_gt(t->others, 10);
  cr_assert_gt(t->ops[SHIM_OPEN], 5);
  cr_assert_gt(t->ops[SHIM_WRITE], 5);
  cr_assert_gt(t->ops[SHIM_SYNC], 5);
  cr_assert_gt(t->ops[SHIM_RENAME], 5);
  cr_assert_gt(t->ops[SHIM_MKDIR], 2);
  cr_assert_gt(t->ops[SHIM_CLOSE], 5);
}

Test(kill, at_every_call_of_a_save) {
  covers_a_save(every_call((struct worker){.cut.rule = {.how = SHIM_KILL}}));
}

Test(kill, in_the_middle_of_every_write) {
  struct tally *t = every_call(
      (struct worker){.cut.rule = {.how = SHIM_TEAR, .ops = 1u << SHIM_WRITE}});
  cr_assert_gt(t->kills, 5);
}

/* Step 1 is deleted once 2 is there. */
Test(kill, at_every_call_of_a_deletion) {
  struct tally *t = every_call((struct worker){
      .cut.opts.max_to_keep = 1,
      .cut.rule = {.how = SHIM_KILL,
                   .ops = 1u << SHIM_UNLINK | 1u << SHIM_RMDIR |
                          1u << SHIM_RENAME | 1u << SHIM_SYNC}});
  cr_assert_gt(t->ops[SHIM_UNLINK], 10);
  cr_assert_gt(t->ops[SHIM_RMDIR], 3);
}

/* --- what a killed save left is being removed --- */

static void leave_a_cut_save(const char *root) {
  struct cut c = {.root = root, .rule = {.root = root, .at = 60}};
  int status = crash_child(cut_job, &c);
  cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

Test(kill, at_every_call_of_an_opening_that_cleans_up) {
  struct tally *t = every_call((struct worker){.cut.opening = true,
                                               .cut.rule = {.how = SHIM_KILL},
                                               .prepare = leave_a_cut_save});
  cr_assert_gt(t->ops[SHIM_UNLINK], 3);
  cr_assert_gt(t->ops[SHIM_RMDIR], 2);
}
