/* Every allocation of a save, and of a restore, fails once: nothing hangs or
 * crashes, what is said is true on disk, and the next call goes well. The
 * linker sends the library's allocations here (extra.cmake). */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "support/kv_call.h"
#include "support/state.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);

/* The allocation that fails, counted down; those after it go well again, as
 * they are the harder ones to survive. Below 0: none. */
static atomic_int countdown = -1;

static bool refused(void) {
  int n = atomic_load(&countdown);
  while (n >= 0 && !atomic_compare_exchange_weak(&countdown, &n, n - 1))
    continue;
  return n == 0;
}

void *__wrap_malloc(size_t n) {
  return refused() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
  return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n) {
  return refused() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size) {
  return refused() ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strdup(const char *s) {
  return refused() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n) {
  return refused() ? NULL : __real_strndup(s, n);
}

/* True: the n-th allocation was still among those of the call. */
static bool ended(void) {
  return atomic_exchange(&countdown, -1) < 0;
}

struct fixture {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_kv_t *root; /* what is in memory lives while it is open */
  cairn_manager_t *m;
  state_t s;
};

static void saved(struct fixture *f, int64_t step, cairn_error_t *err) {
  state_fill(&f->s, (int)step);
  if (cairn_manager_save(f->m, step, f->s.tree, NULL, err) == CAIRN_OK)
    cairn_manager_wait(f->m, -1, err);
}

static void saves(struct fixture *f, int64_t step) {
  cairn_error_t err = {0};
  saved(f, step, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
}

static void restores(struct fixture *f, int64_t step) {
  cairn_error_t err = {0};
  state_clear(&f->s);
  cr_assert_eq(cairn_manager_restore(f->m, step, f->s.tree, NULL, &err),
               CAIRN_OK, "%s", err.message);
  state_expect(&f->s, (int)step);
}

static void begin(struct fixture *f) {
  cairn_error_t err = {0};
  cairn_manager_opts_t o = {.max_to_keep = 2};
  cr_assert_eq(cairn_runtime_open(NULL, &f->rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(f->rt, &f->comm, NULL), CAIRN_OK);
  cr_assert_eq(kv_call_open(f->rt, "memory://root", &f->root, NULL), CAIRN_OK);
  cr_assert_eq(
      cairn_manager_open(f->rt, f->comm, "memory://root", &o, &f->m, &err),
      CAIRN_OK, "%s", err.message);
  state_init(&f->s, 6, 5, 0, 1);
  saves(f, 1);
}

static void end(struct fixture *f) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_close(f->m, -1, &err), CAIRN_OK, "%s",
               err.message);
  kv_call_close(f->root, NULL);
  cairn_comm_close(f->comm, NULL);
  cr_assert_eq(cairn_runtime_close(f->rt, &err), CAIRN_OK, "%s", err.message);
  state_free(&f->s);
}

Test(memory, every_allocation_of_a_save_may_fail) {
  bool more = true;
  int n = 0;
  struct fixture f;
  begin(&f);
  for (int64_t step = 2; more; step += 2, n++) {
    cairn_error_t err = {0};
    atomic_store(&countdown, n);
    saved(&f, step, &err);
    more = ended();
    restores(&f, cairn_manager_latest(f.m));
    if (err.code == CAIRN_OK) cr_assert_eq(cairn_manager_latest(f.m), step);
    saves(&f, step + 1);
    restores(&f, step + 1);
  }
  end(&f);
  cr_assert_gt(n, 50);
}

Test(memory, every_allocation_of_a_restore_may_fail) {
  bool more = true;
  int n = 0;
  struct fixture f;
  begin(&f);
  for (; more; n++) {
    cairn_error_t err = {0};
    atomic_store(&countdown, n);
    state_clear(&f.s);
    cairn_code_t rc = cairn_manager_restore(f.m, 1, f.s.tree, NULL, &err);
    more = ended();
    if (rc == CAIRN_OK) state_expect(&f.s, 1);
  }
  restores(&f, 1);
  end(&f);
  cr_assert_gt(n, 50);
}
