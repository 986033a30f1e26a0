/* Jobs that end in the middle, at any time, again and again; two jobs at once;
 * and what is taken away from under a save. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "io/fs.h"
#include "job.h"

#define RANKS 3

/* --- killed at any time --- */

struct endless {
  const char *root;
  atomic_llong committed; /* as the job was told; shared memory */
};

static void save_on(rank_env_t *env) {
  struct endless *e = env->arg;
  cairn_manager_opts_t o = {.max_to_keep = 2};
  cairn_manager_t *m = job_open(env, e->root, &o);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  int64_t step = cairn_manager_latest(m);
  if (step >= 0) cr_assert_eq(job_restore(m, &s), step);
  for (;;) {
    job_save_well(m, &s, ++step);
    if (env->rank == 0) atomic_store(&e->committed, step);
  }
}

static void endless_job(void *arg) {
  ranks_run(RANKS, save_on, arg);
}

struct look {
  const char *root;
  int ranks;
  int64_t at_least;
};

static void look_after(void *arg) {
  struct look *l = arg;
  int64_t found = job_that_goes_on(l->root, l->ranks, 0);
  cr_assert_geq(found, l->at_least, "step %lld was committed and is not there",
                (long long)l->at_least);
  only_steps(l->root);
}

/* The waits are not timed by anything: where the kill falls is chance. */
static int64_t kill_one(struct endless *e, unsigned *seed) {
  pid_t job = crash_start(endless_job, e);
  usleep((useconds_t)rand_r(seed) % 150000);
  kill(job, SIGKILL);
  int status = crash_end(job);
  cr_assert(WIFSIGNALED(status), "the job ended by itself: %x", status);
  return atomic_load(&e->committed);
}

Test(jobs, killed_at_random_never_lose_a_step) {
  struct endless *e = crash_shared(sizeof(*e));
  int rounds = crash_rounds("CAIRN_CRASH_ROUNDS", 20);
  unsigned seed = (unsigned)getpid();
  char *root = crash_dir();
  printf("%d rounds, seed %u\n", rounds, seed);
  job_of_one_step(root, 2, 1);
  e->root = root;
  atomic_store(&e->committed, 1);
  for (int i = 0; i < rounds; i++) {
    struct look l = {root, 1 + i % 4, kill_one(e, &seed)};
    crash_must_exit_0(crash_child(look_after, &l), "the next job");
  }
  crash_dir_remove(root);
  crash_shared_free(e, sizeof(*e));
}

/* --- two jobs, one step --- */

struct rival {
  const char *root;
  int seed;
  pthread_barrier_t *start; /* of the ranks of both jobs */
  told_t told;
};

static void rival_rank(rank_env_t *env) {
  struct rival *r = env->arg;
  cairn_manager_t *m = job_open(env, r->root, NULL);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  state_fill(&s, r->seed);
  pthread_barrier_wait(r->start);
  if (cairn_manager_save(m, 100, s.tree, NULL, &err) == CAIRN_OK)
    cairn_manager_wait(m, -1, &err);
  if (env->rank == 0) {
    r->told.code = err.code;
    strcpy(r->told.message, err.message);
  }
  job_close(m);
  state_free(&s);
}

static void rival_job(void *arg) {
  ranks_run(2, rival_rank, arg);
}

static pthread_barrier_t *shared_barrier(unsigned n) {
  pthread_barrier_t *b = crash_shared(sizeof(*b));
  pthread_barrierattr_t a;
  pthread_barrierattr_init(&a);
  pthread_barrierattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
  cr_assert_eq(pthread_barrier_init(b, &a, n), 0);
  return b;
}

static void expect_seed(rank_env_t *env) {
  struct rival *winner = env->arg;
  cairn_manager_t *m = job_open(env, winner->root, NULL);
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  cr_assert_eq(cairn_manager_restore(m, 100, s.tree, NULL, &err), CAIRN_OK,
               "%s", err.message);
  state_expect(&s, winner->seed);
  job_close(m);
  state_free(&s);
}

/* One round; returns the number of winners. */
static int race(const char *root) {
  struct rival *r = crash_shared(2 * sizeof(*r));
  pthread_barrier_t *start = shared_barrier(4);
  pid_t jobs[2];
  int won = 0;
  for (int i = 0; i < 2; i++) {
    r[i] = (struct rival){.root = root, .seed = 1000 + i, .start = start};
    jobs[i] = crash_start(rival_job, &r[i]);
  }
  for (int i = 0; i < 2; i++) crash_must_exit_0(crash_end(jobs[i]), "rival");
  for (int i = 0; i < 2; i++) {
    if (r[i].told.code == CAIRN_OK) {
      won++;
      ranks_run(3, expect_seed, &r[i]);
    } else {
      cr_assert(r[i].told.code == CAIRN_BUSY || r[i].told.code == CAIRN_EXISTS,
                "%s", r[i].told.message);
    }
  }
  crash_shared_free(start, sizeof(*start));
  crash_shared_free(r, 2 * sizeof(*r));
  return won;
}

static void race_in_child(void *arg) {
  int won = race(arg);
  cr_assert_eq(won, 1, "%d jobs saved step 100", won);
  only_steps(arg);
}

Test(jobs, that_save_one_step_at_once_have_one_winner) {
  for (int i = 0; i < 10; i++) {
    char *root = crash_dir();
    crash_must_exit_0(crash_child(race_in_child, root), "race");
    crash_dir_remove(root);
  }
}

/* --- what was there before --- */

static void put_file(const char *root, const char *name) {
  char *path = cairn__printf("%s/%s", root, name);
  char *slash = strrchr(path, '/');
  *slash = 0;
  cr_assert_eq(cairn__fs_mkdirs(path, NULL, NULL, NULL), CAIRN_OK);
  *slash = '/';
  FILE *f = fopen(path, "w");
  cr_assert_not_null(f);
  fputs("junk", f);
  fclose(f);
  free(path);
}

struct found {
  const char *end;
  int n;
};

static bool count_one(void *arg, const char *rel, const struct stat *st) {
  struct found *f = arg;
  size_t n = strlen(rel), m = strlen(f->end);
  (void)st;
  f->n += n >= m && strcmp(rel + n - m, f->end) == 0;
  return true;
}

static int count_files(const char *root, const char *end) {
  struct found f = {end, 0};
  cr_assert_eq(cairn__fs_walk(root, count_one, &f, NULL), CAIRN_OK);
  return f.n;
}

/* Of whom nobody knows whether he lives: passed over in listings, out of the
 * way, and kept. */
Test(jobs, stale_temporaries_of_others_are_neither_steps_nor_removed) {
  char *root = crash_dir();
  put_file(root, "30000.orbax-checkpoint-tmp/default/junk");
  put_file(root, "30000.orbax-checkpoint-tmp-0/junk");
  put_file(root, "30000.orbax-checkpoint-tmp-1700000000000000/junk");
  job_of_one_step(root, 2, 30000);
  cr_assert_eq(job_that_restores(root, 3), 30000);
  cr_assert_eq(count_files(root, "/junk"), 3);
  cr_assert_eq(count_files(root, "30000/default/junk"), 0);
  crash_dir_remove(root);
}

/* --- taken away from under a save --- */

struct theft {
  char *root, *away;
  shim_rule_t rule;
  bool removes; /* rm -rf, not mv */
  bool done;
  told_t told[RANKS];
  pthread_barrier_t all;
};

/* All ranks wait up to 30 s for the directory to show, as a network's may; so
 * it is stolen when all have seen it: each makes its own in it, but perhaps the
 * one whose call is kept here. */
static bool others_have_seen(const struct theft *t) {
  int n = 0, kept = rank_of_path(t->rule.hit->path);
  for (int r = 0; r < RANKS; r++) {
    struct stat st;
    char *own = cairn__printf(
        "%s/2.orbax-checkpoint-tmp/default/ocdbt.process_%d", t->root, r);
    n += r == kept || stat(own, &st) == 0;
    free(own);
  }
  return n == RANKS;
}

static void steal(void *arg) {
  struct theft *t = arg;
  while (!others_have_seen(t)) usleep(200);
  char *tmp = cairn__printf("%s/2.orbax-checkpoint-tmp", t->root);
  struct stat st;
  t->done = stat(tmp, &st) == 0;
  if (t->done && t->removes)
    cairn__fs_rmtree(tmp, NULL); /* what is written meanwhile may stay */
  else if (t->done)
    cr_assert_eq(syscall(SYS_renameat2, AT_FDCWD, tmp, AT_FDCWD, t->away, 0),
                 0);
  free(tmp);
}

static void robbed_rank(rank_env_t *env) {
  struct theft *t = env->arg;
  cairn_manager_t *m = job_open(env, t->root, NULL);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  job_save_well(m, &s, 1);
  pthread_barrier_wait(&t->all);
  if (env->rank == 0) shim_arm(&t->rule);
  pthread_barrier_wait(&t->all);
  job_save(m, &s, 2, &t->told[env->rank]);
  pthread_barrier_wait(&t->all);
  if (env->rank == 0) shim_disarm();
  pthread_barrier_wait(&t->all);
  bool failed = t->told[env->rank].code != CAIRN_OK;
  cr_assert_eq(failed, t->done, "call %ld: \"%s\"", t->rule.at,
               t->told[env->rank].message);
  cr_assert_str_eq(t->told[env->rank].message, t->told[0].message);
  cr_assert_eq(job_restore(m, &s), failed ? 1 : 2);
  if (failed) job_save_well(m, &s, 2);
  job_close(m);
  state_free(&s);
}

static void one_theft(void *arg) {
  struct theft *t = arg;
  pthread_barrier_init(&t->all, NULL, RANKS);
  ranks_run(RANKS, robbed_rank, t);
  only_steps(t->root);
}

static void steal_once(const char *part, int n, bool removes, shim_hit_t *hit) {
  struct theft t = {.root = crash_dir(), .removes = removes};
  t.away = cairn__printf("%s-away", t.root);
  t.rule = (shim_rule_t){.root = t.root,
                         .part = part,
                         .at = n,
                         .how = SHIM_CALL,
                         .call = steal,
                         .arg = &t,
                         .hit = hit};
  char what[128];
  snprintf(what, sizeof(what), "stolen at call %d of %s", n, part);
  crash_must_exit_0(crash_child(one_theft, &t), what);
  cairn__fs_rmtree(t.away, NULL);
  free(t.away);
  crash_dir_remove(t.root);
}

/* What processes write, then what the primary does alone. */
static void steal_at_every_call(bool removes) {
  static const char *const parts[] = {"tmp/default/ocdbt.process_",
                                      "tmp/default/manifest", "_METADATA",
                                      "tmp/commit_success", "tmp/cairn.json"};
  shim_hit_t *hit = crash_shared(sizeof(*hit));
  for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
    int n = 0;
    do steal_once(parts[i], ++n, removes, hit);
    while (hit->fired);
    cr_assert_gt(n, 2, "no call of %s", parts[i]);
  }
  crash_shared_free(hit, sizeof(*hit));
}

Test(jobs, whose_directory_is_moved_away_fail_cleanly) {
  steal_at_every_call(false);
}

Test(jobs, whose_directory_is_removed_fail_cleanly) {
  steal_at_every_call(true);
}
