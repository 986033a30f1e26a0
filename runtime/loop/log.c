/* The log: a level and the caller's sink, called under a lock. What a sink logs
 * itself, by calling something of ours, is dropped: it would wait for itself.
 */
#include <stdio.h>

#include "loop/internal.h"

#define LOG_BYTES 2048

static _Thread_local bool in_sink;

static bool enabled(const cairn_runtime_t *rt, cairn_log_level_t level) {
  return rt->opts.log != NULL && rt->opts.log_level != CAIRN_LOG_SILENT &&
         level >= CAIRN_LOG_ERROR && level <= rt->opts.log_level;
}

void cairn_log(cairn_runtime_t *rt, cairn_log_level_t level, const char *fmt,
               ...) {
  char text[LOG_BYTES];
  va_list args;
  int n;
  if (!enabled(rt, level) || in_sink) return;
  va_start(args, fmt);
  n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (n < 0) return;
  if ((size_t)n >= sizeof text) memcpy(text + sizeof text - 4, "...", 4);
  uv_mutex_lock(&rt->log_lock);
  in_sink = true;
  rt->opts.log(rt->opts.log_arg, level, text);
  in_sink = false;
  uv_mutex_unlock(&rt->log_lock);
}
