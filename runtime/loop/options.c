/* What a runtime is opened with: the caller's options, then the environment
 * over them, then the defaults where both say nothing. */
#include <limits.h>
#include <stdlib.h>
#include <uv.h>

#include "base/base.h"
#include "loop/internal.h"

#define MAX_THREADS 1024
#define DEFAULT_BUDGET ((int64_t)256 << 20)

static const char *const level_names[] = {
    [CAIRN_LOG_ERROR] = "error",   [CAIRN_LOG_WARN] = "warn",
    [CAIRN_LOG_INFO] = "info",     [CAIRN_LOG_DEBUG] = "debug",
    [CAIRN_LOG_SILENT] = "silent",
};

/* Leaves *value alone if the variable is unset. */
static cairn_code_t env_number(const char *name, int64_t max, int64_t *value,
                               cairn_error_t *err) {
  const char *text = getenv(name);
  int64_t n = 0;
  if (text == NULL) return CAIRN_OK;
  if (!cairn__decimal(cairn_bytes_str(text), &n) || n > max)
    return cairn_fail(err, CAIRN_INVALID,
                      "%s=\"%.40s\": want a number from 0 to %lld", name, text,
                      (long long)max);
  *value = n;
  return CAIRN_OK;
}

static cairn_code_t env_threads(const char *name, int *threads,
                                cairn_error_t *err) {
  int64_t n = *threads;
  cairn_code_t rc = env_number(name, MAX_THREADS, &n, err);
  *threads = (int)n;
  return rc;
}

static cairn_code_t env_level(cairn_log_level_t *level, cairn_error_t *err) {
  const char *text = getenv("CAIRN_LOG");
  if (text == NULL) return CAIRN_OK;
  for (int i = CAIRN_LOG_ERROR; i <= CAIRN_LOG_SILENT; i++) {
    if (strcmp(text, level_names[i]) == 0) {
      *level = (cairn_log_level_t)i;
      return CAIRN_OK;
    }
  }
  return cairn_fail(err, CAIRN_INVALID,
                    "CAIRN_LOG=\"%.40s\": want error, warn, info, debug or "
                    "silent",
                    text);
}

static cairn_code_t check(const cairn_runtime_opts_t *o, cairn_error_t *err) {
  if (o->cpu_threads < 0 || o->cpu_threads > MAX_THREADS)
    return cairn_fail(err, CAIRN_INVALID, "cpu_threads %d: want 0 to %d",
                      o->cpu_threads, MAX_THREADS);
  if (o->io_threads < 0 || o->io_threads > MAX_THREADS)
    return cairn_fail(err, CAIRN_INVALID, "io_threads %d: want 0 to %d",
                      o->io_threads, MAX_THREADS);
  if (o->memory_budget < 0)
    return cairn_fail(err, CAIRN_INVALID, "memory_budget %lld is negative",
                      (long long)o->memory_budget);
  if ((int)o->log_level < CAIRN_LOG_DEFAULT || o->log_level > CAIRN_LOG_SILENT)
    return cairn_fail(err, CAIRN_INVALID, "log_level %d is not a level",
                      (int)o->log_level);
  return CAIRN_OK;
}

static void fill_defaults(cairn_runtime_opts_t *o) {
  /* One core is left to the caller, who goes on computing. */
  int cores = (int)uv_available_parallelism();
  if (o->cpu_threads == 0) o->cpu_threads = cores > 1 ? cores - 1 : 1;
  if (o->cpu_threads > MAX_THREADS) o->cpu_threads = MAX_THREADS;
  if (o->io_threads == 0) o->io_threads = 2;
  if (o->memory_budget == 0) o->memory_budget = DEFAULT_BUDGET;
  if (o->log_level == CAIRN_LOG_DEFAULT) o->log_level = CAIRN_LOG_WARN;
}

cairn_code_t cairn__options(const cairn_runtime_opts_t *in,
                            cairn_runtime_opts_t *out, cairn_error_t *err) {
  cairn_runtime_opts_t o;
  cairn_code_t rc;
  if ((rc = cairn__options_take(
           in, &o, sizeof o, CAIRN__SIZE_UP_TO(cairn_runtime_opts_t, log_arg),
           err)) != CAIRN_OK ||
      (rc = check(&o, err)) != CAIRN_OK ||
      (rc = env_threads("CAIRN_CPU_THREADS", &o.cpu_threads, err)) !=
          CAIRN_OK ||
      (rc = env_threads("CAIRN_IO_THREADS", &o.io_threads, err)) != CAIRN_OK ||
      (rc = env_number("CAIRN_MEMORY_BUDGET", INT64_MAX, &o.memory_budget,
                       err)) != CAIRN_OK ||
      (rc = env_level(&o.log_level, err)) != CAIRN_OK)
    return rc;
  fill_defaults(&o);
  o.size = sizeof o;
  *out = o;
  return CAIRN_OK;
}
