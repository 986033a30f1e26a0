/* A lock for a handful of instructions. Who holds it does not sleep, allocate,
 * or touch memory that may be write-protected; who waits gives the core away
 * after a while, in case the holder has lost his. */
#ifndef CAIRN_SNAPSHOT_SPIN_H_
#define CAIRN_SNAPSHOT_SPIN_H_

#include <sched.h>
#include <stdatomic.h>

#define CAIRN__SPINS 200

typedef struct cairn__spin {
  atomic_bool held;
} cairn__spin_t;

static inline void cairn__spin_lock(cairn__spin_t *s) {
  for (int i = 0;
       atomic_exchange_explicit(&s->held, true, memory_order_acquire); i++)
    if (i % CAIRN__SPINS == CAIRN__SPINS - 1) sched_yield();
}

static inline void cairn__spin_unlock(cairn__spin_t *s) {
  atomic_store_explicit(&s->held, false, memory_order_release);
}

#endif
