#include "calls.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/base.h"
#include "loop/loop.h"
#include "support/kv_call.h"

struct call {
  cairn_kv_t *kv;
  cairn_array_io_t *io;
  size_t n;
  int version;
  const cairn_bytes_t *names;
  cairn_zarr_t **out;
  cairn_buf_t damage;
};

static cairn_future_t *do_write(void *arg) {
  struct call *c = arg;
  return cairn_arrays_write(c->kv, c->io, c->n);
}

static cairn_future_t *do_read(void *arg) {
  struct call *c = arg;
  return cairn_arrays_read(c->kv, c->io, c->n);
}

static cairn_future_t *do_open(void *arg) {
  struct call *c = arg;
  return cairn_arrays_open(c->kv, c->version, c->names, c->n, c->out);
}

static void on_damage(void *arg, cairn_bytes_t key, const cairn_error_t *what) {
  cairn_buf_printf(arg, "%.*s: %s\n", (int)key.n, (const char *)key.p,
                   what->message);
}

static cairn_future_t *do_verify(void *arg) {
  struct call *c = arg;
  return cairn_arrays_verify(c->kv, c->io, c->n, on_damage, &c->damage);
}

cairn_code_t call_write(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                        cairn_error_t *err) {
  struct call c = {.kv = kv, .io = io, .n = n};
  return cairn__call(cairn_kv_runtime(kv), do_write, &c, -1, err);
}

cairn_code_t call_read(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                       cairn_error_t *err) {
  struct call c = {.kv = kv, .io = io, .n = n};
  return cairn__call(cairn_kv_runtime(kv), do_read, &c, -1, err);
}

cairn_code_t call_open(cairn_kv_t *kv, int version, const cairn_bytes_t *names,
                       size_t n, cairn_zarr_t **out, cairn_error_t *err) {
  struct call c = {
      .kv = kv, .names = names, .n = n, .out = out, .version = version};
  return cairn__call(cairn_kv_runtime(kv), do_open, &c, -1, err);
}

cairn_code_t call_verify(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                         char **damage, cairn_error_t *err) {
  struct call c = {.kv = kv, .io = io, .n = n};
  cairn_code_t rc = cairn__call(cairn_kv_runtime(kv), do_verify, &c, -1, err);
  cairn_buf_put_u8(&c.damage, 0);
  size_t len;
  *damage = (char *)cairn_buf_steal(&c.damage, &len);
  return rc;
}

store_t store_open(void) {
  store_t s;
  cairn_error_t err = {0};
  char url[64] = "memory://", id[33];
  cairn__random_id(id);
  strcat(url, id);
  strcat(url, "/");
  cr_assert_eq(cairn_runtime_open(NULL, &s.rt, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(kv_call_open(s.rt, url, &s.kv, &err), CAIRN_OK, "%s",
               err.message);
  return s;
}

void store_close(store_t *s) {
  cairn_error_t err = {0};
  cr_assert_eq(kv_call_close(s->kv, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_runtime_close(s->rt, &err), CAIRN_OK, "%s", err.message);
}

cairn_bytes_t store_get(store_t *s, const char *key) {
  cairn_value_t v = {0};
  cr_assert_eq(kv_call_read(s->kv, cairn_bytes_str(key), NULL, &v, NULL),
               CAIRN_OK);
  if (!v.found) return cairn_bytes(NULL, 0);
  uint8_t *p = malloc(v.data.n + 1);
  if (v.data.n > 0) memcpy(p, v.data.p, v.data.n);
  cairn_bytes_t b = cairn_bytes(p, v.data.n);
  cairn_value_reset(&v);
  return b;
}

void store_put(store_t *s, const char *key, cairn_bytes_t value) {
  struct iovec iov = {(void *)(uintptr_t)value.p, value.n};
  cr_assert_eq(
      kv_call_write(s->kv, cairn_bytes_str(key), &iov, 1, NULL, NULL, NULL),
      CAIRN_OK);
}

void store_remove(store_t *s, const char *key) {
  cr_assert_eq(kv_call_remove(s->kv, cairn_bytes_str(key), NULL, NULL, NULL),
               CAIRN_OK);
}
