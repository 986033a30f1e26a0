/* Making directories and renaming them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/fs.h"

/* Length of the parent's name; 0 if it has none ("a", "/", "/a" is "/": see
 * parent_of). Slashes at the end and doubled ones do not count. */
static size_t parent_len(const char *path) {
  size_t n = strlen(path);
  while (n > 0 && path[n - 1] == '/') n--;
  while (n > 0 && path[n - 1] != '/') n--;
  while (n > 0 && path[n - 1] == '/') n--;
  return n;
}

/* -- mkdirs ---------------------------------------------------------------- */

struct making {
  void (*made)(void *arg, const char *dir);
  void *arg;
};

static bool is_dir(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* 0 or an errno. Whoever came first made it: a directory is what was wanted,
 * whatever mkdir says (some file systems check permissions before names). A
 * link to nothing is in the way and is not there. */
static int make_one(const char *dir, const struct making *m) {
  struct stat st;
  int saved;
  if (mkdir(dir, 0777) == 0) {
    if (m->made != NULL) m->made(m->arg, dir);
    return 0;
  }
  saved = errno;
  if (saved == EEXIST && stat(dir, &st) != 0) return errno;
  return saved != ENOENT && is_dir(dir) ? 0 : saved;
}

/* Up, cutting names off until one can be made; then down again, mending. */
static int make_all(char *path, const struct making *m) {
  size_t full = strlen(path), n;
  int rc;
  while ((rc = make_one(path, m)) == ENOENT && (n = parent_len(path)) > 0)
    path[n] = '\0';
  while (rc == 0 && (n = strlen(path)) < full) {
    path[n] = '/';
    rc = make_one(path, m);
  }
  return rc;
}

cairn_code_t cairn__fs_mkdirs(const char *path,
                              void (*made)(void *arg, const char *dir),
                              void *arg, cairn_error_t *err) {
  struct making m = {made, arg};
  char *copy = strdup(path);
  cairn_code_t code = CAIRN_OK;
  size_t n;
  int rc;
  if (copy == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "mkdir %s: out of memory", path);
  for (n = strlen(copy); n > 1 && copy[n - 1] == '/';) copy[--n] = '\0';
  rc = make_all(copy, &m);
  if (rc != 0) code = cairn_fail_errno(err, rc, "mkdir %s", copy);
  free(copy);
  return code;
}

/* -- rename ---------------------------------------------------------------- */

static char *parent_of(const char *path) {
  size_t n = parent_len(path);
  if (n > 0) return strndup(path, n);
  return strdup(path[0] == '/' ? "/" : ".");
}

static cairn_code_t sync_parents(const char *from, const char *to,
                                 cairn_error_t *err) {
  char *a = parent_of(from), *b = parent_of(to);
  cairn_code_t code = CAIRN_OK;
  if (a == NULL || b == NULL)
    code = cairn_fail(err, CAIRN_NO_MEMORY, "fsync parent of %s: out of memory",
                      to);
  /* The new name first: between the two syncs a crash may show both, never
   * none. */
  if (code == CAIRN_OK) code = cairn__fs_sync_dir(b, err);
  if (code == CAIRN_OK && strcmp(a, b) != 0) code = cairn__fs_sync_dir(a, err);
  free(a);
  free(b);
  return code;
}

static cairn_code_t rename_failed(int errnum, const char *from, const char *to,
                                  cairn_error_t *err) {
  struct stat st;
  if (errnum == EXDEV)
    return cairn_fail_errno(
        err, errnum, "rename %s -> %s: not on the same file system", from, to);
  /* rename says "not a directory" of a file at the target. */
  if (errnum == ENOTDIR && lstat(to, &st) == 0 && !S_ISDIR(st.st_mode))
    errnum = EEXIST;
  return cairn_fail_errno(err, errnum, "rename %s -> %s", from, to);
}

/* rename(2) of a directory refuses any target but an empty directory,
 * atomically; of anything else it would replace a file, hence the look before.
 */
cairn_code_t cairn__fs_rename_dir(const char *from, const char *to,
                                  bool durable, cairn_error_t *err) {
  struct stat st;
  if (lstat(from, &st) < 0) return rename_failed(errno, from, to, err);
  if (!S_ISDIR(st.st_mode))
    return cairn_fail(err, CAIRN_INVALID, "rename %s -> %s: not a directory",
                      from, to);
  if (rename(from, to) < 0) return rename_failed(errno, from, to, err);
  return durable ? sync_parents(from, to, err) : CAIRN_OK;
}
