/* Blocking calls: start on the loop, wait on the caller's thread. */
#include "loop/internal.h"

struct call {
  cairn_future_t done; /* first: the block is freed as a future */
  cairn_task_t task;
  cairn_wait_t wait;
  cairn__start_fn fn;
  void *arg;
};

static void on_done(cairn_wait_t *w) {
  struct call *c = cairn_container_of(w, struct call, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  cairn_future_resolve(&c->done, &err);
}

static void on_loop(cairn_task_t *t) {
  struct call *c = cairn_container_of(t, struct call, task);
  cairn_then(c->fn(c->arg), &c->wait, on_done);
}

cairn_code_t cairn__call(cairn_runtime_t *rt, cairn__start_fn fn, void *arg,
                         int64_t timeout_ms, cairn_error_t *err) {
  struct call *c = cairn__future_block(rt, sizeof *c);
  cairn_code_t rc;
  if (c == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  c->fn = fn;
  c->arg = arg;
  cairn_post(rt, &c->task, on_loop);
  rc = cairn_future_wait(&c->done, timeout_ms, err);
  cairn_future_unref(&c->done);
  return rc;
}
