#include "checkpoint/record.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/sum.h"
#include "kv/kv.h"

struct record {
  cairn_kv_t *dir;
  char *at;
  cairn__binding_t *files;       /* to add to, or NULL */
  const cairn__binding_t *bound; /* to compare with, or NULL */
};

/* --- writing --- */

static cairn_future_t *no_memory(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "noting a file");
  return cairn_future_done(rt, &err);
}

static bool note(struct record *r, cairn_bytes_t key, const struct iovec *iov,
                 int niov) {
  cairn__sum_t *sum = cairn__sum_new();
  uint64_t n = 0;
  if (sum == NULL) return false;
  for (int i = 0; i < niov; i++) {
    cairn__sum_add(sum, iov[i].iov_base, iov[i].iov_len);
    n += iov[i].iov_len;
  }
  bool ok =
      cairn__binding_add_file(r->files, r->at, key, n, cairn__sum_value(sum));
  cairn__sum_free(sum);
  return ok;
}

static cairn_future_t *record_write(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key, const struct iovec *iov,
                                    int niov, const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  struct record *r = self;
  if (r->files == NULL) return cairn_kv_write(r->dir, key, iov, niov, o, out);
  if (!note(r, key, iov, niov)) return no_memory(rt);
  cairn_write_opts_t deferred = *o;
  deferred.defer_sync = true;
  return cairn_kv_write(r->dir, key, iov, niov, &deferred, out);
}

/* --- reading --- */

struct check {
  const cairn__bound_file_t *file;
  cairn_value_t *out;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static const cairn__bound_file_t *bound_file(const struct record *r,
                                             cairn_bytes_t key) {
  size_t n = strlen(r->at), skip = n != 0 ? n + 1 : 0;
  for (size_t i = 0; r->bound != NULL && i < r->bound->num_files; i++) {
    const char *name = r->bound->files[i].name;
    if (strncmp(name, r->at, n) == 0 && (n == 0 || name[n] == '/') &&
        cairn__bytes_eq(cairn_bytes_str(name + skip), key))
      return &r->bound->files[i];
  }
  return NULL;
}

static void on_read(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_error_t err = {0};
  cairn_bytes_t data = c->out->data;
  if (cairn_wait_result(w, &err) == CAIRN_OK && c->out->found &&
      (data.n != c->file->length ||
       cairn__sum_of(data.p, data.n) != c->file->sum)) {
    cairn_fail(&err, CAIRN_CORRUPT,
               "%s: its sum or length is not what cairn.json says",
               c->file->name);
    cairn_value_reset(c->out);
  }
  cairn_future_t *done = c->done;
  free(c);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *record_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  struct record *r = self;
  const cairn__bound_file_t *file =
      o->what == CAIRN_READ_WHOLE ? bound_file(r, key) : NULL;
  if (file == NULL) return cairn_kv_read(r->dir, key, o, out);
  struct check *c = calloc(1, sizeof(*c));
  if (c == NULL) return no_memory(rt);
  *c = (struct check){.file = file, .out = out, .done = cairn_future_new(rt)};
  cairn_future_t *done = c->done;
  cairn_then(cairn_kv_read(r->dir, key, o, out), &c->wait, on_read);
  return done;
}

/* --- the rest is passed on --- */

static cairn_future_t *record_remove(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key,
                                     const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  (void)rt;
  return cairn_kv_remove(((struct record *)self)->dir, key, o, out);
}

static cairn_future_t *record_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg) {
  (void)rt;
  return cairn_kv_list(((struct record *)self)->dir, prefix, fn, arg);
}

static uint32_t record_caps(void *self) {
  return cairn_kv_caps(((struct record *)self)->dir);
}

static void record_describe(void *self, cairn_bytes_t key, char *out,
                            size_t cap) {
  cairn_kv_describe(((struct record *)self)->dir, key, out, cap);
}

static cairn_future_t *record_close(cairn_runtime_t *rt, void *self) {
  struct record *r = self;
  free(r->at);
  free(r);
  return cairn_future_done(rt, NULL);
}

static const cairn_kv_ops_t record_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(record_ops),
    .scheme = "record",
    .close = record_close,
    .caps = record_caps,
    .read = record_read,
    .write = record_write,
    .remove = record_remove,
    .list = record_list,
    .describe = record_describe,
};

static cairn_kv_t *view(cairn_kv_t *dir, const char *at,
                        cairn__binding_t *files,
                        const cairn__binding_t *bound) {
  struct record *r = calloc(1, sizeof(*r));
  if (r == NULL) return NULL;
  r->dir = dir;
  r->at = cairn__bytes_dup(cairn_bytes_str(at));
  r->files = files;
  r->bound = bound;
  cairn_kv_t *kv = r->at != NULL
                       ? cairn__kv_new(cairn_kv_runtime(dir), &record_ops, r)
                       : NULL;
  if (kv == NULL) {
    free(r->at);
    free(r);
    return NULL;
  }
  kv->layered = true;
  return kv;
}

cairn_kv_t *cairn__record(cairn_kv_t *dir, const char *at,
                          cairn__binding_t *files) {
  return view(dir, at, files, NULL);
}

cairn_kv_t *cairn__checked(cairn_kv_t *dir, const char *at,
                           const cairn__binding_t *bound) {
  return view(dir, at, NULL, bound);
}
