/* What handlers, drivers and codecs take from the runtime: continuations,
 * promises, jobs on other threads, timers, the log.
 *
 * Everything here runs on the runtime's loop thread unless it says otherwise;
 * code there must not block, wait on a future, compress or sync a file.
 *
 *   s->done = cairn_future_new(rt);
 *   f = cairn_kv_read(kv, key, CAIRN_WHOLE, &s->value);
 *   cairn_then(f, &s->wait, on_read);
 *   return s->done;
 *
 *   static void on_read(cairn_wait_t *w) {
 *     struct op *s = cairn_container_of(w, struct op, wait);
 *     cairn_error_t err = {0};
 *     cairn_wait_result(w, &err);
 *     ...
 *     cairn_future_resolve(s->done, &err);       (the last thing it does)
 *   }
 */
#ifndef CAIRN_PLUGIN_H_
#define CAIRN_PLUGIN_H_

#include "cairn/future.h"
#include "cairn/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A place in a queue, embedded in the operation that waits: so waiting needs no
 * allocation and cannot fail. Its members are the runtime's. */
typedef struct cairn_wait cairn_wait_t;
struct cairn_wait {
  cairn_wait_t *next;
  void (*fn)(cairn_wait_t *w);
  cairn_future_t *future;
};

/* When f is ready, calls fn(w) on the loop thread, always on a later turn than
 * this call, also if f is ready already. Takes the caller's reference to f.
 * Several waits on one future run in the order in which they came. Cannot fail.
 * Loop thread. */
CAIRN_API void cairn_then(cairn_future_t *f, cairn_wait_t *w,
                          void (*fn)(cairn_wait_t *w));

/* Inside fn, exactly once: the outcome, its error copied to *err (which may
 * hold one already; that one stays; NULL is fine); drops the reference. */
CAIRN_API cairn_code_t cairn_wait_result(cairn_wait_t *w, cairn_error_t *err);

/* Runs fn(t) on the loop thread. Any thread; order of posting is order of
 * running. The task is embedded in its operation; fn may use it again. */
typedef struct cairn_task cairn_task_t;
struct cairn_task {
  cairn_task_t *next;
  void (*fn)(cairn_task_t *t);
};
CAIRN_API void cairn_post(cairn_runtime_t *rt, cairn_task_t *t,
                          void (*fn)(cairn_task_t *t));

/* A new future with two references, the producer's and the consumer's. Never
 * NULL: when memory is out it is the runtime's ready-made future, failed with
 * CAIRN_NO_MEMORY, and resolving that one does nothing. Any thread. */
CAIRN_API cairn_future_t *cairn_future_new(cairn_runtime_t *rt);

/* Makes f ready with the outcome *err (NULL or CAIRN_OK inside: success) and
 * drops the producer's reference. The last thing an operation does: whoever
 * waits may free the operation's memory at once. Any thread. */
CAIRN_API void cairn_future_resolve(cairn_future_t *f,
                                    const cairn_error_t *err);

/* A future that is ready: with *err, or with success if err is NULL. Any
 * thread. */
CAIRN_API cairn_future_t *cairn_future_done(cairn_runtime_t *rt,
                                            const cairn_error_t *err);

/* True once cancel was asked for. Producers look between steps. Any thread. */
CAIRN_API bool cairn_future_cancelled(const cairn_future_t *f);

/* Ready when all n are, with the error of the first that failed, if any. Takes
 * the references in fs; the array itself is the caller's again on return.
 * Cancelling it cancels all n. Loop thread. */
CAIRN_API cairn_future_t *cairn_all_take(cairn_runtime_t *rt,
                                         cairn_future_t **fs, size_t n);

/* Runs fn(job, &err) on a CPU thread (cairn_work) or on a thread for blocking
 * calls (cairn_work_io). fn touches its own job and nothing else of the
 * runtime; job lives until the future is ready. A job cancelled before it
 * began does not run. The future has what fn returned, CAIRN_CANCELLED or
 * CAIRN_NO_MEMORY. Any thread. */
typedef cairn_code_t (*cairn_work_fn)(void *job, cairn_error_t *err);
CAIRN_API cairn_future_t *cairn_work(cairn_runtime_t *rt, cairn_work_fn fn,
                                     void *job);
CAIRN_API cairn_future_t *cairn_work_io(cairn_runtime_t *rt, cairn_work_fn fn,
                                        void *job);

/* Ready after ms milliseconds; at once, with CAIRN_CANCELLED, when cancelled or
 * when the runtime closes. CAIRN_NO_MEMORY. Loop thread. */
CAIRN_API cairn_future_t *cairn_after(cairn_runtime_t *rt, int64_t ms);

/* The byte budget of the runtime (cairn_runtime_opts_t.memory_budget): ready
 * when n bytes are reserved, first come, first served. A request larger than
 * the budget waits until nothing else is reserved and then runs alone: it never
 * fails for its size. Give back exactly what was reserved; nothing if the
 * future failed (CAIRN_CANCELLED, CAIRN_NO_MEMORY). Loop thread. */
CAIRN_API cairn_future_t *cairn_reserve(cairn_runtime_t *rt, int64_t n);
CAIRN_API void cairn_release(cairn_runtime_t *rt, int64_t n);

/* Writes to the runtime's log sink if the level is on. Any thread. */
CAIRN_API void cairn_log(cairn_runtime_t *rt, cairn_log_level_t level,
                         const char *fmt, ...) CAIRN_PRINTF(3, 4);

/* Counts what is open on rt, so that closing rt too early is CAIRN_BUSY and not
 * a crash. `what` is a static name ("manager") for the message. Any thread. */
CAIRN_API void cairn_runtime_hold(cairn_runtime_t *rt, const char *what);
CAIRN_API void cairn_runtime_drop(cairn_runtime_t *rt, const char *what);

#ifdef __cplusplus
}
#endif
#endif
