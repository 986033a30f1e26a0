/* The parts of a step that say what they are without cairn.json: every OCDBT
 * database (each process's own, and the merged one), and small JSON files. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/verify.h"
#include "loop/loop.h"
#include "ocdbt/ocdbt.h"

static const char manifest[] = "manifest.ocdbt";
static const char step_metadata[] = "_CHECKPOINT_METADATA";

/* --- databases --- */

struct database {
  cairn_kv_t *base, *reader;
};

static cairn_future_t *start_open(void *arg) {
  struct database *d = arg;
  return cairn__ocdbt_open(d->base, &d->reader);
}

static cairn_future_t *start_check(void *arg) {
  struct database *d = arg;
  return cairn__ocdbt_check(d->reader);
}

static void add_database(cairn__verify_t *v, const char *prefix,
                         const cairn_error_t *what) {
  cairn__damage_cause_t cause;
  bool ok = cairn__damage_cause(&v->listing, prefix, what->message, &cause);
  if (ok && cause.file == NULL) {
    cause.file = cairn__printf("%s%s", prefix, manifest);
    ok = cause.file != NULL;
  }
  if (ok) {
    cairn__found_damage_t d = {.file = cause.file,
                               .text = (char *)cause.text,
                               .offset = cause.offset,
                               .code = what->code,
                               .index = true};
    d.item = cairn__verify_item_of(v, cause.file);
    cairn__verify_add(v, &d);
  } else {
    v->no_memory = true;
  }
  free(cause.file);
}

static cairn_code_t check_database(cairn__verify_t *v, const char *prefix,
                                   cairn_error_t *err) {
  struct database d = {0};
  cairn_error_t what = {0};
  cairn_runtime_t *rt = v->step->rt;
  d.base = cairn_kv_prefix(v->step->kv, cairn_bytes_str(prefix));
  if (d.base == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "%s", prefix);
  cairn_code_t rc = cairn__call(rt, start_open, &d, -1, &what);
  if (rc == CAIRN_OK) rc = cairn__call(rt, start_check, &d, -1, &what);
  cairn__close_blocking(d.reader);
  cairn__close_blocking(d.base);
  if (rc == CAIRN_OK) return CAIRN_OK;
  if (!cairn__is_damage(rc)) return cairn_error_copy(err, &what);
  add_database(v, prefix, &what);
  return CAIRN_OK;
}

cairn_code_t cairn__verify_indexes(cairn__verify_t *v, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; rc == CAIRN_OK && i < v->listing.n; i++) {
    cairn_bytes_t name = cairn_bytes_str(v->listing.v[i].name);
    size_t base = cairn__path_base(name);
    if (strcmp(v->listing.v[i].name + base, manifest) != 0) continue;
    char *prefix = cairn__bytes_dup(cairn_bytes(name.p, base));
    if (prefix == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "verifying");
    rc = check_database(v, prefix, err);
    if (!v->step->bound) v->out.files++;
    free(prefix);
  }
  return rc;
}

/* --- JSON --- */

/* Files that are JSON by their place, and that no handler of ours needs. */
static bool is_json(const char *name) {
  const char *base = name + cairn__path_base(cairn_bytes_str(name));
  return strcmp(base, step_metadata) == 0 || strcmp(base, "_sharding") == 0 ||
         strcmp(base, "_ROOT_METADATA") == 0 ||
         (strncmp(base, "process_", 8) == 0 &&
          strstr(name, "array_metadatas/") != NULL);
}

/* The step's metadata says when it was committed and what its items are. That
 * is known without it if each item is of a kind that is recognised. */
static void add_json(cairn__verify_t *v, const char *name,
                     const cairn_error_t *what) {
  const cairn_step_t *step = v->step;
  cairn_error_t harmless = {0};
  bool needed = step->look.state != CAIRN_STEP_COMPLETE;
  for (size_t i = 0; i < step->n; i++)
    needed = needed || step->items[i].ops == NULL;
  if (strcmp(name, step_metadata) == 0 && !needed) {
    cairn_fail(&harmless, what->code, "%s; restores are not affected",
               what->message);
    what = &harmless;
  }
  cairn__verify_add_file(v, name, what);
}

static cairn_code_t check_json(cairn__verify_t *v, const char *name,
                               cairn_error_t *err) {
  cairn_value_t text;
  cairn_json_doc_t doc = {0};
  cairn_error_t what = {0};
  cairn_code_t rc = cairn__read_blocking(v->step->kv, name, &text, &what);
  if (rc == CAIRN_OK && !text.found)
    rc = cairn_fail(&what, CAIRN_NOT_FOUND, "it is missing");
  if (rc == CAIRN_OK) {
    v->out.files++;
    v->out.bytes += (int64_t)text.data.n;
    rc = cairn_json_parse(text.data, NULL, &doc, &what);
  }
  cairn_json_free(&doc);
  cairn_value_reset(&text);
  if (rc == CAIRN_OK) return CAIRN_OK;
  if (!cairn__is_damage(rc)) return cairn_error_copy(err, &what);
  add_json(v, name, &what);
  return CAIRN_OK;
}

cairn_code_t cairn__verify_json(cairn__verify_t *v, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; rc == CAIRN_OK && i < v->listing.n; i++)
    if (is_json(v->listing.v[i].name))
      rc = check_json(v, v->listing.v[i].name, err);
  return rc;
}
