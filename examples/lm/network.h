/* Forward and backward through the model for some sequences at a time. */
#ifndef LM_NETWORK_H_
#define LM_NETWORK_H_

#include "model.h"

/* Work space; sized for `batch` sequences of `window` bytes. Rows of all
 * buffers are in order of time: row t * n + s belongs to byte t of sequence s
 * of n. */
typedef struct network {
  int64_t batch, window;
  float *memory;
  float *x;         /* [rows][embed] */
  float *gates;     /* [rows][3 hidden]: z, r, n */
  float *candidate; /* [rows][hidden]: g_2 */
  float *state;     /* [rows + n][hidden]: h before each byte, and the last */
  float *recurrent; /* [n][3 hidden]: g of one time */
  float *probs;     /* [rows][VOCABULARY] */
  float *d_state;   /* [rows][hidden] */
  float *d_input;   /* [rows][3 hidden]: by a */
  float *d_hidden;  /* [rows][3 hidden]: by g */
  float *carry;     /* [n][hidden] */
  float *turned;    /* a transposed matrix */
} network_t;

/* False: out of memory. */
bool network_open(network_t *net, const model_t *model, int64_t batch,
                  int64_t window);
void network_close(network_t *net);

/* Reads window + 1 bytes at each text[s], n <= batch sequences. losses[s]: the
 * mean of -log p over the window, in nats. Starts from h = 0. */
void network_forward(network_t *net, const model_t *model, int64_t n,
                     const uint8_t *const *text, double *losses);

/* After forward on the same sequences: adds to `grad` the gradient of
 * scale * (losses[0] + ... + losses[n - 1]). */
void network_backward(network_t *net, const model_t *model, int64_t n,
                      const uint8_t *const *text, double scale, model_t *grad);

/* Draws `length` bytes that the model thinks likely, starting from a line's
 * beginning. */
void network_sample(network_t *net, const model_t *model, rng_t *rng,
                    double temperature, char *out, int64_t length);

#endif
