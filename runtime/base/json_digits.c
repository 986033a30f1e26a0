/* Doubles to decimal digits and back, in any locale of the process. */
#include <float.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_impl.h"

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

/* The C library keeps its own "C" locale for this: nothing is allocated that
 * would have to be freed. */
static void make_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double cairn__json_strtod(const char *text) {
  pthread_once(&c_locale_once, make_c_locale);
  if (c_locale == (locale_t)0) return strtod(text, NULL);
  return strtod_l(text, NULL, c_locale);
}

/* The n digits nearest to r. The decimal point that printf writes depends on
 * the locale, so it is stepped over, whatever it is. */
static void round_to(double r, int n, cairn__digits_t *out) {
  char text[64];
  const char *p = text;
  snprintf(text, sizeof text, "%.*e", n - 1, r);
  out->n = 0;
  for (; *p != 'e'; p++)
    if (*p >= '0' && *p <= '9') out->d[out->n++] = *p;
  out->point = atoi(p + 1) + 1;
}

static bool reads_back(const cairn__digits_t *x, double r) {
  char text[64];
  snprintf(text, sizeof text, "%.*se%d", x->n, x->d, x->point - x->n);
  return cairn__json_strtod(text) == r;
}

/* The next larger number of as many digits. */
static void step_up(cairn__digits_t *x) {
  int i = x->n - 1;
  while (i >= 0 && x->d[i] == '9') x->d[i--] = '0';
  if (i >= 0) {
    x->d[i]++;
    return;
  }
  x->d[0] = '1'; /* 99 became 00; it is 10 one place higher */
  x->point++;
}

/* Do n digits do? The nearest ones normally decide. Below a power of two the
 * doubles lie twice as close as above it, so there the nearest may miss r from
 * below while its upper neighbour, further away, still reads as r. */
static bool digits_do(double r, int n, cairn__digits_t *out) {
  round_to(r, n, out);
  if (reads_back(out, r)) return true;
  step_up(out);
  return reads_back(out, r);
}

static void drop_zeros(cairn__digits_t *x) {
  while (x->n > 1 && x->d[x->n - 1] == '0') x->n--;
}

/* What can be written with 15 digits or fewer comes out right with 15, zeros at
 * the end; only the subnormal numbers, which have less precision, must be tried
 * from the shortest. */
void cairn__digits_shortest(double r, cairn__digits_t *out) {
  int n = r < DBL_MIN ? 1 : DBL_DIG;
  while (n < DBL_DECIMAL_DIG && !digits_do(r, n, out)) n++;
  if (n == DBL_DECIMAL_DIG) round_to(r, n, out);
  drop_zeros(out);
}
