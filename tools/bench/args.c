/* The command line of the benchmarks. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { EXIT_USAGE = 2, EXIT_IO = 4 };

const char bench_usage[] = "save|restore|snapshot|figures [OPTION]...";

const char bench_help[] =
    "save, restore: one workload, twice, in D/s0 and D/s1, which are left\n"
    "there; under mpirun every process prints its line.\n"
    "  --workload W  W0 8 MiB; W1 1 GiB in 64 arrays; W2, W2x 10,000, 100,000\n"
    "                arrays of 4 KiB; W3 4 GiB in 32; W4 as W1, for 4 ranks;\n"
    "                W5 as W1, numbers that shrink\n"
    "  --saves N     1: the first save is left out; default 2\n"
    "  --borrow      the arrays are not copied\n"
    "  --unprepared  the first save makes its staging memory, not opening\n"
    "  --compute     also the time that a computation beside the save loses\n"
    "snapshot: what a save costs its caller, for each mode.\n"
    "  --bytes N     of state (default 256 MiB)\n"
    "figures: what was measured, beside the limit of this machine that was\n"
    "measured in the same round, and their ratio.\n"
    "  --bytes N     of state (default 1 GiB)\n"
    "--rounds N: of snapshot and figures, default 5. --dir D: where the\n"
    "checkpoints go; default the current directory. --json: a line of JSON.\n"
    "--phase save|restore is another way to name the command.\n"
    "\n";

static int usage(const char *text, const char *arg) {
  fprintf(stderr, "cairn: bench: %s%s%s (usage: cairn bench %s)\n", text,
          arg[0] != 0 ? " " : "", arg, bench_usage);
  return EXIT_USAGE;
}

int bench_failed(const char *what, const cairn_error_t *err) {
  fprintf(stderr, "cairn: bench: %s: %s\n", what, err->message);
  return EXIT_IO;
}

enum {
  OPT_WORKLOAD = 1,
  OPT_DIR,
  OPT_PHASE,
  OPT_BYTES,
  OPT_ROUNDS,
  OPT_SAVES,
  OPT_JSON,
  OPT_BORROW,
  OPT_COMPUTE,
  OPT_UNPREPARED,
  OPT_HELP
};

static const struct option options[] = {
    {"workload", required_argument, NULL, OPT_WORKLOAD},
    {"dir", required_argument, NULL, OPT_DIR},
    {"phase", required_argument, NULL, OPT_PHASE},
    {"bytes", required_argument, NULL, OPT_BYTES},
    {"rounds", required_argument, NULL, OPT_ROUNDS},
    {"saves", required_argument, NULL, OPT_SAVES},
    {"json", no_argument, NULL, OPT_JSON},
    {"borrow", no_argument, NULL, OPT_BORROW},
    {"compute", optional_argument, NULL, OPT_COMPUTE},
    {"unprepared", no_argument, NULL, OPT_UNPREPARED},
    {"help", no_argument, NULL, OPT_HELP},
    {0}};

static bool number(const char *text, int64_t max, int64_t *out) {
  char *end;
  long long n = strtoll(text, &end, 10);
  *out = n;
  return end != text && *end == 0 && n > 0 && n <= max;
}

/* False: the value is no good. */
static bool take(bench_args_t *a, int option, const char *value) {
  int64_t n = 1;
  switch (option) {
    case OPT_WORKLOAD:
      a->workload = value;
      return true;
    case OPT_DIR:
      a->dir = value;
      return true;
    case OPT_PHASE:
      a->what = value;
      return true;
    case OPT_BYTES:
      return number(value, INT64_C(1) << 40, &a->bytes);
    case OPT_ROUNDS:
      if (!number(value, 1000, &n)) return false;
      a->rounds = (int)n;
      return true;
    case OPT_SAVES:
      if (!number(value, 2, &n)) return false;
      a->saves = (int)n;
      return true;
    case OPT_JSON:
      return a->json = true;
    case OPT_BORROW:
      return a->borrow = true;
    case OPT_UNPREPARED:
      return a->unprepared = true;
    default: /* OPT_COMPUTE, by itself or with a number */
      a->compute = value == NULL || value[0] != '0';
      return true;
  }
}

static int run(const bench_args_t *a, const bench_world_t *w) {
  static const struct {
    const char *name;
    int (*run)(const bench_args_t *a, const bench_world_t *w);
  } commands[] = {{"save", bench_save},
                  {"restore", bench_restore},
                  {"snapshot", bench_snapshot},
                  {"figures", bench_figures}};
  if (a->what == NULL) return usage("what to measure is not said", "");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(a->what, commands[i].name) == 0) return commands[i].run(a, w);
  return usage("there is no", a->what);
}

int bench_main(int argc, char **argv, const bench_world_t *world) {
  bench_args_t a = {.workload = "W0", .dir = ".", .rounds = 5, .saves = 2};
  int o;
  optind = 1;
  opterr = 0;
  while ((o = getopt_long(argc, argv, ":", options, NULL)) != -1) {
    if (o == OPT_HELP) {
      printf("usage: cairn bench %s\n\n%s", bench_usage, bench_help);
      return 0;
    }
    if (o == '?' || o == ':' || !take(&a, o, optarg))
      return usage("cannot use", argv[optind - 1]);
    /* "--compute 1", as the peers are called */
    if (o == OPT_COMPUTE && optarg == NULL && optind < argc &&
        (strcmp(argv[optind], "0") == 0 || strcmp(argv[optind], "1") == 0))
      a.compute = argv[optind++][0] == '1';
  }
  if (optind < argc) a.what = argv[optind++];
  if (optind < argc) return usage("one command, not also", argv[optind]);
  return run(&a, world);
}
