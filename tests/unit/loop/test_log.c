/* The log's level, its sink, and that calls of the sink do not overlap. */
#include <string.h>

#include "help.h"

struct sink {
  char text[4096];
  int calls, inside;
  bool overlap;
  cairn_log_level_t level;
};

static void take(void *arg, cairn_log_level_t level, const char *text) {
  struct sink *s = arg;
  if (s->inside++ != 0) s->overlap = true;
  s->calls++;
  s->level = level;
  strncpy(s->text, text, sizeof s->text - 1);
  s->inside--;
}

static cairn_runtime_t *open_log(struct sink *s, cairn_log_level_t level) {
  cairn_runtime_opts_t o = {.log_level = level, .log = take, .log_arg = s};
  cairn_runtime_t *rt = NULL;
  cr_assert_eq(cairn_runtime_open(&o, &rt, NULL), CAIRN_OK);
  return rt;
}

Test(log, writes_what_the_level_lets_through) {
  struct sink s = {.calls = 0};
  cairn_runtime_t *rt = open_log(&s, CAIRN_LOG_INFO);
  cairn_log(rt, CAIRN_LOG_DEBUG, "no");
  cr_assert_eq(s.calls, 0);
  cairn_log(rt, CAIRN_LOG_INFO, "step %d", 7);
  cr_assert_eq(s.calls, 1);
  cr_assert_eq(s.level, CAIRN_LOG_INFO);
  cr_assert_str_eq(s.text, "step 7");
  cairn_log(rt, CAIRN_LOG_ERROR, "yes");
  cr_assert_eq(s.calls, 2);
  help_close(rt);
}

Test(log, default_level_is_warn) {
  struct sink s = {.calls = 0};
  cairn_runtime_t *rt = open_log(&s, CAIRN_LOG_DEFAULT);
  cairn_log(rt, CAIRN_LOG_INFO, "no");
  cairn_log(rt, CAIRN_LOG_WARN, "yes");
  cr_assert_eq(s.calls, 1);
  help_close(rt);
}

Test(log, silent_writes_nothing_and_without_a_sink_nothing_happens) {
  struct sink s = {.calls = 0};
  cairn_runtime_t *rt = open_log(&s, CAIRN_LOG_SILENT), *none;
  cairn_log(rt, CAIRN_LOG_ERROR, "no");
  cairn_log(rt, CAIRN_LOG_SILENT, "no");
  cr_assert_eq(s.calls, 0);
  help_close(rt);
  none = help_open(false);
  cairn_log(none, CAIRN_LOG_ERROR, "nowhere");
  help_close(none);
}

Test(log, long_text_is_cut_and_says_so) {
  struct sink s = {.calls = 0};
  cairn_runtime_t *rt = open_log(&s, CAIRN_LOG_WARN);
  cairn_log(rt, CAIRN_LOG_WARN, "%5000d", 1);
  cr_assert_eq(strlen(s.text), 2047);
  cr_assert_str_eq(s.text + 2044, "...");
  help_close(rt);
}

static void chatter(void *arg) {
  for (int i = 0; i < 1000; i++) cairn_log(arg, CAIRN_LOG_WARN, "%d", i);
}

Test(log, sink_is_called_by_one_thread_at_a_time) {
  struct sink s = {.calls = 0};
  cairn_runtime_t *rt = open_log(&s, CAIRN_LOG_WARN);
  uv_thread_t t[4];
  for (int i = 0; i < 4; i++) uv_thread_create(&t[i], chatter, rt);
  for (int i = 0; i < 4; i++) uv_thread_join(&t[i]);
  cr_assert_eq(s.calls, 4000);
  cr_assert_not(s.overlap);
  help_close(rt);
}

static cairn_runtime_t *talking_rt;

static void talk(void *arg, cairn_log_level_t level, const char *text) {
  (void)level, (void)text;
  ++*(int *)arg;
  cairn_log(talking_rt, CAIRN_LOG_ERROR, "from the sink");
}

Test(log, what_the_sink_logs_is_dropped) {
  int calls = 0;
  cairn_runtime_opts_t o = {.log = talk, .log_arg = &calls};
  cr_assert_eq(cairn_runtime_open(&o, &talking_rt, NULL), CAIRN_OK);
  cairn_log(talking_rt, CAIRN_LOG_WARN, "once");
  cairn_log(talking_rt, CAIRN_LOG_WARN, "twice");
  cr_assert_eq(calls, 2);
  help_close(talking_rt);
}
