#include "checkpoint/checked.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/sum.h"
#include "kv/kv.h"

struct checked {
  cairn_kv_t *dir;
  const char *at;
  const cairn__binding_t *files;
};

/* One read of a whole file. */
struct reading {
  const cairn__bound_file_t *file;
  cairn_value_t *out;
  cairn_future_t *done;
  cairn_wait_t wait;
};

/* Files are few: a side file of an item, or two of a process. */
static const cairn__bound_file_t *file_of(const struct checked *c,
                                          cairn_bytes_t key) {
  size_t n = strlen(c->at);
  for (size_t i = 0; i < c->files->num_files; i++) {
    const char *name = c->files->files[i].name;
    if (n != 0) {
      if (strncmp(name, c->at, n) != 0 || name[n] != '/') continue;
      name += n + 1;
    }
    if (cairn__bytes_eq(cairn_bytes_str(name), key)) return &c->files->files[i];
  }
  return NULL;
}

static void on_read(cairn_wait_t *w) {
  struct reading *r = cairn_container_of(w, struct reading, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK && r->out->found) {
    uint64_t sum = cairn__sum_of(r->out->data.p, r->out->data.n);
    if (sum != r->file->sum || r->out->data.n != r->file->length)
      cairn_fail(&err, CAIRN_CORRUPT,
                 "%s: sum of the file is %016" PRIx64
                 ", cairn.json says %016" PRIx64,
                 r->file->name, sum, r->file->sum);
    if (err.code != CAIRN_OK) cairn_value_reset(r->out);
  }
  cairn_future_t *done = r->done;
  free(r);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *checked_read(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key,
                                    const cairn_read_opts_t *o,
                                    cairn_value_t *out) {
  struct checked *c = self;
  const cairn__bound_file_t *file =
      o->what == CAIRN_READ_WHOLE ? file_of(c, key) : NULL;
  if (file == NULL) return cairn_kv_read(c->dir, key, o, out);
  struct reading *r = calloc(1, sizeof(*r));
  if (r == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "reading %s", file->name);
    return cairn_future_done(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) {
    free(r);
    return done;
  }
  *r = (struct reading){.file = file, .out = out, .done = done};
  cairn_then(cairn_kv_read(c->dir, key, o, out), &r->wait, on_read);
  return done;
}

static cairn_future_t *read_only(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_UNSUPPORTED, "the directory is open for reading");
  return cairn_future_done(rt, &err);
}

static cairn_future_t *checked_write(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key, const struct iovec *iov,
                                     int niov, const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  (void)self, (void)key, (void)iov, (void)niov, (void)o, (void)out;
  return read_only(rt);
}

static cairn_future_t *checked_remove(cairn_runtime_t *rt, void *self,
                                      cairn_bytes_t key,
                                      const cairn_write_opts_t *o,
                                      cairn_written_t *out) {
  (void)self, (void)key, (void)o, (void)out;
  return read_only(rt);
}

static cairn_future_t *checked_list(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                    void *arg) {
  (void)rt;
  return cairn_kv_list(((struct checked *)self)->dir, prefix, fn, arg);
}

static cairn_future_t *checked_list_dir(cairn_runtime_t *rt, void *self,
                                        cairn_bytes_t prefix,
                                        cairn_kv_key_fn fn, void *arg) {
  (void)rt;
  return cairn_kv_list_dir(((struct checked *)self)->dir, prefix, fn, arg);
}

static uint32_t checked_caps(void *self) {
  return cairn_kv_caps(((struct checked *)self)->dir);
}

static void checked_describe(void *self, cairn_bytes_t key, char *out,
                             size_t cap) {
  cairn_kv_describe(((struct checked *)self)->dir, key, out, cap);
}

static cairn_future_t *checked_close(cairn_runtime_t *rt, void *self) {
  struct checked *c = self;
  cairn_kv_t *dir = c->dir;
  (void)rt;
  free(c);
  return cairn_kv_close(dir);
}

static const cairn_kv_ops_t checked_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(checked_ops),
    .scheme = "checked",
    .close = checked_close,
    .caps = checked_caps,
    .read = checked_read,
    .write = checked_write,
    .remove = checked_remove,
    .list = checked_list,
    .list_dir = checked_list_dir,
    .describe = checked_describe,
};

cairn_kv_t *cairn__checked(cairn_kv_t *dir, const char *at,
                           const cairn__binding_t *files) {
  struct checked *c = malloc(sizeof(*c));
  if (c == NULL) return NULL;
  *c = (struct checked){dir, at, files};
  cairn_kv_t *kv = cairn__kv_new(cairn_kv_runtime(dir), &checked_ops, c);
  if (kv == NULL) {
    free(c);
    return NULL;
  }
  kv->layered = true;
  return kv;
}
