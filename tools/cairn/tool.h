/* The tool `cairn`: what its commands share. One command a run, one runtime,
 * the main thread; errors are one line on stderr. */
#ifndef CAIRN_TOOL_TOOL_H_
#define CAIRN_TOOL_TOOL_H_

#include <getopt.h>

#include "cairn/inspect.h"

enum { /* exit status */
       EXIT_FINE = 0,
       EXIT_FOUND = 1, /* looked, and found a difference or damage */
       EXIT_USAGE = 2,
       EXIT_ABSENT = 3,
       EXIT_IO = 4,
       EXIT_UNSUPPORTED = 5
};

typedef struct command {
  const char *name, *args, *summary;
  const char *help; /* the paragraphs below the usage line */
  int (*run)(int argc, char **argv);
} command_t;

extern const command_t cmd_ls, cmd_show, cmd_cat, cmd_verify, cmd_dump,
    cmd_bench;

/* The options that every command has, and those of one command. Values for
 * getopt_long; letters are not used. */
enum { OPT_HELP = 1, OPT_JSON, OPT_FIRST_OWN };
#define OPTS_COMMON                        \
  {"help", no_argument, NULL, OPT_HELP}, { \
    "json", no_argument, NULL, OPT_JSON    \
  }

/* The next option's value, or -1 after the last. 0: wrong, or help was asked
 * for and given; then *status is what to exit with. */
int tool_option(const command_t *c, int argc, char **argv,
                const struct option *opts, int *status);

/* Each prints one line and returns the exit status. */
int tool_usage(const command_t *c, const char *fmt, ...) CAIRN_PRINTF(2, 3);
int tool_failed(const cairn_error_t *err);
void tool_note(const char *fmt, ...) CAIRN_PRINTF(1, 2);

int tool_status(cairn_code_t code);

/* jobs 0: as many threads as the machine has. NULL after a printed error, with
 * *status set. */
cairn_runtime_t *tool_runtime(int jobs, int *status);

/* A number above 0 that fits int; 0: it is none. */
int tool_count(const char *text);

#endif
