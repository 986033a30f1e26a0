/* Opening and closing: options, environment, what is open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "help.h"

static cairn_code_t try_open(const cairn_runtime_opts_t *o,
                             cairn_error_t *err) {
  cairn_runtime_t *rt = NULL;
  cairn_code_t rc = cairn_runtime_open(o, &rt, err);
  if (rc == CAIRN_OK) help_close(rt);
  return rc;
}

Test(runtime, null_options_give_the_defaults) {
  cairn_runtime_t *rt;
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn__memory_budget(rt), (int64_t)256 << 20);
  cr_assert_geq(cairn__cpu_threads(rt), 1);
  help_close(rt);
  cr_assert_eq(cairn_runtime_close(NULL, NULL), CAIRN_OK);
}

Test(runtime, options_of_a_newer_version_are_read_as_far_as_known) {
  struct {
    cairn_runtime_opts_t o;
    char future[64];
  } big = {.o = {.size = sizeof big, .memory_budget = 7}};
  cairn_runtime_t *rt;
  memset(big.future, 0xff, sizeof big.future);
  cr_assert_eq(cairn_runtime_open(&big.o, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn__memory_budget(rt), 7);
  help_close(rt);
}

Test(runtime, sizes_that_no_version_had_are_refused) {
  cairn_runtime_opts_t small = {.size = 7};
  cairn_error_t err = {0};
  cairn_runtime_t *rt;
  cr_assert_eq(cairn_runtime_open(&small, &rt, &err), CAIRN_INVALID);
  cr_assert_not_null(strstr(err.message, "open runtime: size 7: "), "%s",
                     err.message);
  small.size = offsetof(cairn_runtime_opts_t, log_arg);
  cr_assert_eq(cairn_runtime_open(&small, &rt, NULL), CAIRN_INVALID);
}

Test(runtime, options_out_of_range_are_invalid) {
  cairn_runtime_opts_t bad[] = {{.cpu_threads = -1},
                                {.io_threads = -1},
                                {.io_threads = 100000},
                                {.memory_budget = -1},
                                {.log_level = (cairn_log_level_t)99}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    cr_assert_eq(try_open(&bad[i], NULL), CAIRN_INVALID, "case %zu", i);
}

Test(runtime, environment_overrides_the_options) {
  cairn_runtime_opts_t o = {.cpu_threads = 3, .memory_budget = 7};
  cairn_runtime_t *rt;
  setenv("CAIRN_CPU_THREADS", "5", 1);
  setenv("CAIRN_MEMORY_BUDGET", "1048576", 1);
  setenv("CAIRN_LOG", "debug", 1);
  cr_assert_eq(cairn_runtime_open(&o, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn__cpu_threads(rt), 5);
  cr_assert_eq(cairn__memory_budget(rt), 1048576);
  help_close(rt);
}

Test(runtime, bad_environment_is_invalid_and_named) {
  static const char *const bad[][2] = {
      {"CAIRN_CPU_THREADS", "many"}, {"CAIRN_CPU_THREADS", ""},
      {"CAIRN_IO_THREADS", "-2"},    {"CAIRN_IO_THREADS", "99999"},
      {"CAIRN_MEMORY_BUDGET", "1k"}, {"CAIRN_MEMORY_BUDGET", " 1"},
      {"CAIRN_LOG", "loud"},         {"CAIRN_LOG", "WARN"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    cairn_error_t err = {0};
    setenv(bad[i][0], bad[i][1], 1);
    cr_assert_eq(try_open(NULL, &err), CAIRN_INVALID, "case %zu", i);
    cr_assert_not_null(strstr(err.message, bad[i][0]), "%s", err.message);
    unsetenv(bad[i][0]);
  }
}

Test(runtime, every_level_name_is_accepted) {
  static const char *const names[] = {"error", "warn", "info", "debug",
                                      "silent"};
  for (size_t i = 0; i < 5; i++) {
    setenv("CAIRN_LOG", names[i], 1);
    cr_assert_eq(try_open(NULL, NULL), CAIRN_OK, "%s", names[i]);
  }
}

Test(runtime, close_while_something_is_open_is_busy_and_says_what) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t err = {0};
  cairn_runtime_hold(rt, "manager");
  cairn_runtime_hold(rt, "kv store");
  cairn_runtime_hold(rt, "kv store");
  cairn_runtime_hold(rt, "communicator");
  cairn_runtime_drop(rt, "communicator");
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_BUSY);
  cr_assert_str_eq(err.message,
                   "close runtime: still open: 1 manager, 2 kv store");
  cairn_runtime_drop(rt, "kv store");
  cairn_runtime_drop(rt, "manager");
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_BUSY);
  cairn_runtime_drop(rt, "kv store");
  help_close(rt);
}

Test(runtime, holds_of_more_names_than_the_table_has_still_count) {
  static char names[40][16];
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t err = {0};
  for (int i = 0; i < 40; i++) {
    snprintf(names[i], sizeof names[i], "n%d", i);
    cairn_runtime_hold(rt, names[i]);
  }
  for (int i = 0; i < 39; i++) cairn_runtime_drop(rt, names[i]);
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_BUSY);
  cr_assert_str_eq(err.message, "close runtime: still open: 1 others");
  cairn_runtime_drop(rt, names[39]);
  help_close(rt);
}

static cairn_future_t *close_it(void *arg) {
  cr_assert_eq(cairn_runtime_close(arg, NULL), CAIRN_INVALID);
  return NULL;
}

Test(runtime, close_on_the_loop_thread_is_refused) {
  cairn_runtime_t *rt = help_open(false);
  help_call(rt, close_it, rt, NULL);
  help_close(rt);
}

static cairn_future_t *touch(void *arg) {
  ++*(int *)arg;
  return NULL;
}

Test(runtime, opens_and_closes_again_and_two_at_once) {
  int touched = 0;
  for (int i = 0; i < 20; i++) {
    cairn_runtime_t *a = help_open(i % 2 == 0), *b = help_open(false);
    help_call(a, touch, &touched, NULL);
    help_close(a);
    help_call(b, touch, &touched, NULL);
    help_close(b);
  }
  cr_assert_eq(touched, 40);
}

static cairn_code_t nothing(void *job, cairn_error_t *err) {
  (void)job, (void)err;
  return CAIRN_OK;
}

Test(runtime, child_of_a_fork_may_exit) {
  cairn_runtime_t *rt = help_open(false);
  int status;
  pid_t pid;
  cairn_future_finish(cairn_work(rt, nothing, NULL), NULL);
  pid = fork();
  if (pid == 0) _exit(7);
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  cr_assert_eq(cairn_future_finish(cairn_work(rt, nothing, NULL), NULL),
               CAIRN_OK);
  help_close(rt);
}

static cairn_future_t *never(void *arg) {
  return cairn_future_ref(arg);
}

Test(call, that_times_out_goes_on) {
  cairn_runtime_t *rt = help_open(false);
  cairn_future_t *f = cairn_future_new(rt);
  cr_assert_eq(cairn__call(rt, never, f, 1, NULL), CAIRN_TIMED_OUT);
  cairn_future_resolve(f, NULL);
  cr_assert_eq(cairn__call(rt, never, f, -1, NULL), CAIRN_OK);
  cairn_future_unref(f);
  help_close(rt);
}
