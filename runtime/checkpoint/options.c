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

static cairn_code_t check(const cairn_checkpointer_opts_t *o,
                          cairn_error_t *err) {
  if (o->profile < CAIRN_PROFILE_CAIRN || o->profile > CAIRN_PROFILE_ORBAX_V1)
    return cairn_fail(err, CAIRN_INVALID, "profile %d", (int)o->profile);
  if (o->chunk_bytes < 0 || o->staging_bytes < 0)
    return cairn_fail(err, CAIRN_INVALID,
                      "chunk_bytes and staging_bytes cannot be negative");
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
      env_ms("CAIRN_DEADLINE", &out->deadline_ms, err) == CAIRN_OK &&
      env_ms("CAIRN_SOFT_LIMIT", &out->soft_limit_ms, err) == CAIRN_OK &&
      check(out, err) == CAIRN_OK) {
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
