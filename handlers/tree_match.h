/* Which stored leaf fills which leaf of a target, and what does not match. */
#ifndef CAIRN_HANDLERS_TREE_MATCH_H_
#define CAIRN_HANDLERS_TREE_MATCH_H_

#include "cairn/array.h"
#include "tree_meta.h"

/* Differences, the first 20 of each kind in words. */
typedef struct cairn__diff_list {
  size_t n;
  cairn_buf_t text;
} cairn__diff_list_t;
typedef struct cairn__diffs {
  cairn__diff_list_t missing;    /* in the target, not stored */
  cairn__diff_list_t unexpected; /* stored, not in the target */
  cairn__diff_list_t unfit;      /* another kind, shape or type */
} cairn__diffs_t;

bool cairn__diffs_any(const cairn__diffs_t *d);
void cairn__diffs_add(cairn__diff_list_t *list, cairn__keypath_t path,
                      const char *fmt, ...) CAIRN_PRINTF(3, 4);
/* CAIRN_MISMATCH with the totals and the lists. */
cairn_code_t cairn__diffs_fail(const cairn__diffs_t *d, cairn_error_t *err);
void cairn__diffs_free(cairn__diffs_t *d);

typedef struct cairn__match {
  const cairn_leaf_t *leaf;
  const cairn__meta_entry_t *entry;
} cairn__match_t;

/* Pairs in the order of the paths; *out for free(). Differences go to d and are
 * no failure; with `partial` stored leaves that the target lacks are none.
 * CAIRN_NO_MEMORY. Any thread. */
cairn_code_t cairn__tree_match(const cairn_tree_t *target,
                               const cairn__tree_meta_t *meta, bool partial,
                               cairn__match_t **out, size_t *n,
                               cairn__diffs_t *d, cairn_error_t *err);

/* Can the stored array fill the target? Rank, shape and type; a scalar takes
 * any type of rank 0. */
void cairn__match_array(const cairn__match_t *m, const cairn_zarr_t *z,
                        cairn__diffs_t *d);

#endif
