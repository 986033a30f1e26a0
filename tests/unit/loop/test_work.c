/* Jobs on the pools: outcome, threads, signals, draining at close. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "help.h"

static cairn_code_t fail_with_text(void *job, cairn_error_t *err) {
  (void)job;
  return cairn_fail(err, CAIRN_CORRUPT, "chunk 3");
}

static cairn_code_t fail_without_text(void *job, cairn_error_t *err) {
  (void)job, (void)err;
  return CAIRN_NO_SPACE;
}

Test(work, outcome_of_the_job_is_the_futures) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t err = {0}, bare = {0};
  cr_assert_eq(cairn_future_finish(cairn_work(rt, fail_with_text, NULL), &err),
               CAIRN_CORRUPT);
  cr_assert_str_eq(err.message, "chunk 3");
  cr_assert_eq(
      cairn_future_finish(cairn_work_io(rt, fail_without_text, NULL), &bare),
      CAIRN_NO_SPACE);
  cr_assert_str_eq(bare.message, "no space");
  help_close(rt);
}

/* Two jobs that each need the other to be running. */
struct pair {
  struct help_flag here, there;
};

static cairn_code_t meet_a(void *job, cairn_error_t *err) {
  struct pair *p = job;
  (void)err;
  help_flag_raise(&p->here);
  help_flag_await(&p->there);
  return CAIRN_OK;
}

static cairn_code_t meet_b(void *job, cairn_error_t *err) {
  struct pair *p = job;
  (void)err;
  help_flag_raise(&p->there);
  help_flag_await(&p->here);
  return CAIRN_OK;
}

Test(work, two_threads_run_two_jobs_at_once) {
  cairn_runtime_t *rt = help_open(false);
  for (int i = 0; i < 200; i++) {
    struct pair p;
    cairn_future_t *a, *b;
    help_flag_init(&p.here);
    help_flag_init(&p.there);
    a = cairn_work(rt, meet_a, &p);
    b = cairn_work(rt, meet_b, &p);
    cr_assert_eq(cairn_future_finish(a, NULL), CAIRN_OK);
    cr_assert_eq(cairn_future_finish(b, NULL), CAIRN_OK);
  }
  help_close(rt);
}

static cairn_code_t count(void *job, cairn_error_t *err) {
  (void)err;
  atomic_fetch_add((atomic_int *)job, 1);
  return CAIRN_OK;
}

Test(work, closing_runs_what_is_queued) {
  for (int poll = 0; poll < 2; poll++) {
    cairn_runtime_t *rt = help_open(poll != 0);
    atomic_int n = 0;
    for (int i = 0; i < 500; i++) {
      cairn_future_unref(cairn_work(rt, count, &n));
      cairn_future_unref(cairn_work_io(rt, count, &n));
    }
    help_close(rt);
    cr_assert_eq(atomic_load(&n), 1000);
  }
}

/* A chain of jobs started by continuations, cut by nothing but its own end. */
struct chain {
  cairn_runtime_t *rt;
  cairn_wait_t wait;
  atomic_int n;
};

static void on_job(cairn_wait_t *w) {
  struct chain *c = cairn_container_of(w, struct chain, wait);
  cairn_wait_result(w, NULL);
  if (atomic_load(&c->n) < 100)
    cairn_then(cairn_work(c->rt, count, &c->n), &c->wait, on_job);
}

static cairn_future_t *start_chain(void *arg) {
  struct chain *c = arg;
  cairn_then(cairn_work_io(c->rt, count, &c->n), &c->wait, on_job);
  return NULL;
}

Test(work, closing_waits_for_jobs_that_continuations_start) {
  struct chain c = {.rt = help_open(false)};
  help_call(c.rt, start_chain, &c, NULL);
  help_close(c.rt);
  cr_assert_eq(atomic_load(&c.n), 100);
}

/* -- Threads --------------------------------------------------------------- */

static bool thread_named(const char *name) {
  DIR *d = opendir("/proc/self/task");
  struct dirent *e;
  bool found = false;
  while ((e = readdir(d)) != NULL) {
    char path[300], comm[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
    FILE *f = fopen(path, "r");
    if (f == NULL) continue;
    if (fgets(comm, sizeof comm, f) != NULL) comm[strcspn(comm, "\n")] = 0;
    fclose(f);
    found |= strcmp(comm, name) == 0;
  }
  closedir(d);
  return found;
}

Test(work, threads_are_named_and_start_when_needed) {
  cairn_runtime_t *rt = help_open(false);
  atomic_int n = 0;
  cr_assert(thread_named("cairn-loop"));
  cr_assert_not(thread_named("cairn-cpu-0"));
  cairn_future_finish(cairn_work(rt, count, &n), NULL);
  cr_assert(thread_named("cairn-cpu-0"));
  cr_assert_not(thread_named("cairn-io-0"));
  cairn_future_finish(cairn_work_io(rt, count, &n), NULL);
  cr_assert(thread_named("cairn-io-0"));
  help_close(rt);
  cr_assert_not(thread_named("cairn-loop"));
  cr_assert_not(thread_named("cairn-cpu-0"));
}

static bool all_blocked(void) {
  static const int some[] = {SIGUSR1, SIGUSR2, SIGTERM, SIGINT,  SIGHUP,
                             SIGALRM, SIGCHLD, SIGPIPE, SIGPROF, SIGCONT};
  sigset_t set;
  bool all = true;
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
    all &= sigismember(&set, some[i]) == 1;
  return all && sigismember(&set, SIGRTMIN) == 1;
}

static cairn_code_t look_at_mask(void *job, cairn_error_t *err) {
  (void)err;
  *(bool *)job = all_blocked();
  return CAIRN_OK;
}

static cairn_future_t *look_on_loop(void *arg) {
  *(bool *)arg = all_blocked();
  return NULL;
}

Test(work, signals_are_blocked_in_all_threads_and_not_in_ours) {
  cairn_runtime_t *rt = help_open(false);
  bool cpu = false, io = false, loop = false;
  cairn_future_finish(cairn_work(rt, look_at_mask, &cpu), NULL);
  cairn_future_finish(cairn_work_io(rt, look_at_mask, &io), NULL);
  help_call(rt, look_on_loop, &loop, NULL);
  cr_assert(cpu);
  cr_assert(io);
  cr_assert(loop);
  cr_assert_not(all_blocked());
  help_close(rt);
}

static atomic_int handled;

static void on_signal(int sig) {
  (void)sig;
  atomic_fetch_add(&handled, 1);
}

Test(work, handler_of_the_application_does_not_run_on_our_threads) {
  cairn_runtime_t *rt = help_open(false);
  sigset_t usr1, pending;
  atomic_int n = 0;
  cairn_future_finish(cairn_work(rt, count, &n), NULL);
  cairn_future_finish(cairn_work_io(rt, count, &n), NULL);
  signal(SIGUSR1, on_signal);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  kill(getpid(), SIGUSR1); /* nobody takes it: it stays with the process */
  sigpending(&pending);
  cr_assert_eq(sigismember(&pending, SIGUSR1), 1);
  cr_assert_eq(atomic_load(&handled), 0);
  pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
  cr_assert_eq(atomic_load(&handled), 1);
  help_close(rt);
}
