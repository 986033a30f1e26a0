#include "checkpoint/blocking.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "loop/loop.h"

/* The arguments of one call; each start function uses its part. */
struct request {
  cairn_runtime_t *rt;
  cairn_kv_t *kv;
  const char *text;
  cairn__listing_t *listing;
  void *out;
};

/* --- listings --- */

void cairn__listing_free(cairn__listing_t *l) {
  for (size_t i = 0; i < l->n; i++) free(l->v[i].name);
  free(l->v);
  *l = (cairn__listing_t){0};
}

cairn_bytes_t *cairn__listing_names(const cairn__listing_t *l) {
  cairn_bytes_t *names = calloc(l->n + 1, sizeof(*names));
  for (size_t i = 0; names != NULL && i < l->n; i++)
    names[i] = cairn_bytes_str(l->v[i].name);
  return names;
}

static int by_name(const void *a, const void *b) {
  const cairn__listed_t *x = a, *y = b;
  return strcmp(x->name, y->name);
}

const cairn__listed_t *cairn__listing_find(const cairn__listing_t *l,
                                           const char *name) {
  cairn__listed_t key = {.name = (char *)name};
  return l->n == 0 ? NULL : bsearch(&key, l->v, l->n, sizeof(*l->v), by_name);
}

static bool listing_add(cairn__listing_t *l, cairn_bytes_t key, int64_t size) {
  if (l->n == l->cap) {
    size_t more = l->cap == 0 ? 64 : l->cap * 2;
    cairn__listed_t *p = realloc(l->v, more * sizeof(*p));
    if (p == NULL) return false;
    l->v = p;
    l->cap = more;
  }
  char *name = cairn__bytes_dup(key);
  if (name == NULL) return false;
  l->v[l->n++] = (cairn__listed_t){name, size};
  return true;
}

static bool on_key(void *arg, cairn_bytes_t key, int64_t size) {
  cairn__listing_t *l = arg;
  if (!listing_add(l, key, size)) l->no_memory = true;
  return !l->no_memory;
}

static cairn_future_t *start_list(void *arg) {
  struct request *r = arg;
  return cairn_kv_list(r->kv, cairn_bytes_str(r->text), on_key, r->listing);
}

static cairn_future_t *start_list_dir(void *arg) {
  struct request *r = arg;
  return cairn_kv_list_dir(r->kv, cairn_bytes_str(r->text), on_key, r->listing);
}

cairn_code_t cairn__list_blocking(cairn_kv_t *kv, const char *prefix, bool deep,
                                  cairn__listing_t *out, cairn_error_t *err) {
  struct request r = {.kv = kv, .text = prefix, .listing = out};
  *out = (cairn__listing_t){0};
  cairn_code_t rc = cairn__call(
      cairn_kv_runtime(kv), deep ? start_list : start_list_dir, &r, -1, err);
  if (rc == CAIRN_OK && out->no_memory)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "listing %s", prefix);
  if (rc != CAIRN_OK)
    cairn__listing_free(out);
  else if (out->n > 1)
    qsort(out->v, out->n, sizeof(*out->v), by_name);
  return rc;
}

/* --- stores --- */

static cairn_code_t check_directory(const char *path, cairn_error_t *err) {
  struct stat st;
  if (strstr(path, "://") != NULL) return CAIRN_OK;
  if (stat(path, &st) != 0)
    return cairn_fail_errno(err, errno == ENOTDIR ? ENOENT : errno, "%s", path);
  if (!S_ISDIR(st.st_mode))
    return cairn_fail(err, CAIRN_NOT_FOUND,
                      "%s is a file: neither a root, a step nor an item", path);
  return CAIRN_OK;
}

static cairn_future_t *start_open(void *arg) {
  struct request *r = arg;
  return cairn__open_directory(r->rt, NULL, r->text, false, r->out);
}

cairn_code_t cairn__open_blocking(cairn_runtime_t *rt, const char *path,
                                  cairn_kv_t **out, cairn_error_t *err) {
  struct request r = {.rt = rt, .text = path, .out = out};
  *out = NULL;
  cairn_code_t rc = check_directory(path, err);
  return rc == CAIRN_OK ? cairn__call(rt, start_open, &r, -1, err) : rc;
}

static cairn_future_t *start_close(void *arg) {
  return cairn_kv_close(arg);
}

/* What was only read has nothing to lose by a close that fails. */
void cairn__close_blocking(cairn_kv_t *kv) {
  if (kv != NULL) cairn__call(cairn_kv_runtime(kv), start_close, kv, -1, NULL);
}

static cairn_future_t *start_read(void *arg) {
  struct request *r = arg;
  return cairn_kv_read(r->kv, cairn_bytes_str(r->text), CAIRN_WHOLE, r->out);
}

cairn_code_t cairn__read_blocking(cairn_kv_t *kv, const char *key,
                                  cairn_value_t *out, cairn_error_t *err) {
  struct request r = {.kv = kv, .text = key, .out = out};
  *out = (cairn_value_t){0};
  return cairn__call(cairn_kv_runtime(kv), start_read, &r, -1, err);
}

static cairn_future_t *start_look(void *arg) {
  struct request *r = arg;
  return cairn__step_look(r->kv, r->out);
}

cairn_code_t cairn__look_blocking(cairn_kv_t *kv, cairn__step_look_t *out,
                                  cairn_error_t *err) {
  struct request r = {.kv = kv, .out = out};
  *out = (cairn__step_look_t){0};
  return cairn__call(cairn_kv_runtime(kv), start_look, &r, -1, err);
}
