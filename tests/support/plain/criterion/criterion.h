/* The part of Criterion that tests of threads use, for builds with the thread
 * sanitizer, under which Criterion itself does not start ("Could not initialize
 * inheritable arena": both want the same addresses). tests/CMakeLists.txt puts
 * this folder before the real header in those builds.
 *
 * Each test runs in a child process of main.c. */
#ifndef TESTS_SUPPORT_PLAIN_CRITERION_H_
#define TESTS_SUPPORT_PLAIN_CRITERION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct plain_test {
  const char *suite, *name;
  void (*fn)(void);
  struct plain_test *next;
};

struct plain_suite {
  const char *name;
  void (*init)(void), (*fini)(void);
  struct plain_suite *next;
};

void plain_add_test(struct plain_test *t);
void plain_add_suite(struct plain_suite *s);
/* Says where; ends the test if it was an assertion. */
void plain_failed(const char *file, int line, const char *what, bool fatal);
void plain_skip(const char *why);

#define Test(suite_, name_)                                                  \
  static void plain_##suite_##_##name_(void);                                \
  __attribute__((constructor)) static void plain_reg_##suite_##_##name_(     \
      void) {                                                                \
    static struct plain_test t = {#suite_, #name_, plain_##suite_##_##name_, \
                                  NULL};                                     \
    plain_add_test(&t);                                                      \
  }                                                                          \
  static void plain_##suite_##_##name_(void)

#define TestSuite(name_, ...)                                          \
  __attribute__((constructor)) static void plain_suite_##name_(void) { \
    static struct plain_suite s = {#name_, __VA_ARGS__};               \
    plain_add_suite(&s);                                               \
  }                                                                    \
  struct plain_suite

#define PLAIN_CHECK(ok, what, fatal) \
  ((ok) ? (void)0 : plain_failed(__FILE__, __LINE__, what, fatal))

#define cr_assert(x, ...) PLAIN_CHECK(x, #x, true)
#define cr_assert_not(x, ...) PLAIN_CHECK(!(x), "not " #x, true)
#define cr_assert_null(x, ...) PLAIN_CHECK((x) == NULL, #x " is null", true)
#define cr_assert_not_null(x, ...) \
  PLAIN_CHECK((x) != NULL, #x " is not null", true)
#define cr_assert_eq(a, b, ...) PLAIN_CHECK((a) == (b), #a " == " #b, true)
#define cr_assert_neq(a, b, ...) PLAIN_CHECK((a) != (b), #a " != " #b, true)
#define cr_assert_gt(a, b, ...) PLAIN_CHECK((a) > (b), #a " > " #b, true)
#define cr_assert_lt(a, b, ...) PLAIN_CHECK((a) < (b), #a " < " #b, true)
#define cr_assert_geq(a, b, ...) PLAIN_CHECK((a) >= (b), #a " >= " #b, true)
#define cr_assert_leq(a, b, ...) PLAIN_CHECK((a) <= (b), #a " <= " #b, true)
#define cr_assert_str_eq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) == 0, #a " equals " #b, true)
#define cr_expect(x, ...) PLAIN_CHECK(x, #x, false)
#define cr_expect_eq(a, b, ...) PLAIN_CHECK((a) == (b), #a " == " #b, false)
#define cr_expect_not_null(x, ...) \
  PLAIN_CHECK((x) != NULL, #x " is not null", false)
#define cr_expect_str_eq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) == 0, #a " equals " #b, false)
#define cr_skip_test(...)                  \
  do {                                     \
    char plain_why[256];                   \
    snprintf(plain_why, 256, __VA_ARGS__); \
    plain_skip(plain_why);                 \
  } while (0)

#endif
