#include "cut.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static float row_value(int64_t row, int64_t col) {
  return (float)(row * 1000 + col) + 0.5f;
}

static int32_t col_value(int64_t row, int64_t col) {
  return (int32_t)(col * 100 + row) - 7;
}

static void set_values(cut_t *s) {
  for (int64_t i = 0; i < s->row_n; i++)
    for (int64_t j = 0; j < CUT_COLS; j++)
      s->rows[i * CUT_COLS + j] = row_value(s->row_0 + i, j);
  for (int64_t i = 0; i < CUT_ROWS; i++)
    for (int64_t j = 0; j < s->col_n; j++)
      s->cols[j * CUT_ROWS + i] = col_value(i, s->col_0 + j);
  for (int i = 0; i < 7; i++) s->whole[i] = i / 3.0;
  s->step = 4711;
  s->rate = 0.001;
  s->flag = true;
  strcpy(s->text, "caf\xc3\xa9 \"x\"\n");
}

void cut_scribble(cut_t *s) {
  memset(s->rows, 0xa5, (size_t)(s->row_n * CUT_COLS) * sizeof *s->rows);
  memset(s->cols, 0xa5, (size_t)(s->col_n * CUT_ROWS) * sizeof *s->cols);
  memset(s->whole, 0xa5, sizeof s->whole);
  s->step = -1;
  s->rate = -1;
  s->flag = false;
  strcpy(s->text, "-");
}

#define PUT(call)                                                \
  do {                                                           \
    cairn_error_t err_ = {0};                                    \
    cr_assert_eq(call, CAIRN_OK, "%s: %s", #call, err_.message); \
  } while (0)

static void put_all(cut_t *s) {
  cairn_tree_t *t = s->tree;
  cairn_array_t rows = {.dtype = CAIRN_F32,
                        .rank = 2,
                        .shape = {CUT_ROWS, CUT_COLS},
                        .origin = {s->row_0, 0},
                        .extent = {s->row_n, CUT_COLS},
                        .data = s->rows,
                        .empty = s->row_n == 0};
  /* In Fortran order: column j is contiguous. */
  cairn_array_t cols = {.dtype = CAIRN_I32,
                        .rank = 2,
                        .shape = {CUT_ROWS, CUT_COLS},
                        .origin = {0, s->col_0},
                        .extent = {CUT_ROWS, s->col_n},
                        .strides = {4, 4 * CUT_ROWS},
                        .data = s->cols,
                        .empty = s->col_n == 0};
  cairn_array_t whole = {
      .dtype = CAIRN_F64, .rank = 1, .shape = {7}, .data = s->whole};
  cairn_array_t none = {.dtype = CAIRN_F32, .rank = 2, .shape = {0, 3}};
  cairn_key_t empty[] = {cairn_key("empty")};
  cairn_leaf_t dict = {.kind = CAIRN_LEAF_EMPTY_DICT};
  PUT(cairn_tree_put_array(t, "w/rows", &rows, &err_));
  PUT(cairn_tree_put_array(t, "w/cols", &cols, &err_));
  PUT(cairn_tree_put_array(t, "b", &whole, &err_));
  PUT(cairn_tree_put_array(t, "none", &none, &err_));
  PUT(cairn_tree_put_int64(t, "step", &s->step, &err_));
  PUT(cairn_tree_put_double(t, "rate", &s->rate, &err_));
  PUT(cairn_tree_put_bool(t, "flag", &s->flag, &err_));
  PUT(cairn_tree_put_string(t, "text", s->text, sizeof s->text, &err_));
  PUT(cairn_tree_put(t, empty, 1, &dict, NULL, &err_));
}

void cut_make(cut_t *s, int r, int n, bool filled) {
  memset(s, 0, sizeof *s);
  s->row_0 = CUT_ROWS * r / n;
  s->row_n = CUT_ROWS * (r + 1) / n - s->row_0;
  s->col_0 = CUT_COLS * r / n;
  s->col_n = CUT_COLS * (r + 1) / n - s->col_0;
  s->rows = calloc((size_t)(s->row_n * CUT_COLS) + 1, sizeof *s->rows);
  s->cols = calloc((size_t)(s->col_n * CUT_ROWS) + 1, sizeof *s->cols);
  if (filled)
    set_values(s);
  else
    cut_scribble(s);
  PUT(cairn_tree_new(&s->tree, &err_));
  put_all(s);
}

bool cut_is_right(const cut_t *s) {
  cut_t want = *s;
  want.rows = calloc((size_t)(s->row_n * CUT_COLS) + 1, sizeof *s->rows);
  want.cols = calloc((size_t)(s->col_n * CUT_ROWS) + 1, sizeof *s->cols);
  set_values(&want);
  bool right = memcmp(s->rows, want.rows,
                      (size_t)(s->row_n * CUT_COLS) * sizeof *s->rows) == 0 &&
               memcmp(s->cols, want.cols,
                      (size_t)(s->col_n * CUT_ROWS) * sizeof *s->cols) == 0 &&
               memcmp(s->whole, want.whole, sizeof s->whole) == 0 &&
               s->step == want.step && s->rate == want.rate &&
               s->flag == want.flag && strcmp(s->text, want.text) == 0;
  free(want.rows);
  free(want.cols);
  return right;
}

void cut_free(cut_t *s) {
  cairn_tree_free(s->tree);
  free(s->rows);
  free(s->cols);
}
