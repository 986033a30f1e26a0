/* Nobody waits for ever: all ranks tell the same story and it names who and
 * where, in the warning already; the step before restores, and the next one
 * saves. Phases are met by letting the n-th store call of the victim go wrong,
 * for all n. */
#include <stdio.h>
#include <stdlib.h>

#include "comm/lane.h"
#include "manager/internal.h"
#include "matrix.h"

/* --- a store call that never returns --- */

/* It is held until all ranks have heard of it; once it is answered, the manager
 * closes. */
static void held_job(rank_env_t *env) {
  struct cell *c = env->arg;
  kv_fault_t *store = c->store[env->rank];
  cairn_error_t *err = &c->outcome[env->rank], again = {0};
  state_t s;
  cairn_manager_t *m = matrix_open(env, &s);
  if (matrix_is_victim(env)) kv_fault_set(store, &c->rule);
  matrix_save(m, &s, 2, err);
  matrix_meet(env);
  if (err->code != CAIRN_OK) {
    matrix_save(m, &s, 3, &again);
    cr_assert_eq(again.code, CAIRN_BUSY, "%s", again.message);
  }
  matrix_meet(env);
  if (matrix_is_victim(env)) {
    c->hit = kv_fault_hit(store);
    kv_fault_set(store, NULL);
    kv_fault_release(store);
  }
  matrix_close(m);
  matrix_meet(env);
  bool published = strstr(err->message, "step may be there") != NULL;
  matrix_go_on(env, &s, err->code == CAIRN_OK || published);
  state_free(&s);
}

/* The victim says what it is at, and who waits for it says so: the root, or
 * everyone if it is the root. */
static void warned(const struct cell *c) {
  char self[64], awaited[64];
  int victim = c->line->victim;
  const char *host = c->line->hosts[victim];
  snprintf(self, sizeof self, "rank %d (%s) is ", victim, host);
  assert_has(c->warnings[victim], self);
  snprintf(awaited, sizeof awaited,
           victim == 0 ? "no answer from rank %d (%s)"
                       : "waiting for rank %d (%s) for",
           victim, host);
  for (int r = 0; r < c->line->ranks; r++)
    if (r == 0 ? victim != 0 : victim == 0) assert_has(c->warnings[r], awaited);
}

static void check_held(const struct cell *c) {
  matrix_same_story(c);
  if (c->outcome[0].code == CAIRN_OK) return;
  cr_assert(c->hit);
  cr_assert_eq(c->outcome[0].code, CAIRN_TIMED_OUT);
  assert_has(c->outcome[0].message, " has not ended within 1250 ms");
  matrix_names_victim(c);
  warned(c);
}

#define BESIDE (MATRIX_IN_TURN ? 2 : 8)

/* Calls n, n + 1, ... Returns how many of them failed the save. */
static int hold_calls(const struct line *line, int n, bool *more) {
  struct cell *cells = calloc(BESIDE, sizeof *cells);
  int failed = 0;
  cr_assert_not_null(cells);
  for (int i = 0; i < BESIDE; i++) {
    cells[i].line = line;
    cells[i].job = held_job;
    cells[i].check = check_held;
    cells[i].rule = (kv_fault_rule_t){.at = n + i, .how = KV_FAULT_HOLD};
  }
  matrix_run(cells, BESIDE);
  for (int i = 0; i < BESIDE; i++) failed += cells[i].outcome[0].code != 0;
  *more = cells[BESIDE - 1].hit;
  free(cells);
  return failed;
}

static void hold_every_call(size_t first, size_t last) {
  for (size_t i = first; i <= last; i++) {
    bool more = true;
    int failed = 0;
    for (int n = 1; more && (n == 1 || !MATRIX_IN_TURN); n += BESIDE)
      failed += hold_calls(&matrix_lines[i], n, &more);
    if (MATRIX_IN_TURN) continue;
    cr_assert_geq(failed, matrix_lines[i].victim == 0 ? 15 : 5, "line %zu: %d",
                  i, failed);
  }
}

Test(matrix, store_that_never_answers_2_ranks) {
  hold_every_call(0, 1);
}

Test(matrix, store_that_never_answers_4_ranks) {
  hold_every_call(2, 4);
}

Test(matrix, store_that_never_answers_8_ranks) {
  hold_every_call(5, 7);
}

/* One cell a line. */
static void on_all_lines(void (*job)(rank_env_t *env),
                         void (*check)(const struct cell *c)) {
  struct cell *cells = calloc(MATRIX_LINES, sizeof *cells);
  cr_assert_not_null(cells);
  for (size_t i = 0; i < MATRIX_LINES; i++) {
    cells[i].line = &matrix_lines[i];
    cells[i].job = job;
    cells[i].check = check;
  }
  matrix_run(cells, MATRIX_LINES);
  free(cells);
}

/* --- a store a hundred times slower: some 10 ms for a small file --- */

static void slow_job(rank_env_t *env) {
  struct cell *c = env->arg;
  kv_fault_rule_t slow = {
      .at = 1, .sticky = true, .how = KV_FAULT_SLOW, .ms = 10};
  state_t s;
  cairn_manager_t *m = matrix_open(env, &s);
  if (matrix_is_victim(env)) kv_fault_set(c->store[env->rank], &slow);
  matrix_save(m, &s, 2, &c->outcome[env->rank]);
  matrix_close(m);
  matrix_go_on(env, &s, true);
  state_free(&s);
}

static void check_well(const struct cell *c) {
  for (int r = 0; r < c->line->ranks; r++)
    cr_assert_eq(c->outcome[r].code, CAIRN_OK, "%s", c->outcome[r].message);
}

Test(matrix, slow_store_is_waited_for) {
  on_all_lines(slow_job, check_well);
}

/* --- a call that one rank never makes --- */

static void absent_job(rank_env_t *env) {
  struct cell *c = env->arg;
  state_t s;
  cairn_manager_t *m = matrix_open(env, &s);
  if (!matrix_is_victim(env)) matrix_save(m, &s, 2, &c->outcome[env->rank]);
  matrix_meet(env);
  matrix_close(m);
  matrix_meet(env);
  matrix_go_on(env, &s, false);
  state_free(&s);
}

/* Rank r's story: that the root is not there, or the victim between them, or
 * what the root says. */
static void absent_story(const struct cell *c, int r) {
  const struct line *l = c->line;
  const cairn_error_t *e = &c->outcome[r];
  char want[96];
  bool below = l->victim != 0 && r > l->victim &&
               strcmp(l->hosts[r], l->hosts[l->victim]) == 0 && l->victim != 5;
  cr_assert_eq(e->code, CAIRN_TIMED_OUT, "%s", e->message);
  assert_has(e->message, "SAVE (created, step 2)");
  if (l->victim == 0)
    snprintf(want, sizeof want, "rank 0 (a, the root) has not answered");
  else if (below)
    snprintf(want, sizeof want, "waiting through rank %d (b)", l->victim);
  else
    snprintf(want, sizeof want, "no word from rank %d (b)", l->victim);
  assert_has(e->message, want);
  if (!below) cr_assert_eq(e->rank, l->victim);
}

static void check_absent(const struct cell *c) {
  for (int r = 0; r < c->line->ranks; r++)
    if (r != c->line->victim) absent_story(c, r);
}

Test(matrix, call_that_one_rank_never_makes) {
  on_all_lines(absent_job, check_absent);
}

/* --- another step, another tree --- */

static void other_step_job(rank_env_t *env) {
  struct cell *c = env->arg;
  state_t s;
  cairn_manager_t *m = matrix_open(env, &s);
  matrix_save(m, &s, matrix_is_victim(env) ? 3 : 2, &c->outcome[env->rank]);
  matrix_save_well(m, &s, 4);
  matrix_close(m);
  state_free(&s);
}

static void check_other_step(const struct cell *c) {
  const struct line *l = c->line;
  char want[96];
  snprintf(want, sizeof want, "rank %d (%s) in SAVE (created, step 3)",
           l->victim, l->hosts[l->victim]);
  for (int r = 0; r < l->ranks; r++) {
    cr_assert_eq(c->outcome[r].code, CAIRN_MISMATCH);
    assert_has(c->outcome[r].message, want);
    assert_has(c->outcome[r].message, "in SAVE (created, step 2)");
  }
}

Test(matrix, rank_with_another_step_is_named) {
  on_all_lines(other_step_job, check_other_step);
}

static void other_tree_job(rank_env_t *env) {
  struct cell *c = env->arg;
  double other[4] = {0};
  state_t s, odd;
  cairn_manager_t *m = matrix_open(env, &s);
  state_init(&odd, 64, 33, env->rank, env->size);
  cairn_array_t another_shape = {.dtype = CAIRN_F64,
                                 .rank = 1,
                                 .shape = {4},
                                 .data = other,
                                 .extent = {4}};
  if (matrix_is_victim(env))
    cr_assert_eq(cairn_tree_put_array(odd.tree, "vector", &another_shape, NULL),
                 CAIRN_OK);
  matrix_save(m, &odd, 2, &c->outcome[env->rank]);
  matrix_save_well(m, &s, 2);
  matrix_close(m);
  matrix_go_on(env, &s, true);
  state_free(&odd);
  state_free(&s);
}

static void check_other_tree(const struct cell *c) {
  char want[32];
  matrix_same_story(c);
  cr_assert_eq(c->outcome[0].code, CAIRN_MISMATCH);
  snprintf(want, sizeof want, "rank %d has 6", c->line->victim);
  assert_has(c->outcome[0].message, want);
}

Test(matrix, rank_with_another_tree_is_named) {
  on_all_lines(other_tree_job, check_other_tree);
}

/* --- no memory for what votes carry --- */

static void *no_memory(size_t n) {
  (void)n;
  return NULL;
}

static void no_memory_job(rank_env_t *env) {
  struct cell *c = env->arg;
  state_t s;
  cairn_manager_t *m = matrix_open(env, &s);
  if (matrix_is_victim(env)) m->ck->save_lane->alloc = no_memory;
  matrix_save(m, &s, 2, &c->outcome[env->rank]);
  if (matrix_is_victim(env)) m->ck->save_lane->alloc = malloc;
  matrix_meet(env);
  matrix_save_well(m, &s, 2);
  matrix_close(m);
  matrix_go_on(env, &s, true);
  state_free(&s);
}

static void check_no_memory(const struct cell *c) {
  matrix_same_story(c);
  cr_assert_eq(c->outcome[0].code, CAIRN_NO_MEMORY);
  matrix_names_victim(c);
}

Test(matrix, rank_without_memory_for_a_vote_is_named) {
  on_all_lines(no_memory_job, check_no_memory);
}
