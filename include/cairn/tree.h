/* State trees: names bound to the job's own memory. The same tree is saved and
 * restored: a save reads the memory that leaves point to, a restore fills it.
 *
 *   cairn_tree_new(&state, &err);
 *   cairn_tree_put_array(state, "params/w", &(cairn_array_t){
 *       .dtype = CAIRN_F32, .rank = 2, .shape = {8192, 1024},
 *       .origin = {rows * rank, 0}, .extent = {rows, 1024}, .data = w}, &err);
 *   cairn_tree_put_int64(state, "step", &step, &err);
 *
 * A leaf says its global shape and the boxes of it that this process holds:
 * regions, not ranks. Replicas are boxes that several ranks hold; nobody has to
 * say so.
 *
 * Not thread-safe: one thread at a time builds or reads a tree. It may be freed
 * as soon as the save call that was given it has returned. */
#ifndef CAIRN_TREE_H_
#define CAIRN_TREE_H_

#include "cairn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_tree cairn_tree_t;

/* --- keys and paths --- */

typedef enum cairn_key_type {
  CAIRN_KEY_DICT = 0, /* a dict key that is text */
  CAIRN_KEY_SEQ,      /* a place in a list or tuple: index */
  CAIRN_KEY_INT,      /* a dict key that is an integer (stored as text) */
  CAIRN_KEY_ATTR      /* a field of a named tuple or struct */
} cairn_key_type_t;

typedef struct cairn_key {
  cairn_key_type_t type;
  cairn_bytes_t name; /* DICT, ATTR: UTF-8, may hold anything */
  int64_t index;      /* SEQ, INT */
} cairn_key_t;

/* The key of a dict, borrowed; a place in a list. */
static inline cairn_key_t cairn_key(const char *name) {
  cairn_key_t k;
  k.type = CAIRN_KEY_DICT;
  k.name = cairn_bytes_str(name);
  k.index = 0;
  return k;
}
static inline cairn_key_t cairn_key_seq(int64_t index) {
  cairn_key_t k;
  k.type = CAIRN_KEY_SEQ;
  k.name = cairn_bytes(NULL, 0);
  k.index = index;
  return k;
}

/* --- leaves --- */

/* A box of a global array in this process's memory. */
typedef struct cairn_box {
  int64_t origin[CAIRN_MAX_RANK];
  int64_t extent[CAIRN_MAX_RANK];
  int64_t strides[CAIRN_MAX_RANK]; /* bytes; all 0: C order without gaps */
  void *data;
} cairn_box_t;

/* How a jax.Array is laid over devices: for Orbax's `_sharding` only; Cairn
 * itself goes by boxes. Without it a leaf is an np.ndarray to Orbax, which
 * restores anywhere; with it a jax.Array, for which the named devices must
 * exist. */
typedef struct cairn_sharding {
  int mesh_rank;
  const int64_t *mesh_shape;
  const char *const *axis_names; /* mesh_rank */
  const int64_t *device_ids;     /* product of mesh_shape, C order */
  int spec_rank;                 /* entries in spec, at most the array's rank */
  /* Per dimension: NULL, one axis name, or several joined by ','. */
  const char *const *spec;
} cairn_sharding_t;

typedef enum cairn_snapshot {
  CAIRN_SNAPSHOT_DEFAULT = 0, /* as the manager says; copy if it says nothing */
  CAIRN_SNAPSHOT_COPY,        /* memory is the caller's when save returns */
  CAIRN_SNAPSHOT_BORROW, /* no copy: memory must not change before "written" */
  /* No copy if the save is faster: memory must not change before the array is
   * settled (cairn_save_settle), which copies what is not yet written. */
  CAIRN_SNAPSHOT_LAZY,
  /* Memory is the caller's when save returns: its pages are write-protected,
   * and copied when first written. Where that is not allowed it is COPY, and
   * the log says what an administrator must allow. Not for memory that a device
   * or another process writes to (RDMA, MPI receive buffers, shared mappings),
   * nor to be unmapped before "written". A process forked meanwhile has no
   * protection, and must not save. Cheap for large arrays in cairn_alloc's
   * memory (<cairn/memory.h>). */
  CAIRN_SNAPSHOT_COW,
  /* COW where it works; else LAZY if the program settles (see the option
   * `settles` of the checkpointer); else COPY. */
  CAIRN_SNAPSHOT_AUTO
} cairn_snapshot_t;

typedef struct cairn_array {
  cairn_dtype_t dtype;
  int rank;                      /* 0 .. CAIRN_MAX_RANK */
  int64_t shape[CAIRN_MAX_RANK]; /* global */
  /* What this process holds: one box here, or several in boxes. extent all 0
   * (and empty false) means the whole array. */
  int64_t origin[CAIRN_MAX_RANK];
  int64_t extent[CAIRN_MAX_RANK];
  int64_t strides[CAIRN_MAX_RANK]; /* bytes; all 0: C order without gaps */
  void *data;
  const cairn_box_t *boxes; /* instead of the above; copied by the call */
  size_t num_boxes;
  bool empty;                       /* this process holds nothing of it */
  const cairn_sharding_t *sharding; /* copied by the call; NULL: np.ndarray */
  cairn_snapshot_t snapshot;
} cairn_array_t;

typedef enum cairn_leaf_kind {
  CAIRN_LEAF_ARRAY,
  CAIRN_LEAF_SCALAR, /* one element of dtype at data */
  CAIRN_LEAF_STRING,
  CAIRN_LEAF_NONE,
  CAIRN_LEAF_EMPTY_DICT,
  CAIRN_LEAF_EMPTY_LIST,
  CAIRN_LEAF_EMPTY_TUPLE,
  CAIRN_LEAF_PLACEHOLDER /* no data: a save skips it, a restore leaves it */
} cairn_leaf_kind_t;

/* What the tree holds, for handlers and tools; all of it is the tree's own. */
typedef struct cairn_leaf {
  cairn_leaf_kind_t kind;
  const cairn_key_t *path;
  size_t path_n;
  cairn_bytes_t name;       /* the keys joined by '.': Orbax's parameter name */
  cairn_dtype_t dtype;      /* ARRAY, SCALAR */
  int rank;                 /* ARRAY */
  const int64_t *shape;     /* rank numbers */
  const cairn_box_t *boxes; /* strides are always filled in */
  size_t num_boxes;
  const cairn_sharding_t *sharding;
  cairn_snapshot_t snapshot;
  void *data;      /* SCALAR: the element; STRING: char *, NUL-terminated */
  size_t capacity; /* STRING: bytes at data, with the NUL */
} cairn_leaf_t;

/* --- building --- */

/* An empty tree, the caller's to free. CAIRN_NO_MEMORY. Any thread. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_tree_new(cairn_tree_t **out,
                                                       cairn_error_t *err);
/* Frees the tree and what cairn_tree_alloc gave; memory that leaves are bound
 * to is the caller's and stays. NULL is fine. */
CAIRN_API void cairn_tree_free(cairn_tree_t *tree);

/* Each binds a leaf to the caller's memory, which must live as long as the tree
 * is used. `path`: dict keys joined by '/', no empty parts; for names with
 * slashes, dots or integers use cairn_tree_put. Path and array are copied.
 * CAIRN_EXISTS: the path is taken; CAIRN_INVALID: what is wrong with path or
 * array; CAIRN_NO_MEMORY. What is wrong between leaves, such as "x/z" beside a
 * leaf "x", is found when the tree is saved, or by cairn_tree_check. */
CAIRN_API cairn_code_t cairn_tree_put_array(cairn_tree_t *tree,
                                            const char *path,
                                            const cairn_array_t *array,
                                            cairn_error_t *err);
CAIRN_API cairn_code_t cairn_tree_put_int64(cairn_tree_t *tree,
                                            const char *path, int64_t *value,
                                            cairn_error_t *err);
CAIRN_API cairn_code_t cairn_tree_put_double(cairn_tree_t *tree,
                                             const char *path, double *value,
                                             cairn_error_t *err);
CAIRN_API cairn_code_t cairn_tree_put_bool(cairn_tree_t *tree, const char *path,
                                           bool *value, cairn_error_t *err);
/* text: NUL-terminated UTF-8 in a buffer of `capacity` bytes; a restore of
 * longer text fails with CAIRN_MISMATCH and leaves it alone. */
CAIRN_API cairn_code_t cairn_tree_put_string(cairn_tree_t *tree,
                                             const char *path, char *text,
                                             size_t capacity,
                                             cairn_error_t *err);

/* Any leaf at any path of path_n keys (copied). From `leaf` are taken: kind;
 * SCALAR: dtype, data; STRING: data, capacity. For kind ARRAY `array` is taken
 * instead (NULL otherwise). Errors as above. */
CAIRN_API cairn_code_t cairn_tree_put(cairn_tree_t *tree,
                                      const cairn_key_t *path, size_t path_n,
                                      const cairn_leaf_t *leaf,
                                      const cairn_array_t *array,
                                      cairn_error_t *err);

/* Memory that is freed with the tree, 64-byte aligned, zeroed; NULL: out of
 * memory. */
CAIRN_API void *cairn_tree_alloc(cairn_tree_t *tree, size_t bytes);

/* --- reading --- */

/* Leaves in JAX's flatten order: dict keys by code point (integer keys
 * numerically), sequences by index, fields in the order they were put. */
CAIRN_API size_t cairn_tree_count(const cairn_tree_t *tree);
CAIRN_API const cairn_leaf_t *cairn_tree_leaf(const cairn_tree_t *tree,
                                              size_t i);
/* The leaf of that joined name ("params.w"), or NULL. */
CAIRN_API const cairn_leaf_t *cairn_tree_find(const cairn_tree_t *tree,
                                              cairn_bytes_t name);

/* Can this tree be stored? CAIRN_INVALID, naming both paths, if two paths give
 * the same joined name, one leaf's path is a prefix of another's, the storage
 * keys of two leaves meet (a name that is another name + '/' + ...), sequence
 * indexes have gaps or stand beside names, a dict mixes key kinds that give the
 * same text, a key or string is not UTF-8, a string has no NUL within its
 * capacity, or the tree is empty. A leaf with the empty name must be the only
 * one of its kind that is stored. */
CAIRN_API cairn_code_t cairn_tree_check(const cairn_tree_t *tree,
                                        cairn_error_t *err);

/* A path for people, as params['w'][0].x: NUL-terminated, cut to cap bytes. Any
 * thread. */
CAIRN_API void cairn_path_text(const cairn_key_t *path, size_t path_n,
                               char *out, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
