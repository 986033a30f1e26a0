/* Counts of what is open on a runtime, by name. A table of fixed size, because
 * holding must not fail; names that find no place are counted together. */
#include <assert.h>

#include "cairn/buf.h"
#include "loop/internal.h"

static int *counter(cairn_runtime_t *rt, const char *what) {
  for (size_t i = 0; i < CAIRN__HOLD_NAMES; i++) {
    if (rt->holds[i].what == NULL) rt->holds[i].what = what;
    if (strcmp(rt->holds[i].what, what) == 0) return &rt->holds[i].n;
  }
  return &rt->other_holds;
}

void cairn_runtime_hold(cairn_runtime_t *rt, const char *what) {
  uv_mutex_lock(&rt->lock);
  ++*counter(rt, what);
  uv_mutex_unlock(&rt->lock);
}

void cairn_runtime_drop(cairn_runtime_t *rt, const char *what) {
  int *n;
  uv_mutex_lock(&rt->lock);
  n = counter(rt, what);
  assert(*n > 0);
  --*n;
  uv_mutex_unlock(&rt->lock);
}

static void list(const cairn_runtime_t *rt, cairn_buf_t *b) {
  for (size_t i = 0; i < CAIRN__HOLD_NAMES && rt->holds[i].what != NULL; i++) {
    if (rt->holds[i].n != 0)
      cairn_buf_printf(b, "%s%d %s", b->n != 0 ? ", " : "", rt->holds[i].n,
                       rt->holds[i].what);
  }
  if (rt->other_holds != 0)
    cairn_buf_printf(b, "%s%d others", b->n != 0 ? ", " : "", rt->other_holds);
}

bool cairn__held(cairn_runtime_t *rt, cairn_error_t *err) {
  cairn_buf_t b = {0};
  bool held = false;
  uv_mutex_lock(&rt->lock);
  for (size_t i = 0; i < CAIRN__HOLD_NAMES; i++) held |= rt->holds[i].n != 0;
  held |= rt->other_holds != 0;
  if (held) list(rt, &b);
  uv_mutex_unlock(&rt->lock);
  if (held)
    cairn_fail(err, CAIRN_BUSY, "close runtime: still open: %.*s", (int)b.n,
               b.n != 0 ? (const char *)b.p : "");
  cairn_buf_reset(&b);
  return held;
}
