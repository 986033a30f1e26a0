/* The part of Criterion's parameterised tests that ours use; see criterion.h.
 * Each element is a test in a child of its own. */
#ifndef TESTS_SUPPORT_PLAIN_PARAMETERIZED_H_
#define TESTS_SUPPORT_PLAIN_PARAMETERIZED_H_

#include "criterion/criterion.h"

#define criterion_test_params plain_params

#define cr_make_param_array(type_, array_, n_) \
  ((struct plain_params){sizeof(type_), array_, n_})

#define ParameterizedTestParameters(suite_, name_) \
  static struct plain_params plain_params_##suite_##_##name_(void)

#define ParameterizedTest(param_, suite_, name_)                         \
  static void plain_##suite_##_##name_(param_);                          \
  static void plain_of_##suite_##_##name_(void *param) {                 \
    plain_##suite_##_##name_(param);                                     \
  }                                                                      \
  __attribute__((constructor)) static void plain_reg_##suite_##_##name_( \
      void) {                                                            \
    static struct plain_test plain_t = {                                 \
        .suite = #suite_,                                                \
        .name = #name_,                                                  \
        .params = plain_params_##suite_##_##name_,                       \
        .fn_of = plain_of_##suite_##_##name_};                           \
    plain_add_test(&plain_t);                                            \
  }                                                                      \
  static void plain_##suite_##_##name_(param_)

#endif
