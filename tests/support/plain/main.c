/* Runs the tests of one program, each in a child process; see criterion.h. An
 * argument that is not an option runs the tests whose "suite/name" contains
 * it. */
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

void plain_failed(const char *file, int line, const char *what, bool fatal) {
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
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

static void run(const struct plain_test *t) {
  const struct plain_suite *s = suite_of(t);
  alarm(SECONDS); /* a hang ends the child */
  if (s->init != NULL) s->init();
  t->fn();
  if (s->fini != NULL) s->fini();
  exit(this_failed ? 1 : 0);
}

static bool wanted(const struct plain_test *t, const char *filter) {
  char name[512];
  snprintf(name, sizeof name, "%s/%s", t->suite, t->name);
  return filter == NULL || strstr(name, filter) != NULL;
}

static bool passes(const struct plain_test *t) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) run(t);
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
    if (!wanted(t, filter)) continue;
    n++;
    bad += !passes(t);
  }
  printf("%d tests, %d failed\n", n, bad);
  return bad == 0 ? 0 : 1;
}
