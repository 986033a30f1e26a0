/* Filling a target tree from the stored one. */
#ifndef CAIRN_HANDLERS_TREE_RESTORE_H_
#define CAIRN_HANDLERS_TREE_RESTORE_H_

#include "tree_match.h"
#include "tree_stored.h"

/* A scalar whose stored type is not the target's, on its way. */
typedef struct cairn__cast {
  size_t match; /* index of its pair */
  _Alignas(16) uint8_t raw[16];
  uint8_t made[16];
} cairn__cast_t;

typedef struct cairn__tree_restore {
  cairn_item_ctx_t *ctx;
  const cairn_tree_t *target;
  cairn__tree_stored_t stored;
  cairn__match_t *matches;
  size_t num_matches;
  cairn__diffs_t diffs;

  /* of the matches with arrays, in order */
  size_t *array_of; /* index of the pair */
  cairn_bytes_t *names;
  cairn_zarr_t **zarrs;
  size_t num_arrays;

  cairn_array_io_t *io; /* into the target: */
  size_t num_io;
  cairn_array_io_t *cast_io; /* to be converted */
  cairn__cast_t *casts;
  size_t num_casts;
  cairn__bump_t bump;

  cairn_kv_t *reader;
  int phase;
  cairn_error_t err;
  cairn_wait_t wait;
  cairn_future_t *done;
} cairn__tree_restore_t;

/* Loop. ctx->combined is what load packed. Nothing of the target is written
 * before all of it is known to match. */
cairn_future_t *cairn__tree_restore(const cairn_tree_t *target,
                                    cairn_item_ctx_t *ctx);

/* The parts that compute (tree_fit.c), on a CPU thread. */
cairn_code_t cairn__restore_match(cairn__tree_restore_t *r, cairn_error_t *err);
cairn_code_t cairn__restore_fit(cairn__tree_restore_t *r, cairn_error_t *err);
cairn_code_t cairn__restore_cast(cairn__tree_restore_t *r, cairn_error_t *err);
/* Puts strings and converted scalars into the target: the last thing. */
cairn_code_t cairn__restore_store(cairn__tree_restore_t *r, cairn_error_t *err);

#endif
