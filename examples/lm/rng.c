#include "rng.h"

static uint64_t splitmix(uint64_t *x) {
  uint64_t z = *x += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void rng_seed(rng_t *rng, uint64_t seed, uint64_t stream) {
  uint64_t x = seed;
  x = splitmix(&x) ^ stream;
  for (int i = 0; i < 4; i++) rng->s[i] = splitmix(&x);
}

static uint64_t rotl(uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(rng_t *rng) {
  uint64_t *s = rng->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return result;
}

/* Values of the last, partial round of n are drawn again. */
uint64_t rng_below(rng_t *rng, uint64_t n) {
  uint64_t x, limit = -n % n;
  do x = rng_next(rng);
  while (x < limit);
  return x % n;
}

double rng_uniform(rng_t *rng) {
  return (double)(rng_next(rng) >> 11) * 0x1p-53;
}
