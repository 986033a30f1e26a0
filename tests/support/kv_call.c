#include "support/kv_call.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "loop/loop.h"

/* The arguments of any of the calls. */
struct call {
  cairn_runtime_t *rt;
  cairn_kv_t *kv, **out_kv;
  const char *url;
  cairn_bytes_t key, to;
  const cairn_read_opts_t *read;
  const cairn_write_opts_t *write;
  const struct iovec *iov;
  int niov;
  cairn_value_t *value;
  cairn_written_t *written;
  cairn_upload_t *upload, **out_upload;
  uint64_t offset;
  cairn_buf_t text; /* of a listing */
  int max;
};

static cairn_code_t run(cairn_runtime_t *rt, cairn__start_fn fn, struct call *c,
                        cairn_error_t *err) {
  return cairn__call(rt, fn, c, -1, err);
}

/* --- open, close, view --- */

static cairn_future_t *do_open(void *arg) {
  struct call *c = arg;
  return cairn_kv_open(c->rt, c->url, c->out_kv);
}

cairn_code_t kv_call_open(cairn_runtime_t *rt, const char *url,
                          cairn_kv_t **out, cairn_error_t *err) {
  struct call c = {.rt = rt, .url = url, .out_kv = out};
  return run(rt, do_open, &c, err);
}

static cairn_future_t *do_close(void *arg) {
  return cairn_kv_close(((struct call *)arg)->kv);
}

cairn_code_t kv_call_close(cairn_kv_t *kv, cairn_error_t *err) {
  struct call c = {.kv = kv};
  return run(cairn_kv_runtime(kv), do_close, &c, err);
}

static cairn_future_t *do_prefix(void *arg) {
  struct call *c = arg;
  *c->out_kv = cairn_kv_prefix(c->kv, c->key);
  return cairn_future_done(cairn_kv_runtime(c->kv), NULL);
}

cairn_kv_t *kv_call_prefix(cairn_kv_t *kv, const char *prefix) {
  cairn_kv_t *view = NULL;
  struct call c = {.kv = kv, .key = cairn_bytes_str(prefix), .out_kv = &view};
  run(cairn_kv_runtime(kv), do_prefix, &c, NULL);
  return view;
}

/* --- values --- */

static cairn_future_t *do_read(void *arg) {
  struct call *c = arg;
  return cairn_kv_read(c->kv, c->key, c->read, c->value);
}

cairn_code_t kv_call_read(cairn_kv_t *kv, cairn_bytes_t key,
                          const cairn_read_opts_t *o, cairn_value_t *out,
                          cairn_error_t *err) {
  struct call c = {.kv = kv, .key = key, .read = o, .value = out};
  return run(cairn_kv_runtime(kv), do_read, &c, err);
}

static cairn_future_t *do_write(void *arg) {
  struct call *c = arg;
  return cairn_kv_write(c->kv, c->key, c->iov, c->niov, c->write, c->written);
}

cairn_code_t kv_call_write(cairn_kv_t *kv, cairn_bytes_t key,
                           const struct iovec *iov, int niov,
                           const cairn_write_opts_t *o, cairn_written_t *out,
                           cairn_error_t *err) {
  struct call c = {.kv = kv,
                   .key = key,
                   .iov = iov,
                   .niov = niov,
                   .write = o,
                   .written = out};
  return run(cairn_kv_runtime(kv), do_write, &c, err);
}

static cairn_future_t *do_remove(void *arg) {
  struct call *c = arg;
  return cairn_kv_remove(c->kv, c->key, c->write, c->written);
}

cairn_code_t kv_call_remove(cairn_kv_t *kv, cairn_bytes_t key,
                            const cairn_write_opts_t *o, cairn_written_t *out,
                            cairn_error_t *err) {
  struct call c = {.kv = kv, .key = key, .write = o, .written = out};
  return run(cairn_kv_runtime(kv), do_remove, &c, err);
}

cairn_code_t kv_call_put(cairn_kv_t *kv, const char *key, const char *text,
                         cairn_error_t *err) {
  struct iovec iov = {(void *)text, strlen(text)};
  return kv_call_write(kv, cairn_bytes_str(key), &iov, 1, NULL, NULL, err);
}

char *kv_call_get(cairn_kv_t *kv, const char *key) {
  cairn_value_t v = {0};
  char *text = NULL;
  if (kv_call_read(kv, cairn_bytes_str(key), CAIRN_WHOLE, &v, NULL) ==
          CAIRN_OK &&
      v.found)
    text = cairn__bytes_dup(v.data);
  cairn_value_reset(&v);
  return text;
}

/* --- prefixes --- */

static cairn_future_t *do_rename(void *arg) {
  struct call *c = arg;
  return cairn_kv_rename_prefix(c->kv, c->key, c->to);
}

cairn_code_t kv_call_rename(cairn_kv_t *kv, const char *from, const char *to,
                            cairn_error_t *err) {
  struct call c = {
      .kv = kv, .key = cairn_bytes_str(from), .to = cairn_bytes_str(to)};
  return run(cairn_kv_runtime(kv), do_rename, &c, err);
}

static cairn_future_t *do_remove_prefix(void *arg) {
  struct call *c = arg;
  return cairn_kv_remove_prefix(c->kv, c->key);
}

cairn_code_t kv_call_remove_prefix(cairn_kv_t *kv, const char *prefix,
                                   cairn_error_t *err) {
  struct call c = {.kv = kv, .key = cairn_bytes_str(prefix)};
  return run(cairn_kv_runtime(kv), do_remove_prefix, &c, err);
}

static cairn_future_t *do_sync(void *arg) {
  struct call *c = arg;
  return cairn_kv_sync(c->kv, c->key);
}

cairn_code_t kv_call_sync(cairn_kv_t *kv, const char *prefix,
                          cairn_error_t *err) {
  struct call c = {.kv = kv, .key = cairn_bytes_str(prefix)};
  return run(cairn_kv_runtime(kv), do_sync, &c, err);
}

/* --- listings --- */

static bool note_key(void *arg, cairn_bytes_t key, int64_t size) {
  struct call *c = arg;
  if (c->text.n > 0) cairn_buf_put_u8(&c->text, ' ');
  cairn_buf_put(&c->text, key.p, key.n);
  cairn_buf_printf(&c->text, ":%lld", (long long)size);
  return c->max == 0 || --c->max > 0;
}

static cairn_future_t *do_list(void *arg) {
  struct call *c = arg;
  return cairn_kv_list(c->kv, c->key, note_key, c);
}

static cairn_future_t *do_list_dir(void *arg) {
  struct call *c = arg;
  return cairn_kv_list_dir(c->kv, c->key, note_key, c);
}

static char *listing(cairn_kv_t *kv, cairn__start_fn fn, const char *prefix,
                     int max, cairn_error_t *err) {
  struct call c = {.kv = kv, .key = cairn_bytes_str(prefix), .max = max};
  cairn_code_t rc = run(cairn_kv_runtime(kv), fn, &c, err);
  cairn_buf_put_u8(&c.text, '\0');
  if (rc != CAIRN_OK) cairn_buf_reset(&c.text);
  return (char *)cairn_buf_steal(&c.text, NULL);
}

char *kv_call_list(cairn_kv_t *kv, const char *prefix, int max,
                   cairn_error_t *err) {
  return listing(kv, do_list, prefix, max, err);
}

char *kv_call_list_dir(cairn_kv_t *kv, const char *prefix, cairn_error_t *err) {
  return listing(kv, do_list_dir, prefix, 0, err);
}

/* --- uploads --- */

static cairn_future_t *do_upload(void *arg) {
  struct call *c = arg;
  return cairn_kv_upload(c->kv, c->key, c->write, c->out_upload);
}

cairn_code_t kv_call_upload(cairn_kv_t *kv, const char *key,
                            const cairn_write_opts_t *o, cairn_upload_t **out,
                            cairn_error_t *err) {
  struct call c = {
      .kv = kv, .key = cairn_bytes_str(key), .write = o, .out_upload = out};
  return run(cairn_kv_runtime(kv), do_upload, &c, err);
}

static cairn_future_t *do_part(void *arg) {
  struct call *c = arg;
  return cairn_upload_part(c->upload, c->offset, c->iov, c->niov);
}

cairn_code_t kv_call_part(cairn_kv_t *kv, cairn_upload_t *u, uint64_t offset,
                          const char *text, cairn_error_t *err) {
  struct iovec iov = {(void *)text, strlen(text)};
  struct call c = {.upload = u, .offset = offset, .iov = &iov, .niov = 1};
  return run(cairn_kv_runtime(kv), do_part, &c, err);
}

static cairn_future_t *do_commit(void *arg) {
  return cairn_upload_commit(((struct call *)arg)->upload);
}

cairn_code_t kv_call_commit(cairn_kv_t *kv, cairn_upload_t *u,
                            cairn_error_t *err) {
  struct call c = {.upload = u};
  return run(cairn_kv_runtime(kv), do_commit, &c, err);
}

static cairn_future_t *do_abort(void *arg) {
  return cairn_upload_abort(((struct call *)arg)->upload);
}

cairn_code_t kv_call_abort(cairn_kv_t *kv, cairn_upload_t *u,
                           cairn_error_t *err) {
  struct call c = {.upload = u};
  return run(cairn_kv_runtime(kv), do_abort, &c, err);
}
