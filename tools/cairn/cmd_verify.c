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

/* --- before and after --- */

static void json_head(const cairn_step_t *step, const char *path) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "{\"cairn\": 1, \"path\": ");
  json_cstr(&b, path);
  if (cairn_step_number(step) >= 0)
    cairn_buf_printf(&b, ", \"step\": %" PRId64, cairn_step_number(step));
  else
    cairn_buf_put_str(&b, ", \"step\": null");
  cairn_buf_put_str(&b, ", \"damage\": [");
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

static void print_foot(const cairn_step_t *step, const cairn_verified_t *v) {
  cairn_buf_t b = {0};
  put_name(&b, cairn_bytes_str(cairn_step_path(step)));
  cairn_buf_printf(&b, ": %" PRId64 " files, ", v->files);
  put_size(&b, v->bytes);
  cairn_buf_printf(&b, ", %" PRId64 " chunks: ", v->chunks);
  if (v->damaged == 0)
    cairn_buf_put_str(&b, "no damage\n");
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
  cairn_code_t rc = cairn_step_verify(step, on_damage, &r, &v, &err);
  if (json)
    json_foot(&v);
  else if (rc == CAIRN_OK)
    print_foot(step, &v);
  cairn_step_close(step);
  if (rc != CAIRN_OK) return tool_failed(&err);
  return v.damaged != 0 ? EXIT_FOUND : EXIT_FINE;
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
        "not covered is said. --jobs N: threads that check, and that read.\n",
    .run = run,
};
  print_leaves(&r);
