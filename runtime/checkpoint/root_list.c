/* Steps of a root, each judged by its own files (look.c), and then by its
 * neighbours: releases of Orbax from 0.12.3 on write commit_success.txt last of
 * all, older ones never do, and where a rename does not commit (its COMMIT_FILE
 * mode) the file alone does. So a step without it, in a root where a step that
 * was committed before has it, was not committed. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/blocking.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/place.h"
#include "checkpoint/root.h"

struct root {
  cairn_kv_t *kv;
  cairn__listing_t listing;
  cairn_bytes_t *names;
  cairn__step_name_t *steps;
  size_t n;
};

static void root_close(struct root *r) {
  free(r->steps);
  free(r->names);
  cairn__listing_free(&r->listing);
  cairn__close_blocking(r->kv);
}

static cairn_code_t root_open(cairn_runtime_t *rt, const char *path,
                              struct root *r, cairn_error_t *err) {
  *r = (struct root){0};
  cairn_code_t rc = cairn__open_blocking(rt, path, &r->kv, err);
  if (rc != CAIRN_OK) return rc;
  rc = cairn__list_blocking(r->kv, "", false, &r->listing, err);
  if (rc == CAIRN_OK) r->names = cairn__listing_names(&r->listing);
  if (rc == CAIRN_OK &&
      (r->names == NULL ||
       !cairn__step_names(r->names, r->listing.n, &r->steps, &r->n)))
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "listing %s", path);
  if (rc != CAIRN_OK) root_close(r);
  return rc;
}

static cairn_code_t look_at(struct root *r, const cairn__step_name_t *step,
                            cairn__step_look_t *out, cairn_error_t *err) {
  char *prefix =
      cairn__printf("%.*s/", (int)step->dir.n, (const char *)step->dir.p);
  cairn_kv_t *view =
      prefix != NULL ? cairn_kv_prefix(r->kv, cairn_bytes_str(prefix)) : NULL;
  free(prefix);
  if (view == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "listing a step");
  cairn_code_t rc = cairn__look_blocking(view, out, err);
  cairn__close_blocking(view);
  return rc;
}

static const char not_marked[] =
    "no commit_success.txt, which steps committed before it have";

static bool marked_before(const cairn__step_look_t *look, int64_t commit_ns) {
  return look->state == CAIRN_STEP_COMPLETE && look->marked &&
         look->commit_ns != 0 && look->commit_ns < commit_ns;
}

/* --- the newest --- */

/* Whether one of the steps below r->steps[n] tells against it. */
static cairn_code_t is_unmarked(struct root *r, size_t n, int64_t commit_ns,
                                bool *unmarked, cairn_error_t *err) {
  *unmarked = false;
  for (size_t i = n; i-- > 0 && !*unmarked;) {
    cairn__step_look_t look;
    cairn_error_t local = {0};
    if (r->steps[i].temporary) continue;
    cairn_code_t rc = look_at(r, &r->steps[i], &look, &local);
    if (rc == CAIRN_NOT_FOUND) continue;
    if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
    *unmarked = marked_before(&look, commit_ns);
    cairn__step_look_free(&look);
  }
  return CAIRN_OK;
}

struct newest {
  char *dir, *why; /* of the one that is complete; what is wrong with a newer */
};

static cairn_code_t consider(struct root *r, size_t i, cairn__step_look_t *look,
                             struct newest *out, cairn_error_t *err) {
  bool complete = look->state == CAIRN_STEP_COMPLETE, unmarked = false;
  cairn_code_t rc = CAIRN_OK;
  if (complete && !look->marked)
    rc = is_unmarked(r, i, look->commit_ns, &unmarked, err);
  if (rc != CAIRN_OK) return rc;
  if (complete && !unmarked)
    out->dir = cairn__bytes_dup(r->steps[i].dir);
  else if (out->why == NULL)
    out->why =
        cairn__bytes_dup(cairn_bytes_str(unmarked ? not_marked : look->why));
  if (out->dir == NULL && out->why == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "finding the newest step");
  return CAIRN_OK;
}

static cairn_code_t find_newest(struct root *r, struct newest *out,
                                cairn_error_t *err) {
  for (size_t i = r->n; i-- > 0 && out->dir == NULL;) {
    cairn__step_look_t look;
    cairn_error_t local = {0};
    if (r->steps[i].temporary) continue;
    cairn_code_t rc = look_at(r, &r->steps[i], &look, &local);
    if (rc == CAIRN_NOT_FOUND) continue; /* deleted since, or empty */
    if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
    rc = consider(r, i, &look, out, err);
    cairn__step_look_free(&look);
    if (rc != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

cairn_code_t cairn__root_newest(cairn_runtime_t *rt, const char *path,
                                char **dir, cairn_error_t *err) {
  struct root r;
  struct newest found = {0};
  *dir = NULL;
  cairn_code_t rc = root_open(rt, path, &r, err);
  if (rc != CAIRN_OK) return rc;
  rc = find_newest(&r, &found, err);
  root_close(&r);
  if (rc == CAIRN_OK && found.dir == NULL)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "no complete step in %s%s%s%s", path,
                    found.why != NULL ? " (the newest: " : "",
                    found.why != NULL ? found.why : "",
                    found.why != NULL ? ")" : "");
  free(found.why);
  if (rc == CAIRN_OK)
    *dir = found.dir;
  else
    free(found.dir);
  return rc;
}

/* --- all of them --- */

/* An empty directory with a step's name is one that was never filled. */
static cairn_code_t look_or_empty(struct root *r,
                                  const cairn__step_name_t *step,
                                  cairn__step_look_t *look,
                                  cairn_error_t *err) {
  cairn_error_t local = {0};
  if (look_at(r, step, look, &local) != CAIRN_NOT_FOUND)
    return cairn_error_copy(err, &local);
  *look = (cairn__step_look_t){.state = CAIRN_STEP_BROKEN,
                               .why = cairn__printf("it is empty")};
  return look->why != NULL ? CAIRN_OK
                           : cairn_fail(err, CAIRN_NO_MEMORY, "listing a step");
}

static cairn_code_t describe(struct root *r, const cairn__step_name_t *step,
                             cairn_step_info_t *out, bool *marked,
                             cairn_error_t *err) {
  cairn__step_look_t look;
  cairn_code_t rc = look_or_empty(r, step, &look, err);
  if (rc != CAIRN_OK) return rc;
  *marked = look.marked;
  *out = (cairn_step_info_t){.step = step->step,
                             .state = look.state,
                             .dir = cairn__bytes_dup(step->dir),
                             .why = look.why,
                             .bytes = look.bytes,
                             .commit_ns = look.commit_ns,
                             .items = look.items,
                             .num_items = look.num_items};
  cairn__binding_free(&look.binding);
  if (step->temporary) {
    out->state = CAIRN_STEP_TEMPORARY;
    free(out->why);
    out->why = NULL;
  }
  return out->dir != NULL ? CAIRN_OK
                          : cairn_fail(err, CAIRN_NO_MEMORY, "listing a step");
}

/* What says by a file that it is a step or an item is no root, whatever its
 * directories are called; nor is what has only other things in it. */
static cairn_code_t check_root(const struct root *r, const char *path,
                               cairn_error_t *err) {
  switch (cairn__place_by_file(r->names, r->listing.n)) {
    case CAIRN__PLACE_STEP:
      return cairn_fail(err, CAIRN_INVALID, "%s is a step, no root", path);
    case CAIRN__PLACE_ITEM:
      return cairn_fail(err, CAIRN_INVALID, "%s is an item, no root", path);
    default:
      break;
  }
  if (r->n > 0 || cairn__place_is_empty_root(r->names, r->listing.n))
    return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID,
                    "%s is no root: it holds other things and no step", path);
}

static cairn_code_t compare_marks(cairn_step_info_t *v, const bool *marked,
                                  size_t n, cairn_error_t *err) {
  int64_t first = INT64_MAX; /* commit of the first step that is marked */
  for (size_t i = 0; i < n; i++)
    if (marked[i] && v[i].state == CAIRN_STEP_COMPLETE && v[i].commit_ns != 0 &&
        v[i].commit_ns < first)
      first = v[i].commit_ns;
  for (size_t i = 0; i < n; i++) {
    if (marked[i] || v[i].state != CAIRN_STEP_COMPLETE ||
        v[i].commit_ns <= first)
      continue;
    v[i].state = CAIRN_STEP_UNMARKED;
    v[i].why = cairn__bytes_dup(cairn_bytes_str(not_marked));
    if (v[i].why == NULL)
      return cairn_fail(err, CAIRN_NO_MEMORY, "listing a root");
  }
  return CAIRN_OK;
}

static cairn_code_t describe_all(struct root *r, cairn_step_info_t **out,
                                 cairn_error_t *err) {
  cairn_step_info_t *v = calloc(r->n + 1, sizeof(*v));
  bool *marked = calloc(r->n + 1, sizeof(*marked));
  cairn_code_t rc = CAIRN_OK;
  if (v == NULL || marked == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "listing a root");
  for (size_t i = 0; rc == CAIRN_OK && i < r->n; i++)
    rc = describe(r, &r->steps[i], &v[i], &marked[i], err);
  if (rc == CAIRN_OK) rc = compare_marks(v, marked, r->n, err);
  free(marked);
  if (rc == CAIRN_OK)
    *out = v;
  else
    cairn_root_list_free(v, v != NULL ? r->n : 0);
  return rc;
}

cairn_code_t cairn_root_list(cairn_runtime_t *rt, const char *root,
                             cairn_step_info_t **out, size_t *n,
                             cairn_error_t *err) {
  struct root r;
  *out = NULL;
  *n = 0;
  if (root == NULL || root[0] == 0)
    return cairn_fail(err, CAIRN_INVALID, "a path is needed");
  char *path = cairn__dir_absolute(root);
  if (path == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "listing a root");
  cairn_code_t rc = root_open(rt, path, &r, err);
  if (rc == CAIRN_OK) {
    rc = check_root(&r, path, err);
    if (rc == CAIRN_OK) rc = describe_all(&r, out, err);
    if (rc == CAIRN_OK) *n = r.n;
    root_close(&r);
  }
  free(path);
  return rc;
}

void cairn_root_list_free(cairn_step_info_t *steps, size_t n) {
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < steps[i].num_items; k++) free(steps[i].items[k]);
    free(steps[i].items);
    free(steps[i].dir);
    free(steps[i].why);
  }
  free(steps);
}
