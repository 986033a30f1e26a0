/* The memory store's operations on all keys below a prefix. */
#include <stdlib.h>

#include "kv/kv_memory.h"

/* --- gathering them --- */

struct key {
  uint8_t *p; /* a copy: what is done with it may change the store */
  size_t n;
  int64_t size;
};

struct keys {
  cairn_bytes_t prefix;
  struct key *v;
  size_t n, cap;
  bool failed;
};

static bool keys_push(struct keys *k, cairn_bytes_t key, int64_t size) {
  if (k->n == k->cap) {
    size_t cap = k->cap == 0 ? 64 : k->cap * 2;
    struct key *v = reallocarray(k->v, cap, sizeof *v);
    if (v == NULL) return !(k->failed = true);
    k->v = v;
    k->cap = cap;
  }
  uint8_t *p = (uint8_t *)cairn__bytes_dup(key);
  if (p == NULL) return !(k->failed = true);
  k->v[k->n++] = (struct key){p, key.n, size};
  return true;
}

static bool keys_add(void *arg, cairn_bytes_t key, void *value) {
  struct keys *k = arg;
  const struct memory_value *v = value;
  if (!cairn__bytes_starts(key, k->prefix)) return true;
  return keys_push(k, key, (int64_t)v->n);
}

static void keys_reset(struct keys *k) {
  for (size_t i = 0; i < k->n; i++) free(k->v[i].p);
  free(k->v);
  *k = (struct keys){0};
}

static cairn_bytes_t key_at(const struct keys *k, size_t i) {
  return cairn_bytes(k->v[i].p, k->v[i].n);
}

/* lock is held. */
static bool keys_gather(struct memory_content *c, cairn_bytes_t prefix,
                        struct keys *out) {
  *out = (struct keys){.prefix = prefix};
  cairn__map_each(&c->values, keys_add, out);
  bool ok = !out->failed;
  if (!ok) keys_reset(out);
  return ok;
}

/* --- list --- */

struct list {
  size_t skip; /* the store's own prefix */
  struct keys keys;
  cairn_kv_key_fn fn;
  void *arg;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static int by_key(const void *a, const void *b) {
  const struct key *x = a, *y = b;
  return cairn__bytes_cmp(cairn_bytes(x->p, x->n), cairn_bytes(y->p, y->n));
}

/* On a later turn than the call, as everywhere. */
static void on_list(cairn_wait_t *w) {
  struct list *l = cairn_container_of(w, struct list, wait);
  cairn_future_t *done = l->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  for (size_t i = 0; i < l->keys.n; i++) {
    const struct key *k = &l->keys.v[i];
    if (!l->fn(l->arg, cairn_bytes(k->p + l->skip, k->n - l->skip), k->size))
      break;
  }
  keys_reset(&l->keys);
  free(l);
  cairn_future_resolve(done, &err);
}

static bool list_gather(struct list *l, struct memory_kv *kv,
                        cairn_bytes_t prefix) {
  struct memory_op *op = cairn__memory_op_new(kv, prefix);
  if (op == NULL) return false;
  pthread_mutex_lock(&kv->content->lock);
  bool ok = keys_gather(kv->content, op->key, &l->keys);
  pthread_mutex_unlock(&kv->content->lock);
  free(op);
  if (ok && l->keys.n > 0)
    qsort(l->keys.v, l->keys.n, sizeof *l->keys.v, by_key);
  return ok;
}

cairn_future_t *cairn__memory_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg) {
  struct memory_kv *kv = self;
  struct list *l = calloc(1, sizeof *l);
  cairn_future_t *done;
  if (l == NULL || !list_gather(l, kv, prefix)) {
    free(l);
    return cairn__memory_out(rt);
  }
  if (!cairn__promise(rt, &done)) {
    keys_reset(&l->keys);
    free(l);
    return done;
  }
  l->skip = kv->prefix_n;
  l->fn = fn;
  l->arg = arg;
  l->done = done;
  cairn_then(cairn_future_done(rt, NULL), &l->wait, on_list);
  return done;
}

/* --- remove --- */

cairn_future_t *cairn__memory_remove_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t prefix) {
  struct memory_kv *kv = self;
  struct memory_op *op = cairn__memory_op_new(kv, prefix);
  struct keys keys;
  if (op == NULL) return cairn__memory_out(rt);
  pthread_mutex_lock(&kv->content->lock);
  bool ok = keys_gather(kv->content, op->key, &keys);
  for (size_t i = 0; ok && i < keys.n; i++)
    cairn__memory_value_drop(
        cairn__map_del(&kv->content->values, key_at(&keys, i)));
  pthread_mutex_unlock(&kv->content->lock);
  free(op);
  if (!ok) return cairn__memory_out(rt);
  keys_reset(&keys);
  return cairn_future_done(rt, NULL);
}

/* --- rename: all under the lock. The new names are made and inserted first, as
 * only that can fail; a value stands under both names then, with one reference.
 */

static bool names_make(const struct keys *old, size_t from_n, cairn_bytes_t to,
                       struct keys *new) {
  cairn_buf_t name = {0};
  for (size_t i = 0; i < old->n && !new->failed; i++) {
    name.n = 0;
    cairn_buf_put(&name, to.p, to.n);
    cairn_buf_put(&name, old->v[i].p + from_n, old->v[i].n - from_n);
    if (name.failed)
      new->failed = true;
    else
      keys_push(new, cairn_buf_bytes(&name), 0);
  }
  cairn_buf_reset(&name);
  return !new->failed;
}

static void names_delete(struct memory_content *c, const struct keys *k,
                         size_t n) {
  for (size_t i = 0; i < n; i++) cairn__map_del(&c->values, key_at(k, i));
}

static bool names_move(struct memory_content *c, const struct keys *old,
                       const struct keys *new) {
  for (size_t i = 0; i < old->n; i++) {
    void *value = cairn__map_get(&c->values, key_at(old, i));
    if (cairn__map_set(&c->values, key_at(new, i), value, NULL)) continue;
    names_delete(c, new, i);
    return false;
  }
  names_delete(c, old, old->n);
  return true;
}

static cairn_code_t rename_locked(struct memory_content *c, cairn_bytes_t from,
                                  cairn_bytes_t to, cairn_error_t *err) {
  struct keys old = {0}, new = {0};
  cairn_code_t rc = CAIRN_OK;
  if (!keys_gather(c, from, &old) || !keys_gather(c, to, &new))
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory to rename");
  else if (new.n > 0)
    rc = cairn_fail(err, CAIRN_EXISTS, "%.*s is there already",
                    (int)(to.n < 200 ? to.n : 200), (const char *)to.p);
  else if (old.n == 0)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "there is nothing to rename");
  else if (!names_make(&old, from.n, to, &new) || !names_move(c, &old, &new))
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "no memory to rename");
  keys_reset(&old);
  keys_reset(&new);
  return rc;
}

cairn_future_t *cairn__memory_rename_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t from,
                                            cairn_bytes_t to) {
  struct memory_kv *kv = self;
  struct memory_op *a = cairn__memory_op_new(kv, from);
  struct memory_op *b = cairn__memory_op_new(kv, to);
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
