/* cairn ls: the steps of a root, or one step. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "out.h"
#include "tool.h"

static const char *state_text(cairn_step_state_t s) {
  static const char *const texts[] = {"complete", "temporary", "unmarked",
                                      "broken"};
  return texts[s];
}

/* --- for people --- */

/* Local time with its offset from UTC: 2026-01-31T10:00:00+0100. */
static void put_time(cairn_buf_t *b, int64_t ns) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm tm;
  char text[40];
  if (ns == 0 || localtime_r(&seconds, &tm) == NULL ||
      strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &tm) == 0)
    cairn_buf_put_str(b, "-");
  else
    cairn_buf_put_str(b, text);
}

static void put_items(cairn_buf_t *b, const cairn_step_info_t *s) {
  for (size_t i = 0; i < s->num_items; i++) {
    if (i > 0) cairn_buf_put_str(b, ", ");
    put_name(b, cairn_bytes_str(s->items[i][0] != 0 ? s->items[i] : "-"));
  }
  if (s->why == NULL) return;
  cairn_buf_put_str(b, s->num_items > 0 ? "  (" : "(");
  put_name(b, cairn_bytes_str(s->why));
  cairn_buf_put_str(b, ")");
}

static void add_row(table_t *t, const cairn_step_info_t *s) {
  cairn_buf_t b = {0};
  put_name(&b, cairn_bytes_str(s->dir));
  table_cell(t, &b);
  table_text(t, state_text(s->state));
  put_size(&b, s->bytes);
  table_cell(t, &b);
  put_time(&b, s->commit_ns);
  table_cell(t, &b);
  put_items(&b, s);
  table_cell(t, &b);
}

static void print_people(const cairn_step_info_t *steps, size_t n) {
  static const char *const heads[] = {"STEP", "STATE", "SIZE", "COMMITTED",
                                      "ITEMS"};
  table_t t;
  if (n == 0) {
    out_text("no steps\n");
    return;
  }
  table_init(&t, "llrll", heads);
  for (size_t i = 0; i < n; i++) add_row(&t, &steps[i]);
  table_print(&t, "");
}

/* --- for programs --- */

static void put_json(cairn_buf_t *b, const cairn_step_info_t *s) {
  cairn_buf_put_str(b, "{\"step\": ");
  if (s->step >= 0)
    cairn_buf_printf(b, "%" PRId64, s->step);
  else
    cairn_buf_put_str(b, "null");
  cairn_buf_printf(b, ", \"state\": \"%s\", \"dir\": ", state_text(s->state));
  json_cstr(b, s->dir);
  cairn_buf_printf(b, ", \"bytes\": %" PRId64 ", \"commit_ns\": ", s->bytes);
  if (s->commit_ns != 0)
    cairn_buf_printf(b, "%" PRId64, s->commit_ns);
  else
    cairn_buf_put_str(b, "null");
  cairn_buf_put_str(b, ", \"items\": [");
  for (size_t i = 0; i < s->num_items; i++) {
    if (i > 0) cairn_buf_put_str(b, ", ");
    json_cstr(b, s->items[i]);
  }
  cairn_buf_put_str(b, "], \"why\": ");
  json_cstr(b, s->why);
  cairn_buf_put_str(b, "}");
}

static void print_json(const char *path, const cairn_step_info_t *steps,
                       size_t n) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "{\"cairn\": 1, \"path\": ");
  json_cstr(&b, path);
  cairn_buf_put_str(&b, ", \"steps\": [");
  for (size_t i = 0; i < n; i++) {
    cairn_buf_put_str(&b, i > 0 ? ",\n  " : "\n  ");
    put_json(&b, &steps[i]);
  }
  cairn_buf_put_str(&b, "]}\n");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

/* --- the command --- */

static void print(const char *path, bool json, const cairn_step_info_t *steps,
                  size_t n) {
  if (json)
    print_json(path, steps, n);
  else
    print_people(steps, n);
}

/* A path that is no root may be a step by itself. */
static int ls_step(cairn_runtime_t *rt, const char *path, bool json) {
  cairn_step_t *step;
  cairn_error_t err = {0};
  if (cairn_step_open_as_is(rt, path, &step, &err) != CAIRN_OK)
    return tool_failed(&err);
  print(path, json, cairn_step_info(step), 1);
  cairn_step_close(step);
  return EXIT_FINE;
}

static int ls(cairn_runtime_t *rt, const char *path, bool json) {
  cairn_step_info_t *steps;
  cairn_error_t err = {0};
  size_t n;
  cairn_code_t rc = cairn_root_list(rt, path, &steps, &n, &err);
  if (rc == CAIRN_INVALID) return ls_step(rt, path, json);
  if (rc != CAIRN_OK) return tool_failed(&err);
  print(path, json, steps, n);
  cairn_root_list_free(steps, n);
  return EXIT_FINE;
}

static int run(int argc, char **argv) {
  static const struct option opts[] = {OPTS_COMMON, {0}};
  bool json = false;
  int status = EXIT_FINE, o;
  while ((o = tool_option(&cmd_ls, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    json = true;
  }
  if (argc - optind != 1) return tool_usage(&cmd_ls, "one PATH is needed");
  cairn_runtime_t *rt = tool_runtime(0, &status);
  if (rt == NULL) return status;
  status = ls(rt, argv[optind], json);
  cairn_runtime_close(rt, NULL);
  return status;
}

const command_t cmd_ls = {
    .name = "ls",
    .args = "[--json] PATH",
    .summary = "lists the steps of a root",
    .help =
        "Lists steps with their state, size, commit time and items:\n"
        "  complete   whole, and marked so\n"
        "  temporary  being written, or left by a save that was killed\n"
        "  unmarked   has a final name but no mark that it was committed\n"
        "  broken     has a final name but lacks something it needs\n",
    .run = run,
};
