/* What the language model is made of: products, random numbers, text, Adam. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "adam.h"
#include "data.h"
#include "gemm.h"
#include "split.h"

/* --- products --- */

static void check_product(int64_t m, int64_t n, int64_t k) {
  rng_t rng;
  rng_seed(&rng, 3, (uint64_t)(m + 100 * n + 10000 * k));
  float *a = malloc((size_t)(m * k) * sizeof(float));
  float *b = malloc((size_t)(k * n) * sizeof(float));
  float *c = malloc((size_t)(m * n) * sizeof(float));
  for (int64_t i = 0; i < m * k; i++) a[i] = (float)rng_uniform(&rng) - 0.5f;
  for (int64_t i = 0; i < k * n; i++) b[i] = (float)rng_uniform(&rng) - 0.5f;
  gemm(m, n, k, a, b, c);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double want = 0;
      for (int64_t p = 0; p < k; p++)
        want += (double)a[i * k + p] * (double)b[p * n + j];
      cr_assert_float_eq(c[i * n + j], want, 1e-5 * sqrt((double)k),
                         "%d x %d x %d at %d, %d", (int)m, (int)n, (int)k,
                         (int)i, (int)j);
    }
  free(c);
  free(b);
  free(a);
}

Test(lm_gemm, agrees_with_the_definition_at_all_edges) {
  static const int64_t ms[] = {1, 2, 3, 4, 7, 8, 9, 13};
  static const int64_t ns[] = {1, 7, 8, 9, 24, 31};
  static const int64_t ks[] = {1, 5, 255, 256, 257, 600};
  for (size_t i = 0; i < 8; i++)
    for (size_t j = 0; j < 6; j++)
      for (size_t p = 0; p < 6; p++) check_product(ms[i], ns[j], ks[p]);
}

Test(lm_gemm, transposes) {
  float in[19 * 33], out[33 * 19];
  for (int i = 0; i < 19 * 33; i++) in[i] = (float)i;
  transpose(19, 33, in, out);
  for (int r = 0; r < 19; r++)
    for (int c = 0; c < 33; c++)
      cr_assert_eq(out[c * 19 + r], (float)(r * 33 + c));
}

/* --- random numbers --- */

/* The first outputs from state 1, 2, 3, 4 as the authors' C code gives them. */
Test(lm_rng, is_xoshiro256starstar) {
  rng_t rng = {{1, 2, 3, 4}};
  cr_assert_eq(rng_next(&rng), 11520u);
  cr_assert_eq(rng_next(&rng), 0u);
  cr_assert_eq(rng_next(&rng), 1509978240u);
  cr_assert_eq(rng_next(&rng), 1215971899390074240u);
}

Test(lm_rng, streams_of_one_seed_differ) {
  rng_t a, b, again;
  rng_seed(&a, 1, 1);
  rng_seed(&b, 1, 2);
  rng_seed(&again, 1, 1);
  uint64_t first = rng_next(&a);
  cr_assert_neq(first, rng_next(&b));
  cr_assert_eq(first, rng_next(&again));
}

Test(lm_rng, stays_below_its_bound) {
  rng_t rng;
  int seen[3] = {0};
  rng_seed(&rng, 9, 0);
  for (int i = 0; i < 1000; i++) {
    uint64_t x = rng_below(&rng, 3);
    cr_assert_lt(x, 3u);
    seen[x]++;
  }
  cr_assert(seen[0] > 250 && seen[1] > 250 && seen[2] > 250);
}

/* --- splitting --- */

Test(lm_split, parts_follow_one_another_and_differ_by_at_most_one) {
  for (int parts = 1; parts <= 9; parts++)
    for (int64_t n = 0; n <= 20; n++) {
      cr_assert_eq(split_begin(n, parts, 0), 0);
      cr_assert_eq(split_begin(n, parts, parts), n);
      for (int i = 0; i < parts; i++) {
        int64_t size = split_begin(n, parts, i + 1) - split_begin(n, parts, i);
        cr_assert(size == n / parts || size == n / parts + 1);
        cr_assert_leq(size, split_begin(n, parts, 1));
      }
    }
}

/* --- text --- */

static char path[64];

static void write_text(const char *mode, int size) {
  snprintf(path, sizeof(path), "lm_text.%d", (int)getpid());
  gzFile f = gzopen(path, mode);
  for (int i = 0; i < size; i++) gzputc(f, 'a' + i % 26);
  cr_assert_eq(gzclose(f), Z_OK);
}

static void remove_text(void) {
  unlink(path);
}

static void check_text(const char *mode) {
  corpus_t corpus;
  char why[200];
  write_text(mode, 3000000);
  cr_assert(corpus_open(&corpus, path, 64, why, sizeof(why)), "%s", why);
  cr_assert_eq(corpus.size, 3000000);
  cr_assert_eq(corpus.train_size, 2850000);
  cr_assert_str_eq(corpus.name, path);
  for (int64_t i = 0; i < corpus.size; i++)
    cr_assert_eq(corpus.text[i], 'a' + i % 26);
  corpus_close(&corpus);
}

Test(lm_data, reads_plain_text, .fini = remove_text) {
  check_text("wbT");
}

Test(lm_data, reads_gzip, .fini = remove_text) {
  check_text("wb9");
}

Test(lm_data, refuses_a_text_too_short_for_the_window, .fini = remove_text) {
  corpus_t corpus;
  char why[200];
  write_text("wbT", 1000);
  cr_assert_not(corpus_open(&corpus, path, 64, why, sizeof(why)));
  cr_assert(strstr(why, "too few") != NULL, "%s", why);
}

Test(lm_data, refuses_half_a_gzip_file, .fini = remove_text) {
  corpus_t corpus;
  char why[200];
  write_text("wb9", 100000);
  cr_assert_eq(truncate(path, 100), 0);
  cr_assert_not(corpus_open(&corpus, path, 64, why, sizeof(why)));
  cr_assert(strstr(why, path) != NULL, "%s", why);
}

Test(lm_data, names_a_file_that_is_not_there) {
  corpus_t corpus;
  char why[200];
  cr_assert_not(corpus_open(&corpus, "no-such-text", 64, why, sizeof(why)));
  cr_assert_str_eq(why, "no-such-text: No such file or directory");
}

Test(lm_data, sequences_stay_within_their_part, .fini = remove_text) {
  corpus_t corpus;
  char why[200];
  rng_t rng;
  int64_t begins[100];
  write_text("wbT", 2000);
  cr_assert(corpus_open(&corpus, path, 33, why, sizeof(why)), "%s", why);
  rng_seed(&rng, 1, 1);
  for (int i = 0; i < 100; i++) {
    corpus_draw(&corpus, &rng, 33, 100, begins);
    for (int s = 0; s < 100; s++) {
      cr_assert_geq(begins[s], 0);
      cr_assert_leq(begins[s] + 33 + 1, corpus.train_size);
    }
  }
  int64_t last = corpus_num_validation(&corpus, 33) - 1;
  cr_assert_eq(last, 2);
  cr_assert_eq(corpus_validation(&corpus, 33, 0), corpus.train_size);
  cr_assert_leq(corpus_validation(&corpus, 33, last) + 33 + 1, corpus.size);
  corpus_close(&corpus);
}

/* --- Adam --- */

/* One weight, by hand: m = (1 - 0.9) g, v = (1 - 0.99) g^2, both corrected to g
 * and g^2 in the first step; in the second with g' = -1: m = 0.09 * 0.5 - 0.1,
 * v = 0.0099 * 0.25 + 0.01, over 1 - 0.81 and 1 - 0.9801. */
Test(lm_adam, two_steps_by_hand) {
  model_t model;
  adam_t adam;
  cr_assert(model_open(&model, 1, 1));
  cr_assert(adam_open(&adam, &model, 0, 1));
  float gradient[3] = {0.5f, 0.5f, 0.5f}, *w = model.param[BIAS].data;
  adam_update(&adam.moment[BIAS], &model.param[BIAS], gradient, 1, 0.1);
  cr_assert_float_eq(w[0], -0.1, 1e-6);
  for (int i = 0; i < 3; i++) gradient[i] = -1;
  adam_update(&adam.moment[BIAS], &model.param[BIAS], gradient, 2, 0.1);
  double m = -0.055 / 0.19, v = 0.012475 / 0.0199;
  for (int i = 0; i < 3; i++)
    cr_assert_float_eq(w[i], -0.1 - 0.1 * m / sqrt(v), 1e-6);
  adam_close(&adam);
  model_close(&model);
}

Test(lm_adam, a_rank_beyond_the_rows_holds_nothing_and_changes_nothing) {
  model_t model;
  adam_t adam;
  float gradient = 1;
  cr_assert(model_open(&model, 1, 1));
  cr_assert(adam_open(&adam, &model, 3, 5));
  cr_assert_eq(adam.moment[BIAS].rows, 0);
  adam_update(&adam.moment[BIAS], &model.param[BIAS], &gradient, 1, 0.1);
  for (int i = 0; i < 3; i++) cr_assert_eq(model.param[BIAS].data[i], 0);
  adam_close(&adam);
  model_close(&model);
}
