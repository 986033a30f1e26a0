/* Random numbers whose whole state is four words, so that it can be saved:
 * xoshiro256** (Blackman and Vigna), seeded by splitmix64. */
#ifndef LM_RNG_H_
#define LM_RNG_H_

#include <stdint.h>

typedef struct rng {
  uint64_t s[4];
} rng_t;

/* Streams of one seed are independent of each other. */
void rng_seed(rng_t *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(rng_t *rng);
uint64_t rng_below(rng_t *rng, uint64_t n); /* 0 .. n - 1, n > 0 */
double rng_uniform(rng_t *rng);             /* [0, 1) */

#endif
