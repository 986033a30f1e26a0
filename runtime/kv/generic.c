/* What a driver may leave out, made from what every driver has: list_dir from
 * list, remove_prefix from list and remove, an upload from one write at the
 * end. They talk to the driver with full keys, like the rest of the front. */
#include <stdlib.h>

#include "base/map.h"
#include "kv/kv.h"

/* --- list_dir --- */

struct list_dir {
  cairn_bytes_t prefix; /* the call's: lives until we are ready */
  cairn_kv_key_fn fn;
  void *arg;
  cairn__map_t seen; /* directories told; a listing may be in any order */
  bool no_memory;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static bool list_dir_key(void *arg, cairn_bytes_t key, int64_t size) {
  struct list_dir *s = arg;
  if (!cairn__bytes_starts(key, s->prefix) || key.n == s->prefix.n) return true;
  cairn_bytes_t name = cairn_bytes(key.p + s->prefix.n, key.n - s->prefix.n);
  const uint8_t *slash = memchr(name.p, '/', name.n);
  if (slash == NULL) return s->fn(s->arg, name, size);
  name.n = (size_t)(slash - name.p) + 1;
  if (cairn__map_get(&s->seen, name) != NULL) return true;
  s->no_memory = !cairn__map_set(&s->seen, name, s, NULL);
  return !s->no_memory && s->fn(s->arg, name, -1);
}

static void on_list_dir(cairn_wait_t *w) {
  struct list_dir *s = cairn_container_of(w, struct list_dir, wait);
  cairn_future_t *done = s->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (s->no_memory) cairn_fail(&err, CAIRN_NO_MEMORY, "list a directory");
  cairn__map_reset(&s->seen, NULL);
  free(s);
  cairn_future_resolve(done, &err);
}

/* Zeroed memory and a future for an operation; NULL: *failed is the answer. */
static void *begin(cairn_runtime_t *rt, size_t size, cairn_future_t **done) {
  void *s;
  if (!cairn__promise(rt, done)) return NULL;
  s = calloc(1, size);
  if (s == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "%s", cairn_code_text(CAIRN_NO_MEMORY));
    cairn_future_resolve(*done, &err);
  }
  return s;
}

cairn_future_t *cairn__kv_generic_list_dir(cairn_kv_t *kv, cairn_bytes_t prefix,
                                           cairn_kv_key_fn fn, void *arg) {
  cairn_future_t *done;
  struct list_dir *s = begin(kv->rt, sizeof *s, &done);
  if (s == NULL) return done;
  s->prefix = prefix;
  s->fn = fn;
  s->arg = arg;
  s->done = done;
  cairn_then(kv->ops.list(kv->rt, kv->self, prefix, list_dir_key, s), &s->wait,
             on_list_dir);
  return done;
}

/* --- remove_prefix: one listing, then the keys one after another. One at a
 * time is slow and cannot exhaust anything; drivers with better have their own.
 * --- */

struct remove_prefix {
  cairn_kv_t *kv;
  cairn_buf_t keys; /* each: length as 8 bytes, then the key */
  size_t pos;
  cairn_error_t err; /* the first; we go on */
  cairn_write_opts_t opts;
  cairn_written_t written;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static bool remember_key(void *arg, cairn_bytes_t key, int64_t size) {
  struct remove_prefix *s = arg;
  (void)size;
  cairn_buf_put_u64le(&s->keys, key.n);
  cairn_buf_put(&s->keys, key.p, key.n);
  return !s->keys.failed;
}

static void on_removed(cairn_wait_t *w);

static void remove_next(struct remove_prefix *s) {
  cairn_cur_t c = cairn_cur(cairn_buf_bytes(&s->keys));
  cairn_bytes_t key;
  uint64_t n;
  c.p += s->pos;
  if (cairn_cur_u64le(&c, &n) && cairn_cur_take(&c, (size_t)n, &key)) {
    s->pos = cairn_cur_pos(&c);
    cairn_then(
        s->kv->ops.remove(s->kv->rt, s->kv->self, key, &s->opts, &s->written),
        &s->wait, on_removed);
    return;
  }
  cairn_future_t *done = s->done;
  cairn_error_t err = s->err;
  cairn_buf_reset(&s->keys);
  free(s);
  cairn_future_resolve(done, &err);
}

static void on_removed(cairn_wait_t *w) {
  struct remove_prefix *s = cairn_container_of(w, struct remove_prefix, wait);
  cairn_wait_result(w, &s->err);
  remove_next(s);
}

static void on_listed(cairn_wait_t *w) {
  struct remove_prefix *s = cairn_container_of(w, struct remove_prefix, wait);
  cairn_wait_result(w, &s->err);
  if (s->keys.failed)
    cairn_fail(&s->err, CAIRN_NO_MEMORY, "no memory for the keys to remove");
  remove_next(s);
}

cairn_future_t *cairn__kv_generic_remove_prefix(cairn_kv_t *kv,
                                                cairn_bytes_t prefix) {
  cairn_future_t *done;
  struct remove_prefix *s = begin(kv->rt, sizeof *s, &done);
  if (s == NULL) return done;
  s->kv = kv;
  s->opts.size = sizeof s->opts;
  s->done = done;
  cairn_then(kv->ops.list(kv->rt, kv->self, prefix, remember_key, s), &s->wait,
             on_listed);
  return done;
}

/* --- upload: the parts gathered in memory. Written in one go at commit, so the
 * value has to fit; a driver for large values brings its own. --- */

struct upload {
  cairn_kv_t *kv;
  cairn_bytes_t key; /* the front's upload holds both */
  const cairn_write_opts_t *opts;
  cairn_buf_t data;
  struct iovec iov;
  cairn_written_t written;
  cairn_future_t *committed;
  cairn_wait_t wait;
};

cairn_future_t *cairn__kv_generic_upload_begin(cairn_kv_t *kv,
                                               cairn_bytes_t key,
                                               const cairn_write_opts_t *o,
                                               void **upload) {
  struct upload *u;
  cairn_future_t *committed;
  u = begin(kv->rt, sizeof *u, &committed);
  if (u == NULL) return committed;
  *u = (struct upload){.kv = kv, .key = key, .opts = o, .committed = committed};
  *upload = u;
  return cairn_future_done(kv->rt, NULL);
}

cairn_future_t *cairn__kv_generic_upload_part(cairn_runtime_t *rt, void *upload,
                                              uint64_t offset,
                                              const struct iovec *iov,
                                              int niov) {
  struct upload *u = upload;
  cairn_error_t err = {0};
  uint64_t n = 0;
  if (cairn__iov_total(iov, niov, &n, &err) == CAIRN_OK &&
      offset + n > u->data.n) {
    size_t old = u->data.n, more = (size_t)(offset + n) - old;
    if (cairn_buf_reserve(&u->data, more)) {
      memset(u->data.p + old, 0, more);
      u->data.n += more;
    } else {
      cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for %llu bytes",
                 (unsigned long long)(offset + n));
    }
  }
  for (int i = 0; i < niov && err.code == CAIRN_OK; i++) {
    if (iov[i].iov_len == 0) continue;
    memcpy(u->data.p + offset, iov[i].iov_base, iov[i].iov_len);
    offset += iov[i].iov_len;
  }
  return cairn_future_done(rt, &err);
}

static void upload_free(struct upload *u) {
  cairn_buf_reset(&u->data);
  free(u);
}

static void on_upload_written(cairn_wait_t *w) {
  struct upload *u = cairn_container_of(w, struct upload, wait);
  cairn_future_t *committed = u->committed;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK && !u->written.condition_met)
    cairn_fail(&err, CAIRN_EXISTS, "%s", cairn_code_text(CAIRN_EXISTS));
  upload_free(u);
  cairn_future_resolve(committed, &err);
}

cairn_future_t *cairn__kv_generic_upload_commit(cairn_runtime_t *rt,
                                                void *upload) {
  struct upload *u = upload;
  cairn_future_t *committed = u->committed;
  u->iov = (struct iovec){u->data.p, u->data.n};
  cairn_then(u->kv->ops.write(rt, u->kv->self, u->key, &u->iov, 1, u->opts,
                              &u->written),
             &u->wait, on_upload_written);
  return committed;
}

cairn_future_t *cairn__kv_generic_upload_abort(cairn_runtime_t *rt,
                                               void *upload) {
  struct upload *u = upload;
  cairn__promise_drop(u->committed);
  upload_free(u);
  return cairn_future_done(rt, NULL);
}
