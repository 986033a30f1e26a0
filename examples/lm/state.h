/* What a run's checkpoint holds, bound to the run's own memory. The tree:
 *
 *   params/NAME       float32, all of it on every rank (replicas)
 *   adam/m/NAME       float32, each rank its rows (shards), uneven as it may be
 *   adam/v/NAME
 *   step              int64: updates done
 *   learning_rate     float64
 *   sampler           uint64[4]: draws the batches; the same on all ranks
 *   corpus            string: the text's file name
 *   ranks             int64: of the job that wrote this
 *
 * and beside it, as the item "rng", each rank's random stream for writing text.
 * Streams do not touch training. On fewer ranks those of the missing ranks are
 * lost; on more, a rank that has none begins one, from the seed, its rank and
 * the step. */
#ifndef LM_STATE_H_
#define LM_STATE_H_

#include <cairn/cairn.h>

#include "train.h"

typedef struct state {
  int64_t step, ranks;
  double learning_rate;
  char corpus[128];
  rng_t stream; /* this rank's own */
  cairn_tree_t *tree;
} state_t;

/* Binds the trainer's memory and st's own; both must outlive the tree. */
cairn_code_t state_open(state_t *st, trainer_t *tr, cairn_error_t *err);
void state_close(state_t *st);

/* "NAME DTYPE SHAPE" for every leaf, a line each. */
void state_print_shapes(const state_t *st);

#endif
