/* The memory store: spec, open, close, values, the vtable. Contents are in
 * memory_content.c, listings and whole prefixes in memory_prefix.c.
 *
 * Copies of more than INLINE_BYTES are made on a CPU thread. */
#include <stdio.h>
#include <stdlib.h>

#include "kv/kv_memory.h"

#define INLINE_BYTES (64 << 10)

/* --- one operation: run at once, or on a CPU thread if it copies much --- */

struct memory_op *cairn__memory_op_new(struct memory_kv *kv,
                                       cairn_bytes_t key) {
  struct memory_op *op = malloc(sizeof *op + kv->prefix_n + key.n + 1);
  if (op == NULL) return NULL;
  uint8_t *p = (uint8_t *)(op + 1);
  memcpy(p, kv->prefix, kv->prefix_n);
  if (key.n > 0) memcpy(p + kv->prefix_n, key.p, key.n);
  *op =
      (struct memory_op){.kv = kv, .key = cairn_bytes(p, kv->prefix_n + key.n)};
  return op;
}

cairn_future_t *cairn__memory_out(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s", cairn_code_text(CAIRN_NO_MEMORY));
  return cairn_future_done(rt, &err);
}

static void on_op(cairn_wait_t *w) {
  struct memory_op *op = cairn_container_of(w, struct memory_op, wait);
  cairn_future_t *done = op->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  free(op);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *op_run(cairn_runtime_t *rt, struct memory_op *op,
                              cairn_work_fn fn, uint64_t bytes) {
  cairn_error_t err = {0};
  if (bytes > INLINE_BYTES) {
    cairn_future_t *done;
    if (cairn__promise(rt, &done)) {
      op->done = done;
      cairn_then(cairn_work(rt, fn, op), &op->wait, on_op);
    } else {
      free(op);
    }
    return done;
  }
  fn(op, &err);
  free(op);
  return cairn_future_done(rt, &err);
}

/* --- read --- */

static struct memory_value *lookup(struct memory_op *op) {
  struct memory_content *c = op->kv->content;
  pthread_mutex_lock(&c->lock);
  struct memory_value *v = cairn__map_get(&c->values, op->key);
  if (v != NULL) cairn__memory_value_ref(v);
  pthread_mutex_unlock(&c->lock);
  return v;
}

static cairn_code_t read_value(struct memory_op *op, struct memory_value *v,
                               cairn_error_t *err) {
  cairn_value_t *out = op->value;
  uint64_t off;
  size_t n;
  void *dst;
  cairn_code_t rc = cairn__read_range(op->read, v->n, &off, &n, err);
  if (rc != CAIRN_OK) return rc;
  if (op->read->dst == NULL) {
    out->data = cairn_bytes(v->data + off, n);
    out->release = cairn__memory_value_drop;
    out->release_arg = cairn__memory_value_ref(v);
  } else {
    rc = cairn__value_room(op->read, n, out, &dst, err);
    if (rc != CAIRN_OK) return rc;
    if (n > 0) memcpy(dst, v->data + off, n);
  }
  out->gen = cairn__memory_gen(v);
  out->total_size = v->n;
  out->found = true;
  return CAIRN_OK;
}

static cairn_code_t do_read(void *job, cairn_error_t *err) {
  struct memory_op *op = job;
  struct memory_value *v = lookup(op);
  if (v == NULL) {
    op->value->gen = CAIRN_GEN_ABSENT;
    return CAIRN_OK;
  }
  cairn_code_t rc = read_value(op, v, err);
  cairn__memory_value_drop(v);
  return rc;
}

static cairn_future_t *memory_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  struct memory_op *op = cairn__memory_op_new(self, key);
  if (op == NULL) return cairn__memory_out(rt);
  op->read = o;
  op->value = out;
  return op_run(rt, op, do_read, o->dst != NULL ? o->cap : 0);
}

/* --- write and remove --- */

/* lock is held. */
static bool condition_met(struct memory_op *op) {
  struct memory_value *now = cairn__map_get(&op->kv->content->values, op->key);
  cairn_gen_t gen = cairn__memory_gen(now);
  op->written->condition_met = cairn__gen_met(op->write->if_equal, &gen);
  return op->written->condition_met;
}

static struct memory_value *value_new(const struct memory_op *op, uint64_t n) {
  struct memory_value *v =
      n <= SIZE_MAX / 2 ? malloc(sizeof *v + (size_t)n) : NULL;
  if (v == NULL) return NULL;
  atomic_init(&v->refs, 1);
  v->n = 0;
  for (int i = 0; i < op->niov; i++) {
    if (op->iov[i].iov_len == 0) continue;
    memcpy(v->data + v->n, op->iov[i].iov_base, op->iov[i].iov_len);
    v->n += op->iov[i].iov_len;
  }
  return v;
}

static cairn_code_t put(struct memory_op *op, struct memory_value *v,
                        cairn_error_t *err) {
  struct memory_content *c = op->kv->content;
  void *old = v; /* ours again if it is not put */
  cairn_code_t rc = CAIRN_OK;
  pthread_mutex_lock(&c->lock);
  v->generation = ++c->generation;
  if (condition_met(op)) {
    op->written->gen = cairn__memory_gen(v);
    if (!cairn__map_set(&c->values, op->key, v, &old)) {
      old = v;
      rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the key");
    }
  }
  pthread_mutex_unlock(&c->lock);
  if (old != NULL) cairn__memory_value_drop(old);
  return rc;
}

static cairn_code_t do_write(void *job, cairn_error_t *err) {
  struct memory_op *op = job;
  uint64_t n;
  cairn_code_t rc = cairn__iov_total(op->iov, op->niov, &n, err);
  if (rc != CAIRN_OK) return rc;
  struct memory_value *v = value_new(op, n);
  if (v == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for %llu bytes",
                      (unsigned long long)n);
  return put(op, v, err);
}

static cairn_future_t *memory_write(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key, const struct iovec *iov,
                                    int niov, const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  struct memory_op *op = cairn__memory_op_new(self, key);
  uint64_t n = 0;
  if (op == NULL) return cairn__memory_out(rt);
  op->iov = iov;
  op->niov = niov;
  op->write = o;
  op->written = out;
  if (cairn__iov_total(iov, niov, &n, NULL) != CAIRN_OK) n = 0;
  return op_run(rt, op, do_write, n);
}

static cairn_code_t do_remove(void *job, cairn_error_t *err) {
  struct memory_op *op = job;
  struct memory_content *c = op->kv->content;
  struct memory_value *old = NULL;
  (void)err;
  pthread_mutex_lock(&c->lock);
  if (condition_met(op)) old = cairn__map_del(&c->values, op->key);
  pthread_mutex_unlock(&c->lock);
  if (op->written->condition_met) op->written->gen = CAIRN_GEN_ABSENT;
  if (old != NULL) cairn__memory_value_drop(old);
  return CAIRN_OK;
}

static cairn_future_t *memory_remove(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key,
                                     const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  struct memory_op *op = cairn__memory_op_new(self, key);
  if (op == NULL) return cairn__memory_out(rt);
  op->write = o;
  op->written = out;
  return op_run(rt, op, do_remove, 0);
}

/* --- the store --- */

static cairn_code_t memory_new(cairn_bytes_t path, struct memory_kv **out,
                               cairn_error_t *err) {
  const uint8_t *slash = path.n > 0 ? memchr(path.p, '/', path.n) : NULL;
  size_t name_n = slash != NULL ? (size_t)(slash - path.p) : path.n;
  size_t skip = slash != NULL ? name_n + 1 : name_n;
  struct memory_kv *kv = calloc(1, sizeof *kv + path.n - skip + 1);
  if (kv == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "memory store");
  kv->prefix_n = path.n - skip;
  if (kv->prefix_n > 0) memcpy(kv->prefix, path.p + skip, kv->prefix_n);
  kv->name = cairn__bytes_dup(path);
  kv->content = kv->name != NULL
                    ? cairn__memory_content_open(cairn_bytes(path.p, name_n))
                    : NULL;
  if (kv->content == NULL) {
    free(kv->name);
    free(kv);
    return cairn_fail(err, CAIRN_NO_MEMORY, "memory store");
  }
  *out = kv;
  return CAIRN_OK;
}

static cairn_future_t *memory_open(cairn_runtime_t *rt, cairn_bytes_t spec,
                                   void **self) {
  static const char *const members[] = {"path", NULL};
  cairn_json_doc_t doc = {0};
  cairn_error_t err = {0};
  struct memory_kv *kv = NULL;
  if (cairn__kv_spec_members(spec, members, &doc, &err) == CAIRN_OK) {
    const cairn_json_t *path = cairn_json_get(doc.root, "path");
    memory_new(path != NULL ? path->str : cairn_bytes(NULL, 0), &kv, &err);
    cairn_json_free(&doc);
  }
  *self = kv;
  return cairn_future_done(rt, &err);
}

static cairn_future_t *memory_close(cairn_runtime_t *rt, void *self) {
  struct memory_kv *kv = self;
  cairn__memory_content_close(kv->content);
  free(kv->name);
  free(kv);
  return cairn_future_done(rt, NULL);
}

static uint32_t memory_caps(void *self) {
  (void)self;
  return CAIRN_KV_ATOMIC | CAIRN_KV_CREATE_ONLY | CAIRN_KV_CAS |
         CAIRN_KV_RENAME_PREFIX | CAIRN_KV_DURABLE_ACK | CAIRN_KV_LIST_ORDERED;
}

static void memory_describe(void *self, cairn_bytes_t key, char *out,
                            size_t cap) {
  const struct memory_kv *kv = self;
  snprintf(out, cap, "memory://%s%.*s", kv->name,
           (int)(key.n < 4096 ? key.n : 4096),
           key.n > 0 ? (const char *)key.p : "");
}

const cairn_kv_ops_t cairn__kv_memory_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(cairn_kv_ops_t),
    .scheme = "memory",
    .open = memory_open,
    .close = memory_close,
    .caps = memory_caps,
    .read = memory_read,
    .write = memory_write,
    .remove = memory_remove,
    .list = cairn__memory_list,
    .rename_prefix = cairn__memory_rename_prefix,
    .remove_prefix = cairn__memory_remove_prefix,
    .describe = memory_describe,
};
