/* Bytes of a window depend on each other through the state only, so all that
 * does not touch it is done for the whole window in one product: the input part
 * before the loop over time, softmax after it, and likewise backwards. */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"

static const float *data(const model_t *model, int param) {
  return model->param[param].data;
}

/* Work space ----------------------------------------------------------------
 */

static int64_t max2(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* The largest thing that backward transposes: a weight, or a buffer. */
static int64_t turned_size(const model_t *model, int64_t rows) {
  int64_t h = model->hidden, wide = max2(h, max2(model->embed, VOCABULARY));
  return max2(rows * wide, 3 * h * wide);
}

bool network_open(network_t *net, const model_t *model, int64_t batch,
                  int64_t window) {
  int64_t rows = batch * window, h = model->hidden;
  *net = (network_t){.batch = batch, .window = window};
  struct {
    float **place;
    int64_t size;
  } parts[] = {
      {&net->x, rows * model->embed},
      {&net->gates, rows * 3 * h},
      {&net->candidate, rows * h},
      {&net->state, (rows + batch) * h},
      {&net->recurrent, batch * 3 * h},
      {&net->probs, rows * VOCABULARY},
      {&net->d_state, rows * h},
      {&net->d_input, rows * 3 * h},
      {&net->d_hidden, rows * 3 * h},
      {&net->carry, batch * h},
      {&net->turned, turned_size(model, rows)},
  };
  int64_t total = 0;
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
    total += parts[i].size;
  net->memory = calloc((size_t)total, sizeof(float));
  if (net->memory == NULL) return false;
  float *next = net->memory;
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    *parts[i].place = next;
    next += parts[i].size;
  }
  return true;
}

void network_close(network_t *net) {
  free(net->memory);
  *net = (network_t){0};
}

/* Forward -------------------------------------------------------------------
 */

static void embed(network_t *net, const model_t *model, int64_t n,
                  const uint8_t *const *text) {
  int64_t e = model->embed;
  for (int64_t t = 0; t < net->window; t++)
    for (int64_t s = 0; s < n; s++)
      memcpy(net->x + (t * n + s) * e, data(model, EMBEDDING) + text[s][t] * e,
             (size_t)e * sizeof(float));
}

static void add_bias(float *rows, int64_t num, int64_t width,
                     const float *bias) {
  for (int64_t i = 0; i < num; i++)
    for (int64_t j = 0; j < width; j++) rows[i * width + j] += bias[j];
}

static float sigmoid(float x) {
  return 1.0f / (1.0f + expf(-x));
}

/* One unit, one byte: `gates` holds a and becomes z, r, n. */
static void unit(int64_t h, float *gates, const float *g, float *candidate,
                 const float *state, float *next) {
  for (int64_t j = 0; j < h; j++) {
    float z = sigmoid(gates[j] + g[j]);
    float r = sigmoid(gates[h + j] + g[h + j]);
    float n = tanhf(gates[2 * h + j] + r * g[2 * h + j]);
    candidate[j] = g[2 * h + j];
    gates[j] = z;
    gates[h + j] = r;
    gates[2 * h + j] = n;
    next[j] = (1.0f - z) * n + z * state[j];
  }
}

static void step(network_t *net, const model_t *model, int64_t n, int64_t t) {
  int64_t h = model->hidden;
  gemm(n, 3 * h, h, net->state + t * n * h, data(model, HIDDEN),
       net->recurrent);
  for (int64_t s = 0; s < n; s++) {
    int64_t row = t * n + s;
    unit(h, net->gates + row * 3 * h, net->recurrent + s * 3 * h,
         net->candidate + row * h, net->state + row * h,
         net->state + (row + n) * h);
  }
}

/* Scores become probabilities. Returns the log of probs[target]. */
static double softmax(float *probs, int target) {
  float largest = probs[0], at_target = probs[target];
  double sum = 0;
  for (int v = 1; v < VOCABULARY; v++)
    if (probs[v] > largest) largest = probs[v];
  for (int v = 0; v < VOCABULARY; v++) {
    probs[v] = expf(probs[v] - largest);
    sum += probs[v];
  }
  float inverse = (float)(1.0 / sum);
  for (int v = 0; v < VOCABULARY; v++) probs[v] *= inverse;
  return (double)at_target - (double)largest - log(sum);
}

static void score(network_t *net, const model_t *model, int64_t n,
                  int64_t rows) {
  gemm(rows, VOCABULARY, model->hidden, net->state + n * model->hidden,
       data(model, OUTPUT), net->probs);
  add_bias(net->probs, rows, VOCABULARY, data(model, OUTPUT_BIAS));
}

void network_forward(network_t *net, const model_t *model, int64_t n,
                     const uint8_t *const *text, double *losses) {
  int64_t h = model->hidden, rows = n * net->window;
  memset(net->state, 0, (size_t)(n * h) * sizeof(float));
  embed(net, model, n, text);
  gemm(rows, 3 * h, model->embed, net->x, data(model, INPUT), net->gates);
  add_bias(net->gates, rows, 3 * h, data(model, BIAS));
  for (int64_t t = 0; t < net->window; t++) step(net, model, n, t);
  score(net, model, n, rows);
  for (int64_t s = 0; s < n; s++) {
    double sum = 0;
    for (int64_t t = 0; t < net->window; t++)
      sum -= softmax(net->probs + (t * n + s) * VOCABULARY, text[s][t + 1]);
    losses[s] = sum / (double)net->window;
  }
}

/* Backward ------------------------------------------------------------------
 */

/* grad += a[rows][k]^T b[rows][n] */
static void add_product(network_t *net, matrix_t *grad, int64_t rows, int64_t k,
                        int64_t n, const float *a, const float *b) {
  transpose(rows, k, a, net->turned);
  gemm_add(k, n, rows, net->turned, b, grad->data);
}

/* out[rows][n] = a[rows][k] w[n][k]^T */
static void times_turned(network_t *net, int64_t rows, int64_t n, int64_t k,
                         const float *a, const float *w, float *out) {
  transpose(n, k, w, net->turned);
  gemm(rows, n, k, a, net->turned, out);
}

static void add_columns(matrix_t *grad, int64_t rows, const float *d) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < grad->rows; j++)
      grad->data[j] += d[i * grad->rows + j];
}

/* probs becomes the derivative by the scores, and that goes on to d_state. */
static void output_backward(network_t *net, const model_t *model, int64_t n,
                            const uint8_t *const *text, double scale,
                            model_t *grad) {
  int64_t h = model->hidden, rows = n * net->window;
  for (int64_t t = 0; t < net->window; t++)
    for (int64_t s = 0; s < n; s++)
      net->probs[(t * n + s) * VOCABULARY + text[s][t + 1]] -= 1.0f;
  float factor = (float)(scale / (double)net->window);
  for (int64_t i = 0; i < rows * VOCABULARY; i++) net->probs[i] *= factor;
  add_product(net, &grad->param[OUTPUT], rows, h, VOCABULARY,
              net->state + n * h, net->probs);
  add_columns(&grad->param[OUTPUT_BIAS], rows, net->probs);
  times_turned(net, rows, h, VOCABULARY, net->probs, data(model, OUTPUT),
               net->d_state);
}

/* `d` is the derivative by h'. Leaves in `carry` what goes to h past the
 * recurrent product. */
static void unit_backward(int64_t h, const float *gates, const float *candidate,
                          const float *state, const float *d, float *d_input,
                          float *d_hidden, float *carry) {
  for (int64_t j = 0; j < h; j++) {
    float z = gates[j], r = gates[h + j], n = gates[2 * h + j];
    float by_n = d[j] * (1.0f - z) * (1.0f - n * n);
    d_input[j] = d[j] * (state[j] - n) * z * (1.0f - z);
    d_input[h + j] = by_n * candidate[j] * r * (1.0f - r);
    d_input[2 * h + j] = by_n;
    d_hidden[j] = d_input[j];
    d_hidden[h + j] = d_input[h + j];
    d_hidden[2 * h + j] = by_n * r;
    carry[j] = d[j] * z;
  }
}

/* Through time, last byte first; `turned` holds HIDDEN transposed. */
static void recurrent_backward(network_t *net, const model_t *model,
                               int64_t n) {
  int64_t h = model->hidden;
  transpose(h, 3 * h, data(model, HIDDEN), net->turned);
  memset(net->carry, 0, (size_t)(n * h) * sizeof(float));
  for (int64_t t = net->window - 1; t >= 0; t--) {
    for (int64_t i = 0; i < n * h; i++)
      net->d_state[t * n * h + i] += net->carry[i];
    for (int64_t s = 0; s < n; s++) {
      int64_t row = t * n + s;
      unit_backward(h, net->gates + row * 3 * h, net->candidate + row * h,
                    net->state + row * h, net->d_state + row * h,
                    net->d_input + row * 3 * h, net->d_hidden + row * 3 * h,
                    net->carry + s * h);
    }
    gemm_add(n, h, 3 * h, net->d_hidden + t * n * 3 * h, net->turned,
             net->carry);
  }
}

/* Uses up x. */
static void input_backward(network_t *net, const model_t *model, int64_t n,
                           const uint8_t *const *text, model_t *grad) {
  int64_t e = model->embed, h = model->hidden, rows = n * net->window;
  add_product(net, &grad->param[INPUT], rows, e, 3 * h, net->x, net->d_input);
  add_columns(&grad->param[BIAS], rows, net->d_input);
  times_turned(net, rows, e, 3 * h, net->d_input, data(model, INPUT), net->x);
  for (int64_t t = 0; t < net->window; t++)
    for (int64_t s = 0; s < n; s++) {
      float *to = grad->param[EMBEDDING].data + text[s][t] * e;
      for (int64_t j = 0; j < e; j++) to[j] += net->x[(t * n + s) * e + j];
    }
}

void network_backward(network_t *net, const model_t *model, int64_t n,
                      const uint8_t *const *text, double scale, model_t *grad) {
  int64_t h = model->hidden;
  output_backward(net, model, n, text, scale, grad);
  recurrent_backward(net, model, n);
  add_product(net, &grad->param[HIDDEN], n * net->window, h, 3 * h, net->state,
              net->d_hidden);
  input_backward(net, model, n, text, grad);
}

/* Sampling ------------------------------------------------------------------
 */

static int draw(const float *scores, rng_t *rng, double temperature) {
  float largest = scores[0];
  double sum = 0, place = rng_uniform(rng);
  for (int v = 1; v < VOCABULARY; v++)
    if (scores[v] > largest) largest = scores[v];
  for (int v = 0; v < VOCABULARY; v++)
    sum += exp((double)(scores[v] - largest) / temperature);
  place *= sum;
  for (int v = 0; v < VOCABULARY - 1; v++) {
    place -= exp((double)(scores[v] - largest) / temperature);
    if (place < 0) return v;
  }
  return VOCABULARY - 1;
}

void network_sample(network_t *net, const model_t *model, rng_t *rng,
                    double temperature, char *out, int64_t length) {
  int64_t h = model->hidden;
  int byte = '\n';
  memset(net->state, 0, (size_t)h * sizeof(float));
  for (int64_t i = 0; i < length; i++) {
    gemm(1, 3 * h, model->embed, data(model, EMBEDDING) + byte * model->embed,
         data(model, INPUT), net->gates);
    add_bias(net->gates, 1, 3 * h, data(model, BIAS));
    step(net, model, 1, 0);
    score(net, model, 1, 1);
    byte = draw(net->probs, rng, temperature);
    out[i] = (char)byte;
    memcpy(net->state, net->state + h, (size_t)h * sizeof(float));
  }
}
