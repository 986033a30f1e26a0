/* A small training state, cut over ranks in several ways, whose every element
 * is known by its place: for saves on some ranks and restores on others. */
#ifndef TESTS_UNIT_HANDLERS_CUT_H_
#define TESTS_UNIT_HANDLERS_CUT_H_

#include "cairn/tree.h"

#define CUT_ROWS 24
#define CUT_COLS 10

typedef struct cut {
  cairn_tree_t *tree;
  float *rows;          /* w/rows: rows are cut over the ranks */
  int32_t *cols;        /* w/cols: columns are; strided in memory */
  double whole[7];      /* b: every rank holds it */
  int64_t step;         /* scalar */
  double rate;          /* scalar */
  bool flag;            /* scalar */
  char text[32];        /* string */
  int64_t row_0, row_n; /* this rank's part */
  int64_t col_0, col_n;
} cut_t;

/* Rank r of n. `filled`: with the values; else with others. */
void cut_make(cut_t *s, int r, int n, bool filled);
void cut_scribble(cut_t *s); /* other values */
bool cut_is_right(const cut_t *s);
void cut_free(cut_t *s);

#endif
