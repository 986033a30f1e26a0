/* All divisors of a number, from its prime factors. */
#include <stdlib.h>

#include "strategy/plan.h"

#define MAX_TRIAL ((int64_t)1 << 21)
#define MAX_PRIMES 16 /* the product of the first 16 primes passes 2^63 */

struct power {
  int64_t prime;
  size_t exponent;
};

static size_t factor(int64_t n, struct power *out) {
  size_t k = 0;
  for (int64_t p = 2; p <= MAX_TRIAL && p <= n / p; p += p == 2 ? 1 : 2) {
    if (n % p != 0) continue;
    out[k] = (struct power){.prime = p};
    for (; n % p == 0; n /= p) out[k].exponent++;
    k++;
  }
  if (n > 1) out[k++] = (struct power){.prime = n, .exponent = 1};
  return k;
}

bool cairn__divisors(int64_t n, cairn__divisors_t *out) {
  struct power powers[MAX_PRIMES];
  size_t k = factor(n, powers), count = 1;
  for (size_t i = 0; i < k; i++) count *= powers[i].exponent + 1;
  int64_t *v = calloc(count, sizeof *v);
  if (v == NULL) return false;
  v[0] = 1;
  for (size_t i = 0, have = 1; i < k; i++) {
    size_t base = have; /* each so far times prime, prime^2, ... */
    for (size_t e = 0; e < powers[i].exponent; e++)
      for (size_t j = 0; j < base; j++, have++)
        v[have] = v[have - base] * powers[i].prime;
  }
  qsort(v, count, sizeof *v, cairn__plan_by_value);
  *out = (cairn__divisors_t){.v = v, .n = count};
  return true;
}

void cairn__divisors_reset(cairn__divisors_t *d) {
  free(d->v);
  *d = (cairn__divisors_t){0};
}

int64_t cairn__divisors_fit(const cairn__divisors_t *d, int64_t limit) {
  size_t lo = 0, hi = d->n; /* v[lo] fits, v[hi] does not */
  while (hi - lo > 1) {
    size_t mid = lo + (hi - lo) / 2;
    if (d->v[mid] <= limit)
      lo = mid;
    else
      hi = mid;
  }
  return d->v[lo];
}
