/* The gradient that the model computes against differences of its loss. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "network.h"

enum { EMBED = 5, HIDDEN_SIZE = 12, BATCH = 3, WINDOW = 7 };

static const char words[] = "the quick brown fox jumps over the lazy dog";
static const uint8_t *const text[BATCH] = {(const uint8_t *)words,
                                           (const uint8_t *)words + 9,
                                           (const uint8_t *)words + 20};
static const double scale = 1.0 / BATCH;

typedef struct fixture {
  model_t model, gradient;
  network_t net;
  rng_t rng;
} fixture_t;

/* Weights large enough for the gates to leave their linear range. */
static void set_up(fixture_t *f) {
  cr_assert(model_open(&f->model, EMBED, HIDDEN_SIZE));
  cr_assert(model_open(&f->gradient, EMBED, HIDDEN_SIZE));
  cr_assert(network_open(&f->net, &f->model, BATCH, WINDOW));
  model_init(&f->model, 7);
  rng_seed(&f->rng, 7, 5);
  for (int64_t i = 0; i < f->model.size; i++)
    f->model.memory[i] +=
        (float)(0.3 * (rng_uniform(&f->rng) + rng_uniform(&f->rng) - 1));
}

static void tear_down(fixture_t *f) {
  network_close(&f->net);
  model_close(&f->gradient);
  model_close(&f->model);
}

static double loss(fixture_t *f) {
  double losses[BATCH], sum = 0;
  network_forward(&f->net, &f->model, BATCH, text, losses);
  for (int s = 0; s < BATCH; s++) sum += losses[s];
  return scale * sum;
}

static void compute_gradient(fixture_t *f) {
  loss(f);
  network_backward(&f->net, &f->model, BATCH, text, scale, &f->gradient);
}

static double dot(int64_t n, const float *a, const float *b) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
  return sum;
}

/* The loss's derivative along a direction of length 1, by central difference.
 */
static double slope(fixture_t *f, matrix_t *p, const float *direction) {
  const float h = 0.01f;
  int64_t n = matrix_size(p);
  float *saved = malloc((size_t)n * sizeof(float));
  memcpy(saved, p->data, (size_t)n * sizeof(float));
  for (int64_t i = 0; i < n; i++) p->data[i] = saved[i] + h * direction[i];
  double above = loss(f);
  for (int64_t i = 0; i < n; i++) p->data[i] = saved[i] - h * direction[i];
  double below = loss(f);
  memcpy(p->data, saved, (size_t)n * sizeof(float));
  free(saved);
  return (above - below) / (2 * (double)h);
}

static void normalise(int64_t n, float *v) {
  float length = (float)sqrt(dot(n, v, v));
  for (int64_t i = 0; i < n; i++) v[i] /= length;
}

/* Along the gradient itself, and along random directions: a part of the true
 * gradient that is missing shows up in those. Their slope is smaller than the
 * gradient by the root of the matrix's size, and so is what is tolerated. */
static void check_matrix(fixture_t *f, int which) {
  matrix_t *p = &f->model.param[which];
  const float *g = f->gradient.param[which].data;
  int64_t n = matrix_size(p);
  double length = sqrt(dot(n, g, g));
  float *direction = malloc((size_t)n * sizeof(float));
  cr_assert_gt(length, 1e-3, "%s: no gradient", p->name);
  memcpy(direction, g, (size_t)n * sizeof(float));
  normalise(n, direction);
  cr_assert_float_eq(slope(f, p, direction), length, 2e-3 * length,
                     "%s: along the gradient: %g, not %g", p->name,
                     slope(f, p, direction), length);
  for (int trial = 0; trial < 20; trial++) {
    for (int64_t i = 0; i < n; i++)
      direction[i] = (float)(rng_uniform(&f->rng) - 0.5);
    normalise(n, direction);
    double want = dot(n, g, direction), is = slope(f, p, direction);
    cr_assert_float_eq(is, want, 0.02 * length / sqrt((double)n) + 1e-4,
                       "%s: along direction %d: %g, not %g", p->name, trial, is,
                       want);
  }
  free(direction);
}

Test(lm_gradient, agrees_with_differences_of_the_loss) {
  fixture_t f;
  set_up(&f);
  compute_gradient(&f);
  for (int i = 0; i < NUM_PARAMS; i++) check_matrix(&f, i);
  tear_down(&f);
}

Test(lm_gradient, is_added_to_what_is_there) {
  fixture_t f;
  set_up(&f);
  compute_gradient(&f);
  double once = dot(f.gradient.size, f.gradient.memory, f.gradient.memory);
  compute_gradient(&f);
  double twice = dot(f.gradient.size, f.gradient.memory, f.gradient.memory);
  cr_assert_float_eq(twice / once, 4, 1e-5);
  tear_down(&f);
}

/* A sequence's loss must not depend on which others are in the batch: ranks
 * have different batches. */
Test(lm_gradient, losses_are_the_same_bits_alone_and_in_a_batch) {
  fixture_t f;
  double together[BATCH], alone;
  set_up(&f);
  network_forward(&f.net, &f.model, BATCH, text, together);
  for (int s = 0; s < BATCH; s++) {
    network_forward(&f.net, &f.model, 1, &text[s], &alone);
    cr_assert_eq(alone, together[s], "sequence %d", s);
  }
  tear_down(&f);
}

Test(lm_gradient, a_model_without_weights_thinks_all_bytes_alike) {
  model_t model;
  network_t net;
  double losses[BATCH];
  cr_assert(model_open(&model, EMBED, HIDDEN_SIZE));
  cr_assert(network_open(&net, &model, BATCH, WINDOW));
  network_forward(&net, &model, BATCH, text, losses);
  for (int s = 0; s < BATCH; s++) cr_assert_float_eq(losses[s], log(256), 1e-6);
  network_close(&net);
  model_close(&model);
}
