/* Every allocation of every call fails once: the call says so (or did without),
 * the store is as before or as after, nothing is left lying about, nothing
 * leaks (the address sanitizer looks). The linker sends the library's
 * allocations here (extra.cmake). */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/fs.h"
#include "loop/loop.h"
#include "stores.h"

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

/* The allocation that fails, counted down; the ones after it go well again, as
 * those are the harder ones to survive. Below 0: none. */
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

/* --- the calls --- */

static cairn_code_t op_put(struct store *s) {
  return kv_call_put(s->kv, "new/deep/key", "value", NULL);
}

static cairn_code_t op_create(struct store *s) {
  cairn_write_opts_t o = {.if_equal = &CAIRN_GEN_ABSENT};
  return kv_call_write(s->kv, cairn_bytes_str("new/c"), NULL, 0, &o, NULL,
                       NULL);
}

static cairn_code_t op_swap(struct store *s) {
  cairn_value_t v = {0};
  cairn_written_t w = {0};
  cairn_code_t rc =
      kv_call_read(s->kv, cairn_bytes_str("a/x"), CAIRN_WHOLE, &v, NULL);
  cairn_write_opts_t o = {.if_equal = &v.gen};
  struct iovec iov = {(void *)"1", 1};
  if (rc == CAIRN_OK)
    rc = kv_call_write(s->kv, cairn_bytes_str("a/x"), &iov, 1, &o, &w, NULL);
  cairn_value_reset(&v);
  cr_assert(rc != CAIRN_OK || w.condition_met);
  return rc;
}

static cairn_code_t op_deferred(struct store *s) {
  cairn_write_opts_t o = {.defer_sync = true};
  cairn_code_t rc =
      kv_call_write(s->kv, cairn_bytes_str("t/u/v"), NULL, 0, &o, NULL, NULL);
  if (rc == CAIRN_OK) rc = kv_call_sync(s->kv, "t/", NULL);
  return rc;
}

static cairn_code_t op_remove(struct store *s) {
  return kv_call_remove(s->kv, cairn_bytes_str("a/x"), NULL, NULL, NULL);
}

static cairn_code_t op_read(struct store *s) {
  cairn_value_t v = {0};
  cairn_code_t rc =
      kv_call_read(s->kv, cairn_bytes_str("a/x"), CAIRN_WHOLE, &v, NULL);
  cr_assert(rc == CAIRN_OK ? v.found && v.data.n == 1 : !v.found);
  cairn_value_reset(&v);
  return rc;
}

static bool count_key(void *arg, cairn_bytes_t key, int64_t size) {
  (void)key, (void)size;
  ++*(int *)arg;
  return true;
}

struct listing {
  cairn_kv_t *kv;
  bool dir;
  int n;
};

static cairn_future_t *start_list(void *arg) {
  struct listing *l = arg;
  cairn_bytes_t all = {0};
  return l->dir ? cairn_kv_list_dir(l->kv, all, count_key, &l->n)
                : cairn_kv_list(l->kv, all, count_key, &l->n);
}

static cairn_code_t list(struct store *s, bool dir) {
  struct listing l = {.kv = s->kv, .dir = dir};
  cairn_code_t rc = cairn__call(s->rt, start_list, &l, -1, NULL);
  cr_assert(rc != CAIRN_OK || l.n >= 2, "an incomplete listing is no success");
  return rc;
}

static cairn_code_t op_list(struct store *s) {
  return list(s, false);
}

static cairn_code_t op_list_dir(struct store *s) {
  return list(s, true);
}

static cairn_code_t op_rename(struct store *s) {
  return kv_call_rename(s->kv, "a/", "z/w/", NULL);
}

static cairn_code_t op_remove_prefix(struct store *s) {
  return kv_call_remove_prefix(s->kv, "a", NULL);
}

struct uploading {
  cairn_kv_t *kv;
  cairn_upload_t *u;
  bool asked;
};

/* In one call: kv_call's own allocation might keep a commit from being asked.
 */
static cairn_future_t *part_and_commit(void *arg) {
  struct uploading *c = arg;
  static struct iovec iov = {(void *)"part", 4};
  c->asked = true;
  cairn_future_unref(cairn_upload_part(c->u, 0, &iov, 1));
  return cairn_upload_commit(c->u);
}

static cairn_code_t op_upload(struct store *s) {
  cairn_upload_t *u;
  cairn_code_t rc = kv_call_upload(s->kv, "up/load", NULL, &u, NULL);
  if (rc != CAIRN_OK) return rc;
  struct uploading c = {.kv = s->kv, .u = u};
  do /* an upload that is begun has to be ended */
    rc = cairn__call(s->rt, part_and_commit, &c, -1, NULL);
  while (!c.asked);
  return rc;
}

static cairn_code_t op_open(struct store *s) {
  cairn_kv_t *kv, *view;
  cairn_code_t rc = kv_call_open(
      s->rt, "{\"driver\":\"file\",\"path\":\"/tmp/x\"}", &kv, NULL);
  if (rc != CAIRN_OK) return rc;
  view = cairn_kv_prefix(kv, cairn_bytes_str("v/"));
  if (view == NULL) rc = CAIRN_NO_MEMORY;
  int left = atomic_exchange(&countdown, -1);
  if (view != NULL) kv_call_close(view, NULL);
  kv_call_close(kv, NULL);
  atomic_store(&countdown, left);
  return rc;
}

/* --- each, with its n-th allocation refused, until none is --- */

static void fill(struct store *s) {
  cairn_error_t err = {0};
  must(kv_call_remove_prefix(s->kv, "", &err), &err);
  put(s, "a/x", "1");
  put(s, "a/y/z", "1");
  put(s, "b", "1");
}

static bool no_temporary(void *arg, const char *rel, const struct stat *st) {
  (void)arg, (void)st;
  cr_assert_null(strstr(rel, ".__lock"), "%s was left", rel);
  return true;
}

/* What there is now has no temporaries and can be written again. */
static void check(struct store *s) {
  cairn_error_t err = {0};
  put(s, "after", "1");
  expect_value(s, "after", "1");
  must(cairn__fs_walk(s->dir, no_temporary, NULL, &err), &err);
}

static void refuse_each(struct store *s, cairn_code_t (*op)(struct store *s)) {
  int refusals = 0;
  for (int n = 0;; n++) {
    fill(s);
    atomic_store(&countdown, n);
    cairn_code_t rc = op(s);
    bool over = atomic_exchange(&countdown, -1) >= 0;
    check(s);
    if (over) {
      cr_assert_eq(rc, CAIRN_OK);
      break;
    }
    refusals++;
    cr_assert(rc == CAIRN_OK || rc == CAIRN_NO_MEMORY, "%d: %s", n,
              cairn_code_text(rc));
  }
  cr_assert_gt(refusals, 0);
}

static void refuse_all(struct store *s) {
  refuse_each(s, op_put);
  refuse_each(s, op_create);
  refuse_each(s, op_swap);
  refuse_each(s, op_deferred);
  refuse_each(s, op_remove);
  refuse_each(s, op_read);
  refuse_each(s, op_list);
  refuse_each(s, op_list_dir);
  refuse_each(s, op_remove_prefix);
  refuse_each(s, op_upload);
  refuse_each(s, op_open);
  if (s->kind != BARE) refuse_each(s, op_rename);
}

STORE_TEST(any_allocation_may_fail) {
  refuse_all(s);
}
