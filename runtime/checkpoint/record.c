#include "checkpoint/record.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/sum.h"
#include "kv/kv.h"

struct record {
  cairn_kv_t *dir;
  char *at;
  cairn__binding_t *files;
};

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
  if (!note(r, key, iov, niov)) return no_memory(rt);
  cairn_write_opts_t deferred = *o;
  deferred.defer_sync = true;
  return cairn_kv_write(r->dir, key, iov, niov, &deferred, out);
}

static cairn_future_t *record_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  (void)rt;
  return cairn_kv_read(((struct record *)self)->dir, key, o, out);
}

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

cairn_kv_t *cairn__record(cairn_kv_t *dir, const char *at,
                          cairn__binding_t *files) {
  struct record *r = calloc(1, sizeof(*r));
  if (r == NULL) return NULL;
  r->dir = dir;
  r->at = cairn__bytes_dup(cairn_bytes_str(at));
  r->files = files;
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
