/* The command line. */
#ifndef LM_OPTIONS_H_
#define LM_OPTIONS_H_

#include <cairn/strategy.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct options {
  const char *corpus, *root, *loss_log;
  int64_t steps, save_every, keep, report_every, sample_every;
  int64_t batch, window, embed, hidden, die_at;
  uint64_t seed;
  double learning_rate; /* 0: not given */
  cairn_profile_t profile;
  bool eval, export_shapes, quiet;
  bool funneled; /* ask MPI for MPI_THREAD_FUNNELED only */
} options_t;

typedef enum parsed { PARSED, PARSED_HELP, PARSED_WRONG } parsed_t;

/* PARSED_WRONG: stderr says what, if `talk`. */
parsed_t options_parse(options_t *o, int argc, char **argv, bool talk);
void options_usage(FILE *to);

#endif
