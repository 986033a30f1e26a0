/* What a checkpointer is opened with: the caller's options, the environment
 * over them, the defaults; and the time that its votes and its work get. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"

#define DEFAULT_DEADLINE_MS (INT64_C(20) * 60 * 1000)
#define SOFT_LIMIT_MS 30000 /* at most, unless it is asked for */
#define MAX_MS (INT64_MAX / 1000000)

/* What is slow, but not yet a fault. */
#define SLOW_BYTES_PER_MS 10000 /* 10 MB/s: the deadline */
#define LAZY_BYTES_PER_MS 80000 /* 80 MB/s: the soft limit */

/* "90", "90s": seconds; "250ms". */
static bool parse_ms(const char *text, int64_t *ms) {
  size_t n = strspn(text, "0123456789");
  const char *unit = text + n;
  int64_t scale = strcmp(unit, "ms") == 0 ? 1 : 1000, v;
  if (unit[0] != 0 && strcmp(unit, "s") != 0 && scale != 1) return false;
  if (!cairn__decimal(cairn_bytes(text, n), &v) || v > MAX_MS / scale)
    return false;
  *ms = v * scale;
  return true;
}

static cairn_code_t env_ms(const char *name, int64_t *ms, cairn_error_t *err) {
  const char *text = getenv(name);
  if (text == NULL || parse_ms(text, ms)) return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID,
                    "%s=\"%.40s\": want seconds (90), or milliseconds (250ms)",
                    name, text);
}

/* Of "4096", "64MiB". */
static bool parse_bytes(const char *text, int64_t *bytes) {
  static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
  size_t n = strspn(text, "0123456789");
  int64_t v;
  if (!cairn__decimal(cairn_bytes(text, n), &v)) return false;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(text + n, units[i]) == 0)
      return cairn__mul_ok(v, INT64_C(1) << (10 * i), bytes);
  return false;
}

static cairn_code_t env_bytes(const char *name, int64_t *bytes,
                              cairn_error_t *err) {
  const char *text = getenv(name);
  if (text == NULL || parse_bytes(text, bytes)) return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID,
                    "%s=\"%.40s\": want bytes (4096, 64MiB, 4GiB)", name, text);
}

/* The environment may choose among what the program is ready for: LAZY asks
 * something of it, and BORROW more. */
static cairn_code_t env_snapshot(cairn_checkpointer_opts_t *o,
                                 cairn_error_t *err) {
  static const struct {
    const char *name;
    cairn_snapshot_t mode;
  } modes[] = {{"copy", CAIRN_SNAPSHOT_COPY},
               {"lazy", CAIRN_SNAPSHOT_LAZY},
               {"cow", CAIRN_SNAPSHOT_COW},
               {"auto", CAIRN_SNAPSHOT_AUTO}};
  const char *text = getenv("CAIRN_SNAPSHOT");
  if (text == NULL) return CAIRN_OK;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(text, modes[i].name) != 0) continue;
    if (modes[i].mode == CAIRN_SNAPSHOT_LAZY && !o->settles)
      return cairn_fail(err, CAIRN_INVALID,
                        "CAIRN_SNAPSHOT=lazy: this program does not settle");
    o->snapshot = modes[i].mode;
    return CAIRN_OK;
  }
  return cairn_fail(err, CAIRN_INVALID,
                    "CAIRN_SNAPSHOT=\"%.40s\": want copy, lazy, cow or auto",
                    text);
}

static cairn_code_t env_check(cairn_checkpointer_opts_t *o,
                              cairn_error_t *err) {
  const char *text = getenv("CAIRN_CHECK_SNAPSHOTS");
  if (text == NULL) return CAIRN_OK;
  if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
    return cairn_fail(err, CAIRN_INVALID,
                      "CAIRN_CHECK_SNAPSHOTS=\"%.40s\": want 0 or 1", text);
  o->check_snapshots = text[0] == '1';
  return CAIRN_OK;
}

static cairn_code_t from_environment(cairn_checkpointer_opts_t *o,
                                     cairn_error_t *err) {
  cairn_code_t rc = env_ms("CAIRN_DEADLINE", &o->deadline_ms, err);
  if (rc == CAIRN_OK) rc = env_ms("CAIRN_SOFT_LIMIT", &o->soft_limit_ms, err);
  if (rc == CAIRN_OK) rc = env_bytes("CAIRN_STAGING", &o->staging_limit, err);
  if (rc == CAIRN_OK) rc = env_snapshot(o, err);
  return rc == CAIRN_OK ? env_check(o, err) : rc;
}

static cairn_code_t check(const cairn_checkpointer_opts_t *o,
                          cairn_error_t *err) {
  if (o->profile < CAIRN_PROFILE_CAIRN || o->profile > CAIRN_PROFILE_ORBAX_V1)
    return cairn_fail(err, CAIRN_INVALID, "profile %d", (int)o->profile);
  if (o->chunk_bytes < 0 || o->staging_bytes < 0 || o->staging_limit < 0)
    return cairn_fail(err, CAIRN_INVALID,
                      "chunk_bytes, staging_bytes and staging_limit cannot be "
                      "negative");
  if ((int)o->snapshot < CAIRN_SNAPSHOT_DEFAULT ||
      o->snapshot > CAIRN_SNAPSHOT_AUTO)
    return cairn_fail(err, CAIRN_INVALID, "no kind of snapshot (%d)",
                      (int)o->snapshot);
  if (o->deadline_ms < 0 || o->deadline_ms > MAX_MS || o->soft_limit_ms < 0 ||
      o->soft_limit_ms > MAX_MS)
    return cairn_fail(err, CAIRN_INVALID,
                      "deadline_ms %lld, soft_limit_ms %lld: want 0 to %lld",
                      (long long)o->deadline_ms, (long long)o->soft_limit_ms,
                      (long long)MAX_MS);
  return CAIRN_OK;
}

static void fill_defaults(cairn_checkpointer_opts_t *o) {
  if (o->deadline_ms == 0) o->deadline_ms = DEFAULT_DEADLINE_MS;
  if (o->soft_limit_ms != 0) return;
  o->soft_limit_ms = o->deadline_ms / 4 + 1;
  if (o->soft_limit_ms > SOFT_LIMIT_MS) o->soft_limit_ms = SOFT_LIMIT_MS;
}

cairn_code_t cairn__checkpointer_opts(const cairn_checkpointer_opts_t *in,
                                      cairn_checkpointer_opts_t *out,
                                      cairn_error_t *err) {
  if (cairn__options_take(
          in, out, sizeof(*out),
          CAIRN__SIZE_UP_TO(cairn_checkpointer_opts_t, staging_bytes),
          err) == CAIRN_OK &&
      from_environment(out, err) == CAIRN_OK && check(out, err) == CAIRN_OK) {
    fill_defaults(out);
    return CAIRN_OK;
  }
  /* It is still to be told to the other ranks, and they are waited for. */
  *out = (cairn_checkpointer_opts_t){0};
  fill_defaults(out);
  return cairn_within(err, "checkpointer options");
}

cairn__limits_t cairn__limits(const cairn_checkpointer_opts_t *o,
                              int64_t bytes) {
  return (cairn__limits_t){
      .soft_ms = o->soft_limit_ms + bytes / LAZY_BYTES_PER_MS,
      .late_ms = o->deadline_ms + bytes / SLOW_BYTES_PER_MS};
}
