/* The parameters of a character model: which there are, their shapes, their
 * memory. Gradients have the same form.
 *
 *   x = embedding[byte]
 *   a = x input + bias, g = h hidden             each 3 parts of `hidden` wide
 *   z = sigmoid(a_0 + g_0), r = sigmoid(a_1 + g_1)
 *   n = tanh(a_2 + r g_2), h' = (1 - z) n + z h            (a gated unit, GRU)
 *   p = softmax(h' output + output_bias)                   of the byte to come
 */
#ifndef LM_MODEL_H_
#define LM_MODEL_H_

#include <stdbool.h>
#include <stdint.h>

#include "rng.h"

enum { VOCABULARY = 256 }; /* bytes */

enum {
  EMBEDDING,   /* [VOCABULARY][embed] */
  INPUT,       /* [embed][3 hidden] */
  HIDDEN,      /* [hidden][3 hidden] */
  BIAS,        /* [3 hidden] */
  OUTPUT,      /* [hidden][VOCABULARY] */
  OUTPUT_BIAS, /* [VOCABULARY] */
  NUM_PARAMS
};

typedef struct matrix {
  const char *name;
  int dims;           /* 1 (then cols is 1) or 2 */
  int64_t rows, cols; /* row-major */
  float *data;
} matrix_t;

typedef struct model {
  int64_t embed, hidden;
  matrix_t param[NUM_PARAMS];
  int64_t size;  /* numbers in all */
  float *memory; /* all of them, one matrix after the other */
} model_t;

/* All zero. False: out of memory. */
bool model_open(model_t *model, int64_t embed, int64_t hidden);
void model_close(model_t *model);

/* Small random weights; the same seed gives the same. */
void model_init(model_t *model, uint64_t seed);

static inline int64_t matrix_size(const matrix_t *m) {
  return m->rows * m->cols;
}

#endif
