/* Writing a batch of arrays, from regions to values in the store:
 *
 *   walk     loop   chunks one after another, gathered into jobs: a large chunk
 *                   alone, small ones many together (metadata keys come first)
 *   reserve  loop   what the job will take of the byte budget
 *   encode   CPU    all chunks of the job into one buffer
 *   write    loop   one kv write a chunk; the job's memory is free when all are
 *                   ready
 *
 * Several jobs are in flight. After an error no new one begins, those that did
 * are waited for, and the first error is the outcome. */
#include <stdlib.h>

#include "array/io.h"
#include "kv/kv.h"
#include "loop/loop.h"

#define MAX_JOBS \
  64 /* encoded and being written; the byte budget bounds memory */

#define MAX_SPARE 4

struct writing {
  cairn_kv_t *kv;
  cairn_runtime_t *rt;
  cairn_array_io_t *arrays;
  size_t n, metadata; /* array whose metadata comes next */
  cairn__walk_t walk;
  bool walked; /* all of it */
  bool held;   /* the walk stands on a chunk that is in no job yet */
  int jobs, encoding, max_encoding, max_rank;
  cairn_buf_t key;
  cairn_buf_t spare[MAX_SPARE]; /* empty, with memory */
  size_t num_spare;
  cairn_error_t err;
  cairn_future_t *done;
};

/* One value to write. */
struct item {
  struct job *job;
  cairn_array_io_t *io;
  size_t region;
  int64_t *index;       /* NULL: the metadata */
  size_t at, n;         /* in the job's buffer */
  cairn_bytes_t direct; /* beside that, in the caller's memory */
  size_t frame_head;
  struct iovec iov, *pieces; /* several: allocated */
  size_t num_pieces;
  cairn_wait_t wait;
};

struct job {
  struct writing *op;
  size_t n, left; /* items; not yet written */
  int64_t bytes, reserved;
  cairn__encoder_t encoder;
  cairn_buf_t out, padded;
  cairn_buf_t taken; /* elements that were read from sources */
  cairn_wait_t wait;
  int64_t *indices; /* max_rank for each item */
  struct item items[];
};

static void pump(struct writing *op);

/* --- encoding, on a CPU thread --- */

/* A chunk at the array's edge: full size, the fill value around it. */
static cairn_code_t pad(struct job *j, const struct item *it,
                        const cairn__target_t *t, int64_t *strides,
                        cairn_error_t *err) {
  const cairn_zarr_t *z = it->io->zarr;
  const cairn__chain_t *c = z->chain;
  j->padded.n = 0;
  if (!cairn_buf_reserve(&j->padded, (size_t)c->bytes))
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  cairn__target_t all = {.data = (char *)j->padded.p};
  cairn__c_strides(c->rank, c->shape, (int64_t)c->item, strides);
  for (int d = 0; d < c->rank; d++) {
    all.extent[d] = c->shape[d];
    all.strides[d] = strides[d];
  }
  cairn__targets_fill(c, z->fill, &all, 1);
  cairn__copy_box(c->rank, t->extent, c->item, j->padded.p, strides, t->data,
                  t->strides, 0);
  return CAIRN_OK;
}

/* From the first byte of a box to behind the last one. Strides of what is held
 * behind a source are not negative. */
static size_t span(const cairn__target_t *t, int rank, size_t item) {
  size_t n = item;
  for (int d = 0; d < rank; d++)
    n += (size_t)((t->extent[d] - 1) * t->strides[d]);
  return n;
}

/* The elements of a chunk out of a source, to memory of the job's, which is got
 * at once: what is written later may point there. */
static cairn_code_t take(struct job *j, const struct item *it,
                         const cairn_source_t *source, cairn__target_t *t,
                         cairn_error_t *err) {
  const cairn__chain_t *c = it->io->zarr->chain;
  int64_t strides[CAIRN_MAX_RANK];
  size_t bytes = c->item;
  const void *at =
      source->peek != NULL
          ? source->peek(source, t->data, span(t, c->rank, c->item))
          : NULL;
  if (at != NULL) {
    t->data = (char *)(uintptr_t)at;
    return CAIRN_OK;
  }
  if (!cairn_buf_reserve(&j->taken, (size_t)j->bytes - j->taken.n))
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  for (int d = 0; d < c->rank; d++) bytes *= (size_t)t->extent[d];
  cairn__c_strides(c->rank, t->extent, (int64_t)c->item, strides);
  char *to = (char *)j->taken.p + j->taken.n;
  cairn_code_t rc = cairn__copy_box_out(source, c->rank, t->extent, c->item, to,
                                        strides, t->data, t->strides, err);
  j->taken.n += bytes;
  t->data = to;
  for (int d = 0; d < c->rank; d++) t->strides[d] = strides[d];
  return rc;
}

static cairn_code_t encode_item(struct job *j, struct item *it,
                                cairn_error_t *err) {
  const cairn_zarr_t *z = it->io->zarr;
  cairn__box_t cells;
  cairn__target_t t;
  int64_t strides[CAIRN_MAX_RANK];
  cairn_code_t rc = CAIRN_OK;
  bool whole = true;
  cairn__grid_cells(z->rank, z->chunk, it->index, &cells);
  cairn__region_target(it->io, it->region, &cells, &t);
  const cairn_source_t *source = it->io->regions[it->region].source;
  if (source != NULL) rc = take(j, it, source, &t, err);
  if (rc != CAIRN_OK) return rc;
  for (int d = 0; d < z->rank; d++) whole = whole && t.extent[d] == z->chunk[d];
  if (!whole) rc = pad(j, it, &t, strides, err);
  if (rc != CAIRN_OK) return rc;
  j->encoder.frame_checksum = z->frame_checksum;
  j->encoder.detach = whole && z->chain->bytes >= CAIRN__DETACH_BYTES;
  it->at = j->out.n;
  rc = cairn__chain_encode(&j->encoder, z->chain,
                           whole ? t.data : (const char *)j->padded.p,
                           whole ? t.strides : strides, &j->out, err);
  it->n = j->out.n - it->at;
  it->direct = j->encoder.direct;
  it->frame_head = j->encoder.frame_head;
  return rc;
}

static void free_buffer(cairn_buf_t *b) {
  free(b->p);
  *b = (cairn_buf_t){0};
}

/* When all is encoded: the buffer does not move any more. */
static cairn_code_t note_pieces(struct job *j, struct item *it,
                                cairn_error_t *err) {
  cairn_bytes_t around = {j->out.p + it->at, it->n};
  if (it->index == NULL) {
    around = cairn_zarr_text(it->io->zarr);
    it->n = around.n;
  }
  it->pieces = &it->iov;
  it->num_pieces =
      cairn__encoded_pieces(it->direct, it->frame_head, around, NULL);
  if (it->num_pieces > 1)
    it->pieces = reallocarray(NULL, it->num_pieces, sizeof *it->pieces);
  if (it->pieces == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  cairn__encoded_pieces(it->direct, it->frame_head, around, it->pieces);
  return CAIRN_OK;
}

static cairn_code_t encode(void *arg, cairn_error_t *err) {
  struct job *j = arg;
  cairn_code_t rc = CAIRN_OK;
  /* What small chunks take, at once: the buffer need not move as it grows. */
  if (j->bytes <= CAIRN__GROUP_BYTES)
    cairn_buf_reserve(&j->out, (size_t)(j->bytes + j->bytes / 8));
  for (size_t i = 0; i < j->n && rc == CAIRN_OK; i++) {
    if (j->items[i].index == NULL) continue;
    rc = encode_item(j, &j->items[i], err);
    if (rc != CAIRN_OK)
      cairn__io_within(err, j->items[i].io, j->items[i].index);
  }
  for (size_t i = 0; i < j->n && rc == CAIRN_OK; i++)
    rc = note_pieces(j, &j->items[i], err);
  cairn__encoder_reset(&j->encoder);
  free_buffer(&j->padded);
  for (size_t i = 0; i < j->n; i++)
    if (j->items[i].direct.n != 0) return rc;
  free_buffer(&j->taken);
  return rc;
}

/* --- jobs, on the loop --- */

/* For the next job, which spares it fresh pages. One that could hold a large
 * chunk is not kept: it is no longer in the byte budget. */
static void keep_buffer(struct writing *op, cairn_buf_t *b) {
  if (op->num_spare < MAX_SPARE && b->cap <= 2 * (size_t)CAIRN__GROUP_BYTES &&
      b->cap != 0) {
    op->spare[op->num_spare++] = (cairn_buf_t){.p = b->p, .cap = b->cap};
  } else {
    free(b->p);
  }
  *b = (cairn_buf_t){0};
}

static void job_end(struct job *j) {
  struct writing *op = j->op;
  cairn_release(op->rt, j->reserved);
  cairn__encoder_reset(&j->encoder);
  for (size_t i = 0; i < j->n; i++)
    if (j->items[i].num_pieces > 1) free(j->items[i].pieces);
  keep_buffer(op, &j->out);
  free_buffer(&j->taken);
  free(j->indices);
  free(j);
  op->jobs--;
  pump(op);
}

static void on_written(cairn_wait_t *w) {
  struct item *it = cairn_container_of(w, struct item, wait);
  struct job *j = it->job;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    cairn__io_within(&err, it->io, it->index);
    cairn_error_copy(&j->op->err, &err);
  } else {
    it->io->stored_bytes += (int64_t)(it->n + it->direct.n);
  }
  if (--j->left == 0) job_end(j);
}

static cairn_future_t *write_item(struct job *j, struct item *it) {
  struct writing *op = j->op;
  const cairn_zarr_t *z = it->io->zarr;
  bool ok = it->index != NULL ? cairn__io_chunk_key(&op->key, it->io, it->index)
                              : cairn__io_key(&op->key, it->io->name,
                                              cairn_zarr_meta_key(z->version));
  if (!ok) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory");
    return cairn_future_done(op->rt, &err);
  }
  return cairn_kv_write(op->kv, cairn_buf_bytes(&op->key), it->pieces,
                        (int)it->num_pieces, NULL, NULL);
}

static void on_encoded(cairn_wait_t *w) {
  struct job *j = cairn_container_of(w, struct job, wait);
  struct writing *op = j->op;
  int64_t kept = (int64_t)(j->out.cap + j->taken.cap);
  op->encoding--;
  cairn_wait_result(w, &op->err);
  if (op->err.code != CAIRN_OK) {
    job_end(j);
    return;
  }
  if (kept < j->reserved) { /* the rest was for encoding */
    cairn_release(op->rt, j->reserved - kept);
    j->reserved = kept;
  }
  j->left = j->n;
  for (size_t i = 0; i < j->n; i++)
    cairn_then(write_item(j, &j->items[i]), &j->items[i].wait, on_written);
  pump(op);
}

static void on_reserved(cairn_wait_t *w) {
  struct job *j = cairn_container_of(w, struct job, wait);
  struct writing *op = j->op;
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) j->reserved = 0;
  if (op->err.code == CAIRN_OK && cairn_future_cancelled(op->done))
    cairn_fail(&op->err, CAIRN_CANCELLED, "write of arrays");
  if (op->err.code != CAIRN_OK) {
    op->encoding--;
    job_end(j);
    return;
  }
  cairn_then(cairn_work(op->rt, encode, j), &j->wait, on_encoded);
}

/* --- the walk --- */

/* What encoding a chunk takes beside the caller's memory: a gathered copy, the
 * encoded bytes. */
static int64_t chunk_cost(const cairn_zarr_t *z) {
  int64_t n = z->chain->bytes;
  return n > INT64_MAX / 2 ? INT64_MAX : 2 * n;
}

static bool next_chunk(struct writing *op) {
  if (op->held) return true;
  if (op->walked) return false;
  op->held = cairn__walk_next(&op->walk);
  op->walked = !op->held;
  return op->held;
}

static void add_metadata(struct writing *op, struct job *j) {
  for (; op->metadata < op->n && j->n < CAIRN__GROUP_CHUNKS; op->metadata++) {
    cairn_array_io_t *io = &op->arrays[op->metadata];
    if (io->metadata) j->items[j->n++] = (struct item){.job = j, .io = io};
  }
}

static void add_chunks(struct writing *op, struct job *j) {
  while (j->n < CAIRN__GROUP_CHUNKS && next_chunk(op)) {
    cairn_array_io_t *io = &op->arrays[op->walk.array];
    int64_t bytes = io->zarr->chain->bytes, cost = chunk_cost(io->zarr);
    if (j->bytes > 0 && bytes > CAIRN__GROUP_BYTES - j->bytes) return;
    struct item *it = &j->items[j->n];
    *it = (struct item){.job = j, .io = io, .region = op->walk.region};
    it->index = j->indices + j->n++ * (size_t)op->max_rank;
    if (io->zarr->rank > 0)
      memcpy(it->index, op->walk.index,
             (size_t)io->zarr->rank * sizeof *it->index);
    j->bytes += bytes;
    if (__builtin_add_overflow(j->reserved, cost, &j->reserved))
      j->reserved = INT64_MAX;
    op->held = false;
    if (bytes > CAIRN__GROUP_BYTES) return;
  }
}

static struct job *job_new(struct writing *op) {
  struct job *j =
      calloc(1, sizeof *j + CAIRN__GROUP_CHUNKS * sizeof(struct item));
  size_t dims = CAIRN__GROUP_CHUNKS * (size_t)op->max_rank;
  if (j == NULL) return NULL;
  j->op = op;
  j->indices = malloc((dims + 1) * sizeof *j->indices);
  if (j->indices != NULL) return j;
  free(j);
  return NULL;
}

static bool more(struct writing *op) {
  while (op->metadata < op->n && !op->arrays[op->metadata].metadata)
    op->metadata++;
  return op->metadata < op->n || next_chunk(op);
}

static void start_job(struct writing *op) {
  struct job *j = job_new(op);
  if (j == NULL) {
    cairn_fail(&op->err, CAIRN_NO_MEMORY, "out of memory");
    return;
  }
  if (op->num_spare > 0) j->out = op->spare[--op->num_spare];
  add_metadata(op, j);
  add_chunks(op, j);
  op->jobs++;
  op->encoding++;
  cairn_then(cairn_reserve(op->rt, j->reserved), &j->wait, on_reserved);
}

static void finish(struct writing *op) {
  cairn_future_t *done = op->done;
  cairn_error_t err = op->err;
  cairn_buf_reset(&op->key);
  for (size_t i = 0; i < op->num_spare; i++) free(op->spare[i].p);
  free(op);
  cairn_future_resolve(done, &err);
}

static void pump(struct writing *op) {
  while (op->err.code == CAIRN_OK && op->jobs < MAX_JOBS &&
         op->encoding < op->max_encoding && more(op))
    start_job(op);
  if (op->jobs == 0) finish(op);
}

static struct writing *op_new(cairn_kv_t *kv, cairn_array_io_t *arrays,
                              size_t n) {
  struct writing *op = calloc(1, sizeof *op);
  if (op == NULL) return NULL;
  op->kv = kv;
  op->rt = cairn_kv_runtime(kv);
  op->arrays = arrays;
  op->n = n;
  op->walk = (cairn__walk_t){.arrays = arrays, .n = n};
  op->max_encoding = cairn__cpu_threads(op->rt) + 1;
  for (size_t i = 0; i < n; i++) {
    if (arrays[i].zarr->rank > op->max_rank)
      op->max_rank = arrays[i].zarr->rank;
    for (size_t r = 0; r < arrays[i].n; r++)
      arrays[i].bytes += cairn__region_bytes(&arrays[i], r);
  }
  return op;
}

cairn_future_t *cairn_arrays_write(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                   size_t n) {
  cairn_runtime_t *rt = cairn_kv_runtime(kv);
  cairn_error_t err = {0};
  struct writing *op = NULL;
  if (cairn__io_check(arrays, n, true, &err) == CAIRN_OK) {
    op = op_new(kv, arrays, n);
    if (op == NULL) cairn_fail(&err, CAIRN_NO_MEMORY, "write of arrays");
  }
  if (op == NULL) return cairn_future_done(rt, &err);
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) { /* nothing was begun */
    free(op);
    return done;
  }
  op->done = done;
  pump(op);
  return done;
}
