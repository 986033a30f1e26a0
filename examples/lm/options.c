#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mpirun -n N lm [options]\n"
    "Trains a character model on a text, saving as it goes; started again, it\n"
    "goes on from the newest step, on any number of ranks.\n"
    "  --corpus FILE      the text, plain or .gz\n"
    "  --root DIR         where steps are saved (runs/lm)\n"
    "  --steps N          train up to step N (600)\n"
    "  --save-every N     steps between saves (100); 0: never\n"
    "  --keep N           newest saves kept (3); 0: all\n"
    "  --learning-rate X  instead of the saved one, or 0.002\n"
    "  --seed N           of a new run (1)\n"
    "  --batch N          sequences in a step, over all ranks (16)\n"
    "  --window N         bytes in a sequence (64)\n"
    "  --embed N          width of a byte's vector (96)\n"
    "  --hidden N         width of the state (512)\n"
    "  --report-every N   steps between lines about the loss (20)\n"
    "  --sample-every N   steps between texts written by the model; 0: never\n"
    "  --quiet            nothing but errors\n"
    "  --loss-log FILE    appends every step's loss, in hex and in decimal\n"
    "  --profile P        cairn; orbax, orbax-v1: files as Orbax writes them\n"
    "  --eval             print the validation loss of the newest step\n"
    "  --export-shapes    print the leaves of the state\n"
    "  --funneled         do with less than MPI_THREAD_MULTIPLE\n"
    "  --die-at N         SIGKILL on all ranks amid the save of step N\n";

static const options_t defaults = {.root = "runs/lm",
                                   .steps = 600,
                                   .save_every = 100,
                                   .keep = 3,
                                   .report_every = 20,
                                   .batch = 16,
                                   .window = 64,
                                   .embed = 96,
                                   .hidden = 512,
                                   .die_at = -1,
                                   .seed = 1};

/* Options that are numbers: where they go and what is allowed. The limits keep
 * every matrix and message well below 2^31 numbers. */
typedef struct number {
  const char *name;
  int64_t *place;
  int64_t low, high;
} number_t;

/* getopt's own switch says whether this rank talks. */
__attribute__((format(printf, 1, 2))) static parsed_t wrong(const char *fmt,
                                                            ...) {
  va_list args;
  if (!opterr) return PARSED_WRONG;
  va_start(args, fmt);
  fputs("lm: ", stderr);
  vfprintf(stderr, fmt, args);
  fputc('\n', stderr);
  va_end(args);
  return PARSED_WRONG;
}

static parsed_t set_number(const number_t *number, const char *text) {
  char *end;
  errno = 0;
  long long v = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || v < number->low ||
      v > number->high)
    return wrong("--%s %s: want a number from %lld to %lld", number->name, text,
                 (long long)number->low, (long long)number->high);
  *number->place = v;
  return PARSED;
}

static parsed_t set_rate(options_t *o, const char *text) {
  char *end;
  o->learning_rate = strtod(text, &end);
  if (end != text && *end == 0 && o->learning_rate > 0 && o->learning_rate < 1)
    return PARSED;
  return wrong("--learning-rate %s: want a number between 0 and 1", text);
}

static parsed_t set_profile(options_t *o, const char *text) {
  static const char *const profiles[] = {[CAIRN_PROFILE_CAIRN] = "cairn",
                                         [CAIRN_PROFILE_ORBAX] = "orbax",
                                         [CAIRN_PROFILE_ORBAX_V1] = "orbax-v1"};
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++)
    if (strcmp(text, profiles[p]) == 0) {
      o->profile = (cairn_profile_t)p;
      return PARSED;
    }
  return wrong("--profile %s: want cairn, orbax or orbax-v1", text);
}

enum { NUM_NUMBERS = 11, CORPUS = 100, ROOT, RATE, LOG, PROFILE, EVAL };
enum { SHAPES = EVAL + 1, QUIET, FUNNELED, HELP };

static const struct option names[] = {
    {"corpus", required_argument, NULL, CORPUS},
    {"root", required_argument, NULL, ROOT},
    {"learning-rate", required_argument, NULL, RATE},
    {"loss-log", required_argument, NULL, LOG},
    {"profile", required_argument, NULL, PROFILE},
    {"eval", no_argument, NULL, EVAL},
    {"export-shapes", no_argument, NULL, SHAPES},
    {"quiet", no_argument, NULL, QUIET},
    {"funneled", no_argument, NULL, FUNNELED},
    {"help", no_argument, NULL, HELP}};
enum { NUM_NAMES = sizeof(names) / sizeof(names[0]) };

static parsed_t set(options_t *o, const number_t *numbers, int which) {
  if (which >= 0 && which < NUM_NUMBERS)
    return set_number(&numbers[which], optarg);
  switch (which) {
    case CORPUS:
      o->corpus = optarg;
      return PARSED;
    case ROOT:
      o->root = optarg;
      return PARSED;
    case RATE:
      return set_rate(o, optarg);
    case LOG:
      o->loss_log = optarg;
      return PARSED;
    case PROFILE:
      return set_profile(o, optarg);
    case EVAL:
      o->eval = true;
      return PARSED;
    case SHAPES:
      o->export_shapes = true;
      return PARSED;
    case QUIET:
      o->quiet = true;
      return PARSED;
    case FUNNELED:
      o->funneled = true;
      return PARSED;
    case HELP:
      return PARSED_HELP;
    default:
      return PARSED_WRONG; /* getopt has said why */
  }
}

static parsed_t parse(options_t *o, int argc, char **argv) {
  int64_t seed = (int64_t)o->seed;
  const number_t numbers[NUM_NUMBERS] = {
      {"steps", &o->steps, 1, 1000000000},
      {"save-every", &o->save_every, 0, 1000000000},
      {"keep", &o->keep, 0, 1000000000},
      {"report-every", &o->report_every, 1, 1000000000},
      {"sample-every", &o->sample_every, 0, 1000000000},
      {"batch", &o->batch, 1, 4096},
      {"window", &o->window, 2, 4096},
      {"embed", &o->embed, 1, 4096},
      {"hidden", &o->hidden, 1, 4096},
      {"die-at", &o->die_at, 1, 1000000000},
      {"seed", &seed, 0, INT64_MAX}};
  struct option all[NUM_NUMBERS + NUM_NAMES + 1] = {0};
  for (int i = 0; i < NUM_NUMBERS; i++)
    all[i] = (struct option){numbers[i].name, required_argument, NULL, i};
  memcpy(all + NUM_NUMBERS, names, sizeof(names));
  parsed_t result = PARSED;
  int which;
  while (result == PARSED &&
         (which = getopt_long(argc, argv, "", all, NULL)) != -1)
    result = set(o, numbers, which);
  o->seed = (uint64_t)seed;
  return result;
}

parsed_t options_parse(options_t *o, int argc, char **argv, bool talk) {
  *o = defaults;
  opterr = talk;
  optind = 1;
  parsed_t result = parse(o, argc, argv);
  if (result != PARSED) return result;
  if (optind < argc) return wrong("%s: not an option", argv[optind]);
  if (o->corpus == NULL && !o->export_shapes) return wrong("no --corpus FILE");
  return PARSED;
}

void options_usage(FILE *to) {
  fputs(usage, to);
}
