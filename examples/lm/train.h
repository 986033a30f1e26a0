/* One training step over all ranks, and the loss on text kept back.
 *
 * The batch of a step is drawn from the sampler alone, the same on all ranks;
 * each rank works on its part of the sequences. So the number of ranks changes
 * nothing but the order in which gradients are summed. */
#ifndef LM_TRAIN_H_
#define LM_TRAIN_H_

#include "adam.h"
#include "data.h"
#include "network.h"
#include "parallel.h"

typedef struct trainer {
  int64_t batch, window;
  corpus_t *corpus;
  model_t model, gradient;
  adam_t adam;
  network_t net;
  parallel_t par;
  rng_t sampler;
  int64_t *begins; /* [batch] */
  double *losses;  /* [batch, or sequences of the validation] */
  const uint8_t **text;
} trainer_t;

/* embed and hidden: the model's sizes. False: out of memory. */
bool trainer_open(trainer_t *tr, corpus_t *corpus, int64_t embed,
                  int64_t hidden, int64_t batch, int64_t window, MPI_Comm comm);
void trainer_close(trainer_t *tr);

/* Fresh parameters and a fresh sampler, the same on all ranks. */
void trainer_init(trainer_t *tr, uint64_t seed);

/* `step` is the one being done, from 1 on. Returns the batch's mean loss before
 * the update, the same on all ranks. Collective. */
double trainer_step(trainer_t *tr, int64_t step, double learning_rate);

/* Mean loss over the first MAX_VALIDATION sequences of the validation text.
 * Collective; changes nothing. */
enum { MAX_VALIDATION = 64 };
double trainer_validate(trainer_t *tr);

#endif
