/* Appending to data files and finishing them; see datalog.h. */
#include "ocdbt/datalog.h"
#include "kv/kv.h"

#include <stdlib.h>

#include "ocdbt/datalog_impl.h"

#define BLOCK_BYTES ((size_t)1 << 20)
#define SMALL_BYTES ((size_t)64 << 10)
/* Copied bytes on their way; above it a small append waits for its block. */
#define IN_FLIGHT_BYTES ((uint64_t)16 << 20)

struct log_block {
  struct log_block *next; /* among the spare ones */
  uint32_t file;
  uint64_t offset;
  size_t n;
  uint8_t bytes[BLOCK_BYTES];
};

cairn__datalog_t *cairn__datalog_new(cairn_kv_t *base,
                                     const cairn__ocdbt_write_opts_t *o) {
  cairn__datalog_t *log = calloc(1, sizeof *log);
  if (log == NULL) return NULL;
  log->rt = cairn_kv_runtime(base);
  log->finish.done = cairn_future_new(log->rt);
  log->discard.done = cairn_future_new(log->rt);
  if (cairn_future_ready(log->finish.done) ||
      cairn_future_ready(log->discard.done)) { /* no memory */
    cairn__datalog_free(log);
    return NULL;
  }
  log->base = base;
  log->defer_sync = o->defer_sync;
  log->place.target = o->target_data_file_size;
  memcpy(log->mark, o->mark, sizeof log->mark);
  log->place.begin = strlen(log->mark);
  return log;
}

static cairn_future_t *fail_all(cairn__datalog_t *log, const char *what) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s", what);
  cairn_error_copy(&log->err, &err);
  return cairn_future_done(log->rt, &err);
}

/* --- blocks --- */

/* The block goes out; NULL if there is none. */
static cairn_future_t *flush(cairn__datalog_t *log) {
  struct log_block *b = log->block;
  if (b == NULL) return NULL;
  log->block = NULL;
  struct log_file *f = cairn__log_file(log, b->file);
  if (f == NULL) {
    free(b);
    return fail_all(log, "data file");
  }
  struct iovec iov = {b->bytes, b->n};
  return cairn__log_file_write(f, b->offset, &iov, 1, b->n, b);
}

/* A block that is written is filled again: fresh memory costs more than the
 * copy into it. */
static struct log_block *take_block(cairn__datalog_t *log) {
  struct log_block *b = log->spare;
  if (b == NULL) return malloc(sizeof *b);
  log->spare = b->next;
  return b;
}

void cairn__datalog_block_back(cairn__datalog_t *log, struct log_block *b) {
  if (b == NULL) return;
  b->next = log->spare;
  log->spare = b;
}

static void free_blocks(struct log_block *b) {
  while (b != NULL) {
    struct log_block *next = b->next;
    free(b);
    b = next;
  }
}

static void flush_and_forget(cairn__datalog_t *log) {
  cairn_future_t *f = flush(log);
  if (f != NULL) cairn_future_unref(f); /* an error is kept in log->err */
}

static void gather(struct log_block *b, const struct iovec *iov, int niov) {
  for (int i = 0; i < niov; i++) {
    if (iov[i].iov_len == 0) continue;
    memcpy(b->bytes + b->n, iov[i].iov_base, iov[i].iov_len);
    b->n += iov[i].iov_len;
  }
}

static cairn_future_t *append_small(cairn__datalog_t *log,
                                    const struct iovec *iov, int niov,
                                    uint32_t file, uint64_t offset) {
  struct log_block *b = log->block;
  if (b == NULL) {
    b = take_block(log);
    if (b == NULL) return fail_all(log, "block of small values");
    b->file = file;
    b->offset = offset;
    b->n = 0;
    log->block = b;
  }
  gather(b, iov, niov);
  if (b->n <= BLOCK_BYTES - SMALL_BYTES)
    return cairn_future_done(log->rt, NULL);
  cairn_future_t *f = flush(log);
  if (log->in_flight > IN_FLIGHT_BYTES) return f;
  cairn_future_unref(f);
  return cairn_future_done(log->rt, NULL);
}

/* --- appending --- */

static cairn_future_t *append_large(cairn__datalog_t *log,
                                    const struct iovec *iov, int niov,
                                    uint64_t total, uint32_t file,
                                    uint64_t offset) {
  flush_and_forget(log); /* parts are made in the order of offsets */
  struct log_file *f = cairn__log_file(log, file);
  if (f == NULL) return fail_all(log, "data file");
  return cairn__log_file_write(f, offset, iov, niov, total, NULL);
}

/* Nothing more goes to files before the last, nor to that when it is full. */
static void close_full_files(cairn__datalog_t *log) {
  bool last = cairn__place_is_full(&log->place);
  if (last) flush_and_forget(log);
  for (size_t i = log->n; i-- > 0 && !log->files[i]->full;)
    if (last || i + 1 < log->place.n) cairn__log_file_close(log->files[i]);
}

cairn_future_t *cairn__datalog_append(cairn__datalog_t *log,
                                      const struct iovec *iov, int niov,
                                      uint64_t total, uint32_t *file,
                                      uint64_t *offset) {
  cairn_future_t *f;
  if (log->err.code != CAIRN_OK) return cairn_future_done(log->rt, &log->err);
  if (!cairn__place_next(&log->place, total, file, offset))
    return fail_all(log, "data file");
  if (total <= SMALL_BYTES)
    f = append_small(log, iov, niov, *file, *offset);
  else
    f = append_large(log, iov, niov, total, *file, *offset);
  close_full_files(log);
  return f;
}

cairn__place_t *cairn__datalog_place(cairn__datalog_t *log) {
  flush_and_forget(log);
  return &log->place;
}

cairn_code_t cairn__datalog_write_pack(cairn__datalog_t *log,
                                       const cairn__pack_t *pack,
                                       cairn_error_t *err) {
  for (size_t i = 0; i < pack->num_regions; i++) {
    const cairn__pack_region_t *r = &pack->regions[i];
    struct iovec iov = {pack->bytes.p + r->start, r->n};
    struct log_file *f = cairn__log_file(log, r->file);
    if (f == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "data file");
    cairn_future_unref(
        cairn__log_file_write(f, r->offset, &iov, 1, r->n, NULL));
  }
  return CAIRN_OK;
}

/* --- finishing --- */

void cairn__datalog_file_over(cairn__datalog_t *log) {
  if (log->open_files != 0) return;
  if (log->finish.asked && !log->finish.over) {
    log->finish.over = true;
    cairn_future_resolve(log->finish.done, &log->err);
  }
  if (log->discard.asked) cairn__datalog_remove_files(log);
}

void cairn__datalog_close_files(cairn__datalog_t *log) {
  log->open_files++; /* not over before all are closed */
  for (size_t i = 0; i < log->n; i++)
    if (!log->files[i]->full) cairn__log_file_close(log->files[i]);
  log->open_files--;
  cairn__datalog_file_over(log);
}

cairn_future_t *cairn__datalog_finish(cairn__datalog_t *log) {
  flush_and_forget(log);
  log->finish.asked = true;
  cairn__datalog_close_files(log);
  return log->finish.done;
}

void cairn__datalog_free(cairn__datalog_t *log) {
  if (log == NULL) return;
  for (size_t i = 0; i < log->n; i++) {
    cairn_future_unref(log->files[i]->begun);
    cairn__sum_free(log->files[i]->sum);
    free(log->files[i]);
  }
  free(log->files);
  free(log->block);
  free_blocks(log->spare);
  cairn__place_reset(&log->place);
  if (!log->finish.asked) cairn__promise_drop(log->finish.done);
  if (!log->discard.asked) cairn__promise_drop(log->discard.done);
  free(log);
}

size_t cairn__datalog_num_files(const cairn__datalog_t *log) {
  return log->n;
}

void cairn__datalog_file(const cairn__datalog_t *log, size_t i,
                         cairn_bytes_t *name, uint64_t *length, uint64_t *sum) {
  const struct log_file *f = log->files[i];
  *name = cairn_bytes_str(f->data->name);
  *length = f->length;
  *sum = cairn__sum_value(f->sum);
}
