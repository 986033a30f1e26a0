/* Is this directory a whole step? One listing of all its files, two small
 * reads, and a judgement that is a pure function of them. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/map.h"
#include "checkpoint/layout.h"
#include "checkpoint/place.h"
#include "checkpoint/side_files.h"
#include "kv/kv.h"

struct item_seen { /* what an item's directory was seen to hold */
  char *name;
  bool tree_metadata, manifest, private_database;
  bool item_file, step_file; /* files that make it an item, or a step */
};

struct look {
  cairn_kv_t *kv;
  cairn__step_look_t *out;
  cairn_future_t *done;
  cairn_wait_t wait;
  cairn_error_t err;
  cairn__map_t files; /* name -> size + 1, as a pointer */
  bool no_memory, flat;
  struct item_seen *items;
  size_t num_items;
  cairn_value_t metadata, binding;
};

void cairn__step_look_free(cairn__step_look_t *look) {
  for (size_t i = 0; i < look->num_items; i++) free(look->items[i]);
  free(look->items);
  free(look->why);
  cairn__binding_free(&look->binding);
  *look = (cairn__step_look_t){0};
}

static void look_free(struct look *l) {
  cairn__map_reset(&l->files, NULL);
  for (size_t i = 0; i < l->num_items; i++) free(l->items[i].name);
  free(l->items);
  cairn_value_reset(&l->metadata);
  cairn_value_reset(&l->binding);
  free(l);
}

/* --- the listing --- */

static struct item_seen *item_of(struct look *l, cairn_bytes_t name) {
  for (size_t i = l->num_items; i-- > 0;)
    if (cairn__bytes_eq(cairn_bytes_str(l->items[i].name), name))
      return &l->items[i];
  struct item_seen *p =
      realloc(l->items, (l->num_items + 1) * sizeof(*l->items));
  if (p == NULL) return NULL;
  l->items = p;
  p[l->num_items] = (struct item_seen){.name = cairn__bytes_dup(name)};
  if (p[l->num_items].name == NULL) return NULL;
  return &p[l->num_items++];
}

static bool is(cairn_bytes_t b, const char *s) {
  return cairn__bytes_eq(b, cairn_bytes_str(s));
}

static void note_in_item(struct item_seen *item, cairn_bytes_t rest) {
  const uint8_t *slash = memchr(rest.p, '/', rest.n);
  cairn_bytes_t name = rest;
  if (slash != NULL) name.n = (size_t)(slash - rest.p) + 1; /* with the '/' */
  if (cairn__is_item_file(name)) item->item_file = true;
  if (cairn__is_step_file(name)) item->step_file = true;
  if (is(rest, "_METADATA")) item->tree_metadata = true;
  if (is(rest, "manifest.ocdbt")) item->manifest = true;
  if (cairn__bytes_starts(rest, cairn_bytes_str("ocdbt.process_")))
    item->private_database = true;
}

/* An item-less step has the files of its item next to its own. */
static bool is_flat_file(cairn_bytes_t name) {
  return is(name, "_METADATA") || is(name, "manifest.ocdbt") ||
         is(name, "metadata") || is(name, "data.json") || is(name, "metrics");
}

static bool on_file(void *arg, cairn_bytes_t key, int64_t size) {
  struct look *l = arg;
  void *value = (void *)(uintptr_t)((size < 0 ? 0 : size) + 1);
  if (size > 0) l->out->bytes += size;
  const uint8_t *slash = memchr(key.p, '/', key.n);
  if (!cairn__map_set(&l->files, key, value, NULL)) l->no_memory = true;
  if (slash == NULL) {
    if (is(key, "commit_success.txt")) l->out->marked = true;
    if (cairn__is_step_file(key)) l->out->is_step = true;
    if (is_flat_file(key)) l->flat = true;
    return true;
  }
  size_t n = (size_t)(slash - key.p);
  struct item_seen *item = item_of(l, cairn_bytes(key.p, n));
  if (item == NULL)
    l->no_memory = true;
  else
    note_in_item(item, cairn_bytes(slash + 1, key.n - n - 1));
  return true;
}

/* Without an item level the "items" seen were an item's own directories. */
static bool flatten(struct look *l) {
  struct item_seen flat = {.name = cairn__bytes_dup(cairn_bytes(NULL, 0)),
                           .item_file = true};
  if (flat.name == NULL) return false;
  flat.tree_metadata =
      cairn__map_get(&l->files, cairn_bytes_str("_METADATA")) != NULL;
  flat.manifest =
      cairn__map_get(&l->files, cairn_bytes_str("manifest.ocdbt")) != NULL;
  for (size_t i = 0; i < l->num_items; i++) {
    if (strncmp(l->items[i].name, "ocdbt.process_", 14) == 0)
      flat.private_database = true;
    free(l->items[i].name);
  }
  l->num_items = 0;
  struct item_seen *p = realloc(l->items, sizeof(flat));
  if (p == NULL) {
    free(flat.name);
    return false;
  }
  l->items = p;
  p[0] = flat;
  l->num_items = 1;
  return true;
}

/* --- the judgement --- */

static void judge(struct look *l, cairn_step_state_t state, char *why) {
  if (l->out->state != CAIRN_STEP_COMPLETE) {
    free(why);
    return;
  }
  l->out->state = state;
  l->out->why = why;
  if (why == NULL) l->no_memory = true;
}

static void judge_item(struct look *l, const struct item_seen *item) {
  const char *sep = item->name[0] != 0 ? ": " : "", *name = item->name;
  if (cairn__name_is_temporary(cairn_bytes_str(name)))
    judge(l, CAIRN_STEP_BROKEN,
          cairn__printf("item %s was never finished", name));
  if (item->private_database && !item->manifest)
    judge(l, CAIRN_STEP_BROKEN,
          cairn__printf("%s%sper-process data, not merged: no manifest.ocdbt",
                        name, sep));
  if ((item->private_database || item->manifest) && !item->tree_metadata)
    judge(l, CAIRN_STEP_BROKEN, cairn__printf("%s%sno _METADATA", name, sep));
}

static void judge_files(struct look *l, const cairn__binding_t *b) {
  for (size_t i = 0; i < b->num_files; i++) {
    const cairn__bound_file_t *f = &b->files[i];
    void *seen = cairn__map_get(&l->files, cairn_bytes_str(f->name));
    if (seen == NULL)
      judge(l, CAIRN_STEP_BROKEN, cairn__printf("%s is missing", f->name));
    else if ((uint64_t)(uintptr_t)seen - 1 != f->length)
      judge(l, CAIRN_STEP_BROKEN,
            cairn__printf("%s has %" PRIu64 " bytes, not %" PRIu64, f->name,
                          (uint64_t)(uintptr_t)seen - 1, f->length));
  }
}

static void judge_binding(struct look *l) {
  cairn_error_t err = {0};
  cairn__binding_t *b = &l->out->binding;
  if (!l->binding.found) return;
  l->out->bound = true;
  if (cairn__binding_parse(l->binding.data, b, &err) != CAIRN_OK) {
    judge(l, CAIRN_STEP_BROKEN,
          cairn__printf("%s: %s", CAIRN__BINDING_FILE, err.message));
    return;
  }
  judge_files(l, b);
}

/* Orbax carries on without this file, so a broken one breaks nothing. */
static void judge_mark(struct look *l) {
  cairn_error_t ignored = {0};
  cairn__checkpoint_metadata_t m = {0};
  if (!l->metadata.found || cairn__checkpoint_metadata_parse(
                                l->metadata.data, &m, &ignored) != CAIRN_OK)
    return;
  l->out->commit_ns = m.commit_ns;
  if (m.commit_ns == 0 && m.init_ns != 0 && !l->out->marked)
    judge(l, CAIRN_STEP_UNMARKED,
          cairn__printf("no commit time and no commit_success.txt"));
  cairn__checkpoint_metadata_free(&m);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool give_items(struct look *l) {
  cairn__step_look_t *out = l->out;
  out->items = calloc(l->num_items + 1, sizeof(char *));
  if (out->items == NULL) return false;
  for (size_t i = 0; i < l->num_items; i++) {
    out->items[out->num_items++] = l->items[i].name;
    l->items[i].name = NULL;
  }
  qsort(out->items, out->num_items, sizeof(char *), by_text);
  return true;
}

/* Old releases of Orbax left nothing of the step's own; its items tell then.
 * Some other directory that only has directories in it has none, nor has one
 * with whole steps below it. */
static bool is_step(const struct look *l) {
  bool found = l->out->is_step || l->out->marked;
  for (size_t i = 0; i < l->num_items && !found; i++)
    found = l->items[i].item_file && !l->items[i].step_file;
  return found;
}

static void judge_all(struct look *l) {
  if (l->flat && !flatten(l)) l->no_memory = true;
  l->out->is_step = is_step(l);
  if (l->num_items == 0)
    judge(l, CAIRN_STEP_BROKEN, cairn__printf("it holds no item"));
  else if (!l->out->is_step)
    judge(l, CAIRN_STEP_BROKEN,
          cairn__printf("it has no mark of Cairn or Orbax and no item of a "
                        "known kind"));
  for (size_t i = 0; i < l->num_items; i++) judge_item(l, &l->items[i]);
  judge_binding(l);
  judge_mark(l);
  if (!give_items(l)) l->no_memory = true;
}

/* --- the flow --- */

static void finish(struct look *l) {
  if (l->no_memory) cairn_fail(&l->err, CAIRN_NO_MEMORY, "listing a step");
  if (l->err.code != CAIRN_OK) cairn__step_look_free(l->out);
  cairn_error_t err = l->err;
  cairn_future_t *done = l->done;
  look_free(l);
  cairn_future_resolve(done, &err);
}

static void on_binding(cairn_wait_t *w) {
  struct look *l = cairn_container_of(w, struct look, wait);
  if (cairn_wait_result(w, &l->err) == CAIRN_OK) judge_all(l);
  finish(l);
}

static void on_metadata(cairn_wait_t *w) {
  struct look *l = cairn_container_of(w, struct look, wait);
  if (cairn_wait_result(w, &l->err) != CAIRN_OK) {
    finish(l);
    return;
  }
  cairn_then(cairn_kv_read(l->kv, cairn_bytes_str(CAIRN__BINDING_FILE),
                           CAIRN_WHOLE, &l->binding),
             &l->wait, on_binding);
}

static void on_listed(cairn_wait_t *w) {
  struct look *l = cairn_container_of(w, struct look, wait);
  if (cairn_wait_result(w, &l->err) == CAIRN_OK && l->files.n == 0) {
    char where[512];
    cairn_kv_describe(l->kv, cairn_bytes(NULL, 0), where, sizeof(where));
    cairn_fail(&l->err, CAIRN_NOT_FOUND, "%s: nothing is there", where);
  }
  if (l->err.code != CAIRN_OK) {
    finish(l);
    return;
  }
  cairn_then(cairn_kv_read(l->kv, cairn_bytes_str("_CHECKPOINT_METADATA"),
                           CAIRN_WHOLE, &l->metadata),
             &l->wait, on_metadata);
}

cairn_future_t *cairn__step_look(cairn_kv_t *kv, cairn__step_look_t *out) {
  cairn_runtime_t *rt = cairn_kv_runtime(kv);
  *out = (cairn__step_look_t){0};
  struct look *l = calloc(1, sizeof(*l));
  cairn_future_t *done;
  if (l == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "listing a step");
    return cairn_future_done(rt, &err);
  }
  if (!cairn__promise(rt, &done)) {
    free(l);
    return done;
  }
  l->kv = kv;
  l->out = out;
  l->done = done;
  cairn_then(cairn_kv_list(kv, cairn_bytes(NULL, 0), on_file, l), &l->wait,
             on_listed);
  return done;
}
