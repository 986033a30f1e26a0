/* One data file: the upload is begun, parts are written and summed side by
 * side, the upload is committed. */
#include <stdlib.h>

#include "ocdbt/datalog_impl.h"

struct part {
  struct log_file *f;
  cairn_future_t *done;
  cairn_wait_t wait;
  size_t slot;
  uint64_t offset, n;
  uint32_t crc;
  void *own;
  int niov;
  struct iovec iov[];
};

/* --- beginning --- */

static bool add_file(cairn__datalog_t *log) {
  if (log->n == log->cap) {
    size_t cap = log->cap != 0 ? 2 * log->cap : 4;
    struct log_file **files = realloc(log->files, cap * sizeof *files);
    if (files == NULL) return false;
    log->files = files;
    log->cap = cap;
  }
  struct log_file *f = calloc(1, sizeof *f);
  if (f == NULL) return false;
  f->log = log;
  f->data = log->place.files[log->n];
  cairn_write_opts_t o = {.size = sizeof o, .defer_sync = log->defer_sync};
  f->begun = cairn_kv_upload(log->base, cairn_bytes_str(f->data->name), &o,
                             &f->upload);
  log->files[log->n++] = f;
  log->open_files++;
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
  f->committed = cairn_wait_result(w, &f->log->err) == CAIRN_OK;
  f->upload = NULL; /* gone, committed or not */
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

static bool add_sum(struct log_file *f, size_t *slot) {
  if (f->num_sums == f->cap_sums) {
    size_t cap = f->cap_sums != 0 ? 2 * f->cap_sums : 16;
    struct log_part_sum *s = realloc(f->sums, cap * sizeof *s);
    if (s == NULL) return false;
    f->sums = s;
    f->cap_sums = cap;
  }
  *slot = f->num_sums++;
  f->sums[*slot] = (struct log_part_sum){0};
  return true;
}

static void join_sums(struct log_file *f) {
  while (f->joined < f->num_sums && f->sums[f->joined].known) {
    const struct log_part_sum *s = &f->sums[f->joined++];
    f->crc = cairn__crc32c_combine(f->crc, s->crc, s->n);
    f->length += s->n;
  }
}

static void part_end(struct part *p, const cairn_error_t *err) {
  struct log_file *f = p->f;
  cairn_future_t *done = p->done;
  if (err->code != CAIRN_OK) {
    cairn_error_copy(&f->log->err, err);
  } else {
    f->sums[p->slot] = (struct log_part_sum){p->n, p->crc, true};
    join_sums(f);
  }
  if (p->own != NULL) f->log->in_flight -= p->n;
  free(p->own);
  free(p);
  f->pending--;
  file_advance(f);
  cairn_future_resolve(done, err);
}

static void on_written(cairn_wait_t *w) {
  struct part *p = cairn_container_of(w, struct part, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  part_end(p, &err);
}

static cairn_code_t sum_part(void *job, cairn_error_t *err) {
  struct part *p = job;
  (void)err;
  for (int i = 0; i < p->niov; i++)
    p->crc = cairn__crc32c(p->crc, p->iov[i].iov_base, p->iov[i].iov_len);
  return CAIRN_OK;
}

static void on_begun(cairn_wait_t *w) {
  struct part *p = cairn_container_of(w, struct part, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    part_end(p, &err);
    return;
  }
  cairn_runtime_t *rt = p->f->log->rt;
  cairn_future_t *both[2] = {
      cairn_work(rt, sum_part, p),
      cairn_upload_part(p->f->upload, p->offset, p->iov, p->niov)};
  cairn_then(cairn_all_take(rt, both, 2), &p->wait, on_written);
}

static cairn_future_t *no_memory(struct log_file *f, void *own) {
  cairn_error_t err = {0};
  free(own);
  cairn_fail(&err, CAIRN_NO_MEMORY, "part of %s", f->data->name);
  cairn_error_copy(&f->log->err, &err);
  return cairn_future_done(f->log->rt, &err);
}

cairn_future_t *cairn__log_file_write(struct log_file *f, uint64_t offset,
                                      const struct iovec *iov, int niov,
                                      uint64_t n, void *own) {
  size_t list = (size_t)niov * sizeof *iov, slot = 0;
  struct part *p = malloc(sizeof *p + list);
  cairn_future_t *done = cairn_future_new(f->log->rt);
  if (p == NULL || cairn_future_ready(done) || !add_sum(f, &slot)) {
    cairn__future_drop(done);
    free(p);
    return no_memory(f, own);
  }
  *p = (struct part){.f = f, .slot = slot, .offset = offset, .n = n};
  p->done = done;
  p->own = own;
  p->niov = niov;
  memcpy(p->iov, iov, list);
  if (own != NULL) f->log->in_flight += n;
  f->pending++;
  cairn_then(cairn_future_ref(f->begun), &p->wait, on_begun);
  return done;
}
