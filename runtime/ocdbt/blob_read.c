/* Pieces of data files, read through the base store. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ocdbt/reader.h"

struct blob {
  cairn_value_t *out;
  cairn_future_t *done;
  cairn_wait_t wait;
  uint64_t offset;
  size_t n;
  char name[];
};

cairn_code_t cairn__within_loc(cairn_error_t *err,
                               const cairn__ocdbt_loc_t *loc) {
  return cairn_within(err, "%.*s%.*s at %" PRIu64, (int)loc->file.base.n,
                      (const char *)loc->file.base.p, (int)loc->file.rel.n,
                      (const char *)loc->file.rel.p, loc->offset);
}

void cairn__loc_key(const cairn__ocdbt_loc_t *loc, cairn_buf_t *out) {
  cairn_buf_put_u64le(out, loc->offset);
  cairn_buf_put_u64le(out, loc->length);
  cairn_buf_put_u64le(out, loc->file.base.n);
  cairn_buf_put(out, loc->file.base.p, loc->file.base.n);
  cairn_buf_put(out, loc->file.rel.p, loc->file.rel.n);
}

void cairn__ocdbt_describe(cairn_kv_t *base, cairn_bytes_t key, char *out,
                           size_t cap) {
  char root[512];
  cairn_kv_describe(base, cairn_bytes(NULL, 0), root, sizeof root);
  int n = key.n < 1024 ? (int)key.n : 1024;
  snprintf(out, cap, "%s|ocdbt:%.*s", root, n, (const char *)key.p);
}

void *cairn__op_new(cairn_runtime_t *rt, size_t size, const char *what,
                    cairn_future_t **done) {
  void *op = calloc(1, size);
  cairn_error_t err = {0};
  *done = cairn_future_new(rt);
  if (op != NULL && !cairn_future_ready(*done)) return op;
  free(op);
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s: out of memory", what);
  cairn_future_resolve(*done, &err);
  return NULL;
}

/* The value is not whole where the tree says it is. */
static cairn_code_t data_loss(const struct blob *b, const char *why,
                              cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT,
                    "data loss: %s at %" PRIu64 ", %zu bytes: %s", b->name,
                    b->offset, b->n, why);
}

static void on_read(cairn_wait_t *w) {
  struct blob *b = cairn_container_of(w, struct blob, wait);
  cairn_error_t err = {0}, lost = {0};
  cairn_future_t *done = b->done;
  cairn_code_t rc = cairn_wait_result(w, &err);
  if (rc == CAIRN_INVALID ||
      (rc == CAIRN_OK && b->out->found && b->out->data.n != b->n))
    data_loss(b, "the file is shorter", &lost);
  else if (rc == CAIRN_OK && !b->out->found)
    data_loss(b, "there is no such file", &lost);
  if (lost.code != CAIRN_OK) err = lost;
  if (err.code != CAIRN_OK) cairn_value_reset(b->out);
  free(b);
  cairn_future_resolve(done, &err);
}

cairn_future_t *cairn__blob_read(cairn_kv_t *base,
                                 const cairn__ocdbt_loc_t *loc, uint64_t min,
                                 size_t n, void *dst, cairn_value_t *out) {
  cairn_runtime_t *rt = cairn_kv_runtime(base);
  const cairn__ocdbt_file_t *f = &loc->file;
  cairn_error_t err = {0};
  cairn_future_t *done;
  if (cairn__ocdbt_path_check(f, &err) != CAIRN_OK)
    return cairn_future_done(rt, &err);
  struct blob *b =
      cairn__op_new(rt, sizeof *b + f->base.n + f->rel.n + 1, "read", &done);
  if (b == NULL) return done;
  if (f->base.n != 0) memcpy(b->name, f->base.p, f->base.n);
  if (f->rel.n != 0) memcpy(b->name + f->base.n, f->rel.p, f->rel.n);
  b->out = out;
  b->done = done;
  b->offset = loc->offset + min;
  b->n = n;
  cairn_read_opts_t o = {.size = sizeof o, .what = CAIRN_READ_RANGE};
  o.min = (int64_t)b->offset;
  o.max = (int64_t)(b->offset + n);
  o.dst = dst;
  o.cap = n;
  cairn_then(
      cairn_kv_read(base, cairn_bytes(b->name, f->base.n + f->rel.n), &o, out),
      &b->wait, on_read);
  return done;
}
