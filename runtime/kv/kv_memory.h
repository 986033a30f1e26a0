/* The memory store, for its own files: what is written is gone with the last
 * store that has it open.
 *
 * The first part of the path is the store's name ("memory://name/path/"):
 * stores of one name share their content, over all runtimes of the process, so
 * that several ranks in one process see one store. A mutex per process guards
 * the names, one per content the values; both are held for moments only.
 *
 * Values are immutable, reference counted buffers: a read without a destination
 * borrows, and a value that was read stays whole however often its key is
 * rewritten. The keys are in a hash map and sorted for a listing. */
#ifndef CAIRN_KV_KV_MEMORY_H_
#define CAIRN_KV_KV_MEMORY_H_

#include <pthread.h>
#include <stdatomic.h>

#include "base/map.h"
#include "kv/kv.h"

struct memory_value {
  atomic_int refs;
  uint64_t generation;
  size_t n;
  uint8_t data[];
};

struct memory_content {
  struct memory_content *next;
  int opened; /* under the lock of the names */
  pthread_mutex_t lock;
  cairn__map_t values;
  uint64_t generation; /* the last given out: never the same twice */
  size_t name_n;
  uint8_t name[];
};

struct memory_kv {
  struct memory_content *content;
  char *name; /* for messages */
  size_t prefix_n;
  uint8_t prefix[]; /* the path below the name: before every key */
};

/* One operation: run at once, or on a CPU thread if it copies much. */
struct memory_op {
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

/* NULL: no memory. */
struct memory_op *cairn__memory_op_new(struct memory_kv *kv, cairn_bytes_t key);
/* A future that failed for want of memory. */
cairn_future_t *cairn__memory_out(cairn_runtime_t *rt);

/* --- memory_content.c; any thread --- */

void cairn__memory_value_drop(void *value);
struct memory_value *cairn__memory_value_ref(struct memory_value *v);
/* Of v, or of nothing if it is NULL. */
cairn_gen_t cairn__memory_gen(const struct memory_value *v);
/* The content of that name, made if it is new. NULL: no memory. */
struct memory_content *cairn__memory_content_open(cairn_bytes_t name);
void cairn__memory_content_close(struct memory_content *c);

/* --- memory_prefix.c --- */

cairn_future_t *cairn__memory_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg);
cairn_future_t *cairn__memory_remove_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t prefix);
cairn_future_t *cairn__memory_rename_prefix(cairn_runtime_t *rt, void *self,
                                            cairn_bytes_t from,
                                            cairn_bytes_t to);

#endif
