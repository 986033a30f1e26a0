/* Which values and ranges are read. A stored value is read whole unless it is a
 * shard of several inner chunks, large, and less than half of it is wanted:
 * then its index is read first, and each inner chunk is a unit of its own. */
#include <stdlib.h>

#include "array/read.h"

#define WHOLE_BYTES ((int64_t)1 << 20)  /* below: never in parts */
#define PARTS_BYTES ((int64_t)64 << 20) /* above: always in parts */
#define MAX_PARTS \
  2 /* shards open at once: their indices are not in the budget */

size_t cairn__chunk_targets(const cairn_array_io_t *io, const int64_t *index,
                            cairn__target_t *out) {
  cairn__box_t cells;
  size_t n = 0;
  cairn__grid_cells(io->zarr->rank, io->zarr->chunk, index, &cells);
  for (size_t r = 0; r < io->n; r++)
    n += cairn__region_target(io, r, &cells, &out[n]);
  return n;
}

/* --- shards in parts --- */

static void part_free(cairn__part_t *p) {
  cairn_value_reset(&p->value);
  free(p->entries);
  free(p->targets);
  free(p);
}

static void part_close(cairn__part_t *p) {
  cairn__reading_t *op = p->op;
  part_free(p);
  op->parts--;
}

/* The wanted inner chunks as a range, whose volume says how many. */
static bool part_range(const cairn__reading_t *op, cairn__part_t *p) {
  const cairn__chain_t *c = p->io->zarr->chain;
  size_t n = p->io->n;
  bool all = op->damage != NULL;
  p->targets = malloc((2 * n + 1) * sizeof *p->targets);
  if (p->targets == NULL) return false;
  if (!all)
    p->num_targets = cairn__chunk_targets(p->io, p->index, p->targets + n);
  cairn__targets_encode(c, p->targets + n, p->num_targets, p->targets);
  return cairn__targets_range(c, p->targets, p->num_targets, all, &p->range);
}

static bool wants_parts(const cairn__part_t *p) {
  const cairn__chain_t *c = p->io->zarr->chain;
  int64_t wanted = 1;
  for (int d = 0; d < c->rank; d++) wanted *= p->range.hi[d] - p->range.lo[d];
  return c->bytes > PARTS_BYTES || wanted < c->shard->n / 2;
}

/* The part of op->walk's chunk, or NULL if it is to be read whole (or memory is
 * out: then op->err is set). */
static cairn__part_t *part_of_walk(cairn__reading_t *op) {
  cairn_array_io_t *io = &op->arrays[op->walk.array];
  const cairn__chain_t *c = io->zarr->chain;
  if (c->shard == NULL || c->shard->n == 1 || c->bytes <= WHOLE_BYTES)
    return NULL;
  cairn__part_t *p = calloc(1, sizeof *p);
  if (p != NULL) {
    p->op = op;
    p->io = io;
    memcpy(p->index, op->walk.index, sizeof p->index);
    if (part_range(op, p) && wants_parts(p)) return p;
    bool memory = p->targets != NULL;
    part_free(p);
    if (memory) return NULL;
  }
  cairn_fail(&op->err, CAIRN_NO_MEMORY, "read of arrays");
  return NULL;
}

static void part_failed(cairn__part_t *p, cairn_error_t *err) {
  cairn__reading_t *op = p->op;
  cairn__reading_failed(op, p->io, p->index, err);
  part_close(p);
  cairn__reading_pump(op);
}

/* On a CPU thread. */
static cairn_code_t decode_index(void *arg, cairn_error_t *err) {
  cairn__part_t *p = arg;
  const cairn_zarr_t *z = p->io->zarr;
  const cairn__shard_t *s = z->chain->shard;
  if (!p->value.found) { /* the whole shard is fill value */
    cairn__targets_fill(z->chain, z->fill, p->targets + p->io->n,
                        p->num_targets);
    return CAIRN_OK;
  }
  if (p->value.data.n != (size_t)s->index_bytes)
    return cairn_fail(err, CAIRN_CORRUPT, "shard index of %zu bytes, want %lld",
                      p->value.data.n, (long long)s->index_bytes);
  p->entries = malloc(2 * sizeof *p->entries * (size_t)s->n);
  if (p->entries == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  return cairn__shard_index(s, p->value.data, p->entries, err);
}

static void on_index_decoded(cairn_wait_t *w) {
  cairn__part_t *p = cairn_container_of(w, cairn__part_t, wait);
  cairn__reading_t *op = p->op;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  cairn_release(op->rt, p->reserved);
  cairn_value_reset(&p->value);
  if (err.code != CAIRN_OK) {
    part_failed(p, &err);
    return;
  }
  if (p->entries == NULL) {
    part_close(p);
  } else {
    cairn__grid_first(&p->range, p->at);
    p->next = op->ready;
    op->ready = p;
  }
  cairn__reading_pump(op);
}

static void on_index_read(cairn_wait_t *w) {
  cairn__part_t *p = cairn_container_of(w, cairn__part_t, wait);
  cairn__reading_t *op = p->op;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (err.code == CAIRN_INVALID) { /* the range is outside the value */
    err = (cairn_error_t){0};
    cairn_fail(&err, CAIRN_CORRUPT, "shard is shorter than its index");
  }
  if (err.code == CAIRN_OK && !p->value.found && !p->io->fill_missing)
    cairn_fail(&err, CAIRN_CORRUPT, "missing");
  if (err.code != CAIRN_OK) {
    cairn_release(op->rt, p->reserved);
    part_failed(p, &err);
    return;
  }
  p->total = p->value.total_size;
  p->io->stored_bytes += (int64_t)p->value.data.n;
  cairn_then(cairn_work(op->rt, decode_index, p), &p->wait, on_index_decoded);
}

static void on_index_reserved(cairn_wait_t *w) {
  cairn__part_t *p = cairn_container_of(w, cairn__part_t, wait);
  cairn__reading_t *op = p->op;
  const cairn__shard_t *s = p->io->zarr->chain->shard;
  cairn_read_opts_t o = {.size = sizeof o, .what = CAIRN_READ_RANGE};
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) p->reserved = 0;
  if (op->err.code == CAIRN_OK &&
      !cairn__io_chunk_key(&op->key, p->io, p->index))
    cairn_fail(&op->err, CAIRN_NO_MEMORY, "read of arrays");
  if (op->err.code != CAIRN_OK) {
    cairn_release(op->rt, p->reserved);
    part_close(p);
    cairn__reading_pump(op);
    return;
  }
  o.min = s->at_start ? 0 : -s->index_bytes;
  o.max = s->at_start ? s->index_bytes : -1;
  cairn_then(cairn_kv_read(op->kv, cairn_buf_bytes(&op->key), &o, &p->value),
             &p->wait, on_index_read);
}

static void part_open(cairn__reading_t *op, cairn__part_t *p) {
  const cairn__shard_t *s = p->io->zarr->chain->shard;
  op->parts++;
  p->reserved = 2 * s->index_bytes;
  cairn_then(cairn_reserve(op->rt, p->reserved), &p->wait, on_index_reserved);
}

void cairn__reading_drop_parts(cairn__reading_t *op) {
  for (cairn__part_t *p; (p = op->ready) != NULL;) {
    op->ready = p->next;
    part_close(p);
  }
}

/* --- units --- */

/* Puts the walk on a chunk that is to be read whole, opening parts on the way.
 */
static bool hold_chunk(cairn__reading_t *op) {
  while (!op->held && !op->walked && op->err.code == CAIRN_OK) {
    if (op->tally != NULL && op->walk.inside && op->tally[op->walk.array].over)
      cairn__walk_skip(&op->walk);
    if (!cairn__walk_next(&op->walk)) {
      op->walked = true;
      return false;
    }
    if (!cairn__walk_is_first(&op->walk)) continue;
    cairn__part_t *p = part_of_walk(op);
    if (p != NULL)
      part_open(op, p);
    else
      op->held = op->err.code == CAIRN_OK;
    if (op->parts >= MAX_PARTS) break;
  }
  return op->held;
}

bool cairn__reading_more(cairn__reading_t *op) {
  if (op->ready != NULL) return true;
  if (op->parts >= MAX_PARTS) return op->held;
  return hold_chunk(op);
}

static bool fits(const cairn__read_job_t *j, int64_t bytes) {
  return j->n == 0 ||
         (j->n < CAIRN__GROUP_CHUNKS && j->bytes < CAIRN__GROUP_BYTES &&
          bytes <= CAIRN__GROUP_BYTES - j->bytes);
}

static cairn__unit_t *unit_add(cairn__read_job_t *j, cairn_array_io_t *io,
                               const int64_t *index, int64_t bytes) {
  cairn__unit_t *u = &j->units[j->n];
  size_t rank = (size_t)io->zarr->rank;
  *u = (cairn__unit_t){.job = j, .io = io};
  u->index = j->indices + j->n++ * 2 * (size_t)j->op->max_rank;
  if (rank > 0) memcpy(u->index, index, rank * sizeof *index);
  j->bytes += bytes;
  int64_t cost = bytes > INT64_MAX / 2 ? INT64_MAX : 2 * bytes;
  if (__builtin_add_overflow(j->reserved, cost, &j->reserved))
    j->reserved = INT64_MAX;
  return u;
}

/* The next inner chunk of the first ready part; the part is closed with its
 * last one. */
static void take_inner(cairn__reading_t *op, cairn__read_job_t *j) {
  cairn__part_t *p = op->ready;
  const cairn__chain_t *c = p->io->zarr->chain;
  cairn_error_t err = {0};
  bool found = false;
  uint64_t offset = 0, length = 0;
  int64_t i = cairn__grid_linear(c->rank, c->shard->grid, p->at);
  if (cairn__shard_entry(p->entries, i, p->total, &found, &offset, &length,
                         &err) != CAIRN_OK) {
    cairn__within_inner(&err, c->rank, p->at);
    cairn__reading_failed(op, p->io, p->index, &err);
  } else if (found || !p->io->fill_missing || op->damage == NULL) {
    cairn__unit_t *u = unit_add(j, p->io, p->index, c->shard->inner->bytes);
    u->inner = u->index + op->max_rank;
    if (c->rank > 0) memcpy(u->inner, p->at, (size_t)c->rank * sizeof *p->at);
    u->offset = offset;
    u->length = length;
    u->missing = !found;
  }
  if (cairn__grid_next(&p->range, p->at)) return;
  op->ready = p->next;
  part_close(p);
}

bool cairn__reading_take(cairn__reading_t *op, cairn__read_job_t *j) {
  if (op->err.code != CAIRN_OK) return false;
  if (op->ready != NULL) {
    const cairn__chain_t *c = op->ready->io->zarr->chain;
    if (!fits(j, c->shard->inner->bytes)) return false;
    take_inner(op, j);
    return true;
  }
  if (!cairn__reading_more(op)) return false;
  cairn_array_io_t *io = &op->arrays[op->walk.array];
  if (!fits(j, io->zarr->chain->bytes)) return false;
  unit_add(j, io, op->walk.index, io->zarr->chain->bytes);
  op->held = false;
  return true;
}
