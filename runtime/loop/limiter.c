/* The byte budget: first come, first served. A request larger than the whole
 * budget is admitted when nothing else is reserved and keeps the rest out until
 * it is given back, so it never fails and never starves. */
#include <assert.h>
#include <inttypes.h>

#include "loop/internal.h"

struct cairn__grant {
  cairn_future_t done; /* first: the block is freed as a future */
  int64_t n;
  cairn__grant_t *next;
};

static bool fits(const cairn_runtime_t *rt, int64_t n) {
  return rt->reserved == 0 || n <= rt->opts.memory_budget - rt->reserved;
}

static void unlink_grant(cairn_runtime_t *rt, cairn__grant_t *g) {
  cairn__grant_t *prev = NULL, *at = rt->grants_head;
  while (at != g) prev = at, at = at->next;
  if (prev == NULL)
    rt->grants_head = g->next;
  else
    prev->next = g->next;
  if (rt->grants_tail == g) rt->grants_tail = prev;
}

static void admit(cairn_runtime_t *rt) {
  cairn__grant_t *g;
  while ((g = rt->grants_head) != NULL && fits(rt, g->n)) {
    unlink_grant(rt, g);
    rt->reserved += g->n;
    cairn_future_resolve(&g->done, NULL);
  }
}

static void give_up(cairn__grant_t *g) {
  cairn_error_t err = {0};
  cairn_runtime_t *rt = g->done.rt;
  cairn_fail(&err, CAIRN_CANCELLED, "wait for %" PRId64 " bytes of memory",
             g->n);
  unlink_grant(rt, g);
  cairn_future_resolve(&g->done, &err);
}

static void on_cancel(cairn_future_t *f) {
  cairn_runtime_t *rt = f->rt;
  give_up(cairn_container_of(f, cairn__grant_t, done));
  admit(rt); /* smaller ones may have waited behind it */
}

cairn_future_t *cairn_reserve(cairn_runtime_t *rt, int64_t n) {
  cairn__grant_t *g;
  assert(cairn__on_loop(rt) && n >= 0);
  if (rt->grants_head == NULL && fits(rt, n)) {
    rt->reserved += n;
    return cairn_future_done(rt, NULL);
  }
  g = cairn__future_block(rt, sizeof *g);
  if (g == NULL) return cairn__future_no_memory(rt);
  g->n = n;
  g->done.on_cancel = on_cancel;
  if (rt->grants_head == NULL)
    rt->grants_head = g;
  else
    rt->grants_tail->next = g;
  rt->grants_tail = g;
  return &g->done;
}

void cairn_release(cairn_runtime_t *rt, int64_t n) {
  assert(cairn__on_loop(rt) && n >= 0 && n <= rt->reserved);
  rt->reserved -= n;
  admit(rt);
}

void cairn__grants_cancel(cairn_runtime_t *rt) {
  while (rt->grants_head != NULL) give_up(rt->grants_head);
}

int64_t cairn__memory_budget(const cairn_runtime_t *rt) {
  return rt->opts.memory_budget;
}
