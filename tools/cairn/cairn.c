/* cairn: looks at checkpoints from the command line. Needs no MPI. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "out.h"
#include "tool.h"

static const command_t *const commands[] = {&cmd_ls,     &cmd_show, &cmd_cat,
                                            &cmd_verify, &cmd_dump, &cmd_bench};
#define NUM_COMMANDS (sizeof commands / sizeof *commands)

static const char path_help[] =
    "PATH is a root, a step or an item (runs/a, runs/a/1200,\n"
    "runs/a/1200/default; a root means its newest complete step) or a URL.\n";
static const char common_help[] =
    "--json prints for programs.\n"
    "\n"
    "Exit status: 0 fine; 1 looked and found a difference or damage; 2 usage;\n"
    "3 not there; 4 could not read or write; 5 not supported.\n";

static const command_t *find(const char *name) {
  for (size_t i = 0; i < NUM_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

/* The summary in its column, below a usage that reaches into it. */
static void print_summary(const command_t *c) {
  enum { COLUMN = 36 };
  int n = (int)(strlen(c->name) + 1 + strlen(c->args));
  out_printf("  %s %s", c->name, c->args);
  if (n > COLUMN) out_text("\n  ");
  out_printf("%*s  %s\n", n > COLUMN ? COLUMN : COLUMN - n, "", c->summary);
}

static int print_overview(void) {
  out_text("cairn: looks at checkpoints\n\nusage: cairn COMMAND ...\n\n");
  for (size_t i = 0; i < NUM_COMMANDS; i++) print_summary(commands[i]);
  out_text("  help [COMMAND]\n\n");
  out_text(path_help);
  out_text(common_help);
  return EXIT_FINE;
}

static int print_help(const command_t *c) {
  out_printf("usage: cairn %s %s\n\n%s\n", c->name, c->args, c->help);
  if (strstr(c->args, "PATH") != NULL) out_text(path_help);
  out_text(common_help);
  return EXIT_FINE;
}

static int print_version(void) {
  out_printf("cairn %d.%d.%d\n", CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR,
             CAIRN_VERSION_PATCH);
  return EXIT_FINE;
}

/* --- errors --- */

/* Names on disk may hold line ends; a message is one line all the same. */
static void print_line(const char *text) {
  fputs("cairn: ", stderr);
  for (const char *p = text; *p != 0; p++)
    fputc((unsigned char)*p < ' ' ? ' ' : *p, stderr);
  fputc('\n', stderr);
}

static void print_v(const char *fmt, va_list ap) {
  char text[CAIRN_MESSAGE_BYTES];
  vsnprintf(text, sizeof text, fmt, ap);
  print_line(text);
}

void tool_note(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  print_v(fmt, ap);
  va_end(ap);
}

int tool_usage(const command_t *c, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (c != NULL)
    tool_note("%s: %s (usage: cairn %s %s)", c->name, text, c->name, c->args);
  else
    tool_note("%s (see cairn help)", text);
  return EXIT_USAGE;
}

int tool_status(cairn_code_t code) {
  switch (code) {
    case CAIRN_OK:
      return EXIT_FINE;
    case CAIRN_CORRUPT:
    case CAIRN_MISMATCH:
      return EXIT_FOUND;
    case CAIRN_INVALID:
      return EXIT_USAGE;
    case CAIRN_NOT_FOUND:
      return EXIT_ABSENT;
    case CAIRN_UNSUPPORTED:
      return EXIT_UNSUPPORTED;
    default:
      return EXIT_IO;
  }
}

int tool_failed(const cairn_error_t *err) {
  print_line(err->message);
  return tool_status(err->code);
}

/* --- options --- */

static int wrong_option(const command_t *c, char **argv) {
  const char *arg = argv[optind - 1];
  if (optopt > 0 && optopt < ' ') /* a long option of ours, without its value */
    return tool_usage(c, "%s needs a value", arg);
  if (arg[0] == '-' && arg[1] == '-')
    return tool_usage(c, "unknown option %s", arg);
  return tool_usage(c, "unknown option -%c", optopt);
}

int tool_option(const command_t *c, int argc, char **argv,
                const struct option *opts, int *status) {
  opterr = 0;
  int o = getopt_long(argc, argv, ":", opts, NULL);
  if (o == '?' || o == ':') {
    *status = wrong_option(c, argv);
    return 0;
  }
  if (o != OPT_HELP) return o;
  *status = print_help(c);
  return 0;
}

int tool_count(const char *text) {
  char *end;
  long n = strtol(text, &end, 10);
  return end != text && *end == 0 && n > 0 && n <= 4096 ? (int)n : 0;
}

cairn_runtime_t *tool_runtime(int jobs, int *status) {
  cairn_runtime_opts_t o = {.size = sizeof o,
                            .cpu_threads = jobs,
                            .io_threads = jobs,
                            .log_level = CAIRN_LOG_SILENT};
  cairn_runtime_t *rt = NULL;
  cairn_error_t err = {0};
  if (cairn_runtime_open(&o, &rt, &err) == CAIRN_OK) return rt;
  *status = tool_failed(&err);
  return NULL;
}

/* --- main --- */

static int help(int argc, char **argv) {
  if (argc < 2) return print_overview();
  const command_t *c = find(argv[1]);
  if (c == NULL) return tool_usage(NULL, "no command \"%s\"", argv[1]);
  return print_help(c);
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) return tool_usage(NULL, "a command is needed");
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
    return print_overview();
  if (strcmp(name, "--version") == 0) return print_version();
  if (strcmp(name, "help") == 0) return help(argc - 1, argv + 1);
  const command_t *c = find(name);
  if (c == NULL)
    return tool_usage(NULL, "no %s \"%s\"",
                      name[0] == '-' ? "option" : "command", name);
  return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  /* A reader that has seen enough ends us, also where our parent ignored it. */
  signal(SIGPIPE, SIG_DFL);
  int status = dispatch(argc, argv);
  return out_end() || status != EXIT_FINE ? status : EXIT_IO;
}
