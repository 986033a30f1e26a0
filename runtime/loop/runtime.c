/* Opening and closing a runtime.
 *
 * Closing goes in this order: refuse if something is open; end the timers and
 * the waits for memory; let jobs and continuations run until none is left (the
 * loop finds that out itself, gate.c); stop the loop; stop the pools; free.
 *
 * fork: only the calling thread exists in a child, so there the runtime must
 * not be used and is not closed; exec and _exit are safe (all descriptors are
 * close-on-exec, and there is no exit handler). */
#include <stdlib.h>

#include "loop/internal.h"

/* -- Pieces, in the order of opening --------------------------------------- */

static int init_locks(cairn_runtime_t *rt) {
  int rc;
  if ((rc = uv_mutex_init(&rt->lock)) < 0) goto fail_lock;
  if ((rc = uv_mutex_init(&rt->wait_lock)) < 0) goto fail_wait_lock;
  if ((rc = uv_cond_init(&rt->wait_cond)) < 0) goto fail_wait_cond;
  if ((rc = uv_mutex_init(&rt->log_lock)) < 0) goto fail_log_lock;
  return 0;
fail_log_lock:
  uv_cond_destroy(&rt->wait_cond);
fail_wait_cond:
  uv_mutex_destroy(&rt->wait_lock);
fail_wait_lock:
  uv_mutex_destroy(&rt->lock);
fail_lock:
  return rc;
}

static void reset_locks(cairn_runtime_t *rt) {
  uv_mutex_destroy(&rt->log_lock);
  uv_cond_destroy(&rt->wait_cond);
  uv_mutex_destroy(&rt->wait_lock);
  uv_mutex_destroy(&rt->lock);
}

static void close_handle(uv_handle_t *h, void *arg) {
  (void)arg;
  if (!uv_is_closing(h)) uv_close(h, NULL);
}

static void reset_loop(cairn_runtime_t *rt) {
  uv_walk(&rt->loop, close_handle, NULL);
  cairn__loop_enter(rt, UV_RUN_DEFAULT); /* until all have said closed */
  uv_loop_close(&rt->loop);
  cairn__ticker_reset(rt);
}

static int init_loop(cairn_runtime_t *rt) {
  int rc = uv_loop_init(&rt->loop);
  rt->tick_fd = -1;
  if (rc < 0) return rc;
  if ((rc = cairn__gate_init(rt)) < 0 || (rc = cairn__ticker_init(rt)) < 0)
    reset_loop(rt);
  return rc;
}

static int init_memory(cairn_runtime_t *rt) {
  int rc = cairn__futures_init(rt);
  if (rc == 0 && !cairn__joins_init(rt)) {
    cairn__futures_reset(rt);
    rc = UV_ENOMEM;
  }
  return rc;
}

static void reset_memory(cairn_runtime_t *rt) {
  cairn__joins_reset(rt);
  cairn__futures_reset(rt);
}

static int init_pools(cairn_runtime_t *rt) {
  int rc = cairn__pool_init(&rt->cpu, rt, "cpu", rt->opts.cpu_threads);
  if (rc < 0) return rc;
  rc = cairn__pool_init(&rt->io, rt, "io", rt->opts.io_threads);
  if (rc < 0) cairn__pool_reset(&rt->cpu);
  return rc;
}

static void reset_pools(cairn_runtime_t *rt) {
  cairn__pool_reset(&rt->io);
  cairn__pool_reset(&rt->cpu);
}

static void *loop_main(void *arg) {
  cairn__loop_enter(arg, UV_RUN_DEFAULT);
  return NULL;
}

/* 0 or a libuv error. */
static int start(cairn_runtime_t *rt) {
  int rc;
  if (rt->opts.poll) return 0;
  rc = cairn__thread_start(&rt->thread, "cairn-loop", loop_main, rt);
  return rc == 0 ? 0 : uv_translate_sys_error(rc);
}

/* -- Open and close -------------------------------------------------------- */

static cairn_code_t assemble(cairn_runtime_t *rt, cairn_error_t *err) {
  int rc;
  if ((rc = init_locks(rt)) < 0) goto fail_locks;
  if ((rc = init_loop(rt)) < 0) goto fail_loop;
  if ((rc = init_memory(rt)) < 0) goto fail_memory;
  if ((rc = init_pools(rt)) < 0) goto fail_pools;
  if ((rc = start(rt)) < 0) goto fail_start;
  return CAIRN_OK;
fail_start:
  reset_pools(rt);
fail_pools:
  reset_memory(rt);
fail_memory:
  reset_loop(rt);
fail_loop:
  reset_locks(rt);
fail_locks:
  return cairn_fail_errno(err, -rc, "open runtime"); /* libuv: negated errno */
}

cairn_code_t cairn_runtime_open(const cairn_runtime_opts_t *opts,
                                cairn_runtime_t **out, cairn_error_t *err) {
  cairn_runtime_opts_t effective;
  cairn_runtime_t *rt;
  cairn_code_t rc = cairn__options(opts, &effective, err);
  if (rc != CAIRN_OK) {
    cairn_within(err, "open runtime");
    return rc;
  }
  rt = calloc(1, sizeof *rt);
  if (rt == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "open runtime: out of memory");
  rt->opts = effective;
  rc = assemble(rt, err);
  if (rc != CAIRN_OK) {
    free(rt);
    return rc;
  }
  *out = rt;
  return CAIRN_OK;
}

/* In poll mode the loop ends its work on this thread. */
static void run_down(cairn_runtime_t *rt) {
  atomic_store(&rt->closing, true);
  uv_async_send(&rt->gate);
  if (!rt->opts.poll) {
    pthread_join(rt->thread, NULL);
    return;
  }
  uv_mutex_lock(&rt->wait_lock);
  /* running first: stopped belongs to whoever runs the loop. */
  while (rt->running || !rt->stopped) cairn__poll_turn(rt, -1);
  uv_mutex_unlock(&rt->wait_lock);
}

cairn_code_t cairn_runtime_close(cairn_runtime_t *rt, cairn_error_t *err) {
  if (rt == NULL) return CAIRN_OK;
  if (cairn__on_loop(rt))
    return cairn_fail(err, CAIRN_INVALID,
                      "close runtime: called on its own loop thread");
  if (cairn__held(rt, err)) return CAIRN_BUSY;
  run_down(rt);
  cairn__slots_reset(rt);
  reset_pools(rt);
  reset_memory(rt);
  reset_loop(rt);
  reset_locks(rt);
  free(rt);
  return CAIRN_OK;
}

bool cairn__is_poll(const cairn_runtime_t *rt) {
  return rt->opts.poll;
}
