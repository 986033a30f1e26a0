/* The insides of a runtime and of a future, for the files of this room only.
 *
 *   runtime.c  open and close              future.c   the future
 *   options.c  options and environment     join.c     cairn_all_take
 *   gate.c     the two queues of the loop  work.c     thread pools
 *   poll.c     running the loop by hand    limiter.c  the byte budget
 *   hold.c     what is open                after.c    timers
 *   log.c      the log                     ticker.c   fast polling
 *   call.c     blocking calls              thread.c   starting threads
 *   slot.c     what other rooms keep here
 *
 * Whoever makes a future that needs memory of its own puts the future first in
 * its struct (cairn__future_block): one allocation, freed with the future. */
#ifndef CAIRN_LOOP_INTERNAL_H_
#define CAIRN_LOOP_INTERNAL_H_

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "loop/loop.h"

/* Bits of cairn_future.state. Each is set once and never cleared, so that one
 * atomic operation tells the setter what the others had done before. */
enum {
  CAIRN__READY = 1,     /* the outcome is there */
  CAIRN__WAITED = 2,    /* the loop has waits on it: delivery is needed */
  CAIRN__BLOCKED = 4,   /* a thread sleeps for it: waking is needed */
  CAIRN__CANCELLED = 8, /* cancel was asked for */
  CAIRN__FIXED = 16     /* one of the runtime's two ready-made futures */
};

typedef struct cairn__waits {
  cairn_wait_t *head, *tail;
} cairn__waits_t;

typedef struct cairn__tasks {
  cairn_task_t *head, *tail;
} cairn__tasks_t;

/* The place of a future in a join (join.c). */
struct cairn__join;
typedef struct cairn__part cairn__part_t;
struct cairn__part {
  cairn_wait_t wait;
  struct cairn__join *join; /* NULL: free */
  cairn__part_t *next;
};

struct cairn_future {
  cairn_runtime_t *rt;
  atomic_int refs;
  atomic_uint state;
  cairn_code_t code;    /* the outcome, written before READY */
  cairn_error_t *err;   /* its details; NULL if ok, or if memory was out */
  cairn__waits_t waits; /* loop thread */
  cairn_task_t deliver; /* carries a resolve to the loop */
  cairn_task_t cancel;  /* carries a cancel to the loop */
  void (*on_cancel)(cairn_future_t *f); /* on the loop, if not ready by then */
  cairn__part_t part;
};

typedef struct cairn__work cairn__work_t;
typedef struct cairn__pool {
  cairn_runtime_t *rt;
  const char *name;
  uv_mutex_t lock;
  uv_cond_t more;
  cairn__work_t *head, *tail; /* not begun */
  int queued, idle;
  int n, max; /* threads there are, and may be */
  pthread_t *threads;
  bool stop;
} cairn__pool_t;

typedef struct cairn__grant cairn__grant_t;
typedef struct cairn__timer cairn__timer_t;

#define CAIRN__HOLD_NAMES 32

struct cairn_runtime {
  cairn_runtime_opts_t opts; /* effective */

  uv_loop_t loop;
  uv_async_t gate;
  uv_idle_t turn;       /* active while there is something for the next turn */
  uv_timer_t poll_stop; /* bounds a wait in poll mode */
  pthread_t thread;

  uv_mutex_t lock; /* posted, holds, slots */
  cairn__tasks_t posted;
  struct {
    const char *what;
    int n;
  } holds[CAIRN__HOLD_NAMES];
  int other_holds; /* names beyond the table */
  struct cairn__slot_value {
    void *p;
    void (*drop)(void *p);
  } slots[CAIRN__SLOT_COUNT];

  uv_mutex_t wait_lock; /* sleepers of cairn_future_wait; running */
  uv_cond_t wait_cond;
  bool running; /* poll mode: a thread is in uv_run */

  cairn__waits_t ready; /* waits whose future is ready; loop thread */
  cairn_future_t *done_ok, *done_no_memory;
  struct cairn__join *spare_joins;
  int n_spare_joins;

  cairn__pool_t cpu, io;
  atomic_int jobs; /* given to a pool and not resolved */

  int64_t reserved; /* limiter; loop thread */
  cairn__grant_t *grants_head, *grants_tail;

  cairn__timer_t *timers;

  int tick_fd;
  uv_poll_t tick;
  int64_t tick_us;
  cairn__ticker_t *tickers, *tick_next;

  uv_mutex_t log_lock;

  atomic_bool closing;
  bool stopped; /* loop thread */
};

/* options.c */
CAIRN_MUST_CHECK cairn_code_t cairn__options(const cairn_runtime_opts_t *in,
                                             cairn_runtime_opts_t *out,
                                             cairn_error_t *err);
/* thread.c: starts a thread that no signal handler runs on. 0 or an errno. */
int cairn__thread_start(pthread_t *t, const char *name, void *(*fn)(void *),
                        void *arg);
/* gate.c */
int cairn__gate_init(cairn_runtime_t *rt);
void cairn__loop_enter(cairn_runtime_t *rt, uv_run_mode mode);
void cairn__ready_push(cairn_runtime_t *rt, cairn__waits_t *list);
void cairn__waits_add(cairn__waits_t *list, cairn_wait_t *w);
/* poll.c: one turn of at most ms on this thread (negative: no limit), or a wait
 * while another thread runs one. wait_lock is held, and released meanwhile. */
void cairn__poll_turn(cairn_runtime_t *rt, int64_t ms);
/* hold.c: true if something is open, and then says what. */
bool cairn__held(cairn_runtime_t *rt, cairn_error_t *err);
/* future.c: zeroed memory that begins with a future of two references, or NULL.
 * cairn__future_no_memory is a reference to the ready-made failed one. */
void *cairn__future_block(cairn_runtime_t *rt, size_t size);
void cairn__future_init(cairn_future_t *f, cairn_runtime_t *rt);
cairn_future_t *cairn__future_no_memory(cairn_runtime_t *rt);
int cairn__futures_init(cairn_runtime_t *rt);
void cairn__futures_reset(cairn_runtime_t *rt);
/* What cairn_wait_result does, without dropping the reference. */
cairn_code_t cairn__future_outcome(const cairn_future_t *f, cairn_error_t *err);
/* join.c: memory kept so that joining does not fail when memory is out. */
bool cairn__joins_init(cairn_runtime_t *rt);
void cairn__joins_reset(cairn_runtime_t *rt);
/* work.c */
int cairn__pool_init(cairn__pool_t *p, cairn_runtime_t *rt, const char *name,
                     int max);
void cairn__pool_reset(
    cairn__pool_t *p); /* joins the threads; queue is empty */
/* limiter.c, after.c: end what still waits, with CAIRN_CANCELLED. */
void cairn__grants_cancel(cairn_runtime_t *rt);
void cairn__timers_cancel(cairn_runtime_t *rt);
/* slot.c */
void cairn__slots_reset(cairn_runtime_t *rt);
/* ticker.c */
int cairn__ticker_init(cairn_runtime_t *rt);   /* 0 or a libuv error */
void cairn__ticker_reset(cairn_runtime_t *rt); /* after the loop is closed */

#endif
