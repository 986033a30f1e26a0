#include "support/ranks.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/transport.h"
#include "io/fs.h"

struct thread {
  pthread_t id;
  rank_env_t env;
  rank_log_t log;
  void (*fn)(rank_env_t *env);
};

static void *run(void *arg) {
  struct thread *t = arg;
  t->fn(&t->env);
  return NULL;
}

static void keep_log(void *arg, cairn_log_level_t level, const char *text) {
  rank_log_t *log = arg;
  size_t n = strlen(log->text);
  fprintf(stderr, "[rank %d] %s\n", log->rank, text);
  if (level > CAIRN_LOG_WARN) return;
  log->warnings++;
  snprintf(log->text + n, sizeof log->text - n, "%s\n", text);
}

static void open_all(int n, struct thread *ts, const char *const *hosts,
                     void (*prepare)(cairn_runtime_t *rt, void *arg)) {
  cairn_runtime_t *rts[RANKS_MAX] = {0};
  cairn_comm_t *comms[RANKS_MAX];
  cairn_error_t err = {0};
  cr_assert(n <= RANKS_MAX);
  for (int i = 0; i < n; i++) {
    ts[i].env.rank = i;
    ts[i].env.size = n;
    ts[i].env.log = &ts[i].log;
    ts[i].log.rank = i;
    cairn_runtime_opts_t o = {
        .cpu_threads = 1, .log = keep_log, .log_arg = &ts[i].log};
    cr_assert_eq(cairn_runtime_open(&o, &rts[i], &err), CAIRN_OK, "%s",
                 err.message);
    if (prepare != NULL) prepare(rts[i], ts[i].env.arg);
  }
  cr_assert_eq(cairn__comm_local_open(rts, n, hosts, comms, &err), CAIRN_OK,
               "%s", err.message);
  for (int i = 0; i < n; i++) {
    ts[i].env.rt = rts[i];
    ts[i].env.comm = comms[i];
  }
}

static void close_all(int n, struct thread *ts) {
  cairn_error_t err = {0};
  for (int i = 0; i < n; i++)
    cr_assert_eq(cairn_comm_close(ts[i].env.comm, &err), CAIRN_OK, "%s",
                 err.message);
  for (int i = 0; i < n; i++)
    cr_assert_eq(cairn_runtime_close(ts[i].env.rt, &err), CAIRN_OK, "%s",
                 err.message);
}

void ranks_run_hosts(int n, const char *const *hosts,
                     void (*prepare)(cairn_runtime_t *rt, void *arg),
                     void (*fn)(rank_env_t *env), void *arg) {
  struct thread *ts = calloc((size_t)n, sizeof(*ts));
  cr_assert_not_null(ts);
  for (int i = 0; i < n; i++) {
    ts[i].env.arg = arg;
    ts[i].fn = fn;
  }
  open_all(n, ts, hosts, prepare);
  for (int i = 0; i < n; i++)
    cr_assert_eq(pthread_create(&ts[i].id, NULL, run, &ts[i]), 0);
  for (int i = 0; i < n; i++) pthread_join(ts[i].id, NULL);
  close_all(n, ts);
  free(ts);
}

void ranks_run_prepared(int n, void (*prepare)(cairn_runtime_t *rt, void *arg),
                        void (*fn)(rank_env_t *env), void *arg) {
  ranks_run_hosts(n, NULL, prepare, fn, arg);
}

void ranks_run(int n, void (*fn)(rank_env_t *env), void *arg) {
  ranks_run_prepared(n, NULL, fn, arg);
}

static char *make_dir(const char *base) {
  char path[256];
  snprintf(path, sizeof(path), "%s/cairn-test-XXXXXX", base);
  return mkdtemp(path) != NULL ? strdup(path) : NULL;
}

char *temp_dir(void) {
  const char *base = getenv("TMPDIR");
  char *dir = make_dir(base != NULL ? base : "/tmp");
  cr_assert_not_null(dir);
  return dir;
}

char *temp_dir_in_memory(void) {
  char *dir = make_dir("/dev/shm");
  return dir != NULL ? dir : temp_dir();
}

void temp_dir_remove(char *dir) {
  cairn__fs_rmtree(dir, NULL);
  free(dir);
}
