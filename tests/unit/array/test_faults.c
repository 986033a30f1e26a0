/* Stores that fail: the first error is the outcome, everything that began is
 * waited for, and the budget is whole again. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/zarr.h"
#include "calls.h"
#include "loop/loop.h"
#include "support/kv_call.h"
#include "support/kv_fault.h"

enum { ARRAYS = 40, LEN = 3000, CHUNK = 100 };

typedef struct rig {
  cairn_runtime_t *rt;
  cairn_kv_t *kv;
  kv_fault_t *fault;
  cairn_zarr_t *zarr;
  int32_t *values;
  char names[ARRAYS][16];
  cairn_region_t regions[ARRAYS];
  cairn_array_io_t io[ARRAYS];
} rig_t;

static const int64_t origin[1], extent[1] = {LEN};

static void rig_open(rig_t *r, int64_t budget) {
  cairn_runtime_opts_t o = {
      .size = sizeof o, .cpu_threads = 2, .memory_budget = budget};
  static const int64_t shape[1] = {LEN}, chunk[1] = {CHUNK};
  cairn_zarr_spec_t spec = {.version = 3,
                            .dtype = CAIRN_I32,
                            .rank = 1,
                            .shape = shape,
                            .chunk = chunk,
                            .compress = true,
                            .sharded = true};
  memset(r, 0, sizeof *r);
  cr_assert_eq(cairn_runtime_open(&o, &r->rt, NULL), CAIRN_OK);
  r->fault = kv_fault_new();
  cr_assert_eq(kv_fault_register(r->rt, r->fault, NULL), CAIRN_OK);
  cr_assert_eq(kv_call_open(r->rt, "fault://faults/", &r->kv, NULL), CAIRN_OK);
  cr_assert_eq(cairn_zarr_make(&spec, &r->zarr, NULL), CAIRN_OK);
  r->values = calloc(ARRAYS * LEN, sizeof *r->values);
  for (int i = 0; i < ARRAYS; i++) {
    snprintf(r->names[i], sizeof r->names[i], "a%d", i);
    r->regions[i] = (cairn_region_t){origin, extent, NULL, r->values + i * LEN};
    r->io[i] = (cairn_array_io_t){.name = cairn_bytes_str(r->names[i]),
                                  .zarr = r->zarr,
                                  .regions = &r->regions[i],
                                  .n = 1,
                                  .metadata = true};
  }
}

static void rig_close(rig_t *r) {
  cr_assert_eq(kv_call_close(r->kv, NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(r->rt, NULL), CAIRN_OK);
  kv_fault_free(r->fault);
  cairn_zarr_unref(r->zarr);
  free(r->values);
}

static void fill(rig_t *r, int32_t from) {
  for (int32_t i = 0; i < ARRAYS * LEN; i++) r->values[i] = from * i;
}

static void expect(const rig_t *r, int32_t from) {
  for (int32_t i = 0; i < ARRAYS * LEN; i++)
    cr_assert_eq(r->values[i], from * i, "element %d", i);
}

/* Call n fails, for n across the whole operation. */
static void fail_each(rig_t *r, kv_fault_kind_t kind,
                      cairn_code_t (*run)(cairn_kv_t *, cairn_array_io_t *,
                                          size_t, cairn_error_t *)) {
  int total;
  kv_fault_set(r->fault, NULL);
  cr_assert_eq(run(r->kv, r->io, ARRAYS, NULL), CAIRN_OK);
  total = kv_fault_count(r->fault, kind);
  cr_assert_geq(total, ARRAYS * (LEN / CHUNK));
  for (int at = 1; at <= total; at += at < 10 ? 1 : 97) {
    cairn_error_t err = {0};
    kv_fault_set(r->fault, &(kv_fault_rule_t){.kind = kind,
                                              .at = at,
                                              .sticky = at % 2 == 0,
                                              .code = CAIRN_NO_SPACE});
    cr_expect_eq(run(r->kv, r->io, ARRAYS, &err), CAIRN_NO_SPACE, "%d: %s", at,
                 err.message);
    cr_expect(strncmp(err.message, "array a", 7) == 0, "%s", err.message);
  }
  kv_fault_set(r->fault, NULL);
}

Test(faults, each_failing_write_is_the_outcome) {
  rig_t r;
  rig_open(&r, 0);
  fill(&r, 3);
  fail_each(&r, KV_FAULT_WRITE, call_write);
  cr_expect_eq(call_write(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  rig_close(&r);
}

Test(faults, each_failing_read_is_the_outcome) {
  rig_t r;
  rig_open(&r, 0);
  fill(&r, 5);
  cr_assert_eq(call_write(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  fail_each(&r, KV_FAULT_READ, call_read);
  fill(&r, 0);
  cr_expect_eq(call_read(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  expect(&r, 5);
  rig_close(&r);
}

/* Verifying reports what cannot be read and goes on. */
Test(faults, verify_goes_on_after_a_failing_read) {
  rig_t r;
  rig_open(&r, 0);
  cr_assert_eq(call_write(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  kv_fault_set(r.fault, &(kv_fault_rule_t){.kind = KV_FAULT_READ, .at = 50});
  char *damage;
  cr_expect_eq(call_verify(r.kv, r.io, ARRAYS, &damage, NULL), CAIRN_OK);
  cr_expect_gt(strlen(damage), 0);
  cr_expect_eq(strchr(damage, '\n'), damage + strlen(damage) - 1, "%s", damage);
  cr_expect_eq(kv_fault_count(r.fault, KV_FAULT_READ), ARRAYS * LEN / CHUNK);
  free(damage);
  kv_fault_set(r.fault,
               &(kv_fault_rule_t){
                   .kind = KV_FAULT_READ, .at = 50, .code = CAIRN_CLOSED});
  cr_expect_eq(call_verify(r.kv, r.io, ARRAYS, &damage, NULL), CAIRN_CLOSED);
  free(damage);
  rig_close(&r);
}

/* A budget below one job: jobs run one after another, and all is done. */
Test(faults, small_budgets_only_slow_down) {
  rig_t r;
  rig_open(&r, 1000);
  fill(&r, 7);
  cr_expect_eq(call_write(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  fill(&r, 0);
  cr_expect_eq(call_read(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  expect(&r, 7);
  rig_close(&r);
}

/* --- cancel --- */

struct start {
  cairn_future_t *f;
  rig_t *r;
};

static cairn_future_t *start_write(void *arg) {
  struct start *s = arg;
  s->f = cairn_arrays_write(s->r->kv, s->r->io, ARRAYS);
  return cairn_future_done(s->r->rt, NULL);
}

Test(faults, cancel_waits_for_what_began) {
  rig_t r;
  rig_open(&r, 1000); /* one job at a time: most has not begun */
  struct start s = {.r = &r};
  kv_fault_set(r.fault,
               &(kv_fault_rule_t){
                   .kind = KV_FAULT_WRITE, .at = 1, .how = KV_FAULT_HOLD});
  cr_assert_eq(cairn__call(r.rt, start_write, &s, -1, NULL), CAIRN_OK);
  kv_fault_await_held(r.fault, 1);
  cairn_future_cancel(s.f);
  cr_expect_not(cairn_future_ready(s.f));
  kv_fault_release(r.fault);
  cr_expect_eq(cairn_future_finish(s.f, NULL), CAIRN_CANCELLED);
  kv_fault_set(r.fault, NULL);
  cr_expect_eq(call_write(r.kv, r.io, ARRAYS, NULL), CAIRN_OK);
  rig_close(&r);
}
