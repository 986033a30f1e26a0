/* Futures: the one currency of asynchrony. A future carries "done" and an
 * error, nothing else; a value goes to the out-parameter of the call that made
 * the future, which must live until it is ready.
 *
 * A future is never NULL. It becomes ready exactly once, also after cancel.
 * The functions here may be called from any thread except the runtime's own
 * loop thread (there, wait by cairn_then of <cairn/plugin.h>). */
#ifndef CAIRN_FUTURE_H_
#define CAIRN_FUTURE_H_

#include "cairn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_future cairn_future_t;

/* True once the outcome is known. Any thread, does not block. */
CAIRN_API bool cairn_future_ready(const cairn_future_t *f);

/* Waits until ready or until timeout_ms have passed (negative: no limit; 0:
 * only look). Returns the outcome, its error copied to *err, or
 * CAIRN_TIMED_OUT: then the operation goes on and can be waited for again. Does
 * not release f. Not on the loop thread. In poll mode this runs the loop. */
CAIRN_API cairn_code_t cairn_future_wait(cairn_future_t *f, int64_t timeout_ms,
                                         cairn_error_t *err);

/* Asks the operation to stop; f still becomes ready, with CAIRN_CANCELLED or
 * the real outcome, and memory lent to the operation is free only then. Does
 * not block, does not release f. Any thread. */
CAIRN_API void cairn_future_cancel(cairn_future_t *f);

/* One more reference, the caller's to give back; returns f. Any thread. */
CAIRN_API cairn_future_t *cairn_future_ref(cairn_future_t *f);

/* Gives a reference back. Dropping the last one before ready does not cancel;
 * one that is ready may be dropped after its runtime was closed. Any thread. */
CAIRN_API void cairn_future_unref(cairn_future_t *f);

/* Wait without limit, then unref: for callers who need the outcome only.
 * Returns the operation's code, its error copied to *err. Not on the loop
 * thread. */
CAIRN_API cairn_code_t cairn_future_finish(cairn_future_t *f,
                                           cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
