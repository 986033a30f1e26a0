/* lm: a character-level language model trained by any number of ranks, saved
 * by Cairn while it trains. What Cairn needs of a job is in checkpoint.c and
 * state.c; the rest is the job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"
#include "report.h"

enum { SAMPLE = 60 };

typedef struct job {
  options_t options;
  int rank, ranks, mpi_level;
  corpus_t corpus;
  trainer_t trainer;
  state_t state;
  checkpoint_t checkpoint;
  report_t report;
} job_t;

/* A rank that gives up ends the job: the others would wait for it. */
static void give_up(const job_t *job, const char *what, const char *why) {
  fprintf(stderr, "lm: rank %d: %s: %s\n", job->rank, what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static void check(const job_t *job, cairn_code_t rc, const char *what,
                  const cairn_error_t *err) {
  if (rc != CAIRN_OK) give_up(job, what, err->message);
}

/* Starting ------------------------------------------------------------------
 */

static void set_up(job_t *job) {
  const options_t *o = &job->options;
  cairn_error_t err = {0};
  char why[512];
  if (!o->export_shapes &&
      !corpus_open(&job->corpus, o->corpus, o->window, why, sizeof(why)))
    give_up(job, "corpus", why);
  if (!trainer_open(&job->trainer, &job->corpus, o->embed, o->hidden, o->batch,
                    o->window, MPI_COMM_WORLD))
    give_up(job, "model", "out of memory");
  check(job, state_open(&job->state, &job->trainer, &err), "state", &err);
  if (!report_open(&job->report, o, job->rank))
    give_up(job, "loss log", "not opened");
}

/* A stream of its own for every rank and every step it may begin at. */
static void fresh_stream(job_t *job) {
  rng_seed(&job->state.stream, job->options.seed,
           ((uint64_t)job->state.step << 24) + 1000 + (uint64_t)job->rank);
}

static void start_fresh(job_t *job) {
  state_t *st = &job->state;
  st->step = 0;
  trainer_init(&job->trainer, job->options.seed);
  fresh_stream(job);
  st->learning_rate = 0.002;
  snprintf(st->corpus, sizeof(st->corpus), "%s", job->corpus.name);
  report_fresh(&job->report);
}

/* What a resumed run must not change unnoticed. */
static void check_resumed(const job_t *job) {
  if (strcmp(job->state.corpus, job->corpus.name) != 0)
    give_up(job, "this run was trained on another text", job->state.corpus);
}

static void resume(job_t *job) {
  cairn_error_t err = {0};
  bool own;
  cairn_code_t rc =
      checkpoint_resume(&job->checkpoint, &job->state, &own, &err);
  if (rc == CAIRN_NOT_FOUND && !job->options.eval) {
    start_fresh(job);
  } else {
    check(job, rc, "resume", &err);
    check_resumed(job);
    if (!own) fresh_stream(job);
    int num_own = own;
    MPI_Allreduce(MPI_IN_PLACE, &num_own, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    report_resumed(&job->report, &job->state, job->ranks, num_own);
  }
  job->state.ranks = job->ranks;
  if (job->options.learning_rate > 0)
    job->state.learning_rate = job->options.learning_rate;
}

/* Training ------------------------------------------------------------------
 */

/* Each rank writes a text from its own random stream. */
static void sample(job_t *job) {
  char text[SAMPLE];
  char *all = malloc((size_t)job->ranks * SAMPLE);
  if (all == NULL) give_up(job, "sample", "out of memory");
  network_sample(&job->trainer.net, &job->trainer.model, &job->state.stream,
                 0.7, text, SAMPLE);
  MPI_Gather(text, SAMPLE, MPI_CHAR, all, SAMPLE, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int r = 0; job->rank == 0 && r < job->ranks; r++)
    report_sample(&job->report, r, all + r * SAMPLE, SAMPLE);
  free(all);
}

static void save(job_t *job) {
  const options_t *o = &job->options;
  state_t *st = &job->state;
  cairn_error_t err = {0};
  bool begun;
  check(
      job,
      checkpoint_save(&job->checkpoint, st, st->step == o->steps, &begun, &err),
      "save", &err);
  if (!begun) return;
  report_save_begun(&job->report, st->step);
  if (st->step == o->die_at)
    die_amid_save(job->checkpoint.rt, o->root, st->step);
}

static void report_commits(job_t *job) {
  saved_t saved;
  while (checkpoint_committed(&job->checkpoint, &saved))
    report_saved(&job->report, &saved);
}

static void train(job_t *job) {
  const options_t *o = &job->options;
  state_t *st = &job->state;
  report_begin(&job->report, st->step);
  while (st->step < o->steps) {
    st->step++;
    double loss = trainer_step(&job->trainer, st->step, st->learning_rate);
    report_loss(&job->report, st->step, loss);
    if (o->sample_every > 0 && st->step % o->sample_every == 0) sample(job);
    report_commits(job);
    if (o->save_every > 0) save(job);
  }
}

/* Ending --------------------------------------------------------------------
 */

static void finish(job_t *job) {
  cairn_error_t err = {0};
  check(job, checkpoint_wait(&job->checkpoint, &err), "save", &err);
  report_commits(job);
  double loss = trainer_validate(&job->trainer);
  if (!job->options.eval)
    report_done(&job->report, job->state.step, loss);
  else if (job->rank == 0)
    printf("validation %.9g\n", loss);
}

static void tear_down(job_t *job) {
  cairn_error_t err = {0};
  state_close(&job->state);
  check(job, checkpoint_close(&job->checkpoint, &err), "close", &err);
  if (!report_close(&job->report)) give_up(job, "loss log", "not written");
  trainer_close(&job->trainer);
  corpus_close(&job->corpus);
}

static void run(job_t *job) {
  cairn_error_t err = {0};
  set_up(job);
  if (job->options.export_shapes) {
    if (job->rank == 0) state_print_shapes(&job->state);
  } else {
    check(job,
          checkpoint_open(&job->checkpoint, &job->options, MPI_COMM_WORLD,
                          job->mpi_level, &err),
          "open", &err);
    report_model(&job->report, &job->trainer);
    resume(job);
    if (!job->options.eval) train(job);
    finish(job);
  }
  tear_down(job);
}

/* Options are looked at before MPI_Init, which depends on one of them, but only
 * afterwards is it known which rank should talk about them. */
int main(int argc, char **argv) {
  job_t job = {0};
  parsed_t parsed = options_parse(&job.options, argc, argv, false);
  MPI_Init_thread(
      &argc, &argv,
      job.options.funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE,
      &job.mpi_level);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  if (parsed == PARSED)
    run(&job);
  else if (parsed == PARSED_HELP && job.rank == 0)
    options_usage(stdout);
  else if (parsed == PARSED_WRONG && job.rank == 0)
    options_parse(&job.options, argc, argv, true);
  MPI_Finalize();
  return parsed == PARSED_WRONG ? 2 : 0;
}
