/* Futures.
 *
 * A future's state is a set of bits, each set by one atomic OR that returns
 * what was set before; so resolving knows whether the loop waits on it (then
 * the waits must be delivered there) or a thread sleeps for it (then it must be
 * woken), and does neither for nothing. The list of waits belongs to the loop
 * thread; a resolve elsewhere sends the future itself through the gate, by a
 * task inside it: resolving allocates only for the error's text, and if that
 * fails the code alone is kept.
 *
 * Two futures per runtime are ready from the start, success and out of memory;
 * they are shared by reference, cannot be cancelled, and resolving one does
 * nothing but drop a reference. */
#include <assert.h>
#include <stdlib.h>

#include "base/base.h"
#include "loop/internal.h"

static bool has(const cairn_future_t *f, unsigned bit) {
  return (atomic_load(&f->state) & bit) != 0;
}

void cairn__future_init(cairn_future_t *f, cairn_runtime_t *rt) {
  f->rt = rt;
  atomic_init(&f->refs, 2);
  atomic_init(&f->state, 0);
}

void *cairn__future_block(cairn_runtime_t *rt, size_t size) {
  cairn_future_t *f = calloc(1, size);
  if (f != NULL) cairn__future_init(f, rt);
  return f;
}

/* -- References ------------------------------------------------------------ */

cairn_future_t *cairn_future_ref(cairn_future_t *f) {
  atomic_fetch_add(&f->refs, 1);
  return f;
}

void cairn_future_unref(cairn_future_t *f) {
  int before = atomic_fetch_sub(&f->refs, 1);
  assert(before > 0);
  if (before != 1) return;
  free(f->err);
  free(f);
}

/* -- The outcome ----------------------------------------------------------- */

static void keep_outcome(cairn_future_t *f, const cairn_error_t *err) {
  if (err == NULL || err->code == CAIRN_OK) return;
  f->code = err->code;
  f->err = malloc(sizeof *f->err);
  if (f->err != NULL) *f->err = *err;
}

cairn_code_t cairn__future_outcome(const cairn_future_t *f,
                                   cairn_error_t *err) {
  if (f->code == CAIRN_OK) return CAIRN_OK;
  if (f->err != NULL) return cairn_error_copy(err, f->err);
  return cairn_fail(err, f->code, "%s", cairn_code_text(f->code));
}

/* -- Making them ----------------------------------------------------------- */

cairn_future_t *cairn__future_no_memory(cairn_runtime_t *rt) {
  return cairn_future_ref(rt->done_no_memory);
}

cairn_future_t *cairn_future_new(cairn_runtime_t *rt) {
  cairn_future_t *f = cairn__future_block(rt, sizeof *f);
  if (f != NULL) return f;
  cairn_future_ref(rt->done_no_memory); /* the producer's, as for any other */
  return cairn_future_ref(rt->done_no_memory);
}

cairn_future_t *cairn_future_done(cairn_runtime_t *rt,
                                  const cairn_error_t *err) {
  cairn_future_t *f;
  if (err == NULL || err->code == CAIRN_OK)
    return cairn_future_ref(rt->done_ok);
  f = cairn_future_new(rt);
  cairn_future_resolve(f, err);
  return f;
}

static cairn_future_t *fixed(cairn_runtime_t *rt, cairn_code_t code) {
  cairn_future_t *f = cairn__future_block(rt, sizeof *f);
  if (f == NULL) return NULL;
  f->code = code;
  atomic_init(&f->refs, 1);
  atomic_init(&f->state, CAIRN__READY | CAIRN__FIXED);
  return f;
}

int cairn__futures_init(cairn_runtime_t *rt) {
  rt->done_ok = fixed(rt, CAIRN_OK);
  rt->done_no_memory = fixed(rt, CAIRN_NO_MEMORY);
  if (rt->done_ok != NULL && rt->done_no_memory != NULL) return 0;
  cairn__futures_reset(rt);
  return UV_ENOMEM;
}

void cairn__futures_reset(cairn_runtime_t *rt) {
  if (rt->done_ok != NULL) cairn_future_unref(rt->done_ok);
  if (rt->done_no_memory != NULL) cairn_future_unref(rt->done_no_memory);
  rt->done_ok = rt->done_no_memory = NULL;
}

/* -- Becoming ready -------------------------------------------------------- */

static void deliver(cairn_future_t *f) {
  cairn__ready_push(f->rt, &f->waits);
  cairn_future_unref(f);
}

static void on_deliver(cairn_task_t *t) {
  deliver(cairn_container_of(t, cairn_future_t, deliver));
}

static void wake_sleepers(cairn_runtime_t *rt) {
  uv_mutex_lock(&rt->wait_lock);
  /* In poll mode a sleeper may sleep in the loop's own wait for events. */
  if (rt->opts.poll) uv_async_send(&rt->gate);
  uv_cond_broadcast(&rt->wait_cond);
  uv_mutex_unlock(&rt->wait_lock);
}

void cairn_future_resolve(cairn_future_t *f, const cairn_error_t *err) {
  unsigned before;
  if (has(f, CAIRN__FIXED)) {
    cairn_future_unref(f);
    return;
  }
  assert(!has(f, CAIRN__READY));
  keep_outcome(f, err);
  before = atomic_fetch_or(&f->state, CAIRN__READY);
  if (before & CAIRN__BLOCKED) wake_sleepers(f->rt);
  if (!(before & CAIRN__WAITED))
    cairn_future_unref(f);
  else if (cairn__on_loop(f->rt))
    deliver(f);
  else
    cairn_post(f->rt, &f->deliver, on_deliver);
}

/* -- Waiting on the loop --------------------------------------------------- */

void cairn_then(cairn_future_t *f, cairn_wait_t *w,
                void (*fn)(cairn_wait_t *w)) {
  cairn__waits_t one = {0};
  unsigned before;
  assert(cairn__on_loop(f->rt));
  w->fn = fn;
  w->future = f;
  before = atomic_fetch_or(&f->state, CAIRN__WAITED);
  /* Ready, but with others on the list: its delivery is on the way, and they
   * were first. */
  if (!(before & CAIRN__READY) || f->waits.head != NULL) {
    cairn__waits_add(&f->waits, w);
    return;
  }
  cairn__waits_add(&one, w);
  cairn__ready_push(f->rt, &one);
}

cairn_code_t cairn_wait_result(cairn_wait_t *w, cairn_error_t *err) {
  cairn_future_t *f = w->future;
  cairn_code_t code = cairn__future_outcome(f, err);
  w->future = NULL;
  cairn_future_unref(f);
  return code;
}

/* -- Waiting on other threads ---------------------------------------------- */

bool cairn_future_ready(const cairn_future_t *f) {
  return has(f, CAIRN__READY);
}

/* Milliseconds until `end`, rounded up; -1 if there is no end. */
static int64_t left_ms(int64_t end) {
  int64_t ns;
  if (end < 0) return -1;
  ns = end - cairn__now_ns();
  return ns > 0 ? (ns - 1) / 1000000 + 1 : 0;
}

static int64_t end_of(int64_t timeout_ms) {
  int64_t ns, end;
  if (timeout_ms < 0 || !cairn__mul_ok(timeout_ms, 1000000, &ns) ||
      !cairn__add_ok(cairn__now_ns(), ns, &end))
    return -1;
  return end;
}

/* wait_lock is held. */
static void sleep_once(cairn_runtime_t *rt, int64_t ms) {
  if (rt->opts.poll)
    cairn__poll_turn(rt, ms);
  else if (ms < 0)
    uv_cond_wait(&rt->wait_cond, &rt->wait_lock);
  else if (ms > 0)
    uv_cond_timedwait(&rt->wait_cond, &rt->wait_lock,
                      (uint64_t)ms * UINT64_C(1000000));
}

static void sleep_for(cairn_future_t *f, int64_t timeout_ms) {
  cairn_runtime_t *rt = f->rt;
  int64_t end = end_of(timeout_ms), ms = left_ms(end);
  if (atomic_fetch_or(&f->state, CAIRN__BLOCKED) & CAIRN__READY) return;
  uv_mutex_lock(&rt->wait_lock);
  while (!has(f, CAIRN__READY)) {
    sleep_once(rt,
               ms); /* also without time: in poll mode it does what is due */
    if (ms == 0) break;
    ms = left_ms(end);
  }
  uv_mutex_unlock(&rt->wait_lock);
}

cairn_code_t cairn_future_wait(cairn_future_t *f, int64_t timeout_ms,
                               cairn_error_t *err) {
  if (has(f, CAIRN__READY)) return cairn__future_outcome(f, err);
  assert(!cairn__on_loop(f->rt));
  if (cairn__on_loop(f->rt)) /* rather than sleep for ever */
    return cairn_fail(err, CAIRN_INVALID, "waited on the loop thread");
  sleep_for(f, timeout_ms);
  if (has(f, CAIRN__READY)) return cairn__future_outcome(f, err);
  return cairn_fail(err, CAIRN_TIMED_OUT, "not ready after %lld ms",
                    (long long)timeout_ms);
}

cairn_code_t cairn_future_finish(cairn_future_t *f, cairn_error_t *err) {
  cairn_code_t code = cairn_future_wait(f, -1, err);
  cairn_future_unref(f);
  return code;
}

/* -- Cancelling ------------------------------------------------------------ */

static void on_cancel_task(cairn_task_t *t) {
  cairn_future_t *f = cairn_container_of(t, cairn_future_t, cancel);
  if (!has(f, CAIRN__READY)) f->on_cancel(f);
  cairn_future_unref(f);
}

void cairn_future_cancel(cairn_future_t *f) {
  unsigned before;
  /* First, because a ready future may outlive its runtime. */
  if (has(f, CAIRN__READY)) return;
  before = atomic_fetch_or(&f->state, CAIRN__CANCELLED);
  if (before & (CAIRN__READY | CAIRN__CANCELLED) || f->on_cancel == NULL)
    return;
  cairn_post(f->rt, &cairn_future_ref(f)->cancel, on_cancel_task);
}

bool cairn_future_cancelled(const cairn_future_t *f) {
  return has(f, CAIRN__CANCELLED);
}
