/* The memory store: what is written is gone with the last one that has it open.
 *
 * The first part of the path is the store's name ("memory://name/path/"):
 * stores of one name share their content, over all runtimes of the process, so
 * that several ranks in one process see one store. A mutex per process guards
 * the names, one per content the values; both are held for moments only.
 *
 * Values are immutable, reference counted buffers: a read without a destination
 * borrows, and a value read stays whole however often its key is rewritten. The
 * keys are in a hash map and sorted for a listing. Copies of more than
 * INLINE_BYTES are made on a CPU thread. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "kv/kv.h"

#define INLINE_BYTES (64 << 10)

/* --- values --- */

struct value {
  atomic_int refs;
  uint64_t generation;
  size_t n;
  uint8_t data[];
};

static void value_drop(void *arg) {
  struct value *v = arg;
  if (atomic_fetch_sub(&v->refs, 1) == 1) free(v);
}

static struct value *value_ref(struct value *v) {
  atomic_fetch_add(&v->refs, 1);
  return v;
}

/* As TensorStore has it: a byte 0 for "a value", then the store's own token. */
static cairn_gen_t generation_of(const struct value *v) {
  cairn_gen_t g = {0};
  if (v == NULL) return CAIRN_GEN_ABSENT;
  g.n = 9;
  memcpy(g.b + 1, &v->generation, sizeof v->generation);
  return g;
}

/* --- contents, shared by name --- */

struct content {
  struct content *next;
  int opened; /* under names_lock */
  pthread_mutex_t lock;
  cairn__map_t values;
  uint64_t generation; /* the last given out: never the same twice */
  size_t name_n;
  uint8_t name[];
};

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct content *contents;

static struct content *content_new(cairn_bytes_t name) {
  struct content *c = calloc(1, sizeof *c + name.n);
  if (c == NULL) return NULL;
  pthread_mutex_init(&c->lock, NULL);
  c->name_n = name.n;
  if (name.n > 0) memcpy(c->name, name.p, name.n);
  c->next = contents;
  contents = c;
  return c;
}

static struct content *content_open(cairn_bytes_t name) {
  pthread_mutex_lock(&names_lock);
  struct content *c = contents;
  while (c != NULL && !cairn__bytes_eq(cairn_bytes(c->name, c->name_n), name))
    c = c->next;
  if (c == NULL) c = content_new(name);
  if (c != NULL) c->opened++;
  pthread_mutex_unlock(&names_lock);
  return c;
}

static void content_close(struct content *c) {
  pthread_mutex_lock(&names_lock);
  bool last = --c->opened == 0;
  for (struct content **p = &contents; last && *p != NULL; p = &(*p)->next) {
    if (*p != c) continue;
    *p = c->next;
    break;
  }
  pthread_mutex_unlock(&names_lock);
  if (!last) return;
  cairn__map_reset(&c->values, value_drop);
  pthread_mutex_destroy(&c->lock);
  free(c);
}

/* --- one operation: run at once, or on a CPU thread if it copies much --- */

struct memory_kv {
  struct content *content;
  char *name; /* for messages */
  size_t prefix_n;
  uint8_t prefix[]; /* the path below the name: before every key */
};

struct op {
  struct memory_kv *kv;
  cairn_bytes_t key; /* prefix and key, in this allocation */
  const struct iovec *iov;
  int niov;
  const cairn_read_opts_t *read;
  const cairn_write_opts_t *write;
  cairn_value_t *value;
  cairn_written_t *written;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static struct op *op_new(struct memory_kv *kv, cairn_bytes_t key) {
  struct op *op = malloc(sizeof *op + kv->prefix_n + key.n + 1);
  if (op == NULL) return NULL;
  uint8_t *p = (uint8_t *)(op + 1);
  memcpy(p, kv->prefix, kv->prefix_n);
  if (key.n > 0) memcpy(p + kv->prefix_n, key.p, key.n);
  *op = (struct op){.kv = kv, .key = cairn_bytes(p, kv->prefix_n + key.n)};
  return op;
}

static cairn_future_t *no_memory(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s", cairn_code_text(CAIRN_NO_MEMORY));
  return cairn_future_done(rt, &err);
}

static void on_op(cairn_wait_t *w) {
  struct op *op = cairn_container_of(w, struct op, wait);
  cairn_future_t *done = op->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  free(op);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *op_run(cairn_runtime_t *rt, struct op *op,
                              cairn_work_fn fn, uint64_t bytes) {
  cairn_error_t err = {0};
  if (bytes > INLINE_BYTES) {
    cairn_future_t *done = op->done = cairn_future_new(rt);
    if (cairn_future_ready(done))
      free(op);
    else
      cairn_then(cairn_work(rt, fn, op), &op->wait, on_op);
    return done;
  }
  fn(op, &err);
  free(op);
  return cairn_future_done(rt, &err);
}

/* --- read --- */

static struct value *lookup(struct op *op) {
  struct content *c = op->kv->content;
  pthread_mutex_lock(&c->lock);
  struct value *v = cairn__map_get(&c->values, op->key);
  if (v != NULL) value_ref(v);
  pthread_mutex_unlock(&c->lock);
  return v;
}

static cairn_code_t read_value(struct op *op, struct value *v,
                               cairn_error_t *err) {
  cairn_value_t *out = op->value;
  uint64_t off;
  size_t n;
  void *dst;
  cairn_code_t rc = cairn__read_range(op->read, v->n, &off, &n, err);
  if (rc != CAIRN_OK) return rc;
  if (op->read->dst == NULL) {
    out->data = cairn_bytes(v->data + off, n);
    out->release = value_drop;
    out->release_arg = value_ref(v);
  } else {
    rc = cairn__value_room(op->read, n, out, &dst, err);
    if (rc != CAIRN_OK) return rc;
    if (n > 0) memcpy(dst, v->data + off, n);
  }
  out->gen = generation_of(v);
  out->total_size = v->n;
  out->found = true;
  return CAIRN_OK;
}

static cairn_code_t do_read(void *job, cairn_error_t *err) {
  struct op *op = job;
  struct value *v = lookup(op);
  if (v == NULL) {
    op->value->gen = CAIRN_GEN_ABSENT;
    return CAIRN_OK;
  }
  cairn_code_t rc = read_value(op, v, err);
  value_drop(v);
  return rc;
}

static cairn_future_t *memory_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  struct op *op = op_new(self, key);
  if (op == NULL) return no_memory(rt);
  op->read = o;
  op->value = out;
  return op_run(rt, op, do_read, o->dst != NULL ? o->cap : 0);
}

/* --- write and remove --- */

/* lock is held. */
static bool condition_met(struct op *op) {
  struct value *now = cairn__map_get(&op->kv->content->values, op->key);
  cairn_gen_t gen = generation_of(now);
  op->written->condition_met = cairn__gen_met(op->write->if_equal, &gen);
  return op->written->condition_met;
}

static struct value *value_new(const struct op *op, uint64_t n) {
  struct value *v = n <= SIZE_MAX / 2 ? malloc(sizeof *v + (size_t)n) : NULL;
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

static cairn_code_t put(struct op *op, struct value *v, cairn_error_t *err) {
  struct content *c = op->kv->content;
  void *old = v; /* ours again if it is not put */
  cairn_code_t rc = CAIRN_OK;
  pthread_mutex_lock(&c->lock);
  v->generation = ++c->generation;
  if (condition_met(op)) {
    op->written->gen = generation_of(v);
    if (!cairn__map_set(&c->values, op->key, v, &old)) {
      old = v;
      rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the key");
    }
  }
  pthread_mutex_unlock(&c->lock);
  if (old != NULL) value_drop(old);
  return rc;
}

static cairn_code_t do_write(void *job, cairn_error_t *err) {
  struct op *op = job;
  uint64_t n;
  cairn_code_t rc = cairn__iov_total(op->iov, op->niov, &n, err);
  if (rc != CAIRN_OK) return rc;
  struct value *v = value_new(op, n);
  if (v == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for %llu bytes",
                      (unsigned long long)n);
  return put(op, v, err);
}

static cairn_future_t *memory_write(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key, const struct iovec *iov,
                                    int niov, const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  struct op *op = op_new(self, key);
  uint64_t n = 0;
  if (op == NULL) return no_memory(rt);
  op->iov = iov;
  op->niov = niov;
  op->write = o;
  op->written = out;
  if (cairn__iov_total(iov, niov, &n, NULL) != CAIRN_OK) n = 0;
  return op_run(rt, op, do_write, n);
}

static cairn_code_t do_remove(void *job, cairn_error_t *err) {
  struct op *op = job;
  struct content *c = op->kv->content;
  struct value *old = NULL;
  (void)err;
  pthread_mutex_lock(&c->lock);
  if (condition_met(op)) old = cairn__map_del(&c->values, op->key);
  pthread_mutex_unlock(&c->lock);
  if (op->written->condition_met) op->written->gen = CAIRN_GEN_ABSENT;
  if (old != NULL) value_drop(old);
  return CAIRN_OK;
}

static cairn_future_t *memory_remove(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key,
                                     const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  struct op *op = op_new(self, key);
  if (op == NULL) return no_memory(rt);
  op->write = o;
  op->written = out;
  return op_run(rt, op, do_remove, 0);
}

/* --- the keys below a prefix --- */

struct key {
  uint8_t *p; /* a copy: the listing's callback may change the store */
  size_t n;
  int64_t size;
};

struct keys {
  cairn_bytes_t prefix;
  struct key *v;
  size_t n, cap;
  bool failed;
};

static bool keys_add(void *arg, cairn_bytes_t key, void *value) {
  struct keys *k = arg;
  if (!cairn__bytes_starts(key, k->prefix)) return true;
  if (k->n == k->cap) {
    size_t cap = k->cap == 0 ? 64 : k->cap * 2;
    struct key *v = realloc(k->v, cap * sizeof *v);
    if (v == NULL) return !(k->failed = true);
    k->v = v;
    k->cap = cap;
  }
  uint8_t *p = (uint8_t *)cairn__bytes_dup(key);
  if (p == NULL) return !(k->failed = true);
  k->v[k->n++] = (struct key){p, key.n, (int64_t)((struct value *)value)->n};
  return true;
}

static void keys_reset(struct keys *k) {
  for (size_t i = 0; i < k->n; i++) free(k->v[i].p);
  free(k->v);
  *k = (struct keys){0};
}

/* lock is held. */
static bool keys_gather(struct content *c, cairn_bytes_t prefix,
                        struct keys *out) {
  *out = (struct keys){.prefix = prefix};
  cairn__map_each(&c->values, keys_add, out);
  if (out->failed) keys_reset(out);
  return !out->failed;
}

static int by_key(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  return cairn__bytes_cmp(cairn_bytes(x->p, x->n), cairn_bytes(y->p, y->n));
}

static cairn_future_t *memory_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg) {
  struct memory_kv *kv = self;
  struct op *op = op_new(kv, prefix);
  struct keys keys;
  if (op == NULL) return no_memory(rt);
  pthread_mutex_lock(&kv->content->lock);
  bool ok = keys_gather(kv->content, op->key, &keys);
  pthread_mutex_unlock(&kv->content->lock);
  free(op);
  if (!ok) return no_memory(rt);
  if (keys.n > 0) qsort(keys.v, keys.n, sizeof *keys.v, by_key);
  for (size_t i = 0; i < keys.n; i++) {
    const struct key *k = &keys.v[i];
    if (!fn(arg, cairn_bytes(k->p + kv->prefix_n, k->n - kv->prefix_n),
            k->size))
      break;
  }
  keys_reset(&keys);
  return cairn_future_done(rt, NULL);
}

static cairn_future_t *memory_remove_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t prefix) {
  struct memory_kv *kv = self;
  struct op *op = op_new(kv, prefix);
  struct keys keys;
  if (op == NULL) return no_memory(rt);
  pthread_mutex_lock(&kv->content->lock);
  bool ok = keys_gather(kv->content, op->key, &keys);
  for (size_t i = 0; ok && i < keys.n; i++)
    value_drop(cairn__map_del(&kv->content->values,
                              cairn_bytes(keys.v[i].p, keys.v[i].n)));
  pthread_mutex_unlock(&kv->content->lock);
  free(op);
  if (!ok) return no_memory(rt);
  keys_reset(&keys);
  return cairn_future_done(rt, NULL);
}

/* --- rename: insert all new names first, as only that can fail --- */

static bool insert_renamed(struct content *c, const struct keys *keys,
                           size_t from_n, cairn_bytes_t to) {
  cairn__buf_t name = {0};
  size_t i;
  bool ok = true;
  for (i = 0; ok && i < keys->n; i++) {
    const struct key *k = &keys->v[i];
    name.n = 0;
    cairn__buf_put(&name, to.p, to.n);
    cairn__buf_put(&name, k->p + from_n, k->n - from_n);
    ok = !name.failed &&
         cairn__map_set(&c->values, cairn__buf_bytes(&name),
                        cairn__map_get(&c->values, cairn_bytes(k->p, k->n)),
                        NULL);
  }
  cairn__buf_reset(&name);
  return ok;
}

static cairn_code_t rename_locked(struct content *c, cairn_bytes_t from,
                                  cairn_bytes_t to, cairn_error_t *err) {
  struct keys old, new;
  cairn_code_t rc = CAIRN_OK;
  if (!keys_gather(c, from, &old)) goto no_memory;
  if (!keys_gather(c, to, &new)) goto no_memory_old;
  if (new.n > 0)
    rc = cairn_fail(err, CAIRN_EXISTS, "%.*s is there already",
                    (int)(to.n < 200 ? to.n : 200), (const char *)to.p);
  else if (old.n == 0)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "there is nothing to rename");
  keys_reset(&new);
  if (rc == CAIRN_OK && !insert_renamed(c, &old, from.n, to)) {
    if (keys_gather(c, to, &new)) {
      for (size_t i = 0; i < new.n; i++)
        cairn__map_del(&c->values, cairn_bytes(new.v[i].p, new.v[i].n));
      keys_reset(&new);
    }
    goto no_memory_old;
  }
  for (size_t i = 0; rc == CAIRN_OK && i < old.n; i++)
    cairn__map_del(&c->values, cairn_bytes(old.v[i].p, old.v[i].n));
  keys_reset(&old);
  return rc;
no_memory_old:
  keys_reset(&old);
no_memory:
  return cairn_fail(err, CAIRN_NO_MEMORY, "no memory to rename");
}

static cairn_future_t *memory_rename_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t from,
                                            cairn_bytes_t to) {
  struct memory_kv *kv = self;
  struct op *a = op_new(kv, from), *b = op_new(kv, to);
  cairn_error_t err = {0};
  if (a != NULL && b != NULL) {
    pthread_mutex_lock(&kv->content->lock);
    rename_locked(kv->content, a->key, b->key, &err);
    pthread_mutex_unlock(&kv->content->lock);
  } else {
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory to rename");
  }
  free(a);
  free(b);
  return cairn_future_done(rt, &err);
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
  kv->content =
      kv->name != NULL ? content_open(cairn_bytes(path.p, name_n)) : NULL;
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
  cairn__json_doc_t doc = {0};
  cairn_error_t err = {0};
  struct memory_kv *kv = NULL;
  if (cairn__kv_spec_members(spec, members, &doc, &err) == CAIRN_OK) {
    const cairn__json_t *path = cairn__json_get(doc.root, "path");
    memory_new(path != NULL ? path->str : cairn_bytes(NULL, 0), &kv, &err);
    cairn__json_free(&doc);
  }
  *self = kv;
  return cairn_future_done(rt, &err);
}

static cairn_future_t *memory_close(cairn_runtime_t *rt, void *self) {
  struct memory_kv *kv = self;
  content_close(kv->content);
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
    .list = memory_list,
    .rename_prefix = memory_rename_prefix,
    .remove_prefix = memory_remove_prefix,
    .describe = memory_describe,
};
