#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool report_open(report_t *rep, const options_t *o, int rank) {
  *rep = (report_t){.options = o, .talk = rank == 0 && !o->quiet};
  setvbuf(stdout, NULL, _IOLBF, 0); /* through mpirun it is a pipe */
  if (rank != 0 || o->loss_log == NULL) return true;
  rep->log = fopen(o->loss_log, "a");
  if (rep->log == NULL)
    fprintf(stderr, "lm: %s: %s\n", o->loss_log, strerror(errno));
  else
    setvbuf(rep->log, NULL, _IOLBF, 0); /* whole after a SIGKILL */
  return rep->log != NULL;
}

bool report_close(report_t *rep) {
  if (rep->log == NULL) return true;
  bool failed = ferror(rep->log) != 0;
  failed |= fclose(rep->log) != 0;
  rep->log = NULL;
  if (failed)
    fprintf(stderr, "lm: %s: %s\n", rep->options->loss_log, strerror(errno));
  return !failed;
}

void report_model(const report_t *rep, const trainer_t *tr) {
  if (!rep->talk) return;
  printf("text: %s, %" PRId64 " bytes; model: %" PRId64
         " parameters; ranks: %d\n",
         tr->corpus->name, tr->corpus->size, tr->model.size, tr->par.ranks);
}

void report_fresh(const report_t *rep) {
  if (rep->talk)
    printf("no step in %s yet: starting from random weights\n",
           rep->options->root);
}

void report_resumed(const report_t *rep, const state_t *st, int ranks,
                    int own) {
  if (!rep->talk) return;
  printf("resumed step %" PRId64 " of %s, written by %" PRId64
         " ranks, on %d; %d of them go on with their own random stream\n",
         st->step, rep->options->root, st->ranks, ranks, own);
}

void report_begin(report_t *rep, int64_t step) {
  rep->started_s = now();
  rep->first_step = step;
}

void report_loss(report_t *rep, int64_t step, double loss) {
  if (rep->log != NULL)
    fprintf(rep->log, "%" PRId64 " %a %.17g\n", step, loss, loss);
  rep->loss_sum += loss;
  rep->loss_n++;
  const options_t *o = rep->options;
  if (!rep->talk || (step % o->report_every != 0 && step != o->steps)) return;
  double rate = (double)(step - rep->first_step) / (now() - rep->started_s);
  int left = (int)((double)(o->steps - step) / rate);
  printf("step %5" PRId64 "/%" PRId64
         "   loss %.4f   %.1f steps/s, %d:%02d left\n",
         step, o->steps, rep->loss_sum / (double)rep->loss_n, rate, left / 60,
         left % 60);
  rep->loss_sum = 0;
  rep->loss_n = 0;
}

void report_save_begun(const report_t *rep, int64_t step) {
  if (rep->talk) printf("  save %" PRId64 " begun\n", step);
}

void report_saved(const report_t *rep, const saved_t *saved) {
  if (!rep->talk) return;
  printf("  save %" PRId64
         " committed: training stopped for %.1f ms, committed after %.2f s, "
         "%.1f MB (%.1f MB by rank 0)\n",
         saved->step, saved->stopped_ms, saved->committed_s,
         (double)saved->bytes_total / 1e6, (double)saved->bytes_here / 1e6);
}

/* On one line, whatever the model has written. */
void report_sample(const report_t *rep, int rank, const char *text, int n) {
  if (!rep->talk) return;
  printf("  rank %d writes: ", rank);
  for (int i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    putchar(c >= ' ' && c < 127 ? c : c == '\n' ? '/' : '?');
  }
  putchar('\n');
}

void report_done(const report_t *rep, int64_t step, double validation) {
  if (rep->talk)
    printf("done at step %" PRId64 ", loss on text kept back: %.4f\n", step,
           validation);
}
