/* Jobs of units: memory reserved, values read, all of them decoded by one job
 * on a CPU thread. Decoders write straight to the caller's memory: every
 * element has one chunk, so no two jobs write the same place unless regions
 * share it. */
#include <stdlib.h>

#include "array/read.h"
#include "kv/kv.h"
#include "loop/loop.h"

/* --- verifying: what is said of one array, on the loop --- */

/* A few bytes of metadata can claim 2^62 chunks: these bound the time that a
 * verify takes and the memory of what it says. */
#define MAX_DAMAGED 1000
#define MAX_ABSENT (1 << 20)

static cairn__tally_t *tally_of(const cairn__reading_t *op,
                                const cairn_array_io_t *io) {
  return &op->tally[io - op->arrays];
}

static void tell(cairn__reading_t *op, const cairn_array_io_t *io,
                 const int64_t *index, const cairn_error_t *what) {
  if (cairn__io_chunk_key(&op->key, io, index))
    op->damage(op->damage_arg, cairn_buf_bytes(&op->key), what);
}

static void end_array(cairn__reading_t *op, const cairn_array_io_t *io,
                      const int64_t *index, cairn_error_t *why) {
  tally_of(op, io)->over = true;
  cairn__io_within(why, io, NULL);
  tell(op, io, index, why);
}

static void tell_damage(cairn__reading_t *op, const cairn_array_io_t *io,
                        const int64_t *index, const cairn_error_t *what) {
  cairn__tally_t *t = tally_of(op, io);
  cairn_error_t more = {0};
  if (t->over) return;
  if (t->damaged++ < MAX_DAMAGED) {
    tell(op, io, index, what);
    return;
  }
  cairn_fail(&more, CAIRN_CORRUPT,
             "and more: after %d damaged chunks the rest was not looked at",
             MAX_DAMAGED);
  end_array(op, io, index, &more);
}

/* A chunk that is not stored and need not be. */
static void count_absent(cairn__reading_t *op, const cairn__unit_t *u) {
  cairn_error_t enough = {0};
  if (op->damage == NULL || u->inner != NULL || u->value.found ||
      tally_of(op, u->io)->over || ++tally_of(op, u->io)->absent < MAX_ABSENT)
    return;
  cairn_fail(&enough, CAIRN_UNSUPPORTED,
             "%d chunks are not stored: the rest was not looked at",
             MAX_ABSENT);
  end_array(op, u->io, u->index, &enough);
}

/* --- decoding, on a CPU thread --- */

/* What one unit gives goes to its targets. */
static cairn_code_t decode_value(cairn__read_job_t *j, cairn__unit_t *u,
                                 const cairn__chain_t *c,
                                 const cairn__target_t *to, size_t n,
                                 cairn_error_t *err) {
  const cairn_zarr_t *z = u->io->zarr;
  cairn__decoder_t *d = &j->decoder;
  d->fill = z->fill;
  d->fill_missing = u->io->fill_missing;
  d->everything = j->op->damage != NULL;
  if (!u->missing && u->value.found)
    return cairn__chain_decode(d, c, u->value.data, to, n, err);
  if (!u->io->fill_missing) return cairn_fail(err, CAIRN_CORRUPT, "missing");
  cairn__targets_fill(c, z->fill, to, n);
  return CAIRN_OK;
}

static cairn_code_t decode_unit(cairn__read_job_t *j, cairn__unit_t *u,
                                cairn_error_t *err) {
  const cairn__chain_t *c = u->io->zarr->chain;
  cairn__target_t *t = j->targets;
  size_t n = j->op->damage != NULL ? 0
                                   : cairn__chunk_targets(u->io, u->index, t),
         max = j->op->max_regions;
  if (u->straight && u->value.found) {
    if (u->value.data.n == (size_t)c->bytes) return CAIRN_OK;
    return cairn_fail(err, CAIRN_CORRUPT, "%zu bytes of elements, want %lld",
                      u->value.data.n, (long long)c->bytes);
  }
  if (u->inner == NULL) return decode_value(j, u, c, t, n, err);
  cairn__targets_encode(c, t, n, t + max);
  n = cairn__targets_within(c, t + max, n, u->inner, t);
  if (decode_value(j, u, c->shard->inner, t, n, err) == CAIRN_OK)
    return CAIRN_OK;
  return cairn__within_inner(err, c->rank, u->inner);
}

/* Verifying goes on after damage, which is kept for the loop to report. */
static cairn_code_t keep_damage(cairn__unit_t *u, cairn_error_t *err) {
  cairn_error_t *kept =
      err->code != CAIRN_NO_MEMORY ? malloc(sizeof *kept) : NULL;
  if (kept == NULL) return err->code;
  *kept = *err;
  u->damage = kept;
  *err = (cairn_error_t){0};
  return CAIRN_OK;
}

static cairn_code_t decode(void *arg, cairn_error_t *err) {
  cairn__read_job_t *j = arg;
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < j->n && rc == CAIRN_OK; i++) {
    cairn__unit_t *u = &j->units[i];
    if (u->damage != NULL) continue;
    rc = decode_unit(j, u, err);
    if (rc != CAIRN_OK) cairn__io_within(err, u->io, u->index);
    if (rc != CAIRN_OK && j->op->damage != NULL) rc = keep_damage(u, err);
    cairn_value_reset(&u->value);
  }
  cairn__decoder_reset(&j->decoder);
  return rc;
}

/* --- on the loop --- */

static void job_end(cairn__read_job_t *j) {
  cairn__reading_t *op = j->op;
  cairn_release(op->rt, j->reserved);
  for (size_t i = 0; i < j->n; i++) {
    cairn_value_reset(&j->units[i].value);
    free(j->units[i].damage);
  }
  cairn__decoder_reset(&j->decoder);
  free(j->targets);
  free(j->indices);
  free(j);
  op->jobs--;
  cairn__reading_pump(op);
}

static void report(cairn__read_job_t *j) {
  cairn__reading_t *op = j->op;
  for (size_t i = 0; i < j->n; i++) {
    cairn__unit_t *u = &j->units[i];
    if (u->damage != NULL) tell_damage(op, u->io, u->index, u->damage);
  }
}

static void on_decoded(cairn_wait_t *w) {
  cairn__read_job_t *j = cairn_container_of(w, cairn__read_job_t, wait);
  cairn_wait_result(w, &j->op->err);
  report(j);
  job_end(j);
}

static bool is_damage(cairn_code_t code) {
  return code == CAIRN_CORRUPT || code == CAIRN_IO || code == CAIRN_NOT_FOUND ||
         code == CAIRN_DENIED || code == CAIRN_MISMATCH;
}

void cairn__reading_failed(cairn__reading_t *op, const cairn_array_io_t *io,
                           const int64_t *index, cairn_error_t *err) {
  cairn__io_within(err, io, index);
  if (op->damage == NULL || !is_damage(err->code))
    cairn_error_copy(&op->err, err);
  else
    tell_damage(op, io, index, err);
}

static void unit_failed(cairn__unit_t *u, cairn_error_t *err) {
  cairn__reading_t *op = u->job->op;
  if (err->code == CAIRN_INVALID) err->code = CAIRN_CORRUPT; /* its length */
  cairn__io_within(err, u->io, u->index);
  if (op->damage == NULL || !is_damage(err->code) ||
      keep_damage(u, err) != CAIRN_OK)
    cairn_error_copy(&op->err, err);
}

static void on_read(cairn_wait_t *w) {
  cairn__unit_t *u = cairn_container_of(w, cairn__unit_t, wait);
  cairn__read_job_t *j = u->job;
  cairn__reading_t *op = j->op;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    unit_failed(u, &err);
  else
    u->io->stored_bytes += (int64_t)u->value.data.n;
  if (u->damage == NULL && u->io->fill_missing) count_absent(op, u);
  if (--j->left > 0) return;
  if (op->err.code != CAIRN_OK)
    job_end(j);
  else
    cairn_then(cairn_work(op->rt, decode, j), &j->wait, on_decoded);
}

/* A raw chunk whose elements lie in the one region as they are stored. */
static void aim_straight(cairn__unit_t *u, cairn_read_opts_t *o) {
  const cairn__chain_t *c = u->io->zarr->chain;
  cairn__target_t *t = u->job->targets;
  if (u->job->op->damage != NULL || c->shard != NULL || c->num_stages > 0 ||
      c->dtype == CAIRN_BOOL || cairn__dtype_padded(c->dtype))
    return;
  if (cairn__chunk_targets(u->io, u->index, t) != 1) return;
  for (int d = 0; d < c->rank; d++)
    if (t->extent[d] != c->shape[d]) return;
  if (!cairn__chain_packed(c, t->strides)) return;
  u->straight = true;
  o->dst = t->data;
  o->cap = (size_t)c->bytes;
}

static cairn_future_t *read_unit(cairn__unit_t *u) {
  cairn__reading_t *op = u->job->op;
  cairn_read_opts_t o = {.size = sizeof o};
  if (u->missing) return cairn_future_done(op->rt, NULL);
  if (u->inner != NULL) {
    o.what = CAIRN_READ_RANGE;
    o.min = (int64_t)u->offset;
    o.max = (int64_t)(u->offset + u->length);
  } else {
    aim_straight(u, &o);
  }
  if (cairn__io_chunk_key(&op->key, u->io, u->index))
    return cairn_kv_read(op->kv, cairn_buf_bytes(&op->key), &o, &u->value);
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory");
  return cairn_future_done(op->rt, &err);
}

static void on_reserved(cairn_wait_t *w) {
  cairn__read_job_t *j = cairn_container_of(w, cairn__read_job_t, wait);
  cairn__reading_t *op = j->op;
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) j->reserved = 0;
  if (op->err.code == CAIRN_OK && cairn_future_cancelled(op->done))
    cairn_fail(&op->err, CAIRN_CANCELLED, "read of arrays");
  if (op->err.code != CAIRN_OK || j->n == 0) {
    job_end(j);
    return;
  }
  j->left = j->n;
  for (size_t i = 0; i < j->n; i++)
    cairn_then(read_unit(&j->units[i]), &j->units[i].wait, on_read);
}

/* --- the whole operation --- */

static cairn__read_job_t *job_new(cairn__reading_t *op) {
  cairn__read_job_t *j =
      calloc(1, sizeof *j + CAIRN__GROUP_CHUNKS * sizeof *j->units);
  if (j == NULL) return NULL;
  j->op = op;
  j->indices = malloc((2 * CAIRN__GROUP_CHUNKS * (size_t)op->max_rank + 1) *
                      sizeof *j->indices);
  j->targets = malloc((2 * op->max_regions + 1) * sizeof *j->targets);
  if (j->indices != NULL && j->targets != NULL) return j;
  free(j->indices);
  free(j->targets);
  free(j);
  return NULL;
}

static void start_job(cairn__reading_t *op) {
  cairn__read_job_t *j = job_new(op);
  if (j == NULL) {
    cairn_fail(&op->err, CAIRN_NO_MEMORY, "read of arrays");
    return;
  }
  while (cairn__reading_take(op, j)) continue;
  op->jobs++;
  cairn_then(cairn_reserve(op->rt, j->reserved), &j->wait, on_reserved);
}

static void finish(cairn__reading_t *op) {
  cairn_future_t *done = op->done;
  cairn_error_t err = op->err;
  cairn_buf_reset(&op->key);
  free(op->tally);
  free(op);
  cairn_future_resolve(done, &err);
}

void cairn__reading_pump(cairn__reading_t *op) {
  while (op->err.code == CAIRN_OK && op->jobs < op->max_jobs &&
         cairn__reading_more(op))
    start_job(op);
  if (op->err.code != CAIRN_OK) cairn__reading_drop_parts(op);
  if (op->jobs == 0 && op->parts == 0) finish(op);
}

static cairn__reading_t *reading_new(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                     size_t n) {
  cairn__reading_t *op = calloc(1, sizeof *op);
  if (op == NULL) return NULL;
  op->kv = kv;
  op->rt = cairn_kv_runtime(kv);
  op->arrays = arrays;
  op->n = n;
  op->walk = (cairn__walk_t){.arrays = arrays, .n = n};
  op->max_jobs = 2 * cairn__cpu_threads(op->rt) + 2;
  for (size_t i = 0; i < n; i++) {
    if (arrays[i].zarr->rank > op->max_rank)
      op->max_rank = arrays[i].zarr->rank;
    if (arrays[i].n > op->max_regions) op->max_regions = arrays[i].n;
  }
  return op;
}

cairn_future_t *cairn__reading_start(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                     size_t n, cairn_damage_fn damage,
                                     void *arg) {
  cairn_runtime_t *rt = cairn_kv_runtime(kv);
  cairn__reading_t *op = reading_new(kv, arrays, n);
  bool ok = op != NULL;
  if (ok && damage != NULL)
    ok = (op->tally = calloc(n + 1, sizeof *op->tally)) != NULL;
  if (!ok) {
    cairn_error_t err = {0};
    free(op);
    cairn_fail(&err, CAIRN_NO_MEMORY, "read of arrays");
    return cairn_future_done(rt, &err);
  }
  op->damage = damage;
  op->damage_arg = arg;
  op->walk.whole = damage != NULL;
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) { /* nothing was begun */
    free(op->tally);
    free(op);
    return done;
  }
  op->done = done;
  cairn__reading_pump(op);
  return done;
}
