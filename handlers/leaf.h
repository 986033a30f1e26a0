/* Leaf handlers: what a tree item does with each form of leaf. One const table
 * a form, at the foot of its file; the tree handler calls them in the order in
 * which they stand here. Members that are NULL have nothing to do. */
#ifndef CAIRN_HANDLERS_LEAF_H_
#define CAIRN_HANDLERS_LEAF_H_

#include "bump.h"
#include "cairn/handler.h"
#include "desc.h"
#include "members.h"
#include "sharding.h"

/* The memory of one box, held still until the save is over. */
typedef struct cairn__held {
  const void *data;
  const int64_t *strides;       /* bytes; NULL: C order without gaps */
  const cairn_source_t *source; /* NULL: plain memory, the save's or borrowed */
} cairn__held_t;

/* A snapshot being taken, in two passes over the leaves: what it needs is
 * measured, got at once, and filled. */
typedef struct cairn__take {
  const cairn_item_ctx_t *ctx;
  bool tight; /* staging is too small: large boxes are held instead */
  size_t stage, boxes, strides, parts; /* measured: bytes, boxes, ... */
  uint8_t *next;                       /* being filled: staging memory */
  size_t at;                           /* offset of `next` in it */
  cairn__held_t *next_box;
  int64_t *next_strides;
  cairn_item_part_t *part; /* to be held, `num_parts` so far, */
  cairn__held_t **part_of; /* and whose memory they are */
  size_t num_parts;
  cairn_buf_t texts; /* the primary's strings: varint n, bytes */
  cairn__desc_writer_t desc;
} cairn__take_t;

/* What finalize puts beside the arrays. */
typedef struct cairn__sides {
  cairn__members_t sharding, strings;
  cairn__sharding_text_t mesh;
  cairn_buf_t name, key; /* of the leaf at hand */
  cairn_cur_t texts;     /* of the snapshot, in order */
} cairn__sides_t;

typedef struct cairn__leaf_ops {
  /* Save, caller's thread: how much `take` will want, or why the leaf cannot be
   * stored (CAIRN_INVALID). */
  cairn_code_t (*measure)(const cairn_leaf_t *leaf, cairn__take_t *t,
                          cairn_error_t *err);
  /* Copies or borrows, and describes the boxes. */
  void (*take)(const cairn_leaf_t *leaf, cairn__take_t *t);
  /* Save, CPU thread: the rule that its plan goes by. `all_hold`: every rank
   * holds the whole array. */
  cairn_code_t (*rule)(const cairn__desc_t *d, const cairn_item_ctx_t *ctx,
                       bool all_hold, cairn_plan_in_t *in, cairn_error_t *err);
  /* Finalize, CPU thread. */
  cairn_code_t (*side)(const cairn__desc_t *d, cairn__sides_t *sides,
                       cairn_error_t *err);
} cairn__leaf_ops_t;

extern const cairn__leaf_ops_t cairn__leaf_array;  /* jax.Array: sharded */
extern const cairn__leaf_ops_t cairn__leaf_numpy;  /* np.ndarray */
extern const cairn__leaf_ops_t cairn__leaf_scalar; /* one element, rank 0's */
extern const cairn__leaf_ops_t cairn__leaf_string; /* _strings.json */
extern const cairn__leaf_ops_t cairn__leaf_empty;  /* nothing but its name */
const cairn__leaf_ops_t *cairn__leaf_ops(cairn__form_t form);

/* Shared by both array forms (leaf_boxes.c). */
cairn_code_t cairn__boxes_measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                                  cairn_error_t *err);
void cairn__boxes_take(const cairn_leaf_t *leaf, cairn__take_t *t);
/* n bytes of staging memory: reserved in the first pass, given in the second.
 */
bool cairn__take_reserve(cairn__take_t *t, size_t n);
void *cairn__take_stage(cairn__take_t *t, size_t n);

/* Chunk size for plans by Orbax's rules: never beyond the size of a data file
 * (arrays.md B4). */
int64_t cairn__orbax_chunk_bytes(const cairn_item_ctx_t *ctx);

/* Converts one element if the value stays exactly the same (NaN stays NaN);
 * false: it would not, or there is no way between the types. Integers, floats
 * of 16 bits and more, bool. */
bool cairn__scalar_convert(cairn_dtype_t from, const void *in, cairn_dtype_t to,
                           void *out);

#endif
