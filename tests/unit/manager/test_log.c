/* What a job is told of its saves by its log sink. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "cairn/cairn.h"
#include "support/ranks.h"
#include "support/state.h"

typedef struct sink {
  char text[4096]; /* lines, each after its level */
  size_t n;
} sink_t;

/* One call at a time for one runtime. */
static void take(void *arg, cairn_log_level_t level, const char *text) {
  sink_t *s = arg;
  int n = snprintf(s->text + s->n, sizeof s->text - s->n, "%d %s\n", (int)level,
                   text);
  cr_assert(n > 0 && (size_t)n < sizeof s->text - s->n);
  s->n += (size_t)n;
}

/* Saves 1 to 4, every second one; 2 again; 6, of nothing. Keeps one. */
static void job(const char *dir, cairn_log_level_t level, sink_t *sink) {
  cairn_runtime_opts_t ro = {.log_level = level, .log = take, .log_arg = sink};
  cairn_manager_opts_t mo = {.save_interval_steps = 2, .max_to_keep = 1};
  cairn_manager_save_opts_t forced = {.force = true};
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
  cairn_tree_t *empty;
  state_t s;
  cairn_error_t err = {0};
  state_init(&s, 8, 4, 0, 1);
  cr_assert_eq(cairn_runtime_open(&ro, &rt, &err), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_open(rt, comm, dir, &mo, &m, &err), CAIRN_OK);
  cr_assert_eq(cairn_tree_new(&empty, &err), CAIRN_OK);
  for (int64_t step = 1; step <= 4; step++)
    cr_assert_eq(cairn_manager_save(m, step, s.tree, NULL, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_save(m, 2, s.tree, NULL, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_save(m, 6, empty, &forced, &err), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_wait(m, -1, NULL), CAIRN_OK);
  err = (cairn_error_t){0};
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_comm_close(comm, &err), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_OK);
  cairn_tree_free(empty);
  state_free(&s);
}

/* A line that is these three in a row. */
static void expect_line(const sink_t *s, const char *verb, const char *dir,
                        const char *rest) {
  char line[512];
  snprintf(line, sizeof line, "%s%s%s", verb, dir, rest);
  cr_expect_not_null(strstr(s->text, line), "no \"%s\" in:\n%s", line, s->text);
}

Test(log, saves_and_deletions_are_told_at_info) {
  static sink_t sink;
  char *dir = temp_dir();
  job(dir, CAIRN_LOG_INFO, &sink);
  expect_line(&sink, "3 saving ", dir, "/2: begun\n");
  expect_line(&sink, "3 saving ", dir, "/2: committed after ");
  expect_line(&sink, "3 deleted step 2 of ", dir, "\n");
  expect_line(&sink, "2 ", dir,
              ": step 2 is not saved: there is step 4 already\n");
  expect_line(&sink, "3 saving ", dir, "/6: failed: step 6: ");
  cr_expect_null(strstr(sink.text, "no multiple"), "%s", sink.text);
  temp_dir_remove(dir);
}

Test(log, what_the_policy_skips_is_told_when_debugging) {
  static sink_t sink;
  char *dir = temp_dir();
  job(dir, CAIRN_LOG_DEBUG, &sink);
  expect_line(&sink, "4 ", dir, ": step 1 is not saved: no multiple of 2\n");
  temp_dir_remove(dir);
}

Test(log, a_job_that_does_not_ask_hears_warnings_only) {
  static sink_t sink;
  char *dir = temp_dir();
  job(dir, CAIRN_LOG_WARN, &sink);
  cr_expect_eq(sink.text[0], '2');
  cr_expect_eq(strchr(sink.text, '\n'), sink.text + sink.n - 1, "%s",
               sink.text);
  temp_dir_remove(dir);
}
