/* The two queues of the loop.
 *
 * posted: tasks from any thread, under a lock; uv_async_send wakes the loop.
 * ready: waits whose future has become ready, loop thread only.
 *
 * Both are emptied by taking the whole list and running it: what is added
 * meanwhile belongs to the next turn, so nothing runs inside the call that
 * armed it and the loop's other events are not starved. On the loop thread
 * itself the wake-up is an idle handle, which costs no system call. */
#include <assert.h>

#include "loop/internal.h"

/* The runtime whose loop this thread is running, if any. */
static _Thread_local const cairn_runtime_t *entered;

bool cairn__on_loop(const cairn_runtime_t *rt) {
  return entered == rt;
}

uv_loop_t *cairn__loop(cairn_runtime_t *rt) {
  return &rt->loop;
}

static void on_turn(uv_idle_t *h);

static void turn_soon(cairn_runtime_t *rt) {
  if (!uv_is_active((uv_handle_t *)&rt->turn))
    uv_idle_start(&rt->turn, on_turn);
}

void cairn_post(cairn_runtime_t *rt, cairn_task_t *t,
                void (*fn)(cairn_task_t *t)) {
  bool first;
  t->next = NULL;
  t->fn = fn;
  uv_mutex_lock(&rt->lock);
  first = rt->posted.head == NULL;
  if (first)
    rt->posted.head = t;
  else
    rt->posted.tail->next = t;
  rt->posted.tail = t;
  /* Inside the lock: once it is released the task may run and, being the last
   * one, let cairn_runtime_close finish; rt is not ours to touch then. */
  if (first && !cairn__on_loop(rt)) uv_async_send(&rt->gate);
  uv_mutex_unlock(&rt->lock);
  if (cairn__on_loop(rt)) turn_soon(rt);
}

static void run_posted(cairn_runtime_t *rt) {
  cairn_task_t *t, *next;
  uv_mutex_lock(&rt->lock);
  t = rt->posted.head;
  rt->posted = (cairn__tasks_t){0};
  uv_mutex_unlock(&rt->lock);
  for (; t != NULL; t = next) {
    next = t->next; /* fn may post t again, or free it */
    t->fn(t);
  }
}

void cairn__waits_add(cairn__waits_t *list, cairn_wait_t *w) {
  w->next = NULL;
  if (list->head == NULL)
    list->head = w;
  else
    list->tail->next = w;
  list->tail = w;
}

void cairn__ready_push(cairn_runtime_t *rt, cairn__waits_t *list) {
  if (list->head == NULL) return;
  if (rt->ready.head == NULL)
    rt->ready = *list;
  else {
    rt->ready.tail->next = list->head;
    rt->ready.tail = list->tail;
  }
  *list = (cairn__waits_t){0};
  turn_soon(rt);
}

static void run_ready(cairn_runtime_t *rt) {
  cairn_wait_t *w = rt->ready.head, *next;
  rt->ready = (cairn__waits_t){0};
  for (; w != NULL; w = next) {
    next = w->next;
    w->fn(w);
  }
}

static bool posted_any(cairn_runtime_t *rt) {
  bool any;
  uv_mutex_lock(&rt->lock);
  any = rt->posted.head != NULL;
  uv_mutex_unlock(&rt->lock);
  return any;
}

/* While closing: ends what waits for time or memory and, once nothing is left
 * that could still call back, the loop. jobs is looked at first: a job's last
 * act but one is to post its outcome. */
static void stop_if_quiet(cairn_runtime_t *rt) {
  cairn__timers_cancel(rt);
  cairn__grants_cancel(rt);
  if (atomic_load(&rt->jobs) != 0) return;
  if (rt->ready.head != NULL || posted_any(rt)) return;
  rt->stopped = true;
  uv_stop(&rt->loop);
}

static void on_gate(uv_async_t *h) {
  cairn_runtime_t *rt = h->data;
  run_posted(rt);
  if (atomic_load(&rt->closing)) stop_if_quiet(rt);
}

static void on_turn(uv_idle_t *h) {
  cairn_runtime_t *rt = h->data;
  run_posted(rt);
  run_ready(rt);
  if (rt->ready.head == NULL && !posted_any(rt)) uv_idle_stop(h);
  if (atomic_load(&rt->closing)) stop_if_quiet(rt);
}

int cairn__gate_init(cairn_runtime_t *rt) {
  int rc = uv_async_init(&rt->loop, &rt->gate, on_gate);
  if (rc < 0) return rc;
  rt->gate.data = rt;
  uv_idle_init(&rt->loop, &rt->turn);
  rt->turn.data = rt;
  uv_timer_init(&rt->loop, &rt->poll_stop);
  return 0;
}

void cairn__loop_enter(cairn_runtime_t *rt, uv_run_mode mode) {
  const cairn_runtime_t *outer = entered;
  assert(outer != rt);
  entered = rt;
  uv_run(&rt->loop, mode);
  entered = outer;
}
