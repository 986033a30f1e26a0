/* Key-value stores: where bytes go. A store is opened from a spec
 * (TensorStore's JSON vocabulary) or a URL, and everything above (arrays,
 * OCDBT, checkpoints) sees only this interface.
 *
 * Keys are byte strings in memcmp order; a store is (driver, path) and the
 * effective key is the plain concatenation path + key. All functions return a
 * future, are called on the loop thread (unless they say any thread), and never
 * block. Keys and option structs are copied by the call; data buffers and
 * out-parameters must live, unchanged, until the future is ready.
 *
 *   f = cairn_kv_read(kv, cairn_bytes_str("a/b"), CAIRN_WHOLE, &s->value);
 *   cairn_then(f, &s->wait, on_read);
 *
 * A driver of your own: fill a cairn_kv_ops_t and cairn_kv_register it. */
#ifndef CAIRN_KV_H_
#define CAIRN_KV_H_

#include <sys/uio.h>

#include "cairn/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_KV_ABI_MAJOR 1 /* a break */
#define CAIRN_KV_ABI_MINOR 0 /* additions at the end of structs only */

typedef struct cairn_kv cairn_kv_t;
typedef struct cairn_kv_ops cairn_kv_ops_t;

/* What a store can do (cairn_kv_caps). In their order: readers see old or new,
 * never a mix; race-free write of an absent key; race-free write on a
 * generation; rename_prefix is one atomic step; a finished write survives power
 * loss; listings are in memcmp order; nothing can be written. */
#define CAIRN_KV_ATOMIC (1u << 0)
#define CAIRN_KV_CREATE_ONLY (1u << 1)
#define CAIRN_KV_CAS (1u << 2)
#define CAIRN_KV_RENAME_PREFIX (1u << 3)
#define CAIRN_KV_DURABLE_ACK (1u << 4)
#define CAIRN_KV_LIST_ORDERED (1u << 5)
#define CAIRN_KV_READ_ONLY (1u << 6)

/* Identity of a stored value; n == 0: unknown. Opaque, comparable by bytes. */
typedef struct cairn_gen {
  uint16_t n;
  uint8_t b[62];
} cairn_gen_t;
/* The generation of an absent key: as a write condition, "create only". */
CAIRN_API extern const cairn_gen_t CAIRN_GEN_ABSENT;

typedef struct cairn_read_opts { /* {0} or NULL reads the whole value */
  size_t size;                   /* of this struct; 0: as compiled */
  enum { CAIRN_READ_WHOLE, CAIRN_READ_RANGE, CAIRN_READ_STAT } what;
  /* RANGE: bytes [min, max); max -1: to the end; min < 0 (max -1): the last
   * -min bytes. Outside the value: CAIRN_INVALID. */
  int64_t min, max;
  void *dst;  /* may be NULL: the driver allocates */
  size_t cap; /* of dst; too small for the answer: CAIRN_INVALID */
} cairn_read_opts_t;
#define CAIRN_WHOLE ((const cairn_read_opts_t *)NULL)

/* Out-parameter of a read; {0} is empty and valid. Missing is not an error. */
typedef struct cairn_value {
  bool found;
  cairn_gen_t gen;
  cairn_bytes_t data;  /* in dst, or the driver's memory until reset */
  uint64_t total_size; /* of the whole value */
  void (*release)(void *arg);
  void *release_arg;
} cairn_value_t;
/* Gives driver memory back; {0} again. Any thread. */
CAIRN_API void cairn_value_reset(cairn_value_t *v);

typedef struct cairn_write_opts {
  size_t size;
  const cairn_gen_t *if_equal; /* NULL: no condition */
  bool defer_sync; /* need not be durable until cairn_kv_sync (fewer fsyncs) */
} cairn_write_opts_t;

/* Out-parameter of a write or remove; may be NULL. An unmet condition is a
 * result, not an error. */
typedef struct cairn_written {
  bool condition_met;
  cairn_gen_t gen;
} cairn_written_t;

/* One key of a listing, the prefix included, in memcmp order if the store has
 * LIST_ORDERED. size -1: unknown. On the loop thread. Return false to end the
 * listing early. */
typedef bool (*cairn_kv_key_fn)(void *arg, cairn_bytes_t key, int64_t size);

/* What a driver may rely on: it is called on the loop thread; key, options and
 * iov are copies that live until its future is ready, options and
 * out-parameters are never NULL and of this version's size, out-parameters are
 * {0}; close comes when nothing is outstanding. */
struct cairn_kv_ops {
  uint32_t abi_major, abi_minor; /* CAIRN_KV_ABI_* */
  size_t size;                   /* sizeof this struct */
  const char *scheme;            /* "file": driver id in specs and URL scheme */

  /* spec: this driver's JSON object as text. *self gets the store's state, its
   * path handled by the driver. */
  cairn_future_t *(*open)(cairn_runtime_t *rt, cairn_bytes_t spec, void **self);
  cairn_future_t *(*close)(cairn_runtime_t *rt, void *self);
  uint32_t (*caps)(void *self);
  cairn_future_t *(*read)(cairn_runtime_t *rt, void *self, cairn_bytes_t key,
                          const cairn_read_opts_t *o, cairn_value_t *out);
  cairn_future_t *(*write)(cairn_runtime_t *rt, void *self, cairn_bytes_t key,
                           const struct iovec *iov, int niov,
                           const cairn_write_opts_t *o, cairn_written_t *out);
  cairn_future_t *(*remove)(cairn_runtime_t *rt, void *self, cairn_bytes_t key,
                            const cairn_write_opts_t *o, cairn_written_t *out);
  cairn_future_t *(*list)(cairn_runtime_t *rt, void *self, cairn_bytes_t prefix,
                          cairn_kv_key_fn fn, void *arg);

  /* Optional, NULL when absent: the front then does without, or fails with
   * CAIRN_UNSUPPORTED. */

  /* A value sent in parts, visible at commit. Parts may be in flight together;
   * offsets do not overlap. After commit or abort the upload is gone, whatever
   * comes of it. if_equal: only CAIRN_GEN_ABSENT; unmet it is CAIRN_EXISTS at
   * commit. Commit and abort come when no part is in flight. */
  cairn_future_t *(*upload_begin)(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t key,
                                  const cairn_write_opts_t *o, void **upload);
  cairn_future_t *(*upload_part)(cairn_runtime_t *rt, void *upload,
                                 uint64_t offset, const struct iovec *iov,
                                 int niov);
  cairn_future_t *(*upload_commit)(cairn_runtime_t *rt, void *upload);
  cairn_future_t *(*upload_abort)(cairn_runtime_t *rt, void *upload);
  /* All keys below `from` get `to` instead, in one atomic step: CAIRN_EXISTS if
   * anything is below `to`, CAIRN_NOT_FOUND if nothing is below `from`. Both
   * end in '/'. Durable when ready. */
  cairn_future_t *(*rename_prefix)(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t from, cairn_bytes_t to);
  /* Removes all keys below the prefix. Goes on after errors, returns the
   * first. */
  cairn_future_t *(*remove_prefix)(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix);
  /* Makes everything below the prefix durable that was written by this store
   * with defer_sync, then the directories that hold it, bottom up. */
  cairn_future_t *(*sync)(cairn_runtime_t *rt, void *self,
                          cairn_bytes_t prefix);
  /* Names below the prefix (without it) up to the next '/', "dir/" for those
   * with more. */
  cairn_future_t *(*list_dir)(cairn_runtime_t *rt, void *self,
                              cairn_bytes_t prefix, cairn_kv_key_fn fn,
                              void *arg);
  /* Text for messages: the full URL or path of a key. Into out, cut to cap. */
  void (*describe)(void *self, cairn_bytes_t key, char *out, size_t cap);
};

/* Makes a driver known to this runtime. The ops are const for ever. Before use,
 * any thread. CAIRN_EXISTS: the scheme is taken; CAIRN_INVALID: a required
 * member is NULL or the ABI differs. */
CAIRN_API cairn_code_t cairn_kv_register(cairn_runtime_t *rt,
                                         const cairn_kv_ops_t *ops,
                                         cairn_error_t *err);

/* Opens a store from a URL ("file:///a/b", "memory://name/x", "/a/b", "a/b") or
 * from spec JSON text (starts with '{', member "driver"). A missing final '/'
 * on the path is added: the store is a directory. *out is set when ready, and
 * is the caller's, for cairn_kv_close. CAIRN_INVALID: bad text, or a scheme
 * that no driver has; CAIRN_NO_MEMORY; errors of the driver. */
CAIRN_API cairn_future_t *cairn_kv_open(cairn_runtime_t *rt, const char *url,
                                        cairn_kv_t **out);

/* A view of kv below a prefix (which should end in '/'). Closing the view
 * leaves kv open; kv must outlive it. NULL when memory is out. */
CAIRN_API cairn_kv_t *cairn_kv_prefix(cairn_kv_t *kv, cairn_bytes_t prefix);

/* Waits for what is outstanding (an upload is until its commit or abort is
 * ready), then frees. New calls are CAIRN_CLOSED. kv is gone when ready. NULL:
 * ready at once is not possible without a runtime, so kv must not be NULL. */
CAIRN_API cairn_future_t *cairn_kv_close(cairn_kv_t *kv);

/* The runtime kv was opened on; its CAIRN_KV_* capabilities; the full name of
 * `key` as errors say it, NUL-terminated and cut to `cap` bytes. Any thread. */
CAIRN_API cairn_runtime_t *cairn_kv_runtime(cairn_kv_t *kv);
CAIRN_API uint32_t cairn_kv_caps(cairn_kv_t *kv);
CAIRN_API void cairn_kv_describe(cairn_kv_t *kv, cairn_bytes_t key, char *out,
                                 size_t cap);

/* See the members of cairn_kv_ops_t, which say what each does. Errors get the
 * verb and the key's full name in front ("write /ck/7/x: No space left on
 * device"). CAIRN_CLOSED after cairn_kv_close; CAIRN_CANCELLED;
 * CAIRN_UNSUPPORTED: the store cannot; CAIRN_NO_MEMORY; the driver's errors. */
CAIRN_API cairn_future_t *cairn_kv_read(cairn_kv_t *kv, cairn_bytes_t key,
                                        const cairn_read_opts_t *o,
                                        cairn_value_t *out);
CAIRN_API cairn_future_t *cairn_kv_write(cairn_kv_t *kv, cairn_bytes_t key,
                                         const struct iovec *iov, int niov,
                                         const cairn_write_opts_t *o,
                                         cairn_written_t *out);
CAIRN_API cairn_future_t *cairn_kv_remove(cairn_kv_t *kv, cairn_bytes_t key,
                                          const cairn_write_opts_t *o,
                                          cairn_written_t *out);
CAIRN_API cairn_future_t *cairn_kv_list(cairn_kv_t *kv, cairn_bytes_t prefix,
                                        cairn_kv_key_fn fn, void *arg);
CAIRN_API cairn_future_t *cairn_kv_list_dir(cairn_kv_t *kv,
                                            cairn_bytes_t prefix,
                                            cairn_kv_key_fn fn, void *arg);
CAIRN_API cairn_future_t *cairn_kv_rename_prefix(cairn_kv_t *kv,
                                                 cairn_bytes_t from,
                                                 cairn_bytes_t to);
CAIRN_API cairn_future_t *cairn_kv_remove_prefix(cairn_kv_t *kv,
                                                 cairn_bytes_t prefix);
CAIRN_API cairn_future_t *cairn_kv_sync(cairn_kv_t *kv, cairn_bytes_t prefix);

/* A value written in parts, in any order and several at a time, that is there
 * only after commit: see the members of cairn_kv_ops_t. *out is written before
 * the future of cairn_kv_upload is ready and gone after commit or abort, of
 * which exactly one is called. Both may be called while parts are in flight,
 * and wait for them. A commit after a failed part, or with a hole between the
 * parts, aborts and fails. */
typedef struct cairn_upload cairn_upload_t;
CAIRN_API cairn_future_t *cairn_kv_upload(cairn_kv_t *kv, cairn_bytes_t key,
                                          const cairn_write_opts_t *o,
                                          cairn_upload_t **out);
CAIRN_API cairn_future_t *cairn_upload_part(cairn_upload_t *u, uint64_t offset,
                                            const struct iovec *iov, int niov);
CAIRN_API cairn_future_t *cairn_upload_commit(cairn_upload_t *u);
CAIRN_API cairn_future_t *cairn_upload_abort(cairn_upload_t *u);

#ifdef __cplusplus
}
#endif
#endif
