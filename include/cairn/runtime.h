/* The runtime: one event loop per process and the threads that work for it.
 * Everything else is opened on a runtime and closed before it.
 *
 *   cairn_runtime_t *rt;
 *   if (cairn_runtime_open(NULL, &rt, &err) != CAIRN_OK) ...
 *   ...
 *   cairn_runtime_close(rt, &err);
 *
 * A job ends in the reverse order of its beginning: cairn_manager_close (which
 * waits for the last save), cairn_tree_free, cairn_comm_close,
 * cairn_runtime_close, and then MPI_Finalize.
 *
 * Own loop, own threads (never libuv's global pool), all signals blocked in
 * them. Several runtimes may live in one process and share nothing. In the
 * child of a fork a runtime must not be used nor closed; exec and _exit are
 * safe. */
#ifndef CAIRN_RUNTIME_H_
#define CAIRN_RUNTIME_H_

#include "cairn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_runtime cairn_runtime_t;

typedef enum cairn_log_level {
  CAIRN_LOG_DEFAULT = 0, /* as CAIRN_LOG says; CAIRN_LOG_WARN if it is unset */
  CAIRN_LOG_ERROR,
  CAIRN_LOG_WARN,  /* what went wrong beside a call: clean-up, ranks waited for
                    */
  CAIRN_LOG_INFO,  /* saves begun, committed, failed; steps deleted */
  CAIRN_LOG_DEBUG, /* saves that the policy skips */
  CAIRN_LOG_SILENT
} cairn_log_level_t;

/* Called from any of the runtime's threads, one call at a time per runtime. The
 * library itself never prints: without a sink nothing is written anywhere. */
typedef void (*cairn_log_fn)(void *arg, cairn_log_level_t level,
                             const char *text);

/* {0} is all defaults. */
typedef struct cairn_runtime_opts {
  size_t size;     /* sizeof this struct; 0: as compiled */
  int cpu_threads; /* encode, verify; 0: cores - 1, at least 1 */
  int io_threads;  /* blocking file calls; 0: 2 */
  /* No loop thread: waits and cairn_runtime_poll run the loop on the caller's
   * thread (for MPI below MPI_THREAD_MULTIPLE). */
  bool poll;
  int64_t memory_budget; /* bytes of encode and read buffers; 0: 256 MiB */
  cairn_log_level_t log_level;
  cairn_log_fn log; /* NULL: nothing is logged, whatever the level */
  void *log_arg;
} cairn_runtime_opts_t;

/* Opens a runtime; *out is the caller's, for cairn_runtime_close. opts may be
 * NULL. The environment overrides the options: CAIRN_CPU_THREADS,
 * CAIRN_IO_THREADS, CAIRN_MEMORY_BUDGET (bytes), CAIRN_LOG (error, warn, info,
 * debug or silent). CAIRN_INVALID: which option or variable, and why;
 * CAIRN_NO_MEMORY; CAIRN_IO, CAIRN_UNAVAILABLE: the system gives no loop or no
 * thread. Any thread. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_runtime_open(const cairn_runtime_opts_t *opts, cairn_runtime_t **out,
                   cairn_error_t *err);

/* Runs jobs and continuations that are under way to their end, ends timers and
 * waits for memory with CAIRN_CANCELLED, stops the threads, frees everything.
 * Futures that are ready may be released later. CAIRN_BUSY if something opened
 * on it is still open (then nothing happens). NULL is fine. Not on the loop
 * thread. */
CAIRN_API cairn_code_t cairn_runtime_close(cairn_runtime_t *rt,
                                           cairn_error_t *err);

/* In poll mode: runs what is due and waits at most timeout_ms for more (0: does
 * not wait). In thread mode: returns at once. One thread at a time. */
CAIRN_API void cairn_runtime_poll(cairn_runtime_t *rt, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
