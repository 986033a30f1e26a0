/* The writing side as a store: write, then one commit (commit.c). Values up to
 * the inline limit are copied and are done at once; longer ones go to the data
 * log. */
#include <stdlib.h>

#include "kv/kv.h"
#include "ocdbt/reader.h"
#include "ocdbt/writer.h"

/* --- making and closing --- */

static void writer_free(cairn__writer_t *w) {
  cairn__records_reset(&w->records);
  cairn__datalog_free(w->log);
  free(w);
}

static cairn_code_t writer_make(cairn_kv_t *base,
                                const cairn__ocdbt_write_opts_t *o,
                                cairn__writer_t **out, cairn_error_t *err) {
  cairn__writer_t *w = calloc(1, sizeof *w);
  if (w == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "writer");
  w->rt = cairn_kv_runtime(base);
  w->base = base;
  w->defer_sync = o->defer_sync;
  w->sync_data = o->sync_data;
  cairn_code_t rc = cairn__new_config(&o->config, &w->config, err);
  if (rc == CAIRN_OK) {
    w->log = cairn__datalog_new(base, o);
    w->close_done = cairn_future_new(w->rt);
    if (w->log != NULL && !cairn_future_ready(w->close_done))
      w->kv = cairn__kv_new(w->rt, &cairn__ocdbt_writer_ops, w);
    if (w->kv == NULL) rc = cairn_fail(err, CAIRN_NO_MEMORY, "writer");
  }
  if (rc != CAIRN_OK) {
    if (w->close_done != NULL) cairn__promise_drop(w->close_done);
    writer_free(w);
    return rc;
  }
  *out = w;
  return CAIRN_OK;
}

cairn_future_t *cairn__ocdbt_create(cairn_kv_t *base,
                                    const cairn__ocdbt_write_opts_t *o,
                                    cairn_kv_t **out) {
  cairn_error_t err = {0};
  cairn__writer_t *w = NULL;
  *out = NULL;
  if (writer_make(base, o, &w, &err) == CAIRN_OK) *out = w->kv;
  return cairn_future_done(cairn_kv_runtime(base), &err);
}

static void on_discarded(cairn_wait_t *wait) {
  cairn__writer_t *w = cairn_container_of(wait, cairn__writer_t, close_wait);
  cairn_error_t err = {0};
  cairn_future_t *done = w->close_done;
  cairn_wait_result(wait, &err);
  writer_free(w);
  cairn_future_resolve(done, &err);
}

/* A writer that was not committed leaves nothing behind. Its end was made ready
 * when it was opened: closing cannot run out of memory. */
static cairn_future_t *writer_close(cairn_runtime_t *rt, void *self) {
  cairn__writer_t *w = self;
  cairn_future_t *done = w->close_done;
  (void)rt;
  if (w->keep) {
    writer_free(w);
    cairn_future_resolve(done, NULL);
  } else {
    cairn_then(cairn__datalog_discard(w->log), &w->close_wait, on_discarded);
  }
  return done;
}

/* --- write --- */

static cairn_code_t check_write(const cairn__writer_t *w, cairn_bytes_t key,
                                cairn_error_t *err) {
  if (w->committing)
    return cairn_fail(err, CAIRN_CLOSED, "database is being committed");
  if (key.n > CAIRN__OCDBT_MAX_KEY)
    return cairn_fail(err, CAIRN_INVALID, "key of %zu bytes, at most %d", key.n,
                      CAIRN__OCDBT_MAX_KEY);
  return CAIRN_OK;
}

/* Keys are written once, so the only condition that can hold is "absent". */
static cairn_future_t *answer_taken(cairn__writer_t *w,
                                    const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  cairn_error_t err = {0};
  *out = (cairn_written_t){0};
  if (!cairn__gen_conditional(o))
    cairn_fail(&err, CAIRN_EXISTS, "key was written already");
  return cairn_future_done(w->rt, &err);
}

static bool copy_inline(cairn__writer_t *w, cairn__record_t *r,
                        const struct iovec *iov, int niov) {
  size_t at = 0;
  uint8_t *p = cairn__arena_alloc(&w->records.arena, (size_t)r->length, 1);
  if (p == NULL) return false;
  for (int i = 0; i < niov; i++) {
    if (iov[i].iov_len == 0) continue;
    memcpy(p + at, iov[i].iov_base, iov[i].iov_len);
    at += iov[i].iov_len;
  }
  r->file = CAIRN__RECORD_INLINE;
  r->at.bytes = p;
  return true;
}

static cairn_future_t *put(cairn__writer_t *w, cairn_bytes_t key,
                           const struct iovec *iov, int niov, uint64_t total) {
  cairn_error_t err = {0};
  cairn__record_t *r = cairn__records_add(&w->records, key);
  if (r != NULL) {
    r->length = total;
    if (total > cairn__inline_limit(&w->config))
      return cairn__datalog_append(w->log, iov, niov, total, &r->file,
                                   &r->at.offset);
    if (copy_inline(w, r, iov, niov)) return cairn_future_done(w->rt, NULL);
    cairn__records_pop(&w->records);
  }
  cairn_fail(&err, CAIRN_NO_MEMORY, "key after %zu others", w->records.n);
  return cairn_future_done(w->rt, &err);
}

static cairn_future_t *writer_write(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key, const struct iovec *iov,
                                    int niov, const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  cairn__writer_t *w = self;
  cairn_error_t err = {0};
  uint64_t total = 0;
  if (check_write(w, key, &err) != CAIRN_OK ||
      cairn__iov_total(iov, niov, &total, &err) != CAIRN_OK)
    return cairn_future_done(rt, &err);
  if (cairn__records_find(&w->records, key) != NULL ||
      !cairn__gen_met(o->if_equal, &CAIRN_GEN_ABSENT))
    return answer_taken(w, o, out);
  *out = (cairn_written_t){.condition_met = true};
  return put(w, key, iov, niov, total);
}

/* --- what a writer does not do --- */

static cairn_future_t *refuse(cairn_runtime_t *rt, const char *verb) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_UNSUPPORTED, "%s on a database that is being written",
             verb);
  return cairn_future_done(rt, &err);
}

static cairn_future_t *writer_open(cairn_runtime_t *rt, cairn_bytes_t spec,
                                   void **self) {
  (void)spec;
  *self = NULL;
  return refuse(rt, "open");
}

static cairn_future_t *writer_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  (void)self, (void)key, (void)o, (void)out;
  return refuse(rt, "read");
}

static cairn_future_t *writer_remove(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t key,
                                     const cairn_write_opts_t *o,
                                     cairn_written_t *out) {
  (void)self, (void)key, (void)o, (void)out;
  return refuse(rt, "remove");
}

static cairn_future_t *writer_list(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                   void *arg) {
  (void)self, (void)prefix, (void)fn, (void)arg;
  return refuse(rt, "list");
}

static uint32_t writer_caps(void *self) {
  (void)self;
  return CAIRN_KV_CREATE_ONLY;
}

static void writer_describe(void *self, cairn_bytes_t key, char *out,
                            size_t cap) {
  cairn__writer_t *w = self;
  cairn__ocdbt_describe(w->base, key, out, cap);
}

const cairn_kv_ops_t cairn__ocdbt_writer_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(cairn_kv_ops_t),
    .scheme = "ocdbt",
    .open = writer_open,
    .close = writer_close,
    .caps = writer_caps,
    .read = writer_read,
    .write = writer_write,
    .remove = writer_remove,
    .list = writer_list,
    .describe = writer_describe,
};
