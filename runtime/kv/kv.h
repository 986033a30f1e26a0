/* The kv room's private side: what the front offers to drivers and to rooms
 * above it, beyond <cairn/kv.h>.
 *
 * The front (kv.c, call.c, upload.c) does what must be the same for all stores:
 * it copies keys, options and iovecs so that a driver may use them until its
 * future is ready, resolves defaults (a driver never sees a NULL option or
 * out-parameter), puts the prefix of a view before keys, counts what is
 * outstanding for close, and says in errors which verb failed on which key.
 * What a driver lacks is made from what it has in generic.c. */
#ifndef CAIRN_KV_KV_H_
#define CAIRN_KV_KV_H_

#include "base/base.h"
#include "cairn/json.h"
#include "cairn/kv.h"

struct cairn_kv {
  cairn_runtime_t *rt;
  const cairn_kv_ops_t *driver; /* as given; tells whose `self` is */
  cairn_kv_ops_t ops;           /* its members, NULL where it has none */
  void *self;
  cairn_kv_t *base; /* of a view: the store; NULL for a store */
  uint8_t *prefix;  /* of a view: before every key */
  size_t prefix_n;
  size_t busy; /* calls and uploads that are not finished, also through views */
  bool closing;
  bool layered; /* on another store, whose errors name the key already */
  cairn_future_t *closed; /* made at open, so that close cannot fail for it */
  cairn_wait_t wait;
};

/* A store from a driver's state, for drivers that are opened by a function of
 * their own. ops as in cairn_kv_register. NULL when memory is out (self stays
 * the caller's). */
cairn_kv_t *cairn__kv_new(cairn_runtime_t *rt, const cairn_kv_ops_t *ops,
                          void *self);
/* The driver's state if kv (or the store it is a view of) is one of `ops`, else
 * NULL. */
void *cairn__kv_self(cairn_kv_t *kv, const cairn_kv_ops_t *ops);

/* --- promises: a future to resolve later, as every asynchronous call makes one
 * --- */

/* False: memory is out; then *f is the failed future, for the caller to return.
 */
static inline bool cairn__promise(cairn_runtime_t *rt, cairn_future_t **f) {
  *f = cairn_future_new(rt);
  if (!cairn_future_ready(*f)) return true;
  cairn_future_resolve(*f, NULL); /* only the producer's reference */
  return false;
}
/* For one that was given to nobody. */
static inline void cairn__promise_drop(cairn_future_t *f) {
  cairn_future_unref(f);
  cairn_future_resolve(f, NULL);
}

/* --- for the front's own files --- */

void cairn__kv_enter(cairn_kv_t *kv); /* one more outstanding */
void cairn__kv_leave(cairn_kv_t *kv); /* one less; may go on with a close */
/* kv's full key in memory from malloc, with `extra` bytes before it that the
 * caller uses for a struct; NULL when memory is out. */
void *cairn__kv_alloc_key(cairn_kv_t *kv, size_t extra, cairn_bytes_t key,
                          cairn_bytes_t *full);
/* cairn_kv_describe of a key that has the view's prefix already. */
void cairn__kv_describe_full(cairn_kv_t *kv, cairn_bytes_t full, char *out,
                             size_t cap);
/* CAIRN_CLOSED or, for a change of a read-only store, CAIRN_UNSUPPORTED. */
cairn_code_t cairn__kv_may(cairn_kv_t *kv, bool change, cairn_error_t *err);
cairn_write_opts_t cairn__kv_write_opts(const cairn_write_opts_t *o,
                                        cairn_gen_t *gen);

/* Stand-ins for optional members, over those that every driver has. */
cairn_future_t *cairn__kv_generic_list_dir(cairn_kv_t *kv, cairn_bytes_t prefix,
                                           cairn_kv_key_fn fn, void *arg);
cairn_future_t *cairn__kv_generic_remove_prefix(cairn_kv_t *kv,
                                                cairn_bytes_t prefix);
cairn_future_t *cairn__kv_generic_upload_begin(cairn_kv_t *kv,
                                               cairn_bytes_t key,
                                               const cairn_write_opts_t *o,
                                               void **upload);
cairn_future_t *cairn__kv_generic_upload_part(cairn_runtime_t *rt, void *upload,
                                              uint64_t offset,
                                              const struct iovec *iov,
                                              int niov);
cairn_future_t *cairn__kv_generic_upload_commit(cairn_runtime_t *rt,
                                                void *upload);
cairn_future_t *cairn__kv_generic_upload_abort(cairn_runtime_t *rt,
                                               void *upload);

/* --- registry (registry.c) --- */

/* The driver of that scheme, or NULL. */
const cairn_kv_ops_t *cairn__kv_find(cairn_runtime_t *rt, cairn_bytes_t scheme);
/* "file, memory": for messages. */
void cairn__kv_known(cairn_runtime_t *rt, cairn_buf_t *out);
cairn_code_t cairn__kv_check_ops(const cairn_kv_ops_t *ops, cairn_error_t *err);

/* --- specs (spec.c) --- */

/* URL or JSON text to the driver and its spec: one JSON object, compact, "path"
 * ending in '/'. Errors name what is wrong and, for a scheme, the known ones.
 */
CAIRN_MUST_CHECK cairn_code_t cairn__kv_spec(cairn_runtime_t *rt,
                                             const char *url,
                                             const cairn_kv_ops_t **ops,
                                             cairn_buf_t *spec,
                                             cairn_error_t *err);
/* Parses a spec and refuses members that are not in the NULL-ended list
 * ("driver" and "context" are always fine): a misspelt option is an error. */
CAIRN_MUST_CHECK cairn_code_t cairn__kv_spec_members(cairn_bytes_t spec,
                                                     const char *const *known,
                                                     cairn_json_doc_t *doc,
                                                     cairn_error_t *err);

/* --- values and generations (value.c) --- */

bool cairn__gen_eq(const cairn_gen_t *a, const cairn_gen_t *b);
/* Whether a write under if_equal may go on when `now` is stored. NULL and the
 * unknown generation are no condition. */
bool cairn__gen_met(const cairn_gen_t *if_equal, const cairn_gen_t *now);
static inline bool cairn__gen_conditional(const cairn_write_opts_t *o) {
  return o->if_equal != NULL && o->if_equal->n != 0;
}

/* The part of a value of `size` bytes that o asks for (0 bytes for a stat), or
 * CAIRN_INVALID if any of it lies outside: nothing is clamped. */
CAIRN_MUST_CHECK cairn_code_t cairn__read_range(const cairn_read_opts_t *o,
                                                uint64_t size, uint64_t *off,
                                                size_t *n, cairn_error_t *err);
/* Where n bytes of an answer go: o->dst if it is given (CAIRN_INVALID if it is
 * too small), else memory that cairn_value_reset frees. Sets out->data. */
CAIRN_MUST_CHECK cairn_code_t cairn__value_room(const cairn_read_opts_t *o,
                                                size_t n, cairn_value_t *out,
                                                void **dst, cairn_error_t *err);
/* Sum of the lengths; CAIRN_INVALID if it does not fit int64. */
CAIRN_MUST_CHECK cairn_code_t cairn__iov_total(const struct iovec *iov,
                                               int niov, uint64_t *n,
                                               cairn_error_t *err);

extern const cairn_kv_ops_t cairn__kv_file_ops;
extern const cairn_kv_ops_t cairn__kv_memory_ops;

#endif
