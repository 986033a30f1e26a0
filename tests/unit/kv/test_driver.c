/* Drivers of users: registration, and what the front promises them. */
#include <stdlib.h>

#include "kv/kv.h"
#include "loop/loop.h"
#include "stores.h"

static cairn_runtime_t *open_runtime(void) {
  cairn_runtime_t *rt = NULL;
  cairn_error_t err = {0};
  must(cairn_runtime_open(NULL, &rt, &err), &err);
  return rt;
}

Test(driver, a_scheme_is_registered_once_per_runtime) {
  cairn_runtime_t *a = open_runtime(), *b = open_runtime();
  cairn_kv_ops_t ops = cairn__kv_memory_ops;
  cairn_kv_t *kv;
  cairn_error_t err = {0}, err2 = {0};
  ops.scheme = "mine";
  must(cairn_kv_register(a, &ops, &err), &err);
  cr_assert_eq(cairn_kv_register(a, &ops, &err), CAIRN_EXISTS);
  cr_assert_eq(cairn_kv_register(a, &cairn__kv_file_ops, NULL), CAIRN_EXISTS);
  must(kv_call_open(a, "mine://x", &kv, NULL), NULL);
  must(kv_call_close(kv, NULL), NULL);
  cr_assert_eq(kv_call_open(b, "mine://x", &kv, &err2), CAIRN_INVALID);
  cr_assert_not_null(strstr(err2.message, "\"mine\""), "%s", err2.message);
  must(cairn_runtime_close(a, NULL), NULL);
  must(cairn_runtime_close(b, NULL), NULL);
}

Test(driver, one_that_cannot_work_is_refused) {
  cairn_runtime_t *rt = open_runtime();
  cairn_kv_ops_t good = cairn__kv_memory_ops, bad;
  good.scheme = "mine";
  bad = good;
  bad.abi_major = 2;
  cr_assert_eq(cairn_kv_register(rt, &bad, NULL), CAIRN_INVALID);
  bad = good;
  bad.size = 0;
  cr_assert_eq(cairn_kv_register(rt, &bad, NULL), CAIRN_INVALID);
  bad = good;
  bad.scheme = "";
  cr_assert_eq(cairn_kv_register(rt, &bad, NULL), CAIRN_INVALID);
  bad = good;
  bad.list = NULL;
  cr_assert_eq(cairn_kv_register(rt, &bad, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_kv_register(rt, NULL, NULL), CAIRN_INVALID);
  must(cairn_runtime_close(rt, NULL), NULL);
}

/* --- what a driver is given: everything copied, nothing NULL --- */

struct seen {
  cairn_bytes_t key;
  const struct iovec *iov;
  const cairn_write_opts_t *opts;
  cairn_written_t *out;
  cairn_future_t *pending;
};
static struct seen seen;

static cairn_future_t *keep_write(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t key, const struct iovec *iov,
                                  int niov, const cairn_write_opts_t *o,
                                  cairn_written_t *out) {
  (void)self, (void)niov;
  seen = (struct seen){key, iov, o, out, cairn_future_new(rt)};
  return seen.pending;
}

static uint32_t read_only(void *self) {
  (void)self;
  return CAIRN_KV_READ_ONLY;
}

struct request {
  cairn_kv_t *kv;
  cairn_future_t *f;
};

static cairn_future_t *write_from_the_stack(void *arg) {
  struct request *r = arg;
  char key[] = "key";
  cairn_gen_t gen = CAIRN_GEN_ABSENT;
  struct iovec iov = {(void *)"v", 1};
  /* A caller compiled against a version with one member less. */
  cairn_write_opts_t o = {.size = offsetof(cairn_write_opts_t, defer_sync),
                          .if_equal = &gen,
                          .defer_sync = true};
  r->f = cairn_kv_write(r->kv, cairn_bytes(key, 3), &iov, 1, &o, NULL);
  memset(key, 'x', sizeof key);
  memset(&gen, 0xff, sizeof gen);
  memset(&o, 0xff, sizeof o);
  iov.iov_len = 99;
  return cairn_future_done(cairn_kv_runtime(r->kv), NULL);
}

Test(driver, arguments_are_copies_that_live_until_it_is_ready) {
  cairn_runtime_t *rt = open_runtime();
  cairn_kv_ops_t ops = cairn__kv_memory_ops;
  struct request r;
  ops.scheme = "keep";
  ops.write = keep_write;
  must(cairn_kv_register(rt, &ops, NULL), NULL);
  must(kv_call_open(rt, "keep://x", &r.kv, NULL), NULL);
  cairn_kv_t *view = kv_call_prefix(r.kv, "a/");
  cairn_kv_t *deeper = kv_call_prefix(view, "b/");
  must(kv_call_close(view, NULL),
       NULL); /* a view of a view needs the store only */
  r.kv = deeper;
  must(cairn__call(rt, write_from_the_stack, &r, -1, NULL), NULL);
  cr_assert_eq(seen.key.n, 7);
  cr_assert_eq(memcmp(seen.key.p, "a/b/key", 7), 0);
  cr_assert_eq(seen.iov->iov_len, 1);
  cr_assert_eq(seen.opts->if_equal->n, 1);
  cr_assert_eq(seen.opts->if_equal->b[0], 0x02);
  cr_assert(!seen.opts->defer_sync, "not in the caller's version");
  cr_assert_eq(seen.opts->size, sizeof *seen.opts);
  cr_assert_not_null(seen.out);
  cairn_future_resolve(seen.pending, NULL);
  must(cairn_future_finish(r.f, NULL), NULL);
  cairn_kv_t *store = deeper->base;
  must(kv_call_close(deeper, NULL), NULL);
  must(kv_call_close(store, NULL), NULL);
  must(cairn_runtime_close(rt, NULL), NULL);
}

Test(driver, a_read_only_store_is_not_asked_to_change) {
  cairn_runtime_t *rt = open_runtime();
  cairn_kv_ops_t ops = cairn__kv_memory_ops;
  cairn_kv_t *kv;
  cairn_upload_t *u;
  ops.scheme = "ro";
  ops.caps = read_only;
  must(cairn_kv_register(rt, &ops, NULL), NULL);
  must(kv_call_open(rt, "ro://x", &kv, NULL), NULL);
  cr_assert_eq(kv_call_put(kv, "a", "1", NULL), CAIRN_UNSUPPORTED);
  cr_assert_eq(kv_call_upload(kv, "a", NULL, &u, NULL), CAIRN_UNSUPPORTED);
  cr_assert_eq(kv_call_remove_prefix(kv, "", NULL), CAIRN_UNSUPPORTED);
  cr_assert_null(kv_call_get(kv, "a"));
  must(kv_call_close(kv, NULL), NULL);
  must(cairn_runtime_close(rt, NULL), NULL);
}

/* --- the memory store's names --- */

Test(driver, memory_stores_of_one_name_share_and_vanish_with_the_last) {
  cairn_runtime_t *a = open_runtime(), *b = open_runtime();
  cairn_kv_t *one, *two, *other;
  must(kv_call_open(a, "memory://n/p", &one, NULL), NULL);
  must(kv_call_open(b, "memory://n", &two, NULL), NULL);
  must(kv_call_open(b, "memory://m/p", &other, NULL), NULL);
  must(kv_call_put(one, "k", "v", NULL), NULL);
  char *got = kv_call_get(two, "p/k");
  cr_assert_str_eq(got, "v");
  free(got);
  cr_assert_null(kv_call_get(other, "k"));
  must(kv_call_close(one, NULL), NULL);
  got = kv_call_get(two, "p/k");
  cr_assert_str_eq(got, "v");
  free(got);
  must(kv_call_close(two, NULL), NULL);
  must(kv_call_open(a, "memory://n/p", &one, NULL), NULL);
  cr_assert_null(kv_call_get(one, "k"));
  must(kv_call_close(one, NULL), NULL);
  must(kv_call_close(other, NULL), NULL);
  must(cairn_runtime_close(a, NULL), NULL);
  must(cairn_runtime_close(b, NULL), NULL);
}
