/* The entries of one directory, in the order of the keys below them: a
 * directory counts as "name/", because all its keys begin so ("a.b" < "a/b" <
 * "a0"). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv/kv_file.h"

void cairn__file_names_reset(struct file_names *l) {
  for (size_t i = 0; i < l->n; i++) free(l->v[i].name);
  free(l->v);
  *l = (struct file_names){0};
}

static bool add(struct file_names *l, const char *name, struct file_name e) {
  if (l->n == l->cap) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 32;
    struct file_name *v = reallocarray(l->v, cap, sizeof *v);
    if (v == NULL) return false;
    l->v = v;
    l->cap = cap;
  }
  e.name = cairn__printf("%s%s", name, e.is_dir ? "/" : "");
  if (e.name == NULL) return false;
  e.n = strlen(e.name);
  l->v[l->n++] = e;
  return true;
}

/* What a read would find: regular files and directories, also behind a link.
 * False: neither, or gone. */
static bool look(int fd, const char *name, struct file_name *e) {
  struct stat st;
  if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) return false;
  e->is_link = S_ISLNK(st.st_mode);
  if (e->is_link && fstatat(fd, name, &st, 0) < 0) return false;
  e->is_dir = S_ISDIR(st.st_mode);
  e->size = e->is_dir ? -1 : (int64_t)st.st_size;
  return e->is_dir || S_ISREG(st.st_mode);
}

/* 0 or an errno. */
static int read_entry(int fd, const char *name, cairn_bytes_t start, bool all,
                      struct file_names *out) {
  struct file_name e = {.size = -1};
  cairn_bytes_t b = cairn_bytes_str(name);
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return 0;
  if (!cairn__bytes_starts(b, start)) return 0;
  if (!all && (!cairn__file_is_key_part(b) || !look(fd, name, &e))) return 0;
  return add(out, name, e) ? 0 : ENOMEM;
}

static int by_bytes(const void *a, const void *b) {
  const struct file_name *x = a, *y = b;
  return cairn__bytes_cmp(cairn_bytes(x->name, x->n),
                          cairn_bytes(y->name, y->n));
}

static int read_all(DIR *d, cairn_bytes_t start, bool all,
                    struct file_names *out) {
  struct dirent *e;
  int rc = 0;
  while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
    rc = read_entry(dirfd(d), e->d_name, start, all, out);
  if (rc == 0) rc = errno;
  if (out->n > 1) qsort(out->v, out->n, sizeof *out->v, by_bytes);
  return rc;
}

static DIR *open_dir(const char *path, bool follow) {
  int fd = open(path,
                O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
  if (fd >= 0 && d == NULL) {
    int saved = errno;
    close(fd);
    errno = saved;
  }
  return d;
}

cairn_code_t cairn__file_names_read(const char *dir, cairn_bytes_t start,
                                    bool all, bool follow,
                                    struct file_names *out,
                                    cairn_error_t *err) {
  *out = (struct file_names){0};
  DIR *d = open_dir(dir, follow);
  if (d == NULL && (errno == ENOENT || errno == ENOTDIR)) return CAIRN_OK;
  if (d == NULL) return cairn_fail_errno(err, errno, "open directory %s", dir);
  int rc = read_all(d, start, all, out);
  closedir(d);
  if (rc == 0) return CAIRN_OK;
  cairn__file_names_reset(out);
  return cairn_fail_errno(err, rc, "list %s", dir);
}
