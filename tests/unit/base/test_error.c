/* The error object: the first stays, boundaries add where, long texts end in
 * "...". */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "cairn/error.h"

Test(error, first_error_stays) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_fail(&err, CAIRN_CORRUPT, "magic %d", 7), CAIRN_CORRUPT);
  cr_expect_eq(cairn_fail(&err, CAIRN_IO, "later"), CAIRN_IO);
  cr_expect_eq(cairn_fail_errno(&err, ENOENT, "later"), CAIRN_NOT_FOUND);
  cr_expect_eq(err.code, CAIRN_CORRUPT);
  cr_expect_eq(err.sys_errno, 0);
  cr_expect_eq(err.rank, -1);
  cr_expect_str_eq(err.message, "magic 7");
}

Test(error, null_object_is_accepted) {
  cairn_error_t set = {0};
  cairn_fail(&set, CAIRN_BUSY, "x");
  cr_expect_eq(cairn_fail(NULL, CAIRN_IO, "x"), CAIRN_IO);
  cr_expect_eq(cairn_fail_errno(NULL, ENOSPC, "x"), CAIRN_NO_SPACE);
  cr_expect_eq(cairn_within(NULL, "x"), CAIRN_INTERNAL);
  cr_expect_eq(cairn_error_copy(NULL, &set), CAIRN_BUSY);
  cr_expect_eq(cairn_error_copy(&set, NULL), CAIRN_OK);
}

Test(error, failing_with_ok_is_a_defect_and_says_so) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_fail(&err, CAIRN_OK, "x"), CAIRN_INTERNAL);
  cr_expect_eq(err.code, CAIRN_INTERNAL);
}

Test(error, boundaries_prepend_where) {
  cairn_error_t err = {0};
  cairn_fail_errno(&err, ENOSPC, "write %s", "d/9f3c");
  cr_expect_eq(cairn_within(&err, "item %s", "state"), CAIRN_NO_SPACE);
  cr_expect_eq(cairn_within(&err, "step %d", 1200), CAIRN_NO_SPACE);
  cr_expect_str_eq(
      err.message,
      "step 1200: item state: write d/9f3c: No space left on device");
  cr_expect_eq(err.sys_errno, ENOSPC);
}

Test(error, within_leaves_no_error_alone) {
  cairn_error_t err = {0};
  cr_expect_eq(cairn_within(&err, "where"), CAIRN_OK);
  cr_expect_str_empty(err.message);
}

Test(error, message_may_be_an_argument_of_its_own_boundary) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_IO, "a");
  cairn_within(&err, "%s", err.message);
  cr_expect_str_eq(err.message, "a: a");
}

static void fill(char *s, size_t n, const char *unit) {
  size_t width = strlen(unit);
  for (size_t i = 0; i < n; i++) s[i] = unit[i % width];
  s[n] = '\0';
}

Test(error, text_that_just_fits_is_whole) {
  cairn_error_t err = {0};
  char text[CAIRN_MESSAGE_BYTES + 1];
  fill(text, CAIRN_MESSAGE_BYTES - 1, "a");
  cairn_fail(&err, CAIRN_IO, "%s", text);
  cr_expect_str_eq(err.message, text);
}

static bool starts(const char *s, const char *with) {
  return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with) {
  size_t n = strlen(s), m = strlen(with);
  return n >= m && strcmp(s + n - m, with) == 0;
}

Test(error, cut_text_keeps_where_and_why) {
  cairn_error_t err = {0};
  char text[2 * CAIRN_MESSAGE_BYTES + 1];
  fill(text, 2 * CAIRN_MESSAGE_BYTES, "a");
  cairn_fail(&err, CAIRN_IO, "read %s: it is gone", text);
  cr_expect_eq(strlen(err.message), (size_t)CAIRN_MESSAGE_BYTES - 1);
  cr_expect(starts(err.message, "read aaa"), "%s", err.message);
  cr_expect(ends(err.message, "aaa: it is gone"), "%s", err.message);
  cr_expect_not_null(strstr(err.message, "a...a"));
  cairn_within(&err, "step %d", 12);
  cr_expect(starts(err.message, "step 12: read aaa"), "%s", err.message);
  cr_expect(ends(err.message, "aaa: it is gone"), "%s", err.message);
  cr_expect_eq(strlen(err.message), (size_t)CAIRN_MESSAGE_BYTES - 1);
}

Test(error, boundary_longer_than_the_room_is_cut_too) {
  cairn_error_t err = {0};
  static char text[200000];
  fill(text, sizeof text - 1, "w");
  cairn_fail_errno(&err, EIO, "%s", text);
  cairn_within(&err, "%s", text);
  cr_expect(starts(err.message, "www"), "%s", err.message);
  cr_expect(ends(err.message, "www: Input/output error"), "%s", err.message);
}

Test(error, cut_does_not_leave_half_a_character) {
  char text[CAIRN_MESSAGE_BYTES + 8];
  for (size_t lead = 0; lead < 4; lead++) {
    cairn_error_t err = {0};
    fill(text, lead, "a");
    fill(text + lead, CAIRN_MESSAGE_BYTES / 4 * 4, "\xf0\x9f\x98\x80");
    cairn_fail(&err, CAIRN_IO, "%s", text);
    const char *dots = strstr(err.message, "...");
    cr_assert_not_null(dots);
    cr_expect_eq((size_t)(dots - err.message - lead) % 4, 0u, "lead %zu", lead);
    cr_expect_eq(strlen(dots + 3) % 4, 0u, "lead %zu", lead);
  }
}

Test(error, errno_values_have_codes) {
  static const struct {
    int errnum;
    cairn_code_t code;
  } want[] = {{ENOENT, CAIRN_NOT_FOUND},
              {ENOSPC, CAIRN_NO_SPACE},
              {EDQUOT, CAIRN_NO_SPACE},
              {EACCES, CAIRN_DENIED},
              {EPERM, CAIRN_DENIED},
              {EROFS, CAIRN_DENIED},
              {EEXIST, CAIRN_EXISTS},
              {ENOTEMPTY, CAIRN_EXISTS},
              {ENOMEM, CAIRN_NO_MEMORY},
              {ETIMEDOUT, CAIRN_TIMED_OUT},
              {ECANCELED, CAIRN_CANCELLED},
              {EBUSY, CAIRN_BUSY},
              {EINVAL, CAIRN_INVALID},
              {ENOSYS, CAIRN_UNSUPPORTED},
              {EXDEV, CAIRN_UNSUPPORTED},
              {EAGAIN, CAIRN_UNAVAILABLE},
              {ESTALE, CAIRN_UNAVAILABLE},
              {ENAMETOOLONG, CAIRN_INVALID},
              {EMFILE, CAIRN_UNAVAILABLE},
              {EIO, CAIRN_IO},
              {EFBIG, CAIRN_IO},
              {12345, CAIRN_IO}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    cairn_error_t err = {0};
    cr_expect_eq(cairn_fail_errno(&err, want[i].errnum, "x"), want[i].code,
                 "errno %d", want[i].errnum);
    cr_expect_eq(err.sys_errno, want[i].errnum);
    cr_expect_eq(strncmp(err.message, "x: ", 3), 0);
  }
}

Test(error, codes_have_their_table_texts) {
  cr_expect_str_eq(cairn_code_text(CAIRN_OK), "ok");
  cr_expect_str_eq(cairn_code_text(CAIRN_INTERNAL), "internal error");
  cr_expect_str_eq(cairn_code_text((cairn_code_t)-1), "unknown code");
  cr_expect_str_eq(cairn_code_text((cairn_code_t)999), "unknown code");
}

Test(error, copy_keeps_an_earlier_error) {
  cairn_error_t from = {0}, to = {0}, set = {0};
  cr_expect_eq(cairn_error_copy(&to, &from), CAIRN_OK);
  cairn_fail_errno(&from, EIO, "a");
  from.rank = 3;
  cr_expect_eq(cairn_error_copy(&to, &from), CAIRN_IO);
  cr_expect_eq(to.rank, 3);
  cr_expect_eq(to.sys_errno, EIO);
  cr_expect_str_eq(to.message, from.message);
  cairn_fail(&set, CAIRN_BUSY, "b");
  cr_expect_eq(cairn_error_copy(&set, &from), CAIRN_IO);
  cr_expect_eq(set.code, CAIRN_BUSY);
}
