#include "job.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/fs.h"

#define CHILD_SECONDS 120

/* --- places and processes --- */

char *crash_dir(void) {
  const char *base = getenv("CAIRN_CRASH_DIR");
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/cairn-crash-XXXXXX",
           base != NULL ? base : "/dev/shm");
  return mkdtemp(path) != NULL ? strdup(path) : temp_dir();
}

void crash_dir_remove(char *dir) {
  temp_dir_remove(dir);
}

void *crash_shared(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq(p, MAP_FAILED);
  return p;
}

void crash_shared_free(void *p, size_t bytes) {
  munmap(p, bytes);
}

pid_t crash_start(void (*fn)(void *arg), void *arg) {
  fflush(NULL);
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child > 0) return child;
  alarm(CHILD_SECONDS); /* a hang ends it */
  fn(arg);
  exit(0);
}

int crash_end(pid_t child) {
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  return status;
}

int crash_child(void (*fn)(void *arg), void *arg) {
  return crash_end(crash_start(fn, arg));
}

void crash_must_exit_0(int status, const char *what) {
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %x",
            what, status);
}

int crash_rounds(const char *name, int by_default) {
  const char *text = getenv(name);
  return text != NULL ? atoi(text) : by_default;
}

/* --- one rank --- */

cairn_manager_t *job_open(rank_env_t *env, const char *root,
                          const cairn_manager_opts_t *opts) {
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, root, opts, &m, &err),
               CAIRN_OK, "%s", err.message);
  return m;
}

void job_close(cairn_manager_t *m) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
}

void job_save(cairn_manager_t *m, state_t *s, int64_t step, told_t *told) {
  cairn_error_t err = {0};
  state_fill(s, (int)step);
  if (cairn_manager_save(m, step, s->tree, NULL, &err) == CAIRN_OK) {
    state_clear(s); /* the memory is ours again */
    cairn_manager_wait(m, -1, &err);
  }
  told->code = err.code;
  strcpy(told->message, err.message);
}

void job_save_well(cairn_manager_t *m, state_t *s, int64_t step) {
  told_t told;
  job_save(m, s, step, &told);
  cr_assert_eq(told.code, CAIRN_OK, "%s", told.message);
}

int64_t job_restore(cairn_manager_t *m, state_t *s) {
  cairn_error_t err = {0};
  int64_t step = -1;
  cairn_restore_opts_t o = {.step = &step};
  state_clear(s);
  cr_assert_eq(cairn_manager_restore(m, CAIRN_LATEST, s->tree, &o, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(step, cairn_manager_latest(m));
  state_expect(s, (int)step);
  return step;
}

/* --- whole jobs --- */

struct whole {
  const char *root;
  int64_t step;     /* to save at the end; -1: none */
  bool restores;    /* first */
  int64_t restored; /* rank 0's */
};

static void whole_rank(rank_env_t *env) {
  struct whole *w = env->arg;
  cairn_manager_t *m = job_open(env, w->root, NULL);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  int64_t restored = w->restores ? job_restore(m, &s) : -1;
  if (env->rank == 0) w->restored = restored;
  int64_t step = w->step > restored ? w->step : restored + 1;
  if (w->step >= 0) {
    job_save_well(m, &s, step);
    cr_assert_eq(job_restore(m, &s), step);
  }
  job_close(m);
  state_free(&s);
}

void job_of_one_step(const char *root, int ranks, int64_t step) {
  ranks_run(ranks, whole_rank, &(struct whole){.root = root, .step = step});
}

int64_t job_that_restores(const char *root, int ranks) {
  struct whole w = {.root = root, .step = -1, .restores = true};
  ranks_run(ranks, whole_rank, &w);
  return w.restored;
}

int64_t job_that_goes_on(const char *root, int ranks, int64_t step) {
  struct whole w = {.root = root, .step = step, .restores = true};
  ranks_run(ranks, whole_rank, &w);
  return w.restored;
}

/* --- the root --- */

void only_steps(const char *root) {
  DIR *d = opendir(root);
  cr_assert_not_null(d, "%s", root);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    cr_assert(strspn(e->d_name, e->d_name[0] == '.' ? "." : "0123456789") ==
                  strlen(e->d_name),
              "left over: %s", e->d_name);
  closedir(d);
}

static void step_path(const char *root, int64_t step, char out[512]) {
  snprintf(out, 512, "%s/%lld", root, (long long)step);
}

bool has_step(const char *root, int64_t step) {
  char path[512];
  struct stat st;
  step_path(root, step, path);
  return stat(path, &st) == 0;
}

void remove_step(const char *root, int64_t step) {
  char path[512];
  step_path(root, step, path);
  cr_assert_eq(cairn__fs_rmtree(path, NULL), CAIRN_OK);
}

int rank_of_path(const char *path) {
  const char *at = strstr(path, "process_");
  return at != NULL ? atoi(at + strlen("process_")) : 0;
}
