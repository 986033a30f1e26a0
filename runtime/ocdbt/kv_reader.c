/* The reading side as a store: the newest version, read-only. */
#include <stdlib.h>

#include "ocdbt/reader.h"

bool cairn__reader_is_empty(const cairn__reader_t *r) {
  return r->version == NULL || cairn__ocdbt_loc_missing(&r->version->root);
}

/* --- opening and closing --- */

static void reader_free(cairn__reader_t *r) {
  cairn__nodes_reset(&r->nodes);
  cairn__ocdbt_manifest_free(&r->manifest);
  free(r);
}

static cairn_code_t make_store(cairn__reader_t *r, cairn_error_t *err) {
  const cairn__ocdbt_manifest_t *m = &r->manifest;
  if (m->num_versions != 0) r->version = &m->versions[m->num_versions - 1];
  r->kv = cairn__kv_new(r->rt, &cairn__ocdbt_reader_ops, r);
  if (r->kv != NULL) return CAIRN_OK;
  return cairn_fail(err, CAIRN_NO_MEMORY, "reader");
}

static void on_manifest(cairn_wait_t *w) {
  cairn__reader_t *r = cairn_container_of(w, cairn__reader_t, wait);
  cairn_future_t *done = r->open_done;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK &&
      make_store(r, &err) == CAIRN_OK) {
    *r->open_out = r->kv;
  } else {
    char name[512];
    cairn_kv_describe(r->base, cairn_bytes(NULL, 0), name, sizeof name);
    cairn_within(&err, "open database %s", name);
    reader_free(r);
  }
  cairn_future_resolve(done, &err);
}

cairn_future_t *cairn__ocdbt_open(cairn_kv_t *base, cairn_kv_t **out) {
  cairn_runtime_t *rt = cairn_kv_runtime(base);
  cairn_future_t *done;
  cairn__reader_t *r = cairn__op_new(rt, sizeof *r, "open", &done);
  *out = NULL;
  if (r == NULL) return done;
  r->rt = rt;
  r->base = r->nodes.base = base;
  r->open_out = out;
  r->open_done = done;
  cairn_then(cairn__manifest_load(base, &r->manifest), &r->wait, on_manifest);
  return done;
}

static cairn_future_t *reader_close(cairn_runtime_t *rt, void *self) {
  reader_free(self);
  return cairn_future_done(rt, NULL);
}

cairn__reader_t *cairn__reader_of(cairn_kv_t *kv, cairn_future_t **failed) {
  cairn_error_t err = {0};
  cairn__reader_t *r = cairn__kv_self(kv, &cairn__ocdbt_reader_ops);
  if (r != NULL) return r;
  cairn_fail(&err, CAIRN_INVALID, "not an OCDBT reader");
  *failed = cairn_future_done(cairn_kv_runtime(kv), &err);
  return NULL;
}

const cairn__ocdbt_manifest_t *cairn__ocdbt_manifest(cairn_kv_t *reader) {
  cairn__reader_t *r = cairn__kv_self(reader, &cairn__ocdbt_reader_ops);
  return r != NULL ? &r->manifest : NULL;
}

/* --- walk and list --- */

cairn_future_t *cairn__ocdbt_walk(cairn_kv_t *reader, cairn_bytes_t prefix,
                                  cairn__ocdbt_entry_fn fn, void *arg) {
  cairn_future_t *failed;
  cairn__reader_t *r = cairn__reader_of(reader, &failed);
  return r != NULL ? cairn__tree_walk(r, prefix, fn, arg) : failed;
}

struct listing {
  cairn_kv_key_fn fn;
  void *arg;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static bool list_entry(void *arg, cairn_bytes_t key,
                       const cairn__ocdbt_entry_t *e) {
  struct listing *s = arg;
  uint64_t size = e->is_inline ? e->value.n : e->loc.length;
  return s->fn(s->arg, key, (int64_t)size);
}

static void on_listed(cairn_wait_t *w) {
  struct listing *s = cairn_container_of(w, struct listing, wait);
  cairn_error_t err = {0};
  cairn_future_t *done = s->done;
  cairn_wait_result(w, &err);
  free(s);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *reader_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg) {
  cairn_future_t *done;
  struct listing *s = cairn__op_new(rt, sizeof *s, "list", &done);
  if (s == NULL) return done;
  *s = (struct listing){.fn = fn, .arg = arg, .done = done};
  cairn_then(cairn__tree_walk(self, prefix, list_entry, s), &s->wait,
             on_listed);
  return done;
}

/* --- the store --- */

static cairn_future_t *refuse(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_UNSUPPORTED, "the database is open for reading");
  return cairn_future_done(rt, &err);
}

static cairn_future_t *reader_open(cairn_runtime_t *rt, cairn_bytes_t spec,
                                   void **self) {
  (void)spec;
  *self = NULL;
  return refuse(rt);
}

static cairn_future_t *reader_write(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key, const struct iovec *iov,
                                    int niov, const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  (void)self, (void)key, (void)iov, (void)niov, (void)o, (void)out;
  return refuse(rt);
}

static cairn_future_t *reader_remove(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key,
                                     const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  (void)self, (void)key, (void)o, (void)out;
  return refuse(rt);
}

static uint32_t reader_caps(void *self) {
  (void)self;
  return CAIRN_KV_ATOMIC | CAIRN_KV_LIST_ORDERED | CAIRN_KV_READ_ONLY;
}

static void reader_describe(void *self, cairn_bytes_t key, char *out,
                            size_t cap) {
  cairn__reader_t *r = self;
  cairn__ocdbt_describe(r->base, key, out, cap);
}

const cairn_kv_ops_t cairn__ocdbt_reader_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(cairn_kv_ops_t),
    .scheme = "ocdbt",
    .open = reader_open,
    .close = reader_close,
    .caps = reader_caps,
    .read = cairn__reader_read,
    .write = reader_write,
    .remove = reader_remove,
    .list = reader_list,
    .describe = reader_describe,
};
