/* The misbehaving store of tests/support, which others rely on; and through it
 * what the front does when a driver fails. */
#include <stdlib.h>

#include "loop/loop.h"
#include "stores.h"
#include "support/kv_fault.h"

struct rig {
  kv_fault_t *f;
  cairn_runtime_t *rt;
  cairn_kv_t *kv;
};

static struct rig rig_open(void) {
  struct rig r = {.f = kv_fault_new()};
  cairn_error_t err = {0};
  must(cairn_runtime_open(NULL, &r.rt, &err), &err);
  must(kv_fault_register(r.rt, r.f, &err), &err);
  must(kv_call_open(r.rt, "fault://x/y", &r.kv, &err), &err);
  return r;
}

static void rig_close(struct rig *r) {
  cairn_error_t err = {0};
  must(kv_call_close(r->kv, &err), &err);
  must(cairn_runtime_close(r->rt, &err), &err);
  kv_fault_free(r->f);
}

static cairn_code_t three_puts(cairn_kv_t *kv, cairn_error_t *err) {
  cairn_code_t rc = kv_call_put(kv, "a", "1", err);
  if (rc == CAIRN_OK) rc = kv_call_put(kv, "b", "1", err);
  if (rc == CAIRN_OK) rc = kv_call_put(kv, "c", "1", err);
  return rc;
}

Test(fault, the_nth_call_fails_and_the_loop_ends_after_the_last) {
  struct rig r = rig_open();
  int n;
  for (n = 1;; n++) {
    cairn_error_t err = {0};
    kv_fault_rule_t rule = {
        .kind = KV_FAULT_WRITE, .at = n, .code = CAIRN_NO_SPACE};
    kv_fault_set(r.f, &rule);
    cairn_code_t rc = three_puts(r.kv, &err);
    if (!kv_fault_hit(r.f)) {
      must(rc, &err);
      break;
    }
    cr_assert_eq(rc, CAIRN_NO_SPACE);
    cr_assert_eq(kv_fault_count(r.f, KV_FAULT_WRITE), n);
    cr_assert_not_null(strstr(err.message, "injected fault"));
  }
  cr_assert_eq(n, 4);
  rig_close(&r);
}

Test(fault, after_does_it_and_fails) {
  struct rig r = rig_open();
  kv_fault_rule_t rule = {
      .kind = KV_FAULT_ANY, .at = 1, .sticky = true, .how = KV_FAULT_AFTER};
  kv_fault_set(r.f, &rule);
  cr_assert_eq(kv_call_put(r.kv, "a", "1", NULL), CAIRN_IO);
  cr_assert_eq(kv_call_sync(r.kv, "", NULL), CAIRN_IO);
  kv_fault_set(r.f, NULL);
  char *got = kv_call_get(r.kv, "a");
  cr_assert_str_eq(got, "1");
  free(got);
  rig_close(&r);
}

Test(fault, a_key_can_be_singled_out) {
  struct rig r = rig_open();
  kv_fault_rule_t rule = {.kind = KV_FAULT_WRITE, .at = 1, .key_part = "b"};
  kv_fault_set(r.f, &rule);
  cr_assert_eq(three_puts(r.kv, NULL), CAIRN_IO);
  cr_assert_eq(kv_fault_count(r.f, KV_FAULT_WRITE), 2);
  rig_close(&r);
}

Test(fault, a_failed_part_makes_commit_fail_and_leave_nothing) {
  struct rig r = rig_open();
  cairn_upload_t *u;
  cairn_error_t err = {0};
  kv_fault_rule_t rule = {.kind = KV_FAULT_PART, .at = 2};
  kv_fault_set(r.f, &rule);
  must(kv_call_upload(r.kv, "u", NULL, &u, &err), &err);
  must(kv_call_part(r.kv, u, 0, "one", &err), &err);
  cr_assert_eq(kv_call_part(r.kv, u, 3, "two", NULL), CAIRN_IO);
  cr_assert_eq(kv_call_commit(r.kv, u, &err), CAIRN_IO);
  cr_assert_eq(kv_fault_count(r.f, KV_FAULT_COMMIT), 0);
  cr_assert_eq(kv_fault_count(r.f, KV_FAULT_ABORT), 1);
  cr_assert_null(kv_call_get(r.kv, "u"));
  rig_close(&r);
}

Test(fault, every_step_of_an_upload_may_fail) {
  static const kv_fault_kind_t steps[] = {KV_FAULT_UPLOAD, KV_FAULT_PART,
                                          KV_FAULT_COMMIT};
  struct rig r = rig_open();
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    kv_fault_rule_t rule = {.kind = steps[i], .at = 1};
    cairn_upload_t *u = NULL;
    kv_fault_set(r.f, &rule);
    cairn_code_t rc = kv_call_upload(r.kv, "u", NULL, &u, NULL);
    if (rc == CAIRN_OK) {
      kv_call_part(r.kv, u, 0, "x", NULL);
      rc = kv_call_commit(r.kv, u, NULL);
    }
    cr_assert_eq(rc, CAIRN_IO);
    kv_fault_set(r.f, NULL);
    cr_assert_null(kv_call_get(r.kv, "u"));
  }
  rig_close(&r);
}

/* --- holding --- */

struct holding {
  cairn_kv_t *kv;
  cairn_future_t *write, *close, *late;
};

static cairn_future_t *write_close_write(void *arg) {
  struct holding *h = arg;
  h->write = cairn_kv_write(h->kv, cairn_bytes_str("a"), NULL, 0, NULL, NULL);
  h->close = cairn_kv_close(h->kv);
  h->late = cairn_kv_write(h->kv, cairn_bytes_str("b"), NULL, 0, NULL, NULL);
  return cairn_future_done(cairn_kv_runtime(h->kv), NULL);
}

Test(fault, close_waits_for_what_is_outstanding_and_refuses_more) {
  struct rig r = rig_open();
  struct holding h = {.kv = r.kv};
  cairn_error_t err = {0}, late = {0};
  kv_fault_rule_t rule = {
      .kind = KV_FAULT_WRITE, .at = 1, .how = KV_FAULT_HOLD};
  kv_fault_set(r.f, &rule);
  must(cairn__call(r.rt, write_close_write, &h, -1, &err), &err);
  kv_fault_await_held(r.f, 1);
  cr_assert(!cairn_future_ready(h.write));
  cr_assert(!cairn_future_ready(h.close));
  cr_assert_eq(cairn_future_finish(h.late, &late), CAIRN_CLOSED);
  cr_assert_eq(cairn_runtime_close(r.rt, NULL), CAIRN_BUSY);
  kv_fault_release(r.f);
  must(cairn_future_finish(h.write, &err), &err);
  must(cairn_future_finish(h.close, &err), &err);
  must(cairn_runtime_close(r.rt, &err), &err);
  kv_fault_free(r.f);
}

struct parts {
  cairn_upload_t *u;
  cairn_future_t *one, *two, *commit;
  cairn_runtime_t *rt;
};

static cairn_future_t *parts_and_commit(void *arg) {
  struct parts *p = arg;
  static struct iovec a = {(void *)"abc", 3}, b = {(void *)"def", 3};
  p->one = cairn_upload_part(p->u, 0, &a, 1);
  p->two = cairn_upload_part(p->u, 3, &b, 1);
  p->commit = cairn_upload_commit(p->u);
  return cairn_future_done(p->rt, NULL);
}

Test(fault, commit_waits_for_the_parts_in_flight) {
  struct rig r = rig_open();
  struct parts p = {.rt = r.rt};
  cairn_error_t err = {0};
  kv_fault_rule_t rule = {
      .kind = KV_FAULT_PART, .at = 1, .sticky = true, .how = KV_FAULT_HOLD};
  kv_fault_set(r.f, &rule);
  must(kv_call_upload(r.kv, "u", NULL, &p.u, &err), &err);
  must(cairn__call(r.rt, parts_and_commit, &p, -1, &err), &err);
  kv_fault_await_held(r.f, 2);
  cr_assert_eq(kv_fault_count(r.f, KV_FAULT_COMMIT), 0);
  kv_fault_release(r.f);
  must(cairn_future_finish(p.one, &err), &err);
  must(cairn_future_finish(p.two, &err), &err);
  must(cairn_future_finish(p.commit, &err), &err);
  char *got = kv_call_get(r.kv, "u");
  cr_assert_str_eq(got, "abcdef");
  free(got);
  rig_close(&r);
}
