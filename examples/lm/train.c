#include "train.h"

#include <stdlib.h>
#include <string.h>

#include "split.h"

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

bool trainer_open(trainer_t *tr, corpus_t *corpus, int64_t embed,
                  int64_t hidden, int64_t batch, int64_t window,
                  MPI_Comm comm) {
  *tr = (trainer_t){.batch = batch, .window = window, .corpus = corpus};
  size_t n = (size_t)most(batch, MAX_VALIDATION);
  tr->begins = calloc(n, sizeof(*tr->begins));
  tr->losses = calloc(n, sizeof(*tr->losses));
  tr->text = calloc(n, sizeof(*tr->text));
  if (tr->begins == NULL || tr->losses == NULL || tr->text == NULL ||
      !model_open(&tr->model, embed, hidden) ||
      !model_open(&tr->gradient, embed, hidden) ||
      !parallel_open(&tr->par, &tr->model, comm) ||
      !adam_open(&tr->adam, &tr->model, tr->par.rank, tr->par.ranks) ||
      !network_open(&tr->net, &tr->model,
                    most(split_begin(batch, tr->par.ranks, 1), 1), window)) {
    trainer_close(tr);
    return false;
  }
  return true;
}

void trainer_close(trainer_t *tr) {
  network_close(&tr->net);
  adam_close(&tr->adam);
  parallel_close(&tr->par);
  model_close(&tr->gradient);
  model_close(&tr->model);
  free(tr->text);
  free(tr->losses);
  free(tr->begins);
  *tr = (trainer_t){0};
}

void trainer_init(trainer_t *tr, uint64_t seed) {
  model_init(&tr->model, seed);
  rng_seed(&tr->sampler, seed, 1);
}

static void update(trainer_t *tr, int64_t step, double learning_rate) {
  for (int i = 0; i < NUM_PARAMS; i++) {
    const float *sum = parallel_sum(&tr->par, &tr->gradient.param[i]);
    adam_update(&tr->adam.moment[i], &tr->model.param[i], sum, step,
                learning_rate);
    parallel_share(&tr->par, &tr->model.param[i]);
  }
}

/* Gathers all n losses and takes their mean, in order. */
static double mean_loss(trainer_t *tr, int64_t n) {
  double sum = 0;
  parallel_gather(&tr->par, tr->losses, n);
  for (int64_t i = 0; i < n; i++) sum += tr->losses[i];
  return sum / (double)n;
}

double trainer_step(trainer_t *tr, int64_t step, double learning_rate) {
  int64_t first = split_begin(tr->batch, tr->par.ranks, tr->par.rank);
  int64_t n = split_begin(tr->batch, tr->par.ranks, tr->par.rank + 1) - first;
  corpus_draw(tr->corpus, &tr->sampler, tr->window, tr->batch, tr->begins);
  for (int64_t s = 0; s < n; s++)
    tr->text[s] = tr->corpus->text + tr->begins[first + s];
  memset(tr->gradient.memory, 0, (size_t)tr->gradient.size * sizeof(float));
  if (n > 0) {
    network_forward(&tr->net, &tr->model, n, tr->text, tr->losses + first);
    network_backward(&tr->net, &tr->model, n, tr->text, 1 / (double)tr->batch,
                     &tr->gradient);
  }
  update(tr, step, learning_rate);
  return mean_loss(tr, tr->batch);
}

double trainer_validate(trainer_t *tr) {
  int64_t total = corpus_num_validation(tr->corpus, tr->window);
  if (total > MAX_VALIDATION) total = MAX_VALIDATION;
  int64_t next = split_begin(total, tr->par.ranks, tr->par.rank);
  int64_t end = split_begin(total, tr->par.ranks, tr->par.rank + 1);
  while (next < end) {
    int64_t n = end - next < tr->net.batch ? end - next : tr->net.batch;
    for (int64_t s = 0; s < n; s++)
      tr->text[s] = tr->corpus->text +
                    corpus_validation(tr->corpus, tr->window, next + s);
    network_forward(&tr->net, &tr->model, n, tr->text, tr->losses + next);
    next += n;
  }
  return mean_loss(tr, total);
}
