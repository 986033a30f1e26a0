/* Saves beside one another on one communicator, and many ranks. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cairn/cairn.h"
#include "support/kv_fault.h"
#include "support/ranks.h"
#include "support/state.h"

#define RANKS 4
#define ROUNDS 25

struct pair {
  char roots[2][300]; /* fault://... */
  kv_fault_t *store[RANKS];
  int prepared;
};

static void prepare(cairn_runtime_t *rt, void *arg) {
  struct pair *p = arg;
  cr_assert_eq(kv_fault_register(rt, p->store[p->prepared++], NULL), CAIRN_OK);
}

/* A leaf less than the others: the save of this state fails, on all ranks. */
static cairn_tree_t *poor_tree(void) {
  static int64_t step;
  cairn_tree_t *tree;
  cr_assert_eq(cairn_tree_new(&tree, NULL), CAIRN_OK);
  cr_assert_eq(cairn_tree_put_int64(tree, "step", &step, NULL), CAIRN_OK);
  return tree;
}

/* In round i the saves of manager i % 2 fail because of rank i % RANKS. */
static void check(int round, int which, const cairn_error_t *err) {
  char who[32];
  if (which != round % 2) {
    cr_assert_eq(err->code, CAIRN_OK, "%s", err->message);
    return;
  }
  cr_assert_eq(err->code, CAIRN_MISMATCH, "%s", err->message);
  snprintf(who, sizeof who, "rank %d has ", round % RANKS);
  cr_assert_not_null(strstr(err->message, who), "%s", err->message);
}

/* Ranks begin the two in different order, and their stores are slow in
 * different calls, so that the lanes' votes pass one another. */
static void one_round(rank_env_t *env, cairn_manager_t *const *m,
                      const state_t *s, cairn_tree_t *poor, int round) {
  struct pair *p = env->arg;
  int first = (env->rank + round) % 2;
  kv_fault_rule_t slow = {.kind = KV_FAULT_WRITE,
                          .at = 1 + (env->rank + round) % 5,
                          .how = KV_FAULT_SLOW,
                          .ms = 5};
  kv_fault_set(p->store[env->rank], &slow);
  for (int k = 0; k < 2; k++) {
    int which = k == 0 ? first : 1 - first;
    bool spoilt = which == round % 2 && env->rank == round % RANKS;
    cr_assert_eq(cairn_manager_save(m[which], round + 1,
                                    spoilt ? poor : s[which].tree, NULL, NULL),
                 CAIRN_OK);
  }
  for (int which = 0; which < 2; which++) {
    cairn_error_t err = {0};
    cairn_manager_wait(m[which], -1, &err);
    check(round, which, &err);
  }
}

static void two_managers(rank_env_t *env) {
  struct pair *p = env->arg;
  cairn_manager_t *m[2];
  cairn_tree_t *poor = poor_tree();
  state_t s[2];
  for (int i = 0; i < 2; i++) {
    state_init(&s[i], 64, 33, env->rank, env->size);
    cr_assert_eq(
        cairn_manager_open(env->rt, env->comm, p->roots[i], NULL, &m[i], NULL),
        CAIRN_OK);
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 2; i++) state_fill(&s[i], 2 * round + i);
    one_round(env, m, s, poor, round);
  }
  for (int i = 0; i < 2; i++) {
    int last = ROUNDS - 1 - (i == (ROUNDS - 1) % 2); /* that went well */
    cr_assert_eq(cairn_manager_latest(m[i]), last + 1);
    state_clear(&s[i]);
    cr_assert_eq(
        cairn_manager_restore(m[i], CAIRN_LATEST, s[i].tree, NULL, NULL),
        CAIRN_OK);
    state_expect(&s[i], 2 * last + i);
    cr_assert_eq(cairn_manager_close(m[i], -1, NULL), CAIRN_OK);
    state_free(&s[i]);
  }
  cairn_tree_free(poor);
}

Test(lanes, saves_of_two_managers_at_once_do_not_cross) {
  char *dirs[2] = {temp_dir(), temp_dir()};
  struct pair p = {0};
  for (int i = 0; i < 2; i++)
    snprintf(p.roots[i], sizeof p.roots[i], "fault://%s", dirs[i]);
  for (int r = 0; r < RANKS; r++) p.store[r] = kv_fault_new();
  ranks_run_prepared(RANKS, prepare, two_managers, &p);
  for (int r = 0; r < RANKS; r++) kv_fault_free(p.store[r]);
  for (int i = 0; i < 2; i++) temp_dir_remove(dirs[i]);
}

static void save_and_restore(rank_env_t *env) {
  cairn_manager_t *m;
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 640, 11, env->rank, env->size);
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, env->arg, NULL, &m, &err),
               CAIRN_OK, "%s", err.message);
  for (int step = 1; step <= 3; step++) {
    state_fill(&s, step);
    cr_assert_eq(cairn_manager_save(m, step, s.tree, NULL, &err), CAIRN_OK,
                 "%s", err.message);
  }
  cr_assert_eq(cairn_manager_wait(m, -1, &err), CAIRN_OK, "%s", err.message);
  state_clear(&s);
  cr_assert_eq(cairn_manager_restore(m, 3, s.tree, NULL, &err), CAIRN_OK, "%s",
               err.message);
  state_expect(&s, 3);
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(env->log->warnings, 0, "%s", env->log->text);
  state_free(&s);
}

Test(lanes, sixty_four_ranks_commit) {
  char *dir = temp_dir();
  ranks_run(64, save_and_restore, dir);
  temp_dir_remove(dir);
}
