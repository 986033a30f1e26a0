/* Runs the tests of one program, each in a child process; see criterion.h. An
 * argument that is not an option runs the tests whose "suite/name" contains
 * it. */
#include <stdarg.h>
#include <sys/wait.h>

#include "criterion/criterion.h"

#define SKIPPED 77
#define SECONDS 300

static struct plain_test *tests;
static struct plain_suite *suites;
static bool this_failed;

void plain_add_test(struct plain_test *t) {
  t->next = tests;
  tests = t;
}

void plain_add_suite(struct plain_suite *s) {
  s->next = suites;
  suites = s;
}

void plain_failed(const char *file, int line, bool fatal, const char *what,
                  const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fprintf(stderr, "%s:%d: failed: %s. ", file, line, what);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  this_failed = true;
  if (fatal) exit(1);
}

void plain_skip(const char *why) {
  fprintf(stderr, "skipped: %s\n", why);
  exit(SKIPPED);
}

static const struct plain_suite *suite_of(const struct plain_test *t) {
  static const struct plain_suite none;
  for (const struct plain_suite *s = suites; s != NULL; s = s->next)
    if (strcmp(s->name, t->suite) == 0) return s;
  return &none;
}

static void run(const struct plain_test *t, void *param) {
  const struct plain_suite *s = suite_of(t);
  alarm(SECONDS); /* a hang ends the child */
  if (s->init != NULL) s->init();
  if (t->params != NULL)
    t->fn_of(param);
  else
    t->fn();
  if (s->fini != NULL) s->fini();
  exit(this_failed ? 1 : 0);
}

static bool wanted(const struct plain_test *t, const char *filter) {
  char name[512];
  snprintf(name, sizeof name, "%s/%s", t->suite, t->name);
  return filter == NULL || strstr(name, filter) != NULL;
}

static bool passes(const struct plain_test *t, void *param) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) run(t, param);
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) &&
      (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED))
    return true;
  fprintf(stderr, "%s/%s: failed, status %x\n", t->suite, t->name, status);
  return false;
}

int main(int argc, char **argv) {
  const char *filter = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
  int n = 0, bad = 0;
  for (const struct plain_test *t = tests; t != NULL; t = t->next) {
    struct plain_params params = {.n = 1};
    if (!wanted(t, filter)) continue;
    if (t->params != NULL) params = t->params();
    for (size_t i = 0; i < params.n; i++, n++)
      bad += !passes(t, (char *)params.first + i * params.size);
  }
  printf("%d tests, %d failed\n", n, bad);
  return bad == 0 && n > 0 ? 0
                           : 1; /* none ran: a filter's or a build's fault */
}
