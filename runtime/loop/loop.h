/* The loop room's private side: what rooms inside runtime/ may see of a runtime
 * beyond <cairn/plugin.h>.
 *
 * Threads: one loop thread (none in poll mode), cpu_threads + io_threads pool
 * threads, started when first needed. The gate (cairn_post) is a locked queue
 * plus uv_async_send. Continuations run from a queue drained once a turn. The
 * threads block all signals but those of their own faults (SIGSEGV and kin). */
#ifndef CAIRN_LOOP_LOOP_H_
#define CAIRN_LOOP_LOOP_H_

#include <uv.h>

#include "cairn/plugin.h"

uv_loop_t *cairn__loop(cairn_runtime_t *rt); /* loop thread only */
bool cairn__on_loop(const cairn_runtime_t *rt);
bool cairn__is_poll(const cairn_runtime_t *rt);
int64_t cairn__memory_budget(const cairn_runtime_t *rt);
int cairn__cpu_threads(const cairn_runtime_t *rt);

/* Something that wants to be looked at often while it has work, and not at all
 * otherwise (MPI requests): fn is called about every `us` microseconds, adapted
 * between 50 and 1000, while active; it returns true if it made progress. Loop
 * thread only; the struct is embedded and must outlive cairn__ticker_stop. */
typedef struct cairn__ticker cairn__ticker_t;
struct cairn__ticker {
  cairn__ticker_t *next;
  bool (*fn)(cairn__ticker_t *t);
  bool active;
};
void cairn__ticker_start(cairn_runtime_t *rt, cairn__ticker_t *t,
                         bool (*fn)(cairn__ticker_t *t));
void cairn__ticker_stop(cairn_runtime_t *rt, cairn__ticker_t *t);

/* For blocking calls on the caller's thread: posts fn, which starts work on the
 * loop and resolves `done` when finished. Any thread but the loop's. In poll
 * mode it runs the loop. Returns the outcome. After CAIRN_TIMED_OUT the
 * operation goes on, or may only begin: then arg must outlive it. */
typedef cairn_future_t *(*cairn__start_fn)(void *arg);
cairn_code_t cairn__call(cairn_runtime_t *rt, cairn__start_fn fn, void *arg,
                         int64_t timeout_ms, cairn_error_t *err);

/* What a higher room keeps with a runtime (a registry of drivers): one value a
 * slot, made by the first who asks, dropped when the runtime is closed. make is
 * called with the runtime locked: it may allocate and nothing else. Any thread.
 * NULL: make returned NULL; the next call tries again. */
typedef enum cairn__slot {
  CAIRN__SLOT_KV,
  CAIRN__SLOT_HANDLERS,
  CAIRN__SLOT_COUNT
} cairn__slot_t;
void *cairn__runtime_slot(cairn_runtime_t *rt, cairn__slot_t slot,
                          void *(*make)(void), void (*drop)(void *p));

#endif
