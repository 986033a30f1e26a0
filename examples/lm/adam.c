#include "adam.h"

#include <math.h>
#include <stdlib.h>

#include "split.h"

static const double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;

bool adam_open(adam_t *adam, const model_t *model, int rank, int ranks) {
  *adam = (adam_t){0};
  int64_t total = 0;
  for (int i = 0; i < NUM_PARAMS; i++) {
    int64_t rows = model->param[i].rows;
    moment_t *at = &adam->moment[i];
    at->first = split_begin(rows, ranks, rank);
    at->rows = split_begin(rows, ranks, rank + 1) - at->first;
    total += at->rows * model->param[i].cols;
  }
  adam->memory = calloc(2 * (size_t)total + 1, sizeof(float));
  if (adam->memory == NULL) return false;
  float *next = adam->memory;
  for (int i = 0; i < NUM_PARAMS; i++) {
    int64_t size = adam->moment[i].rows * model->param[i].cols;
    adam->moment[i].m = next;
    adam->moment[i].v = next + size;
    next += 2 * size;
  }
  return true;
}

void adam_close(adam_t *adam) {
  free(adam->memory);
  *adam = (adam_t){0};
}

void adam_update(const moment_t *moment, matrix_t *matrix,
                 const float *gradient, int64_t step, double learning_rate) {
  float *w = matrix->data + moment->first * matrix->cols;
  float rate = (float)(learning_rate / (1 - pow(beta1, (double)step)));
  float correct = (float)(1 / (1 - pow(beta2, (double)step)));
  float b1 = (float)beta1, b2 = (float)beta2, eps = (float)epsilon;
  for (int64_t i = 0; i < moment->rows * matrix->cols; i++) {
    float g = gradient[i];
    float m = moment->m[i] = b1 * moment->m[i] + (1 - b1) * g;
    float v = moment->v[i] = b2 * moment->v[i] + (1 - b2) * g * g;
    w[i] -= rate * m / (sqrtf(v * correct) + eps);
  }
}
