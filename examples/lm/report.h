/* What a person sees of a run, on rank 0; and the exact losses, in a file. */
#ifndef LM_REPORT_H_
#define LM_REPORT_H_

#include <stdio.h>

#include "checkpoint.h"

typedef struct report {
  const options_t *options;
  bool talk; /* rank 0, and not told to be quiet */
  FILE *log; /* rank 0 with --loss-log, else NULL */
  double started_s;
  int64_t first_step;
  double loss_sum; /* since the last line */
  int64_t loss_n;
} report_t;

/* False: the log cannot be opened; stderr says why. */
bool report_open(report_t *rep, const options_t *o, int rank);
/* False: the log could not be written. */
bool report_close(report_t *rep);

void report_model(const report_t *rep, const trainer_t *tr);
void report_fresh(const report_t *rep);
/* own: ranks that got their own random stream back. */
void report_resumed(const report_t *rep, const state_t *st, int ranks, int own);
void report_begin(report_t *rep, int64_t step); /* the clock starts */

/* After each step; a line every so many. */
void report_loss(report_t *rep, int64_t step, double loss);
void report_save_begun(const report_t *rep, int64_t step);
void report_saved(const report_t *rep, const saved_t *saved);
void report_sample(const report_t *rep, int rank, const char *text, int n);
void report_done(const report_t *rep, int64_t step, double validation);

#endif
