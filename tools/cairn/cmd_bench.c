/* cairn bench: the benchmarks of tools/bench. Under mpirun the program
 * cairn-bench, which has MPI, takes over: it lies beside this one. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "tool.h"

/* Set by Open MPI, by the process managers of MPICH and Intel, and by Slurm. */
static bool under_mpirun(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                      "PMIX_RANK", "PMI_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i]) != NULL) return true;
  return false;
}

/* Returns only if it could not. */
static void become_parallel(char **argv) {
  char self[PATH_MAX], path[PATH_MAX + 16];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n < 0) return;
  self[n] = 0;
  snprintf(path, sizeof path, "%s/cairn-bench", dirname(self));
  argv[0] = path;
  execv(path, argv);
}

static int help(void) {
  static const struct option opts[] = {OPTS_COMMON, {0}};
  char name[] = "bench", option[] = "--help", *argv[] = {name, option, NULL};
  int status;
  tool_option(&cmd_bench, 2, argv, opts, &status);
  return status;
}

static int run(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--help") == 0) return help();
  if (under_mpirun()) {
    become_parallel(argv);
    tool_note(
        "bench: there is no cairn-bench beside this program, which is "
        "what runs under mpirun");
    return EXIT_UNSUPPORTED;
  }
  return bench_main(argc, argv, &bench_alone);
}

const command_t cmd_bench = {
    .name = "bench",
    .args = bench_usage,
    .summary = "times saves and restores",
    .help = bench_help,
    .run = run,
};
