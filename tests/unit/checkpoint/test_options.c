/* Times as options, from the environment, and by bytes. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "checkpoint/checkpoint.h"

static cairn_code_t options(cairn_checkpointer_opts_t *o, cairn_error_t *err) {
  cairn_checkpointer_opts_t in = *o;
  return cairn__checkpointer_opts(&in, o, err);
}

static void deadline_is(const char *text, int64_t want_ms) {
  cairn_checkpointer_opts_t o = {.deadline_ms = 5};
  cairn_error_t err = {0};
  setenv("CAIRN_DEADLINE", text, 1);
  cr_assert_eq(options(&o, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(o.deadline_ms, want_ms);
}

static void deadline_is_refused(const char *text) {
  cairn_checkpointer_opts_t o = {0};
  cairn_error_t err = {0};
  setenv("CAIRN_DEADLINE", text, 1);
  cr_assert_eq(options(&o, &err), CAIRN_INVALID, "%s", text);
  cr_assert_not_null(strstr(err.message, "CAIRN_DEADLINE"));
}

Test(options, defaults_are_20_minutes_and_30_seconds) {
  cairn_checkpointer_opts_t o = {0};
  cr_assert_eq(options(&o, NULL), CAIRN_OK);
  cr_assert_eq(o.deadline_ms, 20 * 60 * 1000);
  cr_assert_eq(o.soft_limit_ms, 30000);
}

Test(options, soft_limit_follows_a_short_deadline) {
  cairn_checkpointer_opts_t o = {.deadline_ms = 40000};
  cr_assert_eq(options(&o, NULL), CAIRN_OK);
  cr_assert_leq(o.soft_limit_ms, 10001);
  cr_assert_geq(o.soft_limit_ms, 10000);
}

Test(options, environment_goes_before_options) {
  cairn_checkpointer_opts_t o = {.deadline_ms = 5, .soft_limit_ms = 6};
  setenv("CAIRN_SOFT_LIMIT", "7", 1);
  deadline_is("90", 90000);
  deadline_is("90s", 90000);
  deadline_is("250ms", 250);
  cr_assert_eq(options(&o, NULL), CAIRN_OK);
  cr_assert_eq(o.soft_limit_ms, 7000);
}

Test(options, what_is_no_time_is_refused_by_name) {
  static const char *const bad[] = {
      "",    "s",         "ms",  "-1",
      "1.5", "90 s",      "1h",  "10000000000000",
      "+1",  "90seconds", "90m", "99999999999999999999ms"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    deadline_is_refused(bad[i]);
}

Test(options, negative_times_are_refused) {
  cairn_checkpointer_opts_t a = {.deadline_ms = -1}, b = {.soft_limit_ms = -1};
  cairn_error_t err_a = {0}, err_b = {0};
  cr_assert_eq(options(&a, &err_a), CAIRN_INVALID);
  cr_assert_eq(options(&b, &err_b), CAIRN_INVALID);
}

/* 64 GB at 10 MB/s are 6400 s more, and 800 s at 80 MB/s. */
Test(options, times_grow_with_the_bytes) {
  cairn_checkpointer_opts_t o = {.deadline_ms = 1000, .soft_limit_ms = 100};
  cairn__limits_t none = cairn__limits(&o, 0);
  cairn__limits_t much = cairn__limits(&o, INT64_C(64000000000));
  cr_assert_eq(none.late_ms, 1000);
  cr_assert_eq(none.soft_ms, 100);
  cr_assert_eq(much.late_ms, 1000 + 6400000);
  cr_assert_eq(much.soft_ms, 100 + 800000);
}

Test(options, wrong_environment_fails_the_open) {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck = NULL;
  cairn_error_t err = {0};
  setenv("CAIRN_DEADLINE", "soon", 1);
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_checkpointer_open(rt, comm, NULL, &ck, &err),
               CAIRN_INVALID);
  cr_assert_null(ck);
  cr_assert_not_null(strstr(err.message, "CAIRN_DEADLINE=\"soon\""));
  cr_assert_eq(cairn_comm_close(comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_OK);
}

static cairn_code_t with_env(const char *name, const char *value,
                             cairn_checkpointer_opts_t *o, cairn_error_t *err) {
  cairn_error_t unread = {0};
  setenv(name, value, 1);
  cairn_code_t rc = options(o, err != NULL ? err : &unread);
  unsetenv(name);
  return rc;
}

Test(options, staging_is_limited_from_the_environment) {
  static const struct {
    const char *text;
    int64_t bytes;
  } good[] = {{"0", 0}, {"4096", 4096}, {"64MiB", 64 << 20}, {"3KiB", 3072}};
  static const char *const bad[] = {"",    "-1",     "64MB",
                                    "MiB", "1.5GiB", "9999999TiB"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    cairn_checkpointer_opts_t o = {.staging_limit = 7};
    cr_expect_eq(with_env("CAIRN_STAGING", good[i].text, &o, NULL), CAIRN_OK);
    cr_expect_eq(o.staging_limit, good[i].bytes);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_checkpointer_opts_t o = {0};
    cairn_error_t err = {0};
    cr_expect_eq(with_env("CAIRN_STAGING", bad[i], &o, &err), CAIRN_INVALID);
    cr_expect_not_null(strstr(err.message, "CAIRN_STAGING"));
  }
}

Test(options, the_environment_chooses_a_kind_of_snapshot) {
  cairn_checkpointer_opts_t o = {0};
  cr_assert_eq(with_env("CAIRN_SNAPSHOT", "cow", &o, NULL), CAIRN_OK);
  cr_assert_eq(o.snapshot, CAIRN_SNAPSHOT_COW);
  cr_assert_eq(with_env("CAIRN_SNAPSHOT", "copy", &o, NULL), CAIRN_OK);
  cr_assert_eq(o.snapshot, CAIRN_SNAPSHOT_COPY);
  cr_assert_eq(with_env("CAIRN_SNAPSHOT", "auto", &o, NULL), CAIRN_OK);
  cr_assert_eq(o.snapshot, CAIRN_SNAPSHOT_AUTO);
  o.settles = true;
  cr_assert_eq(with_env("CAIRN_SNAPSHOT", "lazy", &o, NULL), CAIRN_OK);
  cr_assert_eq(o.snapshot, CAIRN_SNAPSHOT_LAZY);
}

/* It would break a promise that only the program can make. */
Test(options, the_environment_cannot_promise_for_the_program) {
  cairn_checkpointer_opts_t o = {0};
  cairn_error_t err = {0};
  cr_expect_eq(with_env("CAIRN_SNAPSHOT", "lazy", &o, &err), CAIRN_INVALID);
  cr_expect_not_null(strstr(err.message, "does not settle"));
  cr_expect_eq(with_env("CAIRN_SNAPSHOT", "borrow", &o, NULL), CAIRN_INVALID);
  cr_expect_eq(with_env("CAIRN_SNAPSHOT", "", &o, NULL), CAIRN_INVALID);
  cr_expect_eq(with_env("CAIRN_CHECK_SNAPSHOTS", "yes", &o, NULL),
               CAIRN_INVALID);
  cr_expect_eq(with_env("CAIRN_CHECK_SNAPSHOTS", "1", &o, NULL), CAIRN_OK);
  cr_expect(o.check_snapshots);
}

Test(options, snapshots_that_cannot_be_are_refused) {
  cairn_checkpointer_opts_t bad[] = {{.snapshot = (cairn_snapshot_t)9},
                                     {.snapshot = (cairn_snapshot_t)-1},
                                     {.staging_limit = -1}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_error_t err = {0};
    cr_expect_eq(options(&bad[i], &err), CAIRN_INVALID);
  }
}
