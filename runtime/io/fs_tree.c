/* Whole trees: walking and removing. Both are one traversal, relative to open
 * directories (so that a name replaced by a link meanwhile leads nowhere), in
 * sorted order, a directory after what it holds. What vanishes on the way is
 * passed over: others may be removing the same tree. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cairn/buf.h"
#include "io/fs.h"

#define MAX_DEPTH 256

struct traversal {
  const char *root;
  /* false: stop. dir and name say where the entry is. */
  bool (*visit)(struct traversal *t, int dir, const char *name,
                const struct stat *st);
  bool go_on;      /* after errors */
  cairn_buf_t rel; /* path below root; not terminated between visits */
  int depth;
  cairn_code_t code; /* of the first error */
  cairn_error_t *err;
  cairn__fs_walk_fn fn; /* walk */
  void *arg;
};

/* All return false when the traversal is to stop. */
static bool failed(struct traversal *t, cairn_code_t code) {
  if (t->code == CAIRN_OK) t->code = code;
  return t->go_on;
}

static bool failed_errno(struct traversal *t, int errnum, const char *call) {
  return failed(t, cairn_fail_errno(t->err, errnum, "%s %s%s%.*s", call,
                                    t->root, t->rel.n > 0 ? "/" : "",
                                    (int)t->rel.n, (const char *)t->rel.p));
}

/* -- Names of a directory, sorted ------------------------------------------ */

struct names {
  char **p;
  size_t n, cap;
};

static void names_reset(struct names *l) {
  for (size_t i = 0; i < l->n; i++) free(l->p[i]);
  free(l->p);
}

static bool names_add(struct names *l, const char *name) {
  if (l->n == l->cap) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 16;
    char **p = reallocarray(l->p, cap, sizeof *p);
    if (p == NULL) return false;
    l->p = p;
    l->cap = cap;
  }
  l->p[l->n] = strdup(name);
  return l->p[l->n] != NULL && ++l->n;
}

static int by_bytes(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes fd. 0 or an errno. */
static int names_read(int fd, struct names *l) {
  DIR *d = fdopendir(fd);
  struct dirent *e;
  int rc = 0;
  if (d == NULL) {
    rc = errno;
    close(fd);
    return rc;
  }
  while (rc == 0 && (errno = 0, e = readdir(d)) != NULL) {
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        !names_add(l, e->d_name))
      rc = ENOMEM;
  }
  if (rc == 0) rc = errno;
  closedir(d);
  if (l->n > 1) qsort(l->p, l->n, sizeof *l->p, by_bytes);
  return rc;
}

/* -- The traversal --------------------------------------------------------- */

static bool enter(struct traversal *t, int fd);

static bool subdir(struct traversal *t, int dir, const char *name) {
  int fd;
  bool more;
  if (t->depth == MAX_DEPTH)
    return failed(
        t, cairn_fail(t->err, CAIRN_UNSUPPORTED,
                      "%s: more than %d directories deep", t->root, MAX_DEPTH));
  fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return true;
  if (fd < 0) return failed_errno(t, errno, "open directory");
  t->depth++;
  more = enter(t, fd);
  t->depth--;
  return more;
}

static bool entry(struct traversal *t, int dir, const char *name) {
  struct stat st;
  if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
    return errno == ENOENT ? true : failed_errno(t, errno, "stat");
  if (S_ISDIR(st.st_mode) && !subdir(t, dir, name)) return false;
  return t->visit(t, dir, name, &st);
}

static bool entries(struct traversal *t, int dir, const struct names *l) {
  size_t n = t->rel.n;
  bool more = true;
  for (size_t i = 0; more && i < l->n; i++) {
    if (n > 0) cairn_buf_put_u8(&t->rel, '/');
    cairn_buf_put_str(&t->rel, l->p[i]);
    if (t->rel.failed)
      more = failed(t, cairn_fail(t->err, CAIRN_NO_MEMORY,
                                  "list %s: out of memory", t->root));
    else
      more = entry(t, dir, l->p[i]);
    t->rel.n = n;
    t->rel.failed = false;
  }
  return more;
}

/* Takes fd: a directory, t->rel its path. */
static bool enter(struct traversal *t, int fd) {
  struct names l = {0};
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* names_read closes its own */
  int rc = copy < 0 ? errno : names_read(copy, &l);
  bool more = rc == 0 || failed_errno(t, rc, "list");
  if (more) more = entries(t, fd, &l);
  names_reset(&l);
  close(fd);
  return more;
}

/* -- Walk ------------------------------------------------------------------ */

static bool show(struct traversal *t, int dir, const char *name,
                 const struct stat *st) {
  (void)dir, (void)name;
  cairn_buf_put_u8(&t->rel, '\0');
  if (t->rel.failed)
    return failed(t, cairn_fail(t->err, CAIRN_NO_MEMORY,
                                "list %s: out of memory", t->root));
  return t->fn(t->arg, (const char *)t->rel.p, st);
}

cairn_code_t cairn__fs_walk(const char *root, cairn__fs_walk_fn fn, void *arg,
                            cairn_error_t *err) {
  struct traversal t = {
      .root = root, .visit = show, .fn = fn, .arg = arg, .err = err};
  int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return CAIRN_OK;
  if (fd < 0) return cairn_fail_errno(err, errno, "open directory %s", root);
  enter(&t, fd);
  cairn_buf_reset(&t.rel);
  return t.code;
}

/* -- Remove ---------------------------------------------------------------- */

static bool erase(struct traversal *t, int dir, const char *name,
                  const struct stat *st) {
  int flags = S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0;
  if (unlinkat(dir, name, flags) == 0 || errno == ENOENT) return true;
  return failed_errno(t, errno, flags != 0 ? "rmdir" : "unlink");
}

cairn_code_t cairn__fs_rmtree(const char *path, cairn_error_t *err) {
  struct traversal t = {
      .root = path, .visit = erase, .go_on = true, .err = err};
  struct stat st;
  if (lstat(path, &st) < 0)
    return errno == ENOENT ? CAIRN_OK
                           : cairn_fail_errno(err, errno, "stat %s", path);
  if (S_ISDIR(st.st_mode)) subdir(&t, AT_FDCWD, path);
  erase(&t, AT_FDCWD, path, &st);
  cairn_buf_reset(&t.rel);
  return t.code;
}
