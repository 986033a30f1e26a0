/* cairn_post: from any thread, in order, never inside the call. */
#include "help.h"

#define PER_THREAD 5000
#define THREADS 4

struct posting {
  cairn_task_t task;
  struct poster *by;
  int number;
};

struct poster {
  cairn_runtime_t *rt;
  struct posting p[PER_THREAD];
  int next; /* the number that must come next; loop thread */
  bool in_order, on_loop;
};

static void on_posting(cairn_task_t *t) {
  struct posting *p = cairn_container_of(t, struct posting, task);
  if (p->number != p->by->next++) p->by->in_order = false;
  if (!cairn__on_loop(p->by->rt)) p->by->on_loop = false;
}

static void post_all(void *arg) {
  struct poster *by = arg;
  for (int i = 0; i < PER_THREAD; i++) {
    by->p[i].by = by;
    by->p[i].number = i;
    cairn_post(by->rt, &by->p[i].task, on_posting);
  }
}

Test(gate, posts_of_each_thread_run_on_the_loop_in_their_order) {
  static struct poster by[THREADS];
  cairn_runtime_t *rt = help_open(false);
  uv_thread_t t[THREADS];
  for (int i = 0; i < THREADS; i++) {
    by[i] = (struct poster){.rt = rt, .in_order = true, .on_loop = true};
    uv_thread_create(&t[i], post_all, &by[i]);
  }
  for (int i = 0; i < THREADS; i++) uv_thread_join(&t[i]);
  help_close(rt); /* drains the gate */
  for (int i = 0; i < THREADS; i++) {
    cr_assert_eq(by[i].next, PER_THREAD);
    cr_assert(by[i].in_order);
    cr_assert(by[i].on_loop);
  }
}

/* A task that posts itself again until it has run often enough, and counts how
 * deep it is nested: never. */
struct again {
  cairn_task_t task;
  cairn_runtime_t *rt;
  cairn_future_t *done;
  int left, depth, deepest;
};

static void on_again(cairn_task_t *t) {
  struct again *a = cairn_container_of(t, struct again, task);
  if (++a->depth > a->deepest) a->deepest = a->depth;
  if (--a->left > 0)
    cairn_post(a->rt, &a->task, on_again);
  else
    cairn_future_resolve(a->done, NULL);
  a->depth--;
}

Test(gate, task_may_be_posted_again_from_itself_and_runs_on_a_later_turn) {
  struct again a = {.rt = help_open(false), .left = 1000};
  a.done = cairn_future_new(a.rt);
  cairn_post(a.rt, &a.task, on_again);
  cr_assert_eq(cairn_future_finish(a.done, NULL), CAIRN_OK);
  cr_assert_eq(a.deepest, 1);
  help_close(a.rt);
}
