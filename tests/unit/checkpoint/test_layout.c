/* Step names, by the table of orbax.md 1.2. */
#include <criterion/criterion.h>

#include "checkpoint/layout.h"

static int64_t parsed(const char *prefix, int digits, const char *name) {
  cairn__step_format_t f = {.digits = digits};
  int64_t step = -1;
  strcpy(f.prefix, prefix);
  return cairn__step_parse(&f, cairn_bytes_str(name), &step) ? step : -1;
}

static void written(const char *prefix, int digits, int64_t step,
                    const char *want) {
  cairn__step_format_t f = {.digits = digits};
  char name[192];
  strcpy(f.prefix, prefix);
  cr_assert(cairn__step_name(&f, step, name, sizeof(name)));
  cr_assert_str_eq(name, want);
}

Test(step_name, is_written_with_prefix_and_padding) {
  written("", 0, 0, "0");
  written("", 0, 1200, "1200");
  written("ckpt", 0, 7, "ckpt_7");
  written("", 6, 42, "000042");
  written("p", 6, 1234567, "p_1234567");
  written("", 0, INT64_MAX, "9223372036854775807");
}

Test(step_name, without_a_fixed_length_has_no_leading_zero) {
  cr_assert_eq(parsed("", 0, "0"), 0);
  cr_assert_eq(parsed("", 0, "1200"), 1200);
  cr_assert_eq(parsed("", 0, "07"), -1);
  cr_assert_eq(parsed("", 0, ""), -1);
  cr_assert_eq(parsed("", 0, "7.bak"), -1);
  cr_assert_eq(parsed("", 0, "+7"), -1);
  cr_assert_eq(parsed("", 0, "-7"), -1);
  cr_assert_eq(parsed("", 0, "7 "), -1);
  cr_assert_eq(parsed("", 0, "step_7"), -1);
  cr_assert_eq(parsed("", 0, "9223372036854775808"), -1);
}

Test(step_name, of_a_fixed_length_may_be_longer_but_not_padded_then) {
  cr_assert_eq(parsed("", 6, "000042"), 42);
  cr_assert_eq(parsed("", 6, "1234567"), 1234567);
  cr_assert_eq(parsed("", 6, "0000042"), -1);
  cr_assert_eq(parsed("", 6, "42"), -1);
  cr_assert_eq(parsed("", 6, "000000"), 0);
}

Test(step_name, prefix_is_compared_literally) {
  cr_assert_eq(parsed("ckpt", 0, "ckpt_7"), 7);
  cr_assert_eq(parsed("ckpt", 0, "ckpt7"), -1);
  cr_assert_eq(parsed("ckpt", 0, "7"), -1);
  cr_assert_eq(parsed("c.pt", 0, "ckpt_7"), -1);
  cr_assert_eq(parsed("ckpt", 0, "ckpt_"), -1);
}

Test(step_name, of_a_temporary_directory_contains_the_suffix_anywhere) {
  cr_assert(
      cairn__name_is_temporary(cairn_bytes_str("7.orbax-checkpoint-tmp")));
  cr_assert(cairn__name_is_temporary(
      cairn_bytes_str("7.orbax-checkpoint-tmp-1700000000000000")));
  cr_assert_not(cairn__name_is_temporary(cairn_bytes_str("7")));
  cr_assert_eq(parsed("", 0, "7.orbax-checkpoint-tmp"), -1);
}

static int64_t guessed(const char *name) {
  int64_t step = -1;
  return cairn__step_guess(cairn_bytes_str(name), &step) ? step : -1;
}

Test(step_name, can_be_guessed_without_a_format) {
  cr_assert_eq(guessed("12"), 12);
  cr_assert_eq(guessed("ckpt_12"), 12);
  cr_assert_eq(guessed("a_b_000012"), 12);
  cr_assert_eq(guessed("a_b"), -1);
  cr_assert_eq(guessed(""), -1);
}
