#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/fs.h"
#include "kv/kv.h"

void must(cairn_code_t code, const cairn_error_t *err) {
  (void)err;
  cr_assert_eq(code, CAIRN_OK, "%s", err != NULL ? err->message : "failed");
}

/* A driver with the required members only (the memory store's), so that the
 * conformance tests cover what the front puts in for the others. */
static cairn_kv_ops_t bare_ops(void) {
  cairn_kv_ops_t ops = cairn__kv_memory_ops;
  ops.scheme = "bare";
  ops.size = offsetof(cairn_kv_ops_t, upload_begin);
  return ops;
}

static void open_kv(struct store *s) {
  static cairn_kv_ops_t bare; /* each test is a process of its own */
  cairn_error_t err = {0};
  char url[128];
  must(cairn_runtime_open(NULL, &s->rt, &err), &err);
  if (s->kind == BARE) {
    bare = bare_ops();
    must(cairn_kv_register(s->rt, &bare, &err), &err);
  }
  if (s->kind == FILES || s->kind == FILES_VIEW)
    snprintf(url, sizeof url, "file://%s", s->dir);
  else
    snprintf(url, sizeof url, "%s://conformance/deep",
             s->kind == BARE ? "bare" : "memory");
  must(kv_call_open(s->rt, url, &s->kv, &err), &err);
  s->base = NULL;
  if (s->kind != MEMORY_VIEW && s->kind != FILES_VIEW) return;
  s->base = s->kv;
  s->kv = kv_call_prefix(s->base, "in/side/");
  cr_assert_not_null(s->kv);
}

void store_open(struct store *s, enum store_kind kind) {
  s->kind = kind;
  snprintf(s->dir, sizeof s->dir, "/tmp/cairn-kv-XXXXXX");
  cr_assert_not_null(mkdtemp(s->dir));
  open_kv(s);
}

void store_open_again(struct store *s, const struct store *other) {
  *s = *other;
  open_kv(s);
}

void store_close(struct store *s) {
  cairn_error_t err = {0};
  must(kv_call_close(s->kv, &err), &err);
  if (s->base != NULL) must(kv_call_close(s->base, &err), &err);
  must(cairn_runtime_close(s->rt, &err), &err);
  must(cairn__fs_rmtree(s->dir, &err), &err);
}

void store_run(enum store_kind kind, void (*test)(struct store *s)) {
  struct store s;
  store_open(&s, kind);
  test(&s);
  store_close(&s);
}

void expect_value(struct store *s, const char *key, const char *want) {
  char *got = kv_call_get(s->kv, key);
  cr_assert_str_eq(got != NULL ? got : "(missing)", want, "%s is %s, want %s",
                   key, got != NULL ? got : "(missing)", want);
  free(got);
}

void expect_list(struct store *s, const char *prefix, const char *want) {
  cairn_error_t err = {0};
  char *got = kv_call_list(s->kv, prefix, 0, &err);
  cr_assert_not_null(got, "%s", err.message);
  cr_assert_str_eq(got, want, "[%s], want [%s]", got, want);
  free(got);
}

void put(struct store *s, const char *key, const char *text) {
  cairn_error_t err = {0};
  must(kv_call_put(s->kv, key, text, &err), &err);
}
