/* A block of ROWS x COLS sums stays in registers while k runs; k is cut so that
 * the strip of b below a block stays in the first-level cache. Vectors have the
 * width that every x86-64 and ARMv8 processor has. */
#include "gemm.h"

#include <string.h>

enum { LANES = 4, COLS = 2 * LANES, ROWS = 4, STRIP = 256 };

typedef float vec_t
    __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* c[rows][COLS] += a[rows][k] strip[k][COLS] */
INLINE void block(int rows, int64_t k, const float *a, int64_t lda,
                  const float *strip, int64_t stride, float *c, int64_t ldc) {
  vec_t sum[ROWS][2];
  for (int r = 0; r < rows; r++) {
    sum[r][0] = *(const vec_t *)(c + r * ldc);
    sum[r][1] = *(const vec_t *)(c + r * ldc + LANES);
  }
  for (int64_t p = 0; p < k; p++, strip += stride) {
    vec_t b0 = *(const vec_t *)strip, b1 = *(const vec_t *)(strip + LANES);
    for (int r = 0; r < rows; r++) {
      sum[r][0] += a[r * lda + p] * b0;
      sum[r][1] += a[r * lda + p] * b1;
    }
  }
  for (int r = 0; r < rows; r++) {
    *(vec_t *)(c + r * ldc) = sum[r][0];
    *(vec_t *)(c + r * ldc + LANES) = sum[r][1];
  }
}

/* All rows of COLS columns. Constant row counts, so that blocks unroll. */
INLINE void column(int64_t m, int64_t k, const float *a, int64_t lda,
                   const float *strip, int64_t stride, float *c, int64_t ldc) {
  int64_t i = 0;
  for (; i + 4 <= m; i += 4)
    block(4, k, a + i * lda, lda, strip, stride, c + i * ldc, ldc);
  if (i + 2 <= m) {
    block(2, k, a + i * lda, lda, strip, stride, c + i * ldc, ldc);
    i += 2;
  }
  if (i < m) block(1, k, a + i * lda, lda, strip, stride, c + i * ldc, ldc);
}

INLINE void pack(int64_t k, const float *b, int64_t ldb, float *strip) {
  for (int64_t p = 0; p < k; p++)
    memcpy(strip + p * COLS, b + p * ldb, COLS * sizeof(*b));
}

/* Columns beyond the last whole block. */
INLINE void rest(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                 const float *b, int64_t ldb, float *c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t p = 0; p < k; p++)
      for (int64_t j = 0; j < n; j++)
        c[i * ldc + j] += a[i * lda + p] * b[p * ldb + j];
}

static void strip_add(int64_t m, int64_t n, int64_t k, const float *a,
                      int64_t lda, const float *b, int64_t ldb, float *c) {
  float packed[STRIP * COLS];
  int64_t j = 0;
  for (; j + COLS <= n; j += COLS) {
    if (m > 2 * ROWS) { /* worth it only if the strip is used again */
      pack(k, b + j, ldb, packed);
      column(m, k, a, lda, packed, COLS, c + j, n);
    } else {
      column(m, k, a, lda, b + j, ldb, c + j, n);
    }
  }
  rest(m, n - j, k, a, lda, b + j, ldb, c + j, n);
}

void gemm_add(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
              float *c) {
  for (int64_t p = 0; p < k; p += STRIP)
    strip_add(m, n, k - p < STRIP ? k - p : STRIP, a + p, k, b + p * n, n, c);
}

void gemm(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
          float *c) {
  memset(c, 0, (size_t)(m * n) * sizeof(*c));
  gemm_add(m, n, k, a, b, c);
}

void transpose(int64_t rows, int64_t cols, const float *in, float *out) {
  enum { TILE = 16 };
  for (int64_t i = 0; i < rows; i += TILE)
    for (int64_t j = 0; j < cols; j += TILE)
      for (int64_t r = i; r < i + TILE && r < rows; r++)
        for (int64_t c = j; c < j + TILE && c < cols; c++)
          out[c * rows + r] = in[r * cols + c];
}
