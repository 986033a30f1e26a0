/* A million keys: written from one turn of the loop, read back. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop/loop.h"
#include "unit/ocdbt/db.h"
#include "unit/ocdbt/objects.h"

#define N 1000000

/* Ascending keys; written in an order that is not. */
static void key_of(size_t i, char out[80]) {
  snprintf(out, 80, "params/layer_%04zu/block_%03zu/kernel/c/0/0", i / 1000,
           i % 1000);
}

static cairn_future_t *write_all(void *arg) {
  cairn_kv_t *w = arg;
  static cairn_future_t *fs[N];
  static size_t values[N];
  for (size_t i = 0; i < N; i++) {
    char key[80];
    size_t k = i * 7919 % N;
    struct iovec iov = {&values[i], i % 4 == 0 ? sizeof *values : 1};
    key_of(k, key);
    fs[i] = cairn_kv_write(w, str(key), &iov, 1, NULL, NULL);
  }
  return cairn_all_take(cairn_kv_runtime(w), fs, N);
}

struct expected {
  size_t n, indirect;
};

static bool on_entry(void *arg, cairn_bytes_t key,
                     const cairn__ocdbt_entry_t *e) {
  struct expected *x = arg;
  char want[80];
  key_of(x->n++, want);
  x->indirect += !e->is_inline;
  return cairn__bytes_eq(key, str(want));
}

Test(large, a_million_keys_come_back_in_order) {
  struct fixture f = db_fixture();
  cairn_error_t err = {0};
  cairn_kv_t *w = NULL, *db = NULL;
  cairn__ocdbt_summary_t s = {0};
  struct expected x = {0};
  cairn__ocdbt_write_opts_t o = db_plain_opts(4, 65536);
  o.config.zstd = true;
  cr_assert_eq(db_create(f.base, &o, &w, &err), CAIRN_OK);
  cr_assert_eq(cairn__call(f.rt, write_all, w, -1, &err), CAIRN_OK);
  cr_assert_eq(db_commit(w, &s, &err), CAIRN_OK, "%s", err.message);
  kv_call_close(w, NULL);
  cr_expect_eq(s.num_keys, N);
  cr_assert_eq(db_open(f.base, &db, &err), CAIRN_OK);
  cr_assert_eq(db_walk(db, str(""), on_entry, &x, &err), CAIRN_OK);
  cr_expect_eq(x.n, N);
  cr_expect_eq(x.indirect, N / 4);
  cr_expect_eq(db_check(db, &err), CAIRN_OK, "%s", err.message);
  char *one = kv_call_list(db, "params/layer_0777/block_123", 0, &err);
  cr_assert(one != NULL);
  cr_expect(strstr(one, "params/layer_0777/block_123/kernel/c/0/0:") == one);
  free(one);
  kv_call_close(db, NULL);
  cairn__ocdbt_summary_free(&s);
  db_fixture_end(&f);
}
