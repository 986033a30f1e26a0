/* Every store call of a save fails in turn, on the primary and on another rank.
 * All ranks must tell the same story, it must be true on disk, nothing may be
 * left over, and the same step must save afterwards. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cairn/cairn.h"
#include "support/kv_fault.h"
#include "support/ranks.h"
#include "support/state.h"

#define RANKS 3

struct faults {
  char root[300]; /* fault://... */
  kv_fault_t *store[RANKS];
  int prepared, victim;
  kv_fault_rule_t rule;
  bool more; /* the rule met a call */
  cairn_code_t outcome[RANKS];
  char message[RANKS][CAIRN_MESSAGE_BYTES];
};

static void prepare(cairn_runtime_t *rt, void *arg) {
  struct faults *f = arg;
  cr_assert_eq(kv_fault_register(rt, f->store[f->prepared++], NULL), CAIRN_OK);
}

static void save(rank_env_t *env, cairn_manager_t *m, state_t *s, int step,
                 cairn_error_t *err) {
  (void)env;
  state_fill(s, step);
  if (cairn_manager_save(m, step, s->tree, NULL, err) == CAIRN_OK)
    cairn_manager_wait(m, -1, err);
}

static void restore(cairn_manager_t *m, state_t *s, int step) {
  cairn_error_t err = {0};
  state_clear(s);
  cr_assert_eq(cairn_manager_restore(m, CAIRN_LATEST, s->tree, NULL, &err),
               CAIRN_OK, "%s", err.message);
  state_expect(s, step);
}

/* Step 1 is saved well, step 2 under the fault, then again without it. */
static void job(rank_env_t *env) {
  struct faults *f = env->arg;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, 64, 33, env->rank, env->size);
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, f->root, NULL, &m, &err),
               CAIRN_OK, "%s", err.message);
  save(env, m, &s, 1, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);

  if (env->rank == f->victim) kv_fault_set(f->store[env->rank], &f->rule);
  save(env, m, &s, 2, &err);
  f->outcome[env->rank] = err.code;
  strcpy(f->message[env->rank], err.message);
  if (env->rank == f->victim) {
    f->more = kv_fault_hit(f->store[env->rank]);
    kv_fault_set(f->store[env->rank], NULL);
  }
  restore(m, &s, err.code == CAIRN_OK ? 2 : 1);
  cr_assert_eq(cairn_manager_latest(m), err.code == CAIRN_OK ? 2 : 1);

  int next = err.code == CAIRN_OK ? 3 : 2;
  err = (cairn_error_t){0};
  save(env, m, &s, next, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  restore(m, &s, next);
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
  state_free(&s);
}

static void same_story(const struct faults *f) {
  for (int r = 1; r < RANKS; r++) {
    cr_assert_eq(f->outcome[r], f->outcome[0], "%s / %s", f->message[0],
                 f->message[r]);
    cr_assert_str_eq(f->message[r], f->message[0]);
  }
  if (f->outcome[0] == CAIRN_OK) return;
  char who[16];
  snprintf(who, sizeof(who), "(rank %d,", f->victim);
  cr_assert_not_null(strstr(f->message[0], who), "%s", f->message[0]);
  cr_assert_not_null(strstr(f->message[0], "step 2"), "%s", f->message[0]);
}

static void only_steps(const char *dir) {
  DIR *d = opendir(dir);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    cr_assert(e->d_name[0] == '.'
                  ? strspn(e->d_name, ".") == strlen(e->d_name)
                  : strspn(e->d_name, "0123456789") == strlen(e->d_name),
              "left over: %s", e->d_name);
  closedir(d);
}

/* Until the n-th call is beyond the last: then the save went well. */
static void every_call(int victim, kv_fault_how_t how, cairn_code_t code) {
  struct faults f = {.victim = victim};
  bool more = true;
  int n = 0;
  while (more) {
    char *dir = temp_dir();
    for (int r = 0; r < RANKS; r++) f.store[r] = kv_fault_new();
    f.prepared = 0;
    f.rule = (kv_fault_rule_t){.at = ++n, .how = how, .code = code};
    snprintf(f.root, sizeof(f.root), "fault://%s", dir);
    ranks_run_prepared(RANKS, prepare, job, &f);
    same_story(&f);
    only_steps(dir);
    more = f.more;
    for (int r = 0; r < RANKS; r++) kv_fault_free(f.store[r]);
    temp_dir_remove(dir);
    cr_assert_lt(n, 500, "the save makes no end of calls");
  }
  cr_assert_eq(f.outcome[0], CAIRN_OK);
  cr_assert_gt(n, victim == 0 ? 15 : 5);
}

Test(faults, every_call_of_the_primary_fails_cleanly) {
  every_call(0, KV_FAULT_FAIL, CAIRN_IO);
}

Test(faults, every_call_of_another_rank_fails_cleanly) {
  every_call(1, KV_FAULT_FAIL, CAIRN_NO_SPACE);
}

/* Done, but told as failed: the answer was lost on the way. */
Test(faults, every_lost_answer_to_another_rank_is_clean) {
  every_call(2, KV_FAULT_AFTER, CAIRN_IO);
}

/* Nobody may be led to believe that the step could be there. */
Test(faults, time_out_before_the_last_vote_leaves_no_doubt) {
  struct faults f = {.victim = 1};
  char *dir = temp_dir();
  for (int r = 0; r < RANKS; r++) f.store[r] = kv_fault_new();
  f.rule = (kv_fault_rule_t){
      .kind = KV_FAULT_SYNC, .at = 1, .code = CAIRN_TIMED_OUT};
  snprintf(f.root, sizeof(f.root), "fault://%s", dir);
  ranks_run_prepared(RANKS, prepare, job, &f);
  same_story(&f);
  cr_assert_eq(f.outcome[0], CAIRN_TIMED_OUT);
  cr_assert_null(strstr(f.message[0], "not confirmed"), "%s", f.message[0]);
  for (int r = 0; r < RANKS; r++) kv_fault_free(f.store[r]);
  temp_dir_remove(dir);
}
