/* One data file: the upload is begun; parts are written side by side and summed
 * in their order beside that; the upload is committed. */
#include <stdlib.h>

#include "kv/kv.h"
#include "ocdbt/datalog_impl.h"

struct log_part {
  struct log_file *f;
  struct log_part *next; /* to be summed */
  cairn_future_t *done, *summed;
  cairn_wait_t wait, sum_wait;
  uint64_t offset, n;
  struct log_block *own;
  int niov;
  struct iovec iov[];
};

/* --- beginning --- */

/* The first part; an error is kept in the log's. */
static void write_mark(struct log_file *f) {
  struct iovec iov = {f->log->mark, strlen(f->log->mark)};
  if (iov.iov_len != 0)
    cairn_future_unref(cairn__log_file_write(f, 0, &iov, 1, iov.iov_len, NULL));
}

static bool add_file(cairn__datalog_t *log) {
  if (log->n == log->cap) {
    size_t cap = log->cap != 0 ? 2 * log->cap : 4;
    struct log_file **files = realloc(log->files, cap * sizeof *files);
    if (files == NULL) return false;
    log->files = files;
    log->cap = cap;
  }
  struct log_file *f = calloc(1, sizeof *f);
  if (f == NULL || (f->sum = cairn__sum_new()) == NULL) {
    free(f);
    return false;
  }
  f->unsummed_end = &f->unsummed;
  f->log = log;
  f->data = log->place.files[log->n];
  cairn_write_opts_t o = {.size = sizeof o, .defer_sync = log->defer_sync};
  f->begun = cairn_kv_upload(log->base, cairn_bytes_str(f->data->name), &o,
                             &f->upload);
  log->files[log->n++] = f;
  log->open_files++;
  write_mark(f);
  return true;
}

struct log_file *cairn__log_file(cairn__datalog_t *log, uint32_t index) {
  while (log->n <= index)
    if (!add_file(log)) return NULL;
  return log->files[index];
}

/* --- ending --- */

static void file_over(struct log_file *f) {
  f->over = true;
  f->log->open_files--;
  cairn__datalog_file_over(f->log);
}

static void on_committed(cairn_wait_t *w) {
  struct log_file *f = cairn_container_of(w, struct log_file, wait);
  cairn_wait_result(w, &f->log->err);
  f->may_exist = true; /* also after an error: it may have come late */
  f->upload = NULL;    /* gone, committed or not */
  file_over(f);
}

/* After an error nothing is committed: what is there will be discarded. */
static void file_advance(struct log_file *f) {
  if (!f->full || f->pending != 0 || f->committing || f->over) return;
  if (f->log->err.code != CAIRN_OK) {
    file_over(f);
    return;
  }
  f->committing = true;
  cairn_then(cairn_upload_commit(f->upload), &f->wait, on_committed);
}

void cairn__log_file_close(struct log_file *f) {
  f->full = true;
  file_advance(f);
}

/* --- parts --- */

static void part_end(struct log_part *p, const cairn_error_t *err) {
  struct log_file *f = p->f;
  cairn_future_t *done = p->done;
  if (err->code != CAIRN_OK) {
    cairn_error_copy(&f->log->err, err);
  } else {
    f->length += p->n;
  }
  if (p->own != NULL) f->log->in_flight -= p->n;
  cairn__datalog_block_back(f->log, p->own);
  free(p);
  f->pending--;
  file_advance(f);
  cairn_future_resolve(done, err);
}

static void on_written(cairn_wait_t *w) {
  struct log_part *p = cairn_container_of(w, struct log_part, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  part_end(p, &err);
}

/* --- sums --- */

static cairn_code_t sum_part(void *job, cairn_error_t *err) {
  struct log_part *p = job;
  (void)err;
  for (int i = 0; i < p->niov; i++)
    cairn__sum_add(p->f->sum, p->iov[i].iov_base, p->iov[i].iov_len);
  return CAIRN_OK;
}

static void sum_next(struct log_file *f);

/* The part may be gone when its future is resolved, and the file when its last
 * part is; another part keeps it. */
static void on_summed(cairn_wait_t *w) {
  struct log_part *p = cairn_container_of(w, struct log_part, sum_wait);
  struct log_file *f = p->f;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  f->summing = false;
  sum_next(f);
  cairn_future_resolve(p->summed, &err);
}

static void sum_next(struct log_file *f) {
  struct log_part *p = f->unsummed;
  if (p == NULL || f->summing) return;
  f->unsummed = p->next;
  if (f->unsummed == NULL) f->unsummed_end = &f->unsummed;
  f->summing = true;
  cairn_then(cairn_work(f->log->rt, sum_part, p), &p->sum_wait, on_summed);
}

static cairn_future_t *sum_later(struct log_part *p) {
  struct log_file *f = p->f;
  *f->unsummed_end = p;
  f->unsummed_end = &p->next;
  sum_next(f);
  return p->summed;
}

static void on_begun(cairn_wait_t *w) {
  struct log_part *p = cairn_container_of(w, struct log_part, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    cairn__promise_drop(p->summed);
    part_end(p, &err);
    return;
  }
  cairn_future_t *both[2] = {
      sum_later(p),
      cairn_upload_part(p->f->upload, p->offset, p->iov, p->niov)};
  cairn_then(cairn_all_take(p->f->log->rt, both, 2), &p->wait, on_written);
}

static cairn_future_t *no_memory(struct log_file *f, struct log_block *own) {
  cairn_error_t err = {0};
  cairn__datalog_block_back(f->log, own);
  cairn_fail(&err, CAIRN_NO_MEMORY, "part of %s", f->data->name);
  cairn_error_copy(&f->log->err, &err);
  return cairn_future_done(f->log->rt, &err);
}

cairn_future_t *cairn__log_file_write(struct log_file *f, uint64_t offset,
                                      const struct iovec *iov, int niov,
                                      uint64_t n, struct log_block *own) {
  size_t list = (size_t)niov * sizeof *iov;
  struct log_part *p = malloc(sizeof *p + list);
  cairn_future_t *done = cairn_future_new(f->log->rt);
  cairn_future_t *summed = cairn_future_new(f->log->rt);
  if (p == NULL || cairn_future_ready(done) || cairn_future_ready(summed)) {
    cairn__promise_drop(done);
    cairn__promise_drop(summed);
    free(p);
    return no_memory(f, own);
  }
  *p = (struct log_part){.f = f, .offset = offset, .n = n};
  p->done = done;
  p->summed = summed;
  p->own = own;
  p->niov = niov;
  memcpy(p->iov, iov, list);
  if (own != NULL) f->log->in_flight += n;
  f->pending++;
  cairn_then(cairn_future_ref(f->begun), &p->wait, on_begun);
  return done;
}
