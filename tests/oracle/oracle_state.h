/* The state that a job document describes, as memory of this rank.
 *
 * An item is {"name", "type", ...}. Of type "tree" it has "leaves":
 *   {"path": [["dict", "a"], ["seq", 0], ["int", 3], ["attr", "mu"]],
 *    "kind": "array" | "scalar" | "string" | "none" | "dict" | "list" |
 *            "tuple" | "placeholder",
 *    "dtype", "shape", "at"      where the job's data file has the global array
 *    "boxes": [[[origin, extent], ...] of each rank]   absent: all of it
 *    "strided": true             in memory with gaps
 *    "borrow": true              saved without a copy
 *    "sharding": {"mesh_shape", "axis_names", "device_ids", "spec"}
 *    "text" | "capacity"}        of a string, saved | restored
 * Of another type it has "blobs": [[at, n] of each rank, or one for all]. */
#ifndef TESTS_ORACLE_STATE_H_
#define TESTS_ORACLE_STATE_H_

#include "cairn/cairn.h"

typedef struct state {
  cairn_item_t *items;
  size_t n;
  cairn_blob_t *blobs; /* of items that are no trees, by item */
  bool target;
} state_t;

/* The job's data file: global arrays, C order, little endian. */
typedef struct source {
  const uint8_t *p;
  size_t n;
} source_t;

/* target: memory to be filled, instead of taken from the source. On failure
 * the state holds what was made so far; either way state_free. */
cairn_code_t state_make(const cairn_json_t *items, source_t data, int rank,
                        bool target, state_t *out, cairn_error_t *err);
void state_free(state_t *s);

/* What a restore gave to this rank: arrays and scalars in order of items,
 * leaves and boxes, each dense, to `bytes`; texts and blobs in the same order
 * as a JSON document to `texts`. CAIRN_INTERNAL if memory was written that is
 * outside the boxes. */
cairn_code_t state_take(const cairn_json_t *items, const state_t *s,
                        cairn_buf_t *bytes, cairn_buf_t *texts,
                        cairn_error_t *err);

bool state_flag(const cairn_json_t *v, const char *key);
bool state_is_tree(const cairn_item_t *item);

#endif
