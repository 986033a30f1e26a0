/* Renaming and removing whole prefixes. A prefix that ends in '/' is a
 * directory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "kv/kv_file.h"

/* --- rename --- */

struct rename_op {
  struct file_op op;
  char *from, *to; /* with the final '/', as the deferred paths need it */
};

/* Without the final '/'. */
static char *dir_name(const char *prefix) {
  return strndup(prefix, strlen(prefix) - 1);
}

static bool is_dir(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static cairn_code_t rename_dir(const char *from, const char *to, bool durable,
                               cairn_error_t *err) {
  cairn_error_t why = {0};
  cairn_code_t rc = cairn__fs_rename_dir(from, to, durable, &why);
  if (rc == CAIRN_NOT_FOUND && is_dir(from)) { /* nowhere to put it */
    rc = cairn__file_make_parents(to, err);
    if (rc == CAIRN_OK) rc = cairn__fs_rename_dir(from, to, durable, err);
  } else if (rc != CAIRN_OK) {
    cairn_error_copy(err, &why);
  }
  return rc;
}

/* Then settling the new name syncs it, and once is enough. */
static bool same_parent(const char *from, const char *to) {
  size_t n = cairn__file_dir_length(from, strlen(from));
  return n == cairn__file_dir_length(to, strlen(to)) &&
         memcmp(from, to, n) == 0;
}

static cairn_code_t do_rename(void *job, cairn_error_t *err) {
  struct rename_op *r = job;
  char *from = dir_name(r->from), *to = dir_name(r->to);
  cairn_code_t rc;
  if (from == NULL || to == NULL || !cairn__file_dirs_moved(from, to))
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
  else
    rc = rename_dir(from, to, r->op.kv->sync && !same_parent(from, to), err);
  if (rc == CAIRN_OK) {
    const char *path = to;
    cairn__file_dirs_moved(from, NULL);
    if (r->op.kv->sync) rc = cairn__file_settle(&path, 1, err);
  }
  free(from);
  free(to);
  return rc;
}

static bool rename_end(struct file_op *op, cairn_error_t *err) {
  struct rename_op *r = cairn_container_of(op, struct rename_op, op);
  cairn__file_defer_forget(op->kv, err->code == CAIRN_OK ? r->from : r->to);
  free(r->from);
  free(r->to);
  return false;
}

cairn_future_t *cairn__file_rename_prefix(cairn_runtime_t *rt, void *self,
                                          cairn_bytes_t from,
                                          cairn_bytes_t to) {
  struct file_kv *kv = self;
  cairn_future_t *refused;
  cairn_error_t err = {0};
  struct rename_op *r =
      cairn__file_op_new(rt, kv, sizeof *r, from, true, &refused);
  if (r == NULL) return refused;
  r->op.end = rename_end;
  if (cairn__file_check_key(kv, to, true, &err) == CAIRN_OK) {
    r->from = strdup(r->op.path);
    r->to = cairn__printf("%s%.*s", kv->root, (int)to.n, (const char *)to.p);
    if (r->from == NULL || r->to == NULL ||
        !cairn__file_defer_rename(kv, r->from, r->to))
      cairn_fail(&err, CAIRN_NO_MEMORY, "no memory to rename");
  }
  if (err.code == CAIRN_OK) return cairn__file_op_run(&r->op, do_rename);
  free(r->from);
  free(r->to);
  return cairn__file_op_fail(&r->op, &err);
}

/* --- remove --- */

/* "a/": the directory a, or a link to one; a file of that name is another key.
 */
static cairn_code_t remove_dir(const char *prefix, cairn_error_t *err) {
  struct stat st;
  char *dir = dir_name(prefix);
  if (dir == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
  cairn_code_t rc = CAIRN_OK;
  if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)) {
    rc = cairn__fs_rmtree(dir, err);
    cairn__file_dirs_moved(dir, NULL);
  }
  free(dir);
  return rc;
}

/* All in a directory whose name begins with the prefix's last part; the store's
 * own directory stays. */
static cairn_code_t remove_names(const char *prefix, size_t prefix_n,
                                 cairn_error_t *err) {
  size_t dir_n = cairn__path_base(cairn_bytes(prefix, prefix_n));
  struct file_names l;
  char *dir = strndup(prefix, dir_n);
  if (dir == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
  cairn_code_t rc = cairn__file_names_read(
      dir, cairn_bytes(prefix + dir_n, prefix_n - dir_n), true, true, &l, err);
  for (size_t i = 0; i < l.n; i++) {
    char *path = cairn__printf("%s%s", dir, l.v[i].name);
    cairn_code_t one = path != NULL
                           ? cairn__fs_rmtree(path, err)
                           : cairn_fail(err, CAIRN_NO_MEMORY, "no memory");
    if (path != NULL) cairn__file_dirs_moved(path, NULL);
    if (rc == CAIRN_OK) rc = one;
    free(path);
  }
  cairn__file_names_reset(&l);
  free(dir);
  return rc;
}

static cairn_code_t sync_above(const char *path, cairn_error_t *err) {
  cairn_error_t why = {0};
  cairn_code_t rc = cairn__file_settle(&path, 1, &why);
  return rc == CAIRN_NOT_FOUND ? CAIRN_OK : cairn_error_copy(err, &why);
}

static cairn_code_t do_remove(void *job, cairn_error_t *err) {
  struct file_op *op = job;
  bool whole = op->path_n > op->kv->root_n && op->path[op->path_n - 1] == '/';
  cairn_code_t rc = cairn__file_check_root(op->kv, err);
  if (rc != CAIRN_OK) return rc;
  rc = whole ? remove_dir(op->path, err)
             : remove_names(op->path, op->path_n, err);
  if (!op->kv->sync) return rc;
  cairn_code_t synced = CAIRN_OK;
  if (whole) {
    synced = sync_above(op->path, err);
  } else { /* the directory that the names were in */
    char *inside = cairn__printf("%sx", op->path);
    if (inside != NULL) synced = sync_above(inside, err);
    free(inside);
  }
  return rc != CAIRN_OK ? rc : synced;
}

static bool remove_end(struct file_op *op, cairn_error_t *err) {
  if (err->code == CAIRN_OK) cairn__file_defer_forget(op->kv, op->path);
  return false;
}

cairn_future_t *cairn__file_remove_prefix(cairn_runtime_t *rt, void *self,
                                          cairn_bytes_t prefix) {
  cairn_future_t *refused;
  struct file_op *op =
      cairn__file_op_new(rt, self, sizeof *op, prefix, true, &refused);
  if (op == NULL) return refused;
  op->end = remove_end;
  return cairn__file_op_run(op, do_remove);
}
