/* Item handlers: what an item of a checkpoint is. The built-in ones (tree,
 * json, bytes) are compiled against these headers only, so a handler of yours
 * can do whatever they do.
 *
 * A save calls, in this order:
 *
 *   snapshot  caller's thread, all ranks: takes what is needed out of the
 *             caller's memory; after it training may go on
 *   describe  loop, all: this rank's part in bytes ("which boxes of which
 *             leaves")
 *   combine   CPU thread, primary: all ranks' descriptions into one plan, or
 *             refuses
 *   commit    loop, all: writes this rank's part; ctx->combined is the plan
 *   finalize  loop, primary, after every rank's commit went well: side files
 *   drop      loop, all: exactly once, whatever happened
 *
 * combine is skipped while names and types of the items and every rank's
 * descriptions are those of the save before: a plan must depend on nothing
 * else.
 *
 * A restore: load (primary: what all ranks must know, sent to all), restore
 * (all).
 *
 * Nothing may block on the loop; a handler never votes and never sends: between
 * these calls Cairn makes all ranks agree. */
#ifndef CAIRN_HANDLER_H_
#define CAIRN_HANDLER_H_

#include "cairn/array.h"
#include "cairn/buf.h"
#include "cairn/codec.h"
#include "cairn/json.h"
#include "cairn/kv.h"
#include "cairn/strategy.h"
#include "cairn/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One item of a step, as the user names it. */
typedef struct cairn_item {
  /* Its directory. NULL or "": "default" in a manager's step, no item level in
   * a checkpointer's. */
  const char *name;
  /* A handler's. "tree": value is a cairn_tree_t. "json", "bytes": a
   * cairn_blob_t, the same on all ranks, of which the primary's is saved.
   * "rank_bytes": a cairn_blob_t of each rank's own. */
  const char *type;
  void *value;
} cairn_item_t;

/* The value of json and bytes items. JSON: any document that Orbax could write,
 * UTF-8; it comes back as Orbax's text of it. */
typedef struct cairn_blob {
  const void *data; /* save: n bytes, the caller's */
  size_t n;
  void *out; /* restore: malloc'd, for free(); a NUL follows the bytes */
  size_t out_n;
  /* rank_bytes, restored on another number of ranks than it was saved on:
   * CAIRN_MISMATCH, unless one of these is set. */
  bool any_rank;   /* rank r takes blob r modulo the number of blobs */
  bool missing_ok; /* a rank beyond the blobs gets out NULL */
} cairn_blob_t;

/* An item, borrowing all three. */
static inline cairn_item_t cairn_item(const char *name, const char *type,
                                      void *value) {
  cairn_item_t item;
  item.name = name;
  item.type = type;
  item.value = value;
  return item;
}

/* Lives for the call it is given to, until the future of that call is ready:
 * the next call may bring another. */
typedef struct cairn_item_ctx {
  size_t size;
  cairn_runtime_t *rt;
  int rank, num_ranks;
  bool primary;
  int64_t step;     /* -1: none */
  const char *item; /* name, "" where there is no item level */
  cairn_profile_t profile;
  int64_t chunk_bytes; /* 0: the profile's default */
  bool no_compression; /* store arrays uncompressed */
  bool partial;        /* restore: leaves absent from the target are fine */
  cairn_snapshot_t snapshot;
  cairn_kv_t *dir;        /* the item's directory: plain files */
  cairn_bytes_t combined; /* save: the plan. restore: what load gave */
  int64_t bytes;          /* out: bytes of state this rank wrote or read */
  struct cairn_item_private *priv; /* Cairn's own */
  /* Save: how many bytes this item may still stage; what is larger is held. */
  int64_t staging_bytes;
} cairn_item_ctx_t;

/* Caller's thread, in snapshot: n bytes of staging memory, 64-byte aligned,
 * from the manager's pool (allocated once, prefaulted, reused). Stays until
 * drop. NULL: out of memory. */
CAIRN_API void *cairn_item_stage(cairn_item_ctx_t *ctx, size_t n);

/* Caller's thread, in snapshot: the kind of snapshot that an array gets here
 * that asks for this one: COPY, BORROW, LAZY or COW. */
CAIRN_API cairn_snapshot_t cairn_item_snapshot(const cairn_item_ctx_t *ctx,
                                               cairn_snapshot_t asked);

/* Memory that is not staged, without gaps; and the name of its array. */
typedef struct cairn_item_part {
  const void *data;
  size_t n;
  cairn_snapshot_t mode; /* of those that cairn_item_snapshot gives */
  cairn_bytes_t name;
} cairn_item_part_t;

/* Caller's thread, in snapshot: n parts that are held still, each by its mode,
 * from the moment when all items have taken theirs until drop. COPY is copied
 * before save returns, as the writer makes room. sources[i] is part i's, for
 * the regions of its array, usable from commit on. The parts and names are
 * copied. CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_item_hold(cairn_item_ctx_t *ctx, const cairn_item_part_t *parts, size_t n,
                const cairn_source_t **sources, cairn_error_t *err);

/* Loop, in commit: this process's database for the item, to *out before the
 * future is ready. Opened at the first call, committed by Cairn after commit
 * and merged on the primary: a handler does not close it. Errors of opening a
 * store, CAIRN_NO_MEMORY. */
CAIRN_API cairn_future_t *cairn_item_writer(cairn_item_ctx_t *ctx,
                                            cairn_kv_t **out);
/* Loop, in restore, inspect, verify: the item's arrays, for reading, to *out
 * before the future is ready: the merged database (ocdbt), or the directory
 * itself. Cairn closes it. Errors as above; CAIRN_CORRUPT. */
CAIRN_API cairn_future_t *cairn_item_reader(cairn_item_ctx_t *ctx, bool ocdbt,
                                            cairn_kv_t **out);

/* What an item holds, for tools. All memory is the info's own. */
typedef struct cairn_leaf_info {
  const cairn_key_t *path;
  size_t path_n;
  cairn_bytes_t name;
  const char *kind; /* stored value type: "jax.Array", "np.ndarray", ... */
  bool has_data;    /* an array or scalar */
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape, *chunk;
  const char *codecs;
  const char *zarr_text; /* the stored metadata */
  int64_t bytes, stored_bytes;
  cairn_bytes_t text; /* of a string */
} cairn_leaf_info_t;

typedef struct cairn_item_info {
  /* What is stored: "pytree" (the items that are saved as "tree", by the name
   * that Orbax's users know), "json", "bytes", "rank_bytes". */
  const char *type;
  bool ocdbt;
  int zarr;                  /* 2 or 3; 0: no arrays */
  cairn_leaf_info_t *leaves; /* pytree, in the order of the stored metadata */
  size_t n;
  cairn_bytes_t value; /* json: the document */
  void *mem;           /* one arena; cairn_item_info_free */
} cairn_item_info_t;

/* Frees all that the info holds; it is {0} after. Any thread. */
CAIRN_API void cairn_item_info_free(cairn_item_info_t *info);
/* Zeroed memory of the arena, for the handler that fills it in, one thread at a
 * time; NULL: out of memory. */
CAIRN_API void *cairn_item_info_alloc(cairn_item_info_t *info, size_t n);

/* The calls of the tables above, with what they take and give. Each future's
 * error is the item's; a description and a plan are bytes of the handler's own
 * making. `state` is what snapshot made, and lives until drop. */
typedef struct cairn_handler_ops {
  size_t size;
  const char *type; /* the name users say: "tree" */
  /* Handler strings in _CHECKPOINT_METADATA: [0] is written, all are read; NULL
   * ends. v1_typestr: written in profile ORBAX_V1. */
  const char *const *typestrs;
  const char *v1_typestr;

  cairn_code_t (*snapshot)(const cairn_item_t *item, cairn_item_ctx_t *ctx,
                           void **state, cairn_error_t *err);
  cairn_future_t *(*describe)(void *state, cairn_item_ctx_t *ctx,
                              cairn_buf_t *out);
  cairn_code_t (*combine)(const cairn_bytes_t *descriptions, int n,
                          const cairn_item_ctx_t *ctx, cairn_buf_t *out,
                          cairn_error_t *err);
  cairn_future_t *(*commit)(void *state, cairn_item_ctx_t *ctx);
  cairn_future_t *(*finalize)(void *state, cairn_item_ctx_t *ctx);
  void (*drop)(void *state);

  cairn_future_t *(*load)(cairn_item_ctx_t *ctx, cairn_buf_t *out);
  cairn_future_t *(*restore)(const cairn_item_t *target, cairn_item_ctx_t *ctx);

  /* True if a directory without a known handler string looks like this item:
   * names are its entries as list_dir gives them. Optional. */
  bool (*recognise)(const cairn_bytes_t *names, size_t n);
  cairn_future_t *(*inspect)(cairn_item_ctx_t *ctx, cairn_item_info_t *out);
  /* Reads and checks every byte of the item that handlers know of. */
  cairn_future_t *(*verify)(cairn_item_ctx_t *ctx, cairn_damage_fn fn,
                            void *arg);
} cairn_handler_ops_t;

/* Makes a handler known to this runtime; the ops are const for ever.
 * CAIRN_EXISTS: the type is taken; CAIRN_INVALID. Any thread, before use. */
CAIRN_API cairn_code_t cairn_handler_register(cairn_runtime_t *rt,
                                              const cairn_handler_ops_t *ops,
                                              cairn_error_t *err);
/* By type, or by a handler string of _CHECKPOINT_METADATA; NULL if unknown. The
 * ops are the registered ones. Any thread. */
CAIRN_API const cairn_handler_ops_t *cairn_handler_find(cairn_runtime_t *rt,
                                                        const char *type);
CAIRN_API const cairn_handler_ops_t *cairn_handler_for(cairn_runtime_t *rt,
                                                       cairn_bytes_t typestr);
/* Registers tree, json, bytes, rank_bytes; once per runtime, again is fine.
 * Opening a manager, a checkpointer or a step does it. CAIRN_EXISTS: a type of
 * that name is another's; CAIRN_NO_MEMORY. Any thread. */
CAIRN_API cairn_code_t cairn_handlers_builtin(cairn_runtime_t *rt,
                                              cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
