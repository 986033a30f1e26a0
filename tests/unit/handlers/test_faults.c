/* Every call of the store and every allocation fails once: a save or a restore
 * then fails with that error, on a later turn all is freed, and nothing hangs.
 * (Leaks are seen by a build with the address sanitizer.) */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cut.h"
#include "handlers.h"
#include "support/item_harness.h"

#define RANKS 2

static cut_t cut[RANKS];
static void *trees[RANKS];

static void make(bool filled) {
  for (int r = 0; r < RANKS; r++) {
    cut_make(&cut[r], r, RANKS, filled);
    trees[r] = cut[r].tree;
  }
}

static void drop(void) {
  for (int r = 0; r < RANKS; r++) cut_free(&cut[r]);
}

/* The store -------------------------------------------------------------------
 */

Test(faults, every_call_of_the_store_fails_once_in_a_save, .timeout = 60) {
  kv_fault_t *f = kv_fault_new();
  int failed = 0;
  make(true);
  for (int n = 1;; n++) {
    harness_t h;
    cairn_error_t err = {0};
    harness_open_fault(&h, RANKS, f);
    kv_fault_set(f, &(kv_fault_rule_t){.kind = KV_FAULT_ANY, .at = n});
    cairn_code_t rc = harness_save(&h, &cairn__tree_handler, trees, &err);
    bool hit = kv_fault_hit(f);
    kv_fault_set(f, NULL);
    harness_close(&h);
    if (!hit) {
      cr_assert_eq(rc, CAIRN_OK, "%s", err.message);
      break;
    }
    failed += rc != CAIRN_OK;
  }
  cr_assert_geq(failed, 8, "%d", failed);
  drop();
  kv_fault_free(f);
}

Test(faults, every_call_of_the_store_fails_once_in_a_restore, .timeout = 60) {
  kv_fault_t *f = kv_fault_new();
  harness_t h;
  int failed = 0;
  cairn_error_t err = {0};
  make(true);
  harness_open_fault(&h, RANKS, f);
  cr_assert_eq(harness_save(&h, &cairn__tree_handler, trees, &err), CAIRN_OK,
               "%s", err.message);
  for (int n = 1;; n++) {
    err = (cairn_error_t){0};
    kv_fault_set(f, &(kv_fault_rule_t){.kind = KV_FAULT_ANY, .at = n});
    cairn_code_t rc = harness_restore(&h, &cairn__tree_handler, trees, &err);
    bool hit = kv_fault_hit(f);
    kv_fault_set(f, NULL);
    if (!hit) {
      cr_assert_eq(rc, CAIRN_OK, "%s", err.message);
      break;
    }
    failed += rc != CAIRN_OK;
  }
  cr_assert_geq(failed, 4, "%d", failed);
  harness_close(&h);
  drop();
  kv_fault_free(f);
}

/* Memory ----------------------------------------------------------------------
 */

/* Counts down on any thread; the allocation that takes it to 0 is refused. */
static atomic_long fail_in;

static bool refuse(void) {
  return atomic_load(&fail_in) > 0 && atomic_fetch_sub(&fail_in, 1) == 1;
}

static void stop(void) {
  if (atomic_load(&fail_in) > 0) atomic_store(&fail_in, -1);
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

void *__wrap_malloc(size_t n) {
  return refuse() ? NULL : __real_malloc(n);
}
void *__wrap_calloc(size_t n, size_t size) {
  return refuse() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n) {
  return refuse() ? NULL : __real_realloc(p, n);
}
void *__wrap_reallocarray(void *p, size_t n, size_t size) {
  return refuse() ? NULL : __real_reallocarray(p, n, size);
}

/* True if the n-th allocation came. */
static bool without(long n, cairn_code_t (*call)(harness_t *, cairn_error_t *),
                    harness_t *h) {
  cairn_error_t err = {0};
  h->over = stop;
  atomic_store(&fail_in, n);
  cairn_code_t rc = call(h, &err);
  bool hit = atomic_load(&fail_in) == 0;
  if (hit)
    cr_assert(rc == CAIRN_OK || rc == CAIRN_NO_MEMORY, "%ld: %s: %s", n,
              cairn_code_text(rc), err.message);
  else
    cr_assert_eq(rc, CAIRN_OK, "%ld: %s", n, err.message);
  return hit;
}

static cairn_code_t save(harness_t *h, cairn_error_t *err) {
  return harness_save(h, &cairn__tree_handler, trees, err);
}

static cairn_code_t restore(harness_t *h, cairn_error_t *err) {
  return harness_restore(h, &cairn__tree_handler, trees, err);
}

Test(faults, every_allocation_fails_once_in_a_save, .timeout = 100) {
  long n = 1;
  make(true);
  for (bool hit = true; hit; n++) {
    harness_t h;
    harness_open(&h, RANKS, NULL);
    hit = without(n, save, &h);
    harness_close(&h);
  }
  cr_assert_gt(n, 50, "%ld", n);
  drop();
}

static void repeat(cairn_code_t (*call)(harness_t *, cairn_error_t *)) {
  harness_t h;
  long n = 1;
  cairn_error_t err = {0};
  make(true);
  harness_open(&h, RANKS, NULL);
  cr_assert_eq(save(&h, &err), CAIRN_OK, "%s", err.message);
  while (without(n, call, &h)) n++;
  cr_assert_gt(n, 20, "%ld", n);
  harness_close(&h);
  drop();
}

Test(faults, every_allocation_fails_once_in_a_restore, .timeout = 100) {
  repeat(restore);
}
