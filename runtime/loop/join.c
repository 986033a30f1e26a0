/* cairn_all_take: one future for many.
 *
 * Each future has room for a place in one join, so a join needs a single
 * allocation whatever its size. Failing to get that one would be worse than an
 * error: the caller would believe that all n operations are over while they
 * still write to its memory. So the runtime keeps a few spare joins for that
 * moment. A future in two joins at once has its second place in a spare join as
 * well. */
#include <assert.h>
#include <stdlib.h>

#include "loop/internal.h"

#define SPARE_JOINS 32

typedef struct cairn__join {
  cairn_future_t done;      /* first: the block is freed as a future */
  size_t left;              /* not ready */
  cairn_future_t *failed;   /* the first that did, with its reference */
  cairn__part_t *parts;     /* with their references, until the end */
  cairn__part_t extra;      /* for a future whose own place is taken */
  struct cairn__join *next; /* spare */
} join_t;

/* -- Memory ---------------------------------------------------------------- */

static bool refill(cairn_runtime_t *rt) {
  while (rt->n_spare_joins < SPARE_JOINS) {
    join_t *j = calloc(1, sizeof *j);
    if (j == NULL) return false;
    j->next = rt->spare_joins;
    rt->spare_joins = j;
    rt->n_spare_joins++;
  }
  return true;
}

static join_t *new_join(cairn_runtime_t *rt) {
  join_t *j = cairn__future_block(rt, sizeof *j);
  if (j == NULL && (j = rt->spare_joins) != NULL) {
    rt->spare_joins = j->next;
    rt->n_spare_joins--;
    cairn__future_init(&j->done, rt);
  }
  return j;
}

bool cairn__joins_init(cairn_runtime_t *rt) {
  if (refill(rt)) return true;
  cairn__joins_reset(rt);
  return false;
}

void cairn__joins_reset(cairn_runtime_t *rt) {
  join_t *j;
  while ((j = rt->spare_joins) != NULL) {
    rt->spare_joins = j->next;
    free(j);
  }
  rt->n_spare_joins = 0;
}

/* -- Parts ----------------------------------------------------------------- */

static bool add_part(join_t *j, cairn_future_t *f) {
  cairn__part_t *p = &f->part;
  if (p->join != NULL) {
    join_t *holder = new_join(j->done.rt);
    if (holder == NULL) return false;
    p = &holder->extra;
  }
  p->join = j;
  p->wait.future = f;
  p->next = j->parts;
  j->parts = p;
  j->left++;
  return true;
}

static void drop_parts(join_t *j) {
  cairn__part_t *p, *next;
  for (p = j->parts; p != NULL; p = next) {
    cairn_future_t *f = p->wait.future;
    next = p->next;
    p->join = NULL;
    if (p != &f->part) free(cairn_container_of(p, join_t, extra));
    cairn_future_unref(f);
  }
  j->parts = NULL;
}

static void note(join_t *j, cairn_future_t *f) {
  if (j->failed == NULL && f->code != CAIRN_OK) j->failed = cairn_future_ref(f);
}

/* -- Joining --------------------------------------------------------------- */

static void finish(join_t *j) {
  cairn_error_t err = {0};
  if (j->failed != NULL) {
    cairn__future_outcome(j->failed, &err);
    cairn_future_unref(j->failed);
  }
  drop_parts(j);
  cairn_future_resolve(&j->done, &err);
}

static void on_part(cairn_wait_t *w) {
  join_t *j = cairn_container_of(w, cairn__part_t, wait)->join;
  note(j, w->future);
  if (--j->left == 0) finish(j);
}

static void on_cancel(cairn_future_t *f) {
  join_t *j = cairn_container_of(f, join_t, done);
  for (cairn__part_t *p = j->parts; p != NULL; p = p->next)
    cairn_future_cancel(p->wait.future);
}

static cairn_future_t *give_up(cairn_runtime_t *rt, join_t *j,
                               cairn_future_t **fs, size_t n) {
  if (j != NULL) {
    drop_parts(j);
    if (j->failed != NULL) cairn_future_unref(j->failed);
    free(j);
  }
  for (size_t i = 0; i < n; i++) cairn_future_unref(fs[i]);
  return cairn__future_no_memory(rt);
}

cairn_future_t *cairn_all_take(cairn_runtime_t *rt, cairn_future_t **fs,
                               size_t n) {
  join_t *j;
  assert(cairn__on_loop(rt));
  if (n == 0) return cairn_future_done(rt, NULL);
  if (n == 1) return fs[0];
  j = new_join(rt);
  if (j == NULL) return give_up(rt, NULL, fs, n);
  j->done.on_cancel = on_cancel;
  for (size_t i = 0; i < n; i++) {
    if (cairn_future_ready(fs[i])) {
      note(j, fs[i]);
      cairn_future_unref(fs[i]);
    } else if (!add_part(j, fs[i])) {
      return give_up(rt, j, fs + i, n - i);
    }
  }
  refill(rt);
  if (j->left == 0) {
    finish(j);
  } else {
    for (cairn__part_t *p = j->parts; p != NULL; p = p->next)
      cairn_then(p->wait.future, &p->wait, on_part);
  }
  return &j->done;
}
