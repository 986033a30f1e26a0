/* Directories that hold values.
 *
 * A file survives a power loss only if its name does, and so does the name of
 * every directory above it. Directories that this process made and whose parent
 * was not synced since are therefore remembered ("young"), for the whole
 * process: the write that makes a durable file in one need not be the one that
 * made it. A directory is remembered before it is made, so whoever finds it
 * finds that too. What other processes make is theirs to sync.
 *
 * The mark on a young directory is a number that counts up, so that a sync
 * takes back only the mark that it saw. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "kv/kv_file.h"

static pthread_mutex_t young_lock = PTHREAD_MUTEX_INITIALIZER;
static cairn__map_t young; /* path to mark */
static uintptr_t last_mark;

static uintptr_t mark_of(const char *dir) {
  pthread_mutex_lock(&young_lock);
  uintptr_t mark = (uintptr_t)cairn__map_get(&young, cairn_bytes_str(dir));
  pthread_mutex_unlock(&young_lock);
  return mark;
}

static bool mark(const char *dir) {
  pthread_mutex_lock(&young_lock);
  bool ok =
      cairn__map_set(&young, cairn_bytes_str(dir), (void *)++last_mark, NULL);
  pthread_mutex_unlock(&young_lock);
  return ok;
}

static void unmark(const char *dir, uintptr_t seen) {
  cairn_bytes_t key = cairn_bytes_str(dir);
  pthread_mutex_lock(&young_lock);
  if ((uintptr_t)cairn__map_get(&young, key) == seen)
    cairn__map_del(&young, key);
  pthread_mutex_unlock(&young_lock);
}

/* "/a/b" is in "/a", "/a" in "/" (length 0, which callers write as "/"). */
size_t cairn__file_dir_length(const char *path, size_t n) {
  while (n > 0 && path[n - 1] == '/') n--;
  while (n > 0 && path[n - 1] != '/') n--;
  while (n > 0 && path[n - 1] == '/') n--;
  return n;
}

/* The directory of path, in memory of its own; NULL when that is out. */
static char *dir_of(const char *path) {
  size_t n = cairn__file_dir_length(path, strlen(path));
  return n > 0 ? strndup(path, n) : strdup("/");
}

/* Makes it the directory above; false at the root. */
static bool go_up(char *dir) {
  size_t n = cairn__file_dir_length(dir, strlen(dir));
  if (strcmp(dir, "/") == 0) return false;
  dir[n > 0 ? n : 1] = '\0';
  return true;
}

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
}

/* --- making --- */

static bool mark_missing(const char *dir) {
  char *d = strdup(dir);
  struct stat st;
  bool ok = d != NULL;
  while (ok && stat(d, &st) < 0 && errno == ENOENT && (ok = mark(d)) &&
         go_up(d))
    continue;
  free(d);
  return ok;
}

cairn_code_t cairn__file_make_parents(const char *path, cairn_error_t *err) {
  char *dir = dir_of(path);
  cairn_code_t rc;
  if (dir == NULL || !mark_missing(dir))
    rc = no_memory(err);
  else
    rc = cairn__fs_mkdirs(dir, NULL, NULL, err);
  free(dir);
  return rc;
}

/* --- making durable --- */

struct dir {
  char *path;
  uintptr_t mark; /* as it was before the sync; 0: its name is durable */
};

struct dirs {
  struct dir *v;
  size_t n, cap;
};

static bool dirs_add(struct dirs *l, const char *path, uintptr_t seen) {
  if (l->n == l->cap) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 8;
    struct dir *v = reallocarray(l->v, cap, sizeof *v);
    if (v == NULL) return false;
    l->v = v;
    l->cap = cap;
  }
  l->v[l->n] = (struct dir){strdup(path), seen};
  return l->v[l->n].path != NULL && ++l->n;
}

/* The directory of path, and those above for as long as the name of the one
 * below is not durable. */
static bool dirs_gather(struct dirs *l, const char *path) {
  char *dir = dir_of(path);
  bool ok = dir != NULL;
  while (ok) {
    uintptr_t seen = mark_of(dir);
    ok = dirs_add(l, dir, seen);
    if (seen == 0 || !go_up(dir)) break;
  }
  free(dir);
  return ok;
}

/* Descending: what a directory holds comes before it. */
static int bottom_up(const void *a, const void *b) {
  return strcmp(((const struct dir *)b)->path, ((const struct dir *)a)->path);
}

static cairn_code_t dirs_sync(struct dirs *l, cairn_error_t *err) {
  qsort(l->v, l->n, sizeof *l->v, bottom_up);
  for (size_t i = 0; i < l->n; i++) {
    cairn_error_t why = {0};
    if (i > 0 && strcmp(l->v[i].path, l->v[i - 1].path) == 0) continue;
    cairn_code_t rc = cairn__fs_sync_dir(l->v[i].path, &why);
    if (rc == CAIRN_NOT_FOUND) continue; /* removed, and its name with it */
    if (rc != CAIRN_OK) return cairn_error_copy(err, &why);
  }
  for (size_t i = 0; i < l->n; i++)
    if (l->v[i].mark != 0) unmark(l->v[i].path, l->v[i].mark);
  return CAIRN_OK;
}

cairn_code_t cairn__file_settle(const char *const *paths, size_t n,
                                cairn_error_t *err) {
  struct dirs l = {0};
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) ok = dirs_gather(&l, paths[i]);
  cairn_code_t rc = ok ? CAIRN_OK : no_memory(err);
  if (ok && l.n > 0) rc = dirs_sync(&l, err);
  for (size_t i = 0; i < l.n; i++) free(l.v[i].path);
  free(l.v);
  return rc;
}

/* --- moving --- */

struct moved {
  cairn_bytes_t from;
  cairn_buf_t names; /* NUL-ended, what stood after from */
};

static bool below(void *arg, cairn_bytes_t key, void *value) {
  struct moved *m = arg;
  (void)value;
  if (!cairn__bytes_starts(key, m->from)) return true;
  size_t n = m->from.n;
  if (key.n > n && key.p[n] != '/') return true;
  cairn_buf_put(&m->names, key.p + n, key.n - n);
  cairn_buf_put_u8(&m->names, '\0');
  return !m->names.failed;
}

/* young_lock is held. */
static bool move_one(const char *from, const char *to, const char *name) {
  char *old = cairn__printf("%s%s", from, name);
  char *new = to != NULL ? cairn__printf("%s%s", to, name) : NULL;
  bool ok = old != NULL && (to == NULL || new != NULL);
  if (ok && new != NULL)
    ok =
        cairn__map_set(&young, cairn_bytes_str(new), (void *)++last_mark, NULL);
  if (ok && new == NULL) cairn__map_del(&young, cairn_bytes_str(old));
  free(old);
  free(new);
  return ok;
}

bool cairn__file_dirs_moved(const char *from, const char *to) {
  struct moved m = {.from = cairn_bytes_str(from)};
  pthread_mutex_lock(&young_lock);
  cairn__map_each(&young, below, &m);
  bool ok = !m.names.failed;
  for (size_t i = 0; ok && i < m.names.n;
       i += strlen((char *)m.names.p + i) + 1)
    ok = move_one(from, to, (char *)m.names.p + i);
  pthread_mutex_unlock(&young_lock);
  cairn_buf_reset(&m.names);
  return ok;
}
