#include "model.h"

#include <math.h>
#include <stdlib.h>

static void set_shapes(model_t *m) {
  int64_t e = m->embed, h = m->hidden;
  m->param[EMBEDDING] = (matrix_t){"embedding", 2, VOCABULARY, e, NULL};
  m->param[INPUT] = (matrix_t){"input", 2, e, 3 * h, NULL};
  m->param[HIDDEN] = (matrix_t){"hidden", 2, h, 3 * h, NULL};
  m->param[BIAS] = (matrix_t){"bias", 1, 3 * h, 1, NULL};
  m->param[OUTPUT] = (matrix_t){"output", 2, h, VOCABULARY, NULL};
  m->param[OUTPUT_BIAS] = (matrix_t){"output_bias", 1, VOCABULARY, 1, NULL};
}

bool model_open(model_t *model, int64_t embed, int64_t hidden) {
  *model = (model_t){.embed = embed, .hidden = hidden};
  set_shapes(model);
  for (int i = 0; i < NUM_PARAMS; i++)
    model->size += matrix_size(&model->param[i]);
  model->memory = calloc((size_t)model->size, sizeof(float));
  if (model->memory == NULL) return false;
  float *next = model->memory;
  for (int i = 0; i < NUM_PARAMS; i++) {
    model->param[i].data = next;
    next += matrix_size(&model->param[i]);
  }
  return true;
}

void model_close(model_t *model) {
  free(model->memory);
  *model = (model_t){0};
}

static void fill(matrix_t *m, rng_t *rng, double scale) {
  for (int64_t i = 0; i < matrix_size(m); i++)
    m->data[i] = (float)(scale * (2 * rng_uniform(rng) - 1));
}

void model_init(model_t *model, uint64_t seed) {
  rng_t rng;
  rng_seed(&rng, seed, 0);
  fill(&model->param[EMBEDDING], &rng, 0.5);
  fill(&model->param[INPUT], &rng, sqrt(3.0 / (double)model->embed));
  fill(&model->param[HIDDEN], &rng, sqrt(1.5 / (double)model->hidden));
  fill(&model->param[OUTPUT], &rng, sqrt(0.5 / (double)model->hidden));
}
