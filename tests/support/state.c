#include "support/state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void put_leaves(state_t *s) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(&s->tree, &err), CAIRN_OK);
  cairn_tree_put_array(s->tree, "params/matrix",
                       &(cairn_array_t){.dtype = CAIRN_F32,
                                        .rank = 2,
                                        .shape = {s->rows, s->cols},
                                        .origin = {s->first, 0},
                                        .extent = {s->mine, s->cols},
                                        .data = s->matrix,
                                        .empty = s->mine == 0},
                       &err);
  cairn_tree_put_array(
      s->tree, "params/vector",
      &(cairn_array_t){
          .dtype = CAIRN_F64, .rank = 1, .shape = {5}, .data = s->vector},
      &err);
  cairn_tree_put_int64(s->tree, "step", &s->step, &err);
  cairn_tree_put_double(s->tree, "rate", &s->rate, &err);
  cairn_tree_put_string(s->tree, "name", s->name, sizeof(s->name), &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
}

void state_init(state_t *s, int64_t rows, int64_t cols, int rank, int size) {
  int64_t each = rows / size, more = rows % size;
  *s = (state_t){.rows = rows, .cols = cols};
  s->mine = each + (rank < more);
  s->first = each * rank + (rank < more ? rank : more);
  s->matrix = calloc((size_t)(s->mine * cols) + 1, sizeof(float));
  cr_assert_not_null(s->matrix);
  put_leaves(s);
}

static float element(int seed, int64_t row, int64_t col) {
  uint32_t x = (uint32_t)(seed * 2654435761u) ^ (uint32_t)(row * 40503 + col);
  return (float)(x * 2246822519u >> 8) / 65536.0f;
}

void state_fill(state_t *s, int seed) {
  for (int64_t i = 0; i < s->mine; i++)
    for (int64_t j = 0; j < s->cols; j++)
      s->matrix[i * s->cols + j] = element(seed, s->first + i, j);
  for (int i = 0; i < 5; i++) s->vector[i] = seed + i / 8.0;
  s->step = seed;
  s->rate = 1.0 / (seed + 1);
  snprintf(s->name, sizeof(s->name), "run %d", seed);
}

void state_clear(state_t *s) {
  for (int64_t i = 0; i < s->mine * s->cols; i++) s->matrix[i] = -1;
  for (int i = 0; i < 5; i++) s->vector[i] = -1;
  s->step = -1;
  s->rate = -1;
  strcpy(s->name, "cleared");
}

bool state_is(const state_t *s, int seed) {
  char name[32];
  bool same = s->step == seed && s->rate == 1.0 / (seed + 1);
  for (int i = 0; i < 5; i++) same &= s->vector[i] == seed + i / 8.0;
  for (int64_t i = 0; i < s->mine; i++)
    for (int64_t j = 0; j < s->cols; j++)
      same &= s->matrix[i * s->cols + j] == element(seed, s->first + i, j);
  snprintf(name, sizeof(name), "run %d", seed);
  return same && strcmp(s->name, name) == 0;
}

void state_expect(const state_t *s, int seed) {
  cr_assert(state_is(s, seed), "the state of %d is not that of %d (\"%s\")",
            (int)s->step, seed, s->name);
}

void state_free(state_t *s) {
  cairn_tree_free(s->tree);
  free(s->matrix);
  *s = (state_t){0};
}
