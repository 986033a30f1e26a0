/* The fault matrix: each phase of a save x what can go wrong in it x {primary,
 * leaf, inner rank of the vote tree} x {2, 4, 8 ranks}. Here are its lines, and
 * the job of a cell: it saves step 1 well, then step 2 under the fault, and
 * then it starts afresh. */
#ifndef CAIRN_TESTS_UNIT_MANAGER_MATRIX_H_
#define CAIRN_TESTS_UNIT_MANAGER_MATRIX_H_

#include <criterion/criterion.h>
#include <pthread.h>

#include "cairn/cairn.h"
#include "support/kv_fault.h"
#include "support/ranks.h"
#include "support/state.h"

/* The thread sanitizer does not see libuv close a descriptor, and takes its
 * next use by another job for a race: there one cell runs after the other, and
 * only a few of them. */
#ifdef __SANITIZE_THREAD__
#define MATRIX_IN_TURN true
#else
#define MATRIX_IN_TURN false
#endif

#define MATRIX_RANKS 8
#define MATRIX_DEADLINE_MS 2000

struct line {
  int ranks, victim;
  const char *const *hosts;
};
#define MATRIX_LINES 8
extern const struct line matrix_lines[MATRIX_LINES];

struct cell {
  const struct line *line;
  void (*job)(rank_env_t *env); /* env->arg is the cell */
  void (*check)(const struct cell *c);
  kv_fault_rule_t rule; /* for the victim's store */

  pthread_t thread;
  char root[300]; /* fault://... */
  kv_fault_t *store[MATRIX_RANKS];
  int prepared;
  pthread_barrier_t all;
  bool hit;
  cairn_error_t outcome[MATRIX_RANKS]; /* of step 2 */
  char warnings[MATRIX_RANKS][4096];
};

/* Runs n cells side by side, most of which only wait, and checks them. */
void matrix_run(struct cell *cells, size_t n);

/* Steps of a job; they fail the test. */
bool matrix_is_victim(const rank_env_t *env);
/* Saves step 1, and opens the manager that has the short deadline. */
cairn_manager_t *matrix_open(rank_env_t *env, state_t *s);
void matrix_close(cairn_manager_t *m);
void matrix_save(cairn_manager_t *m, state_t *s, int step, cairn_error_t *err);
void matrix_save_well(cairn_manager_t *m, state_t *s, int step);
/* All ranks have come so far; keeps the warnings. */
void matrix_meet(rank_env_t *env);
/* As a job that starts afresh: restores step 1 (or 2), saves the next one. */
void matrix_go_on(rank_env_t *env, state_t *s, bool may_be_there);

#define assert_has(text, part)                                               \
  cr_assert(strstr((text), (part)) != NULL, "\"%s\" is not in \"%s\"", part, \
            text)
/* All ranks' outcome is the same. */
void matrix_same_story(const struct cell *c);
/* It is an error that the victim brought. */
void matrix_names_victim(const struct cell *c);

#endif
