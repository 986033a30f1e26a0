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

/* What a parameterised test runs over: n elements of `size` bytes. */
struct plain_params {
  size_t size;
  void *first;
  size_t n;
};

struct plain_test {
  const char *suite, *name;
  void (*fn)(void);
  struct plain_test *next;
  struct plain_params (*params)(void); /* then not fn but */
  void (*fn_of)(void *param);
};

struct plain_suite {
  const char *name;
  void (*init)(void), (*fini)(void);
  struct plain_suite *next;
};

void plain_add_test(struct plain_test *t);
void plain_add_suite(struct plain_suite *s);
/* Says where, what and the message; ends the test if it was an assertion. */
void plain_failed(const char *file, int line, bool fatal, const char *what,
                  const char *fmt, ...);
void plain_skip(const char *why);

/* Options (a time limit) are for Criterion. */
#define Test(suite_, name_, ...)                                           \
  static void plain_##suite_##_##name_(void);                              \
  __attribute__((constructor)) static void plain_reg_##suite_##_##name_(   \
      void) {                                                              \
    static struct plain_test plain_t = {                                   \
        .suite = #suite_, .name = #name_, .fn = plain_##suite_##_##name_}; \
    plain_add_test(&plain_t);                                              \
  }                                                                        \
  static void plain_##suite_##_##name_(void)

#define TestSuite(name_, ...)                                          \
  __attribute__((constructor)) static void plain_suite_##name_(void) { \
    static struct plain_suite plain_s = {#name_, __VA_ARGS__};         \
    plain_add_suite(&plain_s);                                         \
  }                                                                    \
  struct plain_suite

#define PLAIN_CHECK(ok, fatal, what, ...) \
  ((ok) ? (void)0                         \
        : plain_failed(__FILE__, __LINE__, fatal, what, "" __VA_ARGS__))

#define cr_assert(x, ...) PLAIN_CHECK(x, true, #x, __VA_ARGS__)
#define cr_assert_not(x, ...) PLAIN_CHECK(!(x), true, "not " #x, __VA_ARGS__)
#define cr_assert_null(x, ...) \
  PLAIN_CHECK((x) == NULL, true, #x " is null", __VA_ARGS__)
#define cr_assert_not_null(x, ...) \
  PLAIN_CHECK((x) != NULL, true, #x " is not null", __VA_ARGS__)
#define cr_assert_eq(a, b, ...) \
  PLAIN_CHECK((a) == (b), true, #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) \
  PLAIN_CHECK((a) != (b), true, #a " != " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) \
  PLAIN_CHECK((a) > (b), true, #a " > " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) \
  PLAIN_CHECK((a) < (b), true, #a " < " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) \
  PLAIN_CHECK((a) >= (b), true, #a " >= " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) \
  PLAIN_CHECK((a) <= (b), true, #a " <= " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) == 0, true, #a " equals " #b, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) != 0, true, #a " differs from " #b, __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) \
  PLAIN_CHECK(memcmp(a, b, n) == 0, true, #a " equals " #b, __VA_ARGS__)
#define cr_assert_fail(...) PLAIN_CHECK(false, true, "reached", __VA_ARGS__)
#define cr_expect(x, ...) PLAIN_CHECK(x, false, #x, __VA_ARGS__)
#define cr_expect_not(x, ...) PLAIN_CHECK(!(x), false, "not " #x, __VA_ARGS__)
#define cr_expect_null(x, ...) \
  PLAIN_CHECK((x) == NULL, false, #x " is null", __VA_ARGS__)
#define cr_expect_not_null(x, ...) \
  PLAIN_CHECK((x) != NULL, false, #x " is not null", __VA_ARGS__)
#define cr_expect_eq(a, b, ...) \
  PLAIN_CHECK((a) == (b), false, #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) \
  PLAIN_CHECK((a) != (b), false, #a " != " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) \
  PLAIN_CHECK((a) > (b), false, #a " > " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) \
  PLAIN_CHECK((a) < (b), false, #a " < " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) \
  PLAIN_CHECK((a) >= (b), false, #a " >= " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) \
  PLAIN_CHECK((a) <= (b), false, #a " <= " #b, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) == 0, false, #a " equals " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) \
  PLAIN_CHECK(strcmp(a, b) != 0, false, #a " differs from " #b, __VA_ARGS__)
#define cr_expect_arr_eq(a, b, n, ...) \
  PLAIN_CHECK(memcmp(a, b, n) == 0, false, #a " equals " #b, __VA_ARGS__)
#define cr_expect_fail(...) PLAIN_CHECK(false, false, "reached", __VA_ARGS__)
#define cr_skip_test(...)                  \
  do {                                     \
    char plain_why[256];                   \
    snprintf(plain_why, 256, __VA_ARGS__); \
    plain_skip(plain_why);                 \
  } while (0)

#endif
