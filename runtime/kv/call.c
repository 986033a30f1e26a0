/* One call on a store: the key made full, everything copied that the driver may
 * look at later, the driver asked, its error given the verb and the key's name.
 *
 * A call is one allocation: struct, full key (and second key), iovecs. It lives
 * until the driver's future is ready, which is what drivers rely on. */
#include <stdlib.h>

#include "kv/kv.h"

struct call {
  cairn_kv_t *kv;
  const char *verb;
  cairn_bytes_t key, to; /* full; `to` of a rename */
  struct iovec *iov;     /* of a write */
  cairn_future_t *done;
  cairn_wait_t wait;

  cairn_read_opts_t read;
  cairn_value_t *value; /* of a read: the caller's */
  cairn_write_opts_t write;
  cairn_gen_t gen;         /* what write.if_equal points to */
  cairn_written_t written; /* stands in for an out-parameter that is NULL */
  cairn_kv_key_fn fn;
  void *arg;
};

static cairn_future_t *refuse(cairn_kv_t *kv, const char *verb,
                              cairn_bytes_t key, cairn_error_t *err) {
  char name[512];
  cairn_kv_describe(kv, key, name, sizeof name);
  cairn_within(err, "%s %s", verb, name);
  return cairn_future_done(kv->rt, err);
}

/* A call on `key`, with room for `more` bytes after the struct. NULL: *refused
 * is the future to return. */
static struct call *call_new(cairn_kv_t *kv, const char *verb, bool change,
                             cairn_bytes_t key, size_t more,
                             cairn_future_t **refused) {
  cairn_error_t err = {0};
  cairn_bytes_t full;
  struct call *c = NULL;
  if (cairn__kv_may(kv, change, &err) == CAIRN_OK) {
    c = cairn__kv_alloc_key(kv, sizeof *c + more, key, &full);
    if (c == NULL) cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for the call");
  }
  if (c == NULL) {
    *refused = refuse(kv, verb, key, &err);
    return NULL;
  }
  *c = (struct call){.kv = kv, .verb = verb, .key = full};
  if (cairn__promise(kv->rt, &c->done)) return c;
  *refused = c->done;
  free(c);
  return NULL;
}

/* Before the driver was asked. */
static cairn_future_t *call_refuse(struct call *c, cairn_error_t *err) {
  cairn_future_t *done = c->done;
  char name[512];
  cairn__kv_describe_full(c->kv, c->key, name, sizeof name);
  cairn_within(err, "%s %s", c->verb, name);
  free(c);
  cairn_future_resolve(done, err);
  return done;
}

static void on_done(cairn_wait_t *w) {
  struct call *c = cairn_container_of(w, struct call, wait);
  cairn_kv_t *kv = c->kv;
  cairn_future_t *done = c->done;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (c->fn != NULL && cairn_future_cancelled(done)) /* a part is no listing */
    cairn_fail(&err, CAIRN_CANCELLED, "the listing was cancelled");
  if (err.code != CAIRN_OK) {
    char name[512];
    cairn__kv_describe_full(kv, c->key, name, sizeof name);
    if (!kv->layered) cairn_within(&err, "%s %s", c->verb, name);
    if (c->value != NULL) cairn_value_reset(c->value);
  }
  free(c);
  cairn__kv_leave(kv);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *call_begin(struct call *c, cairn_future_t *driver) {
  cairn_future_t *done = c->done;
  cairn__kv_enter(c->kv);
  cairn_then(driver, &c->wait, on_done);
  return done;
}

/* --- options: what the caller's version of the struct has --- */

static cairn_read_opts_t read_opts(const cairn_read_opts_t *o) {
  cairn_read_opts_t full = {0};
  if (o != NULL)
    memcpy(&full, o,
           o->size != 0 && o->size < sizeof full ? o->size : sizeof full);
  full.size = sizeof full;
  return full;
}

cairn_write_opts_t cairn__kv_write_opts(const cairn_write_opts_t *o,
                                        cairn_gen_t *gen) {
  cairn_write_opts_t full = {0};
  if (o != NULL)
    memcpy(&full, o,
           o->size != 0 && o->size < sizeof full ? o->size : sizeof full);
  full.size = sizeof full;
  if (full.if_equal != NULL) {
    *gen = *full.if_equal;
    full.if_equal = gen;
  }
  return full;
}

/* --- the verbs --- */

cairn_future_t *cairn_kv_read(cairn_kv_t *kv, cairn_bytes_t key,
                              const cairn_read_opts_t *o, cairn_value_t *out) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "read", false, key, 0, &refused);
  *out = (cairn_value_t){0};
  if (c == NULL) return refused;
  c->read = read_opts(o);
  c->value = out;
  return call_begin(c,
                    kv->ops.read(kv->rt, kv->self, c->key, &c->read, c->value));
}

cairn_future_t *cairn_kv_write(cairn_kv_t *kv, cairn_bytes_t key,
                               const struct iovec *iov, int niov,
                               const cairn_write_opts_t *o,
                               cairn_written_t *out) {
  cairn_future_t *refused;
  cairn_error_t err = {0};
  uint64_t total;
  size_t bytes = niov > 0 ? (size_t)niov * sizeof *iov : 0;
  struct call *c = call_new(kv, "write", true, key, bytes, &refused);
  if (out != NULL) *out = (cairn_written_t){0};
  if (c == NULL) return refused;
  if (cairn__iov_total(iov, niov, &total, &err) != CAIRN_OK)
    return call_refuse(c, &err);
  c->iov = (struct iovec *)(c + 1);
  if (bytes > 0) memcpy(c->iov, iov, bytes);
  c->write = cairn__kv_write_opts(o, &c->gen);
  return call_begin(
      c, kv->ops.write(kv->rt, kv->self, c->key, c->iov, niov, &c->write,
                       out != NULL ? out : &c->written));
}

cairn_future_t *cairn_kv_remove(cairn_kv_t *kv, cairn_bytes_t key,
                                const cairn_write_opts_t *o,
                                cairn_written_t *out) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "remove", true, key, 0, &refused);
  if (out != NULL) *out = (cairn_written_t){0};
  if (c == NULL) return refused;
  c->write = cairn__kv_write_opts(o, &c->gen);
  return call_begin(c, kv->ops.remove(kv->rt, kv->self, c->key, &c->write,
                                      out != NULL ? out : &c->written));
}

/* The driver's keys begin with the view's prefix; the caller's do not. */
static bool list_key(void *arg, cairn_bytes_t key, int64_t size) {
  struct call *c = arg;
  size_t n = c->kv->prefix_n;
  if (cairn_future_cancelled(c->done)) return false;
  if (key.n < n) return true;
  return c->fn(c->arg, cairn_bytes(key.p + n, key.n - n), size);
}

cairn_future_t *cairn_kv_list(cairn_kv_t *kv, cairn_bytes_t prefix,
                              cairn_kv_key_fn fn, void *arg) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "list", false, prefix, 0, &refused);
  if (c == NULL) return refused;
  c->fn = fn;
  c->arg = arg;
  return call_begin(c, kv->ops.list(kv->rt, kv->self, c->key, list_key, c));
}

cairn_future_t *cairn_kv_list_dir(cairn_kv_t *kv, cairn_bytes_t prefix,
                                  cairn_kv_key_fn fn, void *arg) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "list", false, prefix, 0, &refused);
  if (c == NULL) return refused;
  return call_begin(c, kv->ops.list_dir != NULL
                           ? kv->ops.list_dir(kv->rt, kv->self, c->key, fn, arg)
                           : cairn__kv_generic_list_dir(kv, c->key, fn, arg));
}

cairn_future_t *cairn_kv_remove_prefix(cairn_kv_t *kv, cairn_bytes_t prefix) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "remove", true, prefix, 0, &refused);
  if (c == NULL) return refused;
  return call_begin(c, kv->ops.remove_prefix != NULL
                           ? kv->ops.remove_prefix(kv->rt, kv->self, c->key)
                           : cairn__kv_generic_remove_prefix(kv, c->key));
}

/* A driver without sync has no writes that wait for one. */
cairn_future_t *cairn_kv_sync(cairn_kv_t *kv, cairn_bytes_t prefix) {
  cairn_future_t *refused;
  struct call *c = call_new(kv, "sync", false, prefix, 0, &refused);
  if (c == NULL) return refused;
  return call_begin(c, kv->ops.sync != NULL
                           ? kv->ops.sync(kv->rt, kv->self, c->key)
                           : cairn_future_done(kv->rt, NULL));
}

static bool is_dir(cairn_bytes_t prefix) {
  return cairn__bytes_ends(prefix, cairn_bytes_str("/"));
}

static cairn_code_t may_rename(const struct call *c, cairn_error_t *err) {
  if (!is_dir(c->key) || !is_dir(c->to))
    return cairn_fail(err, CAIRN_INVALID, "a prefix to rename ends in '/'");
  if (cairn__bytes_starts(c->to, c->key) || cairn__bytes_starts(c->key, c->to))
    return cairn_fail(
        err, CAIRN_INVALID, "cannot rename to \"%.*s\": one holds the other",
        (int)(c->to.n < 200 ? c->to.n : 200), (const char *)c->to.p);
  if (c->kv->ops.rename_prefix == NULL)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "the store cannot rename a prefix");
  return CAIRN_OK;
}

cairn_future_t *cairn_kv_rename_prefix(cairn_kv_t *kv, cairn_bytes_t from,
                                       cairn_bytes_t to) {
  cairn_future_t *refused;
  cairn_error_t err = {0};
  size_t n = kv->prefix_n + to.n;
  struct call *c = call_new(kv, "rename", true, from, n, &refused);
  if (c == NULL) return refused;
  uint8_t *p = (uint8_t *)(c + 1);
  if (kv->prefix_n > 0) memcpy(p, kv->prefix, kv->prefix_n);
  if (to.n > 0) memcpy(p + kv->prefix_n, to.p, to.n);
  c->to = cairn_bytes(p, n);
  if (may_rename(c, &err) != CAIRN_OK) return call_refuse(c, &err);
  return call_begin(c, kv->ops.rename_prefix(kv->rt, kv->self, c->key, c->to));
}
