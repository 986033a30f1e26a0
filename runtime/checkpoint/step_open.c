/* Opening a step: what is at the path (place.h), the listing of it, and who
 * handles each item.
 *
 * Who: the type that cairn.json names; else the handler string of
 * _CHECKPOINT_METADATA; else the first handler that recognises the item's
 * directory, since strings are missing from old steps, differ between
 * generations of Orbax, and may be a user's. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/blocking.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/place.h"
#include "checkpoint/registry.h"
#include "checkpoint/root.h"
#include "checkpoint/step.h"

/* --- where --- */

struct where {
  char *path; /* of the step */
  char *item; /* NULL: all of them */
};

static void where_free(struct where *w) {
  free(w->path);
  free(w->item);
}

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "opening a step");
}

/* Lists a directory and lets fn judge its names. */
static cairn_code_t entries(cairn_runtime_t *rt, const char *path,
                            cairn__listing_t *out, cairn_bytes_t **names,
                            cairn_error_t *err) {
  cairn_kv_t *kv;
  *names = NULL;
  *out = (cairn__listing_t){0};
  cairn_code_t rc = cairn__open_blocking(rt, path, &kv, err);
  if (rc != CAIRN_OK) return rc;
  rc = cairn__list_blocking(kv, "", false, out, err);
  cairn__close_blocking(kv);
  if (rc != CAIRN_OK) return rc;
  *names = cairn__listing_names(out);
  if (*names != NULL) return CAIRN_OK;
  cairn__listing_free(out);
  return no_memory(err);
}

static cairn_code_t newest(cairn_runtime_t *rt, const char *root,
                           struct where *w, cairn_error_t *err) {
  char *dir = NULL;
  cairn_code_t rc = cairn__root_newest(rt, root, &dir, err);
  if (rc != CAIRN_OK) return rc;
  w->path = cairn__dir_join(root, dir);
  free(dir);
  return w->path != NULL ? CAIRN_OK : no_memory(err);
}

/* An item's directory: below a step, or a bare one. What is above may not be
 * readable; then it is a bare one. */
static cairn_code_t item_or_bare(cairn_runtime_t *rt, const char *path,
                                 struct where *w, cairn_error_t *err) {
  size_t parent_n, base, base_n, slash;
  cairn__listing_t listing;
  cairn_bytes_t *names = NULL;
  bool inside = false;
  char *above = NULL, *item = NULL;
  if (cairn__place_split(path, &parent_n, &base, &base_n)) {
    above = cairn__bytes_dup(cairn_bytes(path, parent_n));
    item = cairn__bytes_dup(cairn_bytes(path + base, base_n));
    if (above == NULL || item == NULL) goto fail;
    slash = cairn__path_base(cairn_bytes_str(above));
    if (entries(rt, above, &listing, &names, NULL) == CAIRN_OK) {
      inside = cairn__place_above(above + slash, item, names, listing.n);
      cairn__listing_free(&listing);
      free(names);
    }
  }
  if (inside) {
    *w = (struct where){above, item};
    return CAIRN_OK;
  }
  w->path = cairn__bytes_dup(cairn_bytes_str(path));
  if (w->path == NULL) goto fail;
  free(above);
  free(item);
  return CAIRN_OK;
fail:
  free(above);
  free(item);
  return no_memory(err);
}

static cairn_code_t no_place(const char *path, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NOT_FOUND,
                    "%s is neither a root, a step nor an item", path);
}

static cairn_code_t find(cairn_runtime_t *rt, const char *path, struct where *w,
                         cairn_error_t *err) {
  cairn__listing_t listing;
  cairn_bytes_t *names;
  cairn_code_t rc = entries(rt, path, &listing, &names, err);
  if (rc != CAIRN_OK) return rc;
  cairn__place_t place = cairn__place_of(names, listing.n);
  cairn__listing_free(&listing);
  free(names);
  switch (place) {
    case CAIRN__PLACE_ROOT:
      return newest(rt, path, w, err);
    case CAIRN__PLACE_ITEM:
      return item_or_bare(rt, path, w, err);
    case CAIRN__PLACE_STEP:
      w->path = cairn__bytes_dup(cairn_bytes_str(path));
      return w->path != NULL ? CAIRN_OK : no_memory(err);
    default:
      return no_place(path, err);
  }
}

/* --- what the step says of its items --- */

static const char *said_type(const cairn_step_t *step, const char *item) {
  for (size_t i = 0; i < step->binding.num_items; i++)
    if (strcmp(step->binding.items[i].name, item) == 0)
      return step->binding.items[i].type;
  return NULL;
}

static const char *said_typestr(const cairn__checkpoint_metadata_t *m,
                                const char *item) {
  for (size_t i = 0; i < m->n; i++)
    if (strcmp(m->items[i].item, item) == 0) return m->items[i].typestr;
  return NULL;
}

static cairn_code_t recognise(cairn_step_t *step, cairn__step_item_t *item,
                              cairn_error_t *err) {
  cairn__listing_t listing;
  cairn_code_t rc =
      cairn__list_blocking(step->kv, item->prefix, false, &listing, err);
  if (rc != CAIRN_OK) return rc;
  cairn_bytes_t *names = cairn__listing_names(&listing);
  if (names != NULL)
    item->ops = cairn__handler_recognise(step->rt, names, listing.n);
  else
    rc = no_memory(err);
  free(names);
  cairn__listing_free(&listing);
  return rc;
}

static cairn_code_t item_open(cairn_step_t *step, const char *name,
                              const cairn__checkpoint_metadata_t *m,
                              cairn_error_t *err) {
  cairn__step_item_t *item = &step->items[step->n++];
  const char *type = said_type(step, name), *typestr = said_typestr(m, name);
  const char *said = typestr != NULL ? typestr : type;
  item->name = cairn__bytes_dup(cairn_bytes_str(name));
  item->prefix = cairn__printf("%s%s", name, name[0] != 0 ? "/" : "");
  if (said != NULL) item->typestr = cairn__bytes_dup(cairn_bytes_str(said));
  if (item->name == NULL || item->prefix == NULL ||
      (said != NULL && item->typestr == NULL))
    return no_memory(err);
  if (type != NULL) item->ops = cairn_handler_find(step->rt, type);
  if (item->ops == NULL && typestr != NULL)
    item->ops = cairn_handler_for(step->rt, cairn_bytes_str(typestr));
  return item->ops == NULL ? recognise(step, item, err) : CAIRN_OK;
}

static cairn_code_t items_open(cairn_step_t *step, const char *only,
                               cairn_error_t *err) {
  cairn_value_t text = {0};
  cairn__checkpoint_metadata_t m = {0};
  cairn_code_t rc =
      cairn__read_blocking(step->kv, "_CHECKPOINT_METADATA", &text, err);
  if (rc != CAIRN_OK) return rc;
  /* Unreadable or absent: as if it said nothing (and verify says so). */
  if (text.found &&
      cairn__checkpoint_metadata_parse(text.data, &m, NULL) != CAIRN_OK)
    m = (cairn__checkpoint_metadata_t){0};
  cairn_value_reset(&text);
  step->items = calloc(step->look.num_items + 1, sizeof(*step->items));
  if (step->items == NULL) rc = no_memory(err);
  for (size_t i = 0; rc == CAIRN_OK && i < step->look.num_items; i++)
    if (only == NULL || strcmp(only, step->look.items[i]) == 0)
      rc = item_open(step, step->look.items[i], &m, err);
  cairn__checkpoint_metadata_free(&m);
  if (rc == CAIRN_OK && only != NULL && step->n == 0)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "%s/%s is no item", step->path, only);
  return rc;
}

/* --- opening --- */

/* One that is damaged makes the step broken; the look says so. */
static void take_binding(cairn_step_t *step) {
  step->binding = step->look.binding;
  step->look.binding = (cairn__binding_t){0};
  step->bound = step->binding.save_id[0] != 0;
}

static cairn_code_t judge(const cairn_step_t *step, cairn_error_t *err) {
  if (step->temporary)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "%s is temporary: being written, or left by a save that "
                      "was killed",
                      step->path);
  if (step->look.state != CAIRN_STEP_COMPLETE)
    return cairn_fail(err, CAIRN_CORRUPT, "%s is %s: %s", step->path,
                      step->look.state == CAIRN_STEP_BROKEN
                          ? "incomplete"
                          : "not marked complete",
                      step->look.why);
  return CAIRN_OK;
}

static void fill_info(cairn_step_t *step) {
  const cairn__step_look_t *look = &step->look;
  size_t base = cairn__path_base(cairn_bytes_str(step->path));
  step->info = (cairn_step_info_t){
      .step = step->number,
      .state = step->temporary ? CAIRN_STEP_TEMPORARY : look->state,
      .dir = step->path + base,
      .why = step->temporary ? NULL : look->why,
      .bytes = look->bytes,
      .commit_ns = look->commit_ns,
      .items = look->items,
      .num_items = look->num_items};
}

static cairn_code_t open_at(cairn_step_t *step, const char *only, bool as_is,
                            cairn_error_t *err) {
  size_t base = cairn__path_base(cairn_bytes_str(step->path));
  cairn_bytes_t name = cairn_bytes_str(step->path + base);
  step->number = cairn__step_of_name(name);
  step->temporary = cairn__name_is_temporary(name);
  step->part = only != NULL;
  cairn_code_t rc = cairn__open_blocking(step->rt, step->path, &step->kv, err);
  if (rc == CAIRN_OK) rc = cairn__look_blocking(step->kv, &step->look, err);
  if (rc == CAIRN_OK && !step->look.is_step && !step->temporary)
    rc = no_place(step->path, err);
  if (rc == CAIRN_OK && !as_is) rc = judge(step, err);
  if (rc == CAIRN_OK) take_binding(step);
  if (rc == CAIRN_OK) rc = items_open(step, only, err);
  if (rc == CAIRN_OK && step->number < 0 && step->bound)
    step->number = step->binding.step;
  if (rc == CAIRN_OK) fill_info(step);
  return rc;
}

static cairn_code_t step_open(cairn_runtime_t *rt, const char *path, bool as_is,
                              cairn_step_t **out, cairn_error_t *err) {
  struct where w = {0};
  cairn_code_t rc = find(rt, path, &w, err);
  if (rc != CAIRN_OK) return rc;
  cairn_step_t *step = calloc(1, sizeof(*step));
  if (step == NULL) {
    where_free(&w);
    return no_memory(err);
  }
  cairn_runtime_hold(rt, "step");
  step->rt = rt;
  step->path = w.path;
  rc = open_at(step, w.item, as_is, err);
  free(w.item);
  if (rc != CAIRN_OK)
    cairn_step_close(step);
  else
    *out = step;
  return rc;
}

static cairn_code_t open_path(cairn_runtime_t *rt, const char *path, bool as_is,
                              cairn_step_t **out, cairn_error_t *err) {
  *out = NULL;
  if (rt == NULL || path == NULL || path[0] == 0)
    return cairn_fail(err, CAIRN_INVALID, "a runtime and a path are needed");
  cairn_code_t rc = cairn_handlers_builtin(rt, err);
  if (rc != CAIRN_OK) return rc;
  char *absolute = cairn__dir_absolute(path);
  if (absolute == NULL) return no_memory(err);
  size_t n = strlen(absolute);
  while (n > 1 && absolute[n - 1] == '/' && absolute[n - 2] != '/')
    absolute[--n] = 0;
  rc = step_open(rt, absolute, as_is, out, err);
  free(absolute);
  return rc;
}

cairn_code_t cairn_step_open(cairn_runtime_t *rt, const char *path,
                             cairn_step_t **out, cairn_error_t *err) {
  return open_path(rt, path, false, out, err);
}

cairn_code_t cairn_step_open_as_is(cairn_runtime_t *rt, const char *path,
                                   cairn_step_t **out, cairn_error_t *err) {
  return open_path(rt, path, true, out, err);
}

void cairn_step_close(cairn_step_t *step) {
  if (step == NULL) return;
  for (size_t i = 0; i < step->n; i++) {
    cairn__step_item_t *item = &step->items[i];
    cairn_item_info_free(&item->info);
    free(item->name);
    free(item->prefix);
    free(item->typestr);
  }
  free(step->items);
  cairn__binding_free(&step->binding);
  cairn__step_look_free(&step->look);
  cairn__close_blocking(step->kv);
  cairn_runtime_drop(step->rt, "step");
  free(step->path);
  free(step);
}

int64_t cairn_step_number(const cairn_step_t *step) {
  return step->number;
}

const char *cairn_step_path(const cairn_step_t *step) {
  return step->path;
}

const cairn_step_info_t *cairn_step_info(const cairn_step_t *step) {
  return &step->info;
}

size_t cairn_step_num_items(const cairn_step_t *step) {
  return step->n;
}

const char *cairn_step_item(const cairn_step_t *step, size_t i) {
  return i < step->n ? step->items[i].name : NULL;
}
