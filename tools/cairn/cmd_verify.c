/* cairn verify: reads and checks every byte of a step. */
#include <inttypes.h>
#include <stdio.h>

#include "out.h"
#include "tool.h"

#define SHOWN 20 /* leaves that follow from one damage */

struct report {
  bool json;
  bool any;
  cairn_buf_t leaves; /* that follow from the damage printed last */
  int64_t num_leaves;
};

static void put_part(cairn_buf_t *b, const char *what, const char *name) {
  if (name[0] == 0) return;
  if (b->n != 0) cairn_buf_put_str(b, ", ");
  cairn_buf_put_str(b, what);
  put_name(b, cairn_bytes_str(name));
}

/* --- what follows from a damage --- */

static void print_leaves(struct report *r) {
  cairn_buf_t b = {0};
  if (r->num_leaves > 0) {
    cairn_buf_put_str(&b, "  so these leaves cannot be read: ");
    cairn_buf_put(&b, r->leaves.p, r->leaves.n);
    if (r->num_leaves > SHOWN)
      cairn_buf_printf(&b, ", and %" PRId64 " more", r->num_leaves - SHOWN);
    cairn_buf_put_str(&b, "\n");
  }
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  cairn_buf_reset(&r->leaves);
  r->num_leaves = 0;
}

static void collect(struct report *r, const cairn_damage_t *d) {
  cairn_buf_t b = {0};
  if (d->leaf[0] != 0) {
    if (r->num_leaves++ >= SHOWN) return;
    if (r->num_leaves > 1) cairn_buf_put_str(&r->leaves, ", ");
    put_name(&r->leaves, cairn_bytes_str(d->leaf));
    return;
  }
  cairn_buf_put_str(&b, "  so the item cannot be read whole");
  if (d->item[0] != 0) cairn_buf_put_str(&b, ": ");
  put_name(&b, cairn_bytes_str(d->item));
  cairn_buf_put_str(&b, "\n");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

/* --- damage --- */

static void print_damage(struct report *r, const cairn_damage_t *d) {
  cairn_buf_t b = {0};
  if (d->follows) {
    collect(r, d);
    return;
  }
  print_leaves(r);
  put_part(&b, "", d->file);
  if (d->offset >= 0) cairn_buf_printf(&b, " at %" PRId64, d->offset);
  put_part(&b, "item ", d->item);
  put_part(&b, "leaf ", d->leaf);
  put_part(&b, "chunk ", d->chunk);
  if (b.n != 0) cairn_buf_put_str(&b, ": ");
  put_name(&b, cairn_bytes_str(d->text));
  cairn_buf_put_str(&b, "\n");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void json_member(cairn_buf_t *b, const char *key, const char *text) {
  cairn_buf_printf(b, "\"%s\": ", key);
  json_cstr(b, text);
  cairn_buf_put_str(b, ", ");
}

static void json_damage(struct report *r, const cairn_damage_t *d) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, r->any ? ",\n  {" : "\n  {");
  json_member(&b, "file", d->file);
  json_member(&b, "item", d->item);
  json_member(&b, "leaf", d->leaf);
  json_member(&b, "chunk", d->chunk);
  if (d->offset >= 0)
    cairn_buf_printf(&b, "\"offset\": %" PRId64 ", ", d->offset);
  else
    cairn_buf_put_str(&b, "\"offset\": null, ");
  json_member(&b, "code", cairn_code_text(d->code));
  if (d->follows) cairn_buf_put_str(&b, "\"follows\": true, ");
  cairn_buf_put_str(&b, "\"text\": ");
  json_cstr(&b, d->text);
  cairn_buf_put_str(&b, "}");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void on_damage(void *arg, const cairn_damage_t *d) {
  struct report *r = arg;
  if (r->json)
    json_damage(r, d);
  else
    print_damage(r, d);
  r->any = true;
}

/* --- steps that were passed over --- */

static const char *state_text(const cairn_step_info_t *s) {
  return s->state == CAIRN_STEP_BROKEN ? "broken" : "unmarked";
}

static void print_passed(const cairn_step_info_t *s, const char *instead) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "step ");
  put_name(&b, cairn_bytes_str(s->dir));
  cairn_buf_printf(&b, " is %s: ", state_text(s));
  put_name(&b, cairn_bytes_str(s->why));
  cairn_buf_put_str(&b, "; checked ");
  put_name(&b, cairn_bytes_str(instead));
  cairn_buf_put_str(&b, " instead\n");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void json_passed(const cairn_step_info_t *s, bool first) {
  cairn_buf_t b = {0};
  cairn_buf_printf(&b, "%s{\"step\": %" PRId64 ", \"state\": \"%s\", ",
                   first ? "\n  " : ",\n  ", s->step, state_text(s));
  json_member(&b, "dir", s->dir);
  cairn_buf_put_str(&b, "\"why\": ");
  json_cstr(&b, s->why);
  cairn_buf_put_str(&b, "}");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

/* If path is a root, its newest complete step is checked. Those above it that
 * are not complete are damage too, but for temporary ones. How many. */
static int64_t passed_over(cairn_runtime_t *rt, const char *path, bool json,
                           const cairn_step_t *step) {
  const char *dir = cairn_step_info(step)->dir;
  cairn_step_info_t *steps = NULL;
  size_t n = 0;
  int64_t passed = 0;
  bool above = false;
  if (cairn_root_list(rt, path, &steps, &n, NULL) != CAIRN_OK) return 0;
  for (size_t i = 0; i < n; i++) {
    const cairn_step_info_t *s = &steps[i];
    bool bad = s->state == CAIRN_STEP_BROKEN || s->state == CAIRN_STEP_UNMARKED;
    if (above && bad && json)
      json_passed(s, passed == 0);
    else if (above && bad)
      print_passed(s, dir);
    passed += above && bad;
    above = above || strcmp(s->dir, dir) == 0;
  }
  cairn_root_list_free(steps, n);
  return passed;
}

/* --- before and after --- */

static void json_head(const cairn_step_t *step, const char *path) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "{\"cairn\": 1, \"path\": ");
  json_cstr(&b, path);
  if (cairn_step_number(step) >= 0)
    cairn_buf_printf(&b, ", \"step\": %" PRId64, cairn_step_number(step));
  else
    cairn_buf_put_str(&b, ", \"step\": null");
  cairn_buf_put_str(&b, ", \"passed_over\": [");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void json_foot(const cairn_verified_t *v) {
  out_printf("], \"damaged\": %" PRId64 ", \"files\": %" PRId64
             ", \"bytes\": %" PRId64 ", \"chunks\": %" PRId64
             ", \"unknown_items\": %" PRId64 ", \"bound\": %s}\n",
             v->damaged, v->files, v->bytes, v->chunks, v->unknown_items,
             v->bound ? "true" : "false");
}

/* Files of the step's own say nothing of its items. */
static bool nothing_checked(const cairn_step_t *step,
                            const cairn_verified_t *v) {
  return !v->bound && v->unknown_items > 0 &&
         (size_t)v->unknown_items == cairn_step_num_items(step);
}

static void print_foot(const cairn_step_t *step, const cairn_verified_t *v) {
  bool nothing = nothing_checked(step, v);
  cairn_buf_t b = {0};
  put_name(&b, cairn_bytes_str(cairn_step_path(step)));
  cairn_buf_printf(&b, ": %" PRId64 " files, ", v->files);
  put_size(&b, v->bytes);
  cairn_buf_printf(&b, ", %" PRId64 " chunks: ", v->chunks);
  if (v->damaged == 0)
    cairn_buf_put_str(&b, nothing ? "nothing was checked\n"
                          : v->unknown_items > 0 && !v->bound
                              ? "no damage in what was checked\n"
                              : "no damage\n");
  else
    cairn_buf_printf(&b, "%" PRId64 " damaged\n", v->damaged);
  if (!v->bound)
    cairn_buf_put_str(
        &b,
        "not covered: there is no cairn.json that says which files belong to "
        "the step,\nso only what the format itself can tell was checked: "
        "indexes, codecs, JSON\n");
  if (v->unknown_items > 0)
    cairn_buf_printf(&b, "not covered: %" PRId64 " %s of no known kind%s\n",
                     v->unknown_items, v->unknown_items == 1 ? "item" : "items",
                     v->bound ? ", but for the sums of their files" : "");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static int verify(cairn_runtime_t *rt, const char *path, bool json) {
  struct report r = {.json = json};
  cairn_verified_t v;
  cairn_step_t *step;
  cairn_error_t err = {0};
  if (cairn_step_open_as_is(rt, path, &step, &err) != CAIRN_OK)
    return tool_failed(&err);
  if (json) json_head(step, path);
  int64_t passed = passed_over(rt, path, json, step);
  if (json) out_text("], \"damage\": [");
  cairn_code_t rc = cairn_step_verify(step, on_damage, &r, &v, &err);
  print_leaves(&r);
  if (json)
    json_foot(&v);
  else if (rc == CAIRN_OK)
    print_foot(step, &v);
  int status = passed != 0 || v.damaged != 0 ? EXIT_FOUND
               : nothing_checked(step, &v)   ? EXIT_UNSUPPORTED
                                             : EXIT_FINE;
  if (rc == CAIRN_OK && status == EXIT_UNSUPPORTED)
    tool_note("%s: no item is of a known kind: nothing was checked",
              cairn_step_path(step));
  cairn_step_close(step);
  return rc == CAIRN_OK ? status : tool_failed(&err);
}

static int run(int argc, char **argv) {
  enum { OPT_JOBS = OPT_FIRST_OWN };
  static const struct option opts[] = {
      OPTS_COMMON, {"jobs", required_argument, NULL, OPT_JOBS}, {0}};
  bool json = false;
  int status = EXIT_FINE, jobs = 0, o;
  while ((o = tool_option(&cmd_verify, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    if (o == OPT_JSON) json = true;
    if (o == OPT_JOBS && (jobs = tool_count(optarg)) == 0)
      return tool_usage(&cmd_verify, "--jobs wants a number from 1 to 4096");
  }
  if (argc - optind != 1) return tool_usage(&cmd_verify, "one PATH is needed");
  cairn_runtime_t *rt = tool_runtime(jobs, &status);
  if (rt == NULL) return status;
  status = verify(rt, argv[optind], json);
  cairn_runtime_close(rt, NULL);
  return status;
}

const command_t cmd_verify = {
    .name = "verify",
    .args = "[--jobs N] [--json] PATH",
    .summary = "reads and checks every byte",
    .help =
        "Lists damage by file, item, leaf, chunk and offset. With cairn.json\n"
        "the length and sum (XXH3) of every file are compared, and files that\n"
        "are missing or not part of the step are listed; without it (a step\n"
        "written by Orbax) what the format allows is checked, and what was\n"
        "not covered is said. Of a root, steps above the newest complete one\n"
        "that are broken or unmarked are listed, and are damage. --jobs N:\n"
        "threads that check, and that read.\n",
    .run = run,
};
