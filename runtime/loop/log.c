/* The log: a level and the caller's sink. The sink is called under a lock, so
 * it must not log itself. */
#include <stdio.h>

#include "loop/internal.h"

#define LOG_BYTES 2048

static bool enabled(const cairn_runtime_t *rt, cairn_log_level_t level) {
  return rt->opts.log != NULL && rt->opts.log_level != CAIRN_LOG_SILENT &&
         level >= CAIRN_LOG_ERROR && level <= rt->opts.log_level;
}

void cairn_log(cairn_runtime_t *rt, cairn_log_level_t level, const char *fmt,
               ...) {
  char text[LOG_BYTES];
  va_list args;
  int n;
  if (!enabled(rt, level)) return;
  va_start(args, fmt);
  n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (n < 0) return;
  if ((size_t)n >= sizeof text) memcpy(text + sizeof text - 4, "...", 4);
  uv_mutex_lock(&rt->log_lock);
  rt->opts.log(rt->opts.log_arg, level, text);
  uv_mutex_unlock(&rt->log_lock);
}
