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

/* --- the newest --- */

static void keep_why(char **why, char **newest_why) {
  if (*newest_why != NULL) return;
  *newest_why = *why;
  *why = NULL;
}

static cairn_code_t find_newest(struct root *r, char **dir, char **why,
                                cairn_error_t *err) {
  for (size_t i = r->n; i-- > 0 && *dir == NULL;) {
    cairn__step_look_t look;
    cairn_error_t local = {0};
    if (r->steps[i].temporary) continue;
    cairn_code_t rc = look_at(r, &r->steps[i], &look, &local);
    if (rc == CAIRN_NOT_FOUND) continue; /* deleted since, or empty */
    if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
    bool complete = look.state == CAIRN_STEP_COMPLETE;
    if (complete) *dir = cairn__bytes_dup(r->steps[i].dir);
    keep_why(&look.why, why);
    cairn__step_look_free(&look);
    if (complete && *dir == NULL)
      return cairn_fail(err, CAIRN_NO_MEMORY, "finding the newest step");
  }
  return CAIRN_OK;
}

cairn_code_t cairn__root_newest(cairn_runtime_t *rt, const char *path,
                                char **dir, cairn_error_t *err) {
  struct root r;
  char *why = NULL;
  *dir = NULL;
  cairn_code_t rc = root_open(rt, path, &r, err);
  if (rc != CAIRN_OK) return rc;
  rc = find_newest(&r, dir, &why, err);
  root_close(&r);
  if (rc == CAIRN_OK && *dir == NULL)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "no complete step in %s%s%s%s", path,
                    why != NULL ? " (the newest: " : "", why != NULL ? why : "",
                    why != NULL ? ")" : "");
  free(why);
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
                             cairn_step_info_t *out, cairn_error_t *err) {
  cairn__step_look_t look;
  cairn_code_t rc = look_or_empty(r, step, &look, err);
  if (rc != CAIRN_OK) return rc;
  *out = (cairn_step_info_t){.step = step->step,
                             .state = look.state,
                             .dir = cairn__bytes_dup(step->dir),
                             .why = look.why,
                             .bytes = look.bytes,
                             .commit_ns = look.commit_ns,
                             .items = look.items,
                             .num_items = look.num_items};
  if (step->temporary) {
    out->state = CAIRN_STEP_TEMPORARY;
    free(out->why);
    out->why = NULL;
  }
  return out->dir != NULL ? CAIRN_OK
                          : cairn_fail(err, CAIRN_NO_MEMORY, "listing a step");
}

/* What says by a file that it is a step or an item is no root, whatever its
 * directories are called. */
static cairn_code_t check_root(const struct root *r, const char *path,
                               cairn_error_t *err) {
  switch (cairn__place_by_file(r->names, r->listing.n)) {
    case CAIRN__PLACE_STEP:
      return cairn_fail(err, CAIRN_INVALID, "%s is a step, no root", path);
    case CAIRN__PLACE_ITEM:
      return cairn_fail(err, CAIRN_INVALID, "%s is an item, no root", path);
    default:
      return CAIRN_OK;
  }
}

static cairn_code_t describe_all(struct root *r, cairn_step_info_t **out,
                                 cairn_error_t *err) {
  cairn_step_info_t *v = calloc(r->n + 1, sizeof(*v));
  if (v == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "listing a root");
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; rc == CAIRN_OK && i < r->n; i++)
    rc = describe(r, &r->steps[i], &v[i], err);
  if (rc != CAIRN_OK) {
    cairn_root_list_free(v, r->n);
    return rc;
  }
  *out = v;
  return CAIRN_OK;
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
