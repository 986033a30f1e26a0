/* What was written with defer_sync, and making it durable.
 *
 * The store remembers the path of every such write (and removal) until a sync
 * has covered it: one fdatasync for each file, then the directories. A path is
 * remembered before its write begins, so that the end of a write needs no
 * memory; a sync takes back only what has not been written again since it
 * looked.
 *
 * A failed fdatasync is final: the kernel may have dropped the pages, and
 * asking again would be told that all is well. What the failed sync covered
 * stays remembered as lost until it is written anew or removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "kv/kv_file.h"

struct deferred {
  unsigned writers; /* under way */
  bool lost;        /* a sync of it failed */
  uint64_t seq;     /* of the last write that ended */
};

/* --- remembering; loop thread --- */

static struct deferred *deferred_at(struct file_kv *kv, cairn_bytes_t path) {
  struct deferred *d = cairn__map_get(&kv->deferred, path);
  if (d != NULL) return d;
  d = calloc(1, sizeof *d);
  if (d != NULL && !cairn__map_set(&kv->deferred, path, d, NULL)) {
    free(d);
    d = NULL;
  }
  return d;
}

bool cairn__file_defer_begin(struct file_kv *kv, const char *path) {
  struct deferred *d = deferred_at(kv, cairn_bytes_str(path));
  if (d != NULL) d->writers++;
  return d != NULL;
}

void cairn__file_defer_end(struct file_kv *kv, const char *path) {
  struct deferred *d = cairn__map_get(&kv->deferred, cairn_bytes_str(path));
  if (d == NULL) return;
  d->writers--;
  d->lost = false;
  d->seq = ++kv->deferred_seq;
}

void cairn__file_defer_reset(struct file_kv *kv) {
  cairn__map_reset(&kv->deferred, free);
}

/* --- gathering what lies below a prefix --- */

struct path {
  char *path;
  uint64_t seq;
};

struct paths {
  cairn_bytes_t prefix;
  struct path *v;
  size_t n, cap;
  bool lost, failed;
};

static bool paths_add(void *arg, cairn_bytes_t key, void *value) {
  struct paths *l = arg;
  const struct deferred *d = value;
  if (!cairn__bytes_starts(key, l->prefix)) return true;
  if (l->n == l->cap) {
    size_t cap = l->cap != 0 ? l->cap * 2 : 16;
    struct path *v = reallocarray(l->v, cap, sizeof *v);
    if (v == NULL) return !(l->failed = true);
    l->v = v;
    l->cap = cap;
  }
  l->v[l->n] = (struct path){cairn__bytes_dup(key), d->seq};
  if (l->v[l->n].path == NULL) return !(l->failed = true);
  l->n++;
  l->lost = l->lost || d->lost;
  return true;
}

static void paths_reset(struct paths *l) {
  for (size_t i = 0; i < l->n; i++) free(l->v[i].path);
  free(l->v);
  *l = (struct paths){0};
}

static bool paths_gather(struct file_kv *kv, cairn_bytes_t prefix,
                         struct paths *out) {
  *out = (struct paths){.prefix = prefix};
  cairn__map_each(&kv->deferred, paths_add, out);
  bool ok = !out->failed;
  if (!ok) paths_reset(out);
  return ok;
}

/* --- rename and removal of a directory --- */

/* Both names until the rename is known to have happened: an absent file is
 * passed over by a sync. */
bool cairn__file_defer_rename(struct file_kv *kv, const char *from,
                              const char *to) {
  struct paths l;
  bool ok = paths_gather(kv, cairn_bytes_str(from), &l);
  for (size_t i = 0; ok && i < l.n; i++) {
    char *new = cairn__printf("%s%s", to, l.v[i].path + strlen(from));
    struct deferred *d =
        new != NULL ? deferred_at(kv, cairn_bytes_str(new)) : NULL;
    if (d != NULL) d->seq = ++kv->deferred_seq;
    ok = d != NULL;
    free(new);
  }
  paths_reset(&l);
  return ok;
}

void cairn__file_defer_forget(struct file_kv *kv, const char *dir) {
  struct paths l;
  if (!paths_gather(kv, cairn_bytes_str(dir), &l)) return;
  for (size_t i = 0; i < l.n; i++) {
    cairn_bytes_t key = cairn_bytes_str(l.v[i].path);
    struct deferred *d = cairn__map_get(&kv->deferred, key);
    if (d->writers == 0) free(cairn__map_del(&kv->deferred, key));
  }
  paths_reset(&l);
}

/* --- sync --- */

struct sync_op {
  struct file_op op;
  struct paths paths;
};

static cairn_code_t sync_file(const char *path, cairn_error_t *err) {
  cairn_error_t why = {0};
  int fd;
  cairn_code_t rc = cairn__fs_open_read(path, &fd, NULL, &why);
  if (rc == CAIRN_NOT_FOUND) return CAIRN_OK; /* removed meanwhile */
  if (rc != CAIRN_OK) return cairn_error_copy(err, &why);
  rc = cairn__fs_sync(fd, path, err);
  close(fd);
  return rc;
}

static cairn_code_t do_sync(void *job, cairn_error_t *err) {
  struct sync_op *s = job;
  cairn_code_t rc = CAIRN_OK;
  const char **names = calloc(s->paths.n + 1, sizeof *names);
  if (names == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the paths");
  for (size_t i = 0; i < s->paths.n && rc == CAIRN_OK; i++) {
    names[i] = s->paths.v[i].path;
    rc = sync_file(names[i], err);
  }
  if (rc == CAIRN_OK) rc = cairn__file_settle(names, s->paths.n, err);
  free(names);
  return rc;
}

static bool sync_end(struct file_op *op, cairn_error_t *err) {
  struct sync_op *s = cairn_container_of(op, struct sync_op, op);
  for (size_t i = 0; i < s->paths.n; i++) {
    cairn_bytes_t key = cairn_bytes_str(s->paths.v[i].path);
    struct deferred *d = cairn__map_get(&op->kv->deferred, key);
    if (d == NULL || d->seq != s->paths.v[i].seq) continue;
    if (err->code != CAIRN_OK)
      d->lost = true;
    else if (d->writers == 0)
      free(cairn__map_del(&op->kv->deferred, key));
  }
  paths_reset(&s->paths);
  return false;
}

cairn_future_t *cairn__file_sync(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t prefix) {
  cairn_future_t *refused;
  cairn_error_t err = {0};
  struct sync_op *s =
      cairn__file_op_new(rt, self, sizeof *s, prefix, true, &refused);
  if (s == NULL) return refused;
  if (!paths_gather(s->op.kv, cairn_bytes(s->op.path, s->op.path_n), &s->paths))
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for the paths");
  else if (s->paths.lost)
    cairn_fail(&err, CAIRN_IO,
               "an earlier sync failed: what was written may be lost");
  s->op.end = sync_end;
  if (err.code == CAIRN_OK && s->paths.n > 0)
    return cairn__file_op_run(&s->op, do_sync);
  paths_reset(&s->paths);
  return cairn__file_op_fail(&s->op, &err);
}
