/* Dense matrix products in float, row-major, on one thread. */
#ifndef LM_GEMM_H_
#define LM_GEMM_H_

#include <stdint.h>

/* c[m][n] = a[m][k] b[k][n]. An element is summed over k in ascending order,
 * whatever m and n are: what a row gives does not depend on the rows beside it.
 */
void gemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
          float *c);

/* The same, added to c. */
void gemm_add(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
              float *c);

/* out[cols][rows] = in[rows][cols] */
void transpose(int64_t rows, int64_t cols, const float *in, float *out);

#endif
