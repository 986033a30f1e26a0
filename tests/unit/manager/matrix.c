#include "matrix.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Neighbours share a host, whose first rank leads it. */
static const char *const hosts2[] = {"a", "b"};
static const char *const hosts4[] = {"a", "a", "b", "b"};
static const char *const hosts8[] = {"a", "a", "a", "b", "b", "b", "c", "c"};

/* Primary, leaf, and an inner rank where there is one. */
const struct line matrix_lines[MATRIX_LINES] = {
    {2, 0, hosts2}, {2, 1, hosts2}, {4, 0, hosts4}, {4, 3, hosts4},
    {4, 2, hosts4}, {8, 0, hosts8}, {8, 5, hosts8}, {8, 3, hosts8},
};

/* --- steps of a job --- */

bool matrix_is_victim(const rank_env_t *env) {
  return env->rank == ((struct cell *)env->arg)->line->victim;
}

static cairn_manager_t *open_manager(rank_env_t *env, int64_t deadline_ms) {
  struct cell *c = env->arg;
  cairn_manager_opts_t o = {.checkpointer.deadline_ms = deadline_ms};
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, c->root, &o, &m, &err),
               CAIRN_OK, "%s", err.message);
  return m;
}

cairn_manager_t *matrix_open(rank_env_t *env, state_t *s) {
  cairn_manager_t *m = open_manager(env, 0);
  state_init(s, 64, 33, env->rank, env->size);
  matrix_save_well(m, s, 1);
  matrix_close(m);
  return open_manager(env, MATRIX_DEADLINE_MS);
}

void matrix_close(cairn_manager_t *m) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
}

void matrix_save(cairn_manager_t *m, state_t *s, int step, cairn_error_t *err) {
  state_fill(s, step);
  cairn_manager_save(m, step, s->tree, NULL, err);
  /* Also after an error: a rank that had it from the call is told once more if
   * the others hear of it only now. */
  cairn_manager_wait(m, -1, err);
}

void matrix_save_well(cairn_manager_t *m, state_t *s, int step) {
  cairn_error_t err = {0};
  matrix_save(m, s, step, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
}

void matrix_meet(rank_env_t *env) {
  struct cell *c = env->arg;
  pthread_barrier_wait(&c->all);
  memcpy(c->warnings[env->rank], env->log->text, sizeof c->warnings[0]);
}

static int restore_latest(cairn_manager_t *m, state_t *s) {
  cairn_error_t err = {0};
  int64_t step = 0;
  cairn_restore_opts_t o = {.step = &step};
  state_clear(s);
  cr_assert_eq(cairn_manager_restore(m, CAIRN_LATEST, s->tree, &o, &err),
               CAIRN_OK, "%s", err.message);
  state_expect(s, (int)step);
  return (int)step;
}

void matrix_go_on(rank_env_t *env, state_t *s, bool may_be_there) {
  cairn_manager_t *m = open_manager(env, 0);
  int latest = restore_latest(m, s);
  cr_assert(latest == 1 || (may_be_there && latest == 2), "%d", latest);
  matrix_save_well(m, s, latest + 1);
  cr_assert_eq(restore_latest(m, s), latest + 1);
  matrix_close(m);
}

/* --- what is there afterwards --- */

void matrix_same_story(const struct cell *c) {
  const cairn_error_t *e = c->outcome;
  for (int r = 1; r < c->line->ranks; r++) {
    cr_assert_eq(e[r].code, e[0].code, "%s / %s", e[0].message, e[r].message);
    cr_assert_str_eq(e[r].message, e[0].message);
    cr_assert_eq(e[r].rank, e[0].rank);
  }
}

void matrix_names_victim(const struct cell *c) {
  const struct line *l = c->line;
  const cairn_error_t *e = c->outcome;
  char who[64];
  snprintf(who, sizeof who, "(rank %d, host %s)", l->victim,
           l->hosts[l->victim]);
  cr_assert_eq(e->rank, l->victim, "%s", e->message);
  assert_has(e->message, who);
  assert_has(e->message, "step 2");
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

/* --- running --- */

static void prepare(cairn_runtime_t *rt, void *arg) {
  struct cell *c = arg;
  cr_assert_eq(kv_fault_register(rt, c->store[c->prepared++], NULL), CAIRN_OK);
}

static void *run(void *arg) {
  struct cell *c = arg;
  char *dir = temp_dir_in_memory();
  int n = c->line->ranks;
  for (int r = 0; r < n; r++) c->store[r] = kv_fault_new();
  snprintf(c->root, sizeof c->root, "fault://%s", dir);
  pthread_barrier_init(&c->all, NULL, (unsigned)n);
  ranks_run_hosts(n, c->line->hosts, prepare, c->job, c);
  only_steps(dir);
  pthread_barrier_destroy(&c->all);
  for (int r = 0; r < n; r++) kv_fault_free(c->store[r]);
  temp_dir_remove(dir);
  return NULL;
}

void matrix_run(struct cell *cells, size_t n) {
  for (size_t i = 0; i < n; i++) {
    cr_assert_eq(pthread_create(&cells[i].thread, NULL, run, &cells[i]), 0);
    if (MATRIX_IN_TURN) pthread_join(cells[i].thread, NULL);
  }
  for (size_t i = 0; i < n && !MATRIX_IN_TURN; i++)
    pthread_join(cells[i].thread, NULL);
  for (size_t i = 0; i < n; i++) cells[i].check(&cells[i]);
}
