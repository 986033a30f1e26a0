/* When memory is out: futures are never NULL, waits work, joins wait.
 * The linker sends the library's malloc and calloc here (extra.cmake). */
#include <stdlib.h>
#include <string.h>

#include "help.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static atomic_int allowed = -1; /* allocations that succeed; -1: all */

static bool refused(void) {
  int n = atomic_load(&allowed);
  while (n > 0 && !atomic_compare_exchange_weak(&allowed, &n, n - 1)) continue;
  return n == 0;
}

void *__wrap_malloc(size_t n) {
  return refused() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
  return refused() ? NULL : __real_calloc(n, size);
}

static void memory_is_out(bool out) {
  atomic_store(&allowed, out ? 0 : -1);
}

/* Each allocation of opening fails once, in turn. */
Test(memory, opening_fails_cleanly_at_every_allocation) {
  int n = 0;
  for (;; n++) {
    cairn_runtime_t *rt = NULL;
    cairn_error_t err = {0};
    cairn_code_t rc;
    atomic_store(&allowed, n);
    rc = cairn_runtime_open(NULL, &rt, &err);
    memory_is_out(false);
    if (rc == CAIRN_OK) {
      help_close(rt);
      break;
    }
    cr_assert_eq(rc, CAIRN_NO_MEMORY, "%d: %s", n, err.message);
    cr_assert_null(rt);
  }
  cr_assert_gt(n, 3); /* the runtime, two futures, the pools at least */
}

struct dry {
  cairn_runtime_t *rt;
  cairn_future_t *f[4], *all, *second, *last;
  struct help_wait w[3];
  char trace[8];
};

static cairn_code_t nothing(void *job, cairn_error_t *err) {
  (void)job, (void)err;
  return CAIRN_OK;
}

static cairn_future_t *make_while_dry(void *arg) {
  struct dry *d = arg;
  d->last = cairn_future_new(d->rt);
  memory_is_out(true);
  d->f[0] = cairn_future_new(d->rt);
  d->f[1] = cairn_work(d->rt, nothing, NULL);
  d->f[2] = cairn_after(d->rt, 1);
  cairn_future_resolve(d->f[0], NULL); /* does nothing */
  for (int i = 0; i < 3; i++) {
    d->w[i] = (struct help_wait){.id = (char)('a' + i), .trace = d->trace};
    if (i == 2) d->w[i].all_run = d->last;
    help_then(d->f[i], &d->w[i]);
  }
  memory_is_out(false);
  return d->last;
}

Test(memory, futures_made_without_it_have_failed_and_can_be_waited_for) {
  struct dry d = {.rt = help_open(false)};
  cr_assert_eq(help_call(d.rt, make_while_dry, &d, NULL), CAIRN_OK);
  cr_assert_str_eq(d.trace, "abc");
  for (int i = 0; i < 3; i++) cr_assert_eq(d.w[i].code, CAIRN_NO_MEMORY);
  help_close(d.rt);
}

Test(memory, failed_future_outlives_its_runtime) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t err = {0};
  cairn_future_t *f;
  memory_is_out(true);
  f = cairn_future_new(rt);
  memory_is_out(false);
  cairn_future_cancel(f);
  cr_assert_not(cairn_future_cancelled(f)); /* others share it */
  cairn_future_resolve(f, NULL);
  help_close(rt);
  cr_assert_eq(cairn_future_finish(f, &err), CAIRN_NO_MEMORY);
  cr_assert_str_eq(err.message, "out of memory");
}

Test(memory, error_without_room_for_its_text_keeps_its_code) {
  cairn_runtime_t *rt = help_open(false);
  cairn_future_t *f = cairn_future_new(rt);
  cairn_error_t cause = {0}, err = {0};
  cairn_fail(&cause, CAIRN_NO_SPACE, "write d/1f");
  memory_is_out(true);
  cairn_future_resolve(f, &cause);
  memory_is_out(false);
  cr_assert_eq(cairn_future_finish(f, &err), CAIRN_NO_SPACE);
  cr_assert_eq(err.code, CAIRN_NO_SPACE);
  cr_assert_str_eq(err.message, "no space");
  help_close(rt);
}

Test(memory, call_without_it_starts_nothing) {
  cairn_runtime_t *rt = help_open(false);
  struct dry d = {.rt = rt};
  cairn_code_t rc;
  memory_is_out(true);
  rc = cairn__call(rt, make_while_dry, &d, -1, NULL);
  memory_is_out(false);
  cr_assert_eq(rc, CAIRN_NO_MEMORY);
  cr_assert_null(d.f[0]);
  help_close(rt);
}

/* -- Joins ----------------------------------------------------------------- */

static cairn_future_t *join_while_dry(void *arg) {
  struct dry *d = arg;
  cairn_future_t *a[4], *b[2];
  for (int i = 0; i < 4; i++) {
    d->f[i] = cairn_future_new(d->rt);
    a[i] = cairn_future_ref(d->f[i]);
  }
  b[0] = cairn_future_ref(d->f[0]);
  b[1] = cairn_future_ref(d->f[1]);
  memory_is_out(true);
  d->all = cairn_all_take(d->rt, a, 4);
  d->second =
      cairn_all_take(d->rt, b, 2); /* needs places beyond the embedded */
  memory_is_out(false);
  return NULL;
}

Test(memory, join_made_without_it_still_waits_for_all) {
  struct dry d = {.rt = help_open(false)};
  help_call(d.rt, join_while_dry, &d, NULL);
  for (int i = 0; i < 4; i++) {
    cr_assert_not(cairn_future_ready(d.all));
    cairn_future_resolve(d.f[i], NULL);
    cairn_future_unref(d.f[i]);
  }
  cr_assert_eq(cairn_future_finish(d.all, NULL), CAIRN_OK);
  cr_assert_eq(cairn_future_finish(d.second, NULL), CAIRN_OK);
  help_close(d.rt);
}

#define MORE_THAN_SPARE 40

struct exhaust {
  cairn_runtime_t *rt;
  cairn_future_t *f[2], *all[MORE_THAN_SPARE];
};

static cairn_future_t *join_until_none_is_spare(void *arg) {
  struct exhaust *e = arg;
  for (int i = 0; i < 2; i++) e->f[i] = cairn_future_new(e->rt);
  memory_is_out(true);
  for (int i = 0; i < MORE_THAN_SPARE; i++) {
    cairn_future_t *fs[2] = {cairn_future_ref(e->f[0]),
                             cairn_future_ref(e->f[1])};
    e->all[i] = cairn_all_take(e->rt, fs, 2);
  }
  memory_is_out(false);
  return NULL;
}

Test(memory, joins_beyond_the_spare_ones_fail_and_leak_nothing) {
  struct exhaust e = {.rt = help_open(false)};
  int failed = 0;
  help_call(e.rt, join_until_none_is_spare, &e, NULL);
  cr_assert_not(cairn_future_ready(e.all[0]));
  cr_assert_eq(cairn_future_wait(e.all[MORE_THAN_SPARE - 1], 0, NULL),
               CAIRN_NO_MEMORY);
  for (int i = 0; i < 2; i++) {
    cairn_future_resolve(e.f[i], NULL);
    cairn_future_unref(e.f[i]);
  }
  for (int i = 0; i < MORE_THAN_SPARE; i++)
    failed += cairn_future_finish(e.all[i], NULL) != CAIRN_OK;
  cr_assert_gt(failed, 0);
  cr_assert_lt(failed, MORE_THAN_SPARE);
  help_close(e.rt);
}
