/* From the plan to this rank's list of writes. The plan is walked in the order
 * of the leaves, which is also the order of the boxes that the snapshot took,
 * so the memory of a box is found by counting. On a CPU thread: planning a
 * million arrays takes seconds. */
#include <stdlib.h>

#include "gather.h"
#include "planner.h"
#include "tree_meta.h"
#include "tree_save.h"
#include "zarr_cache.h"

typedef struct prepare {
  cairn__tree_save_t *s;
  cairn__planner_t p;
  cairn__zarr_cache_t zarrs;
  size_t next_held;
} prepare_t;

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

/* Regions -------------------------------------------------------------------
 */

/* The place of a box among this rank's boxes of the array. */
static size_t place_of(const cairn__planner_t *p, size_t box) {
  size_t place = 0;
  for (size_t i = 0; i < box; i++) place += p->boxes[i].owner == p->ctx->rank;
  return place;
}

static cairn_code_t add_region(prepare_t *x, const cairn_plan_piece_t *piece,
                               cairn_region_t *out, cairn_error_t *err) {
  const cairn__desc_t *d = &x->p.in.leaf;
  const cairn_plan_box_t *box = &x->p.boxes[piece->box];
  size_t place = x->next_held + place_of(&x->p, piece->box);
  size_t r = (size_t)d->rank;
  if (place >= x->s->num_held)
    return cairn_fail(err, CAIRN_INTERNAL,
                      "the plan wants a box that this rank does not hold");
  const cairn__held_t *held = &x->s->held[place];
  int64_t *v = cairn__bump_calloc(&x->s->bump, 3 * r, sizeof *v);
  if (v == NULL) return no_memory(err);
  int64_t *strides = v + 2 * r;
  const char *data = held->data;
  if (held->strides != NULL)
    memcpy(strides, held->strides, r * sizeof *v);
  else
    cairn__dense_strides(d->rank, box->extent, cairn_dtype_size(d->dtype),
                         strides);
  for (size_t i = 0; i < r; i++) {
    v[i] = piece->origin[i];
    v[r + i] = piece->extent[i];
    data += (piece->origin[i] - box->origin[i]) * strides[i];
  }
  *out = (cairn_region_t){.origin = v,
                          .extent = v + r,
                          .strides = strides,
                          .data = (void *)(uintptr_t)data,
                          .source = held->source};
  return CAIRN_OK;
}

static size_t count_mine(const prepare_t *x) {
  size_t n = 0;
  for (size_t i = 0; i < x->p.plan.n; i++)
    n += x->p.plan.pieces[i].owner == x->p.ctx->rank;
  return n;
}

static cairn_code_t add_regions(prepare_t *x, cairn_array_io_t *io, size_t n,
                                cairn_error_t *err) {
  cairn_region_t *regions = cairn__bump_calloc(&x->s->bump, n, sizeof *regions);
  if (regions == NULL) return no_memory(err);
  for (size_t i = 0; i < x->p.plan.n; i++) {
    const cairn_plan_piece_t *piece = &x->p.plan.pieces[i];
    if (piece->owner != x->p.ctx->rank) continue;
    if (add_region(x, piece, &regions[io->n++], err) != CAIRN_OK)
      return err->code;
  }
  io->regions = regions;
  return CAIRN_OK;
}

/* Arrays --------------------------------------------------------------------
 */

static cairn_array_io_t *next_io(cairn__tree_save_t *s) {
  if (s->num_io == s->cap_io) {
    size_t cap = s->cap_io != 0 ? 2 * s->cap_io : 64;
    cairn_array_io_t *io = reallocarray(s->io, cap, sizeof *io);
    if (io == NULL) return NULL;
    s->io = io;
    s->cap_io = cap;
  }
  s->io[s->num_io] = (cairn_array_io_t){0};
  return &s->io[s->num_io++];
}

static cairn_code_t add_array(prepare_t *x, cairn_error_t *err) {
  const cairn__desc_t *d = &x->p.in.leaf;
  size_t n = count_mine(x);
  bool metadata = x->p.plan.meta_owner == x->p.ctx->rank;
  if (n == 0 && !metadata) return CAIRN_OK;
  cairn_array_io_t *io = next_io(x->s);
  uint8_t *name = cairn__bump_alloc(&x->s->bump, x->p.name.n);
  if (io == NULL || name == NULL) return no_memory(err);
  if (x->p.name.n != 0) memcpy(name, x->p.name.p, x->p.name.n);
  io->name = cairn_bytes(name, x->p.name.n);
  io->metadata = metadata;
  if (cairn__zarr_cached(&x->zarrs, x->p.ctx, d->dtype, d->rank, d->shape,
                         x->p.plan.chunk, &io->zarr, err) != CAIRN_OK)
    return err->code;
  return add_regions(x, io, n, err);
}

/* jax.Arrays: what else is written about them --------------------------------
 */

static cairn_code_t keep_write_shape(prepare_t *x, cairn_error_t *err) {
  cairn__tree_save_t *s = x->s;
  int rank = x->p.in.leaf.rank;
  if (s->num_shapes == s->cap_shapes) {
    size_t cap = s->cap_shapes != 0 ? 2 * s->cap_shapes : 64;
    const int64_t **v = reallocarray(s->write_shapes, cap, sizeof *v);
    if (v == NULL) return no_memory(err);
    s->write_shapes = v;
    s->cap_shapes = cap;
  }
  int64_t *shape = cairn__bump_calloc(&s->bump, (size_t)rank, sizeof *shape);
  if (shape == NULL) return no_memory(err);
  memcpy(shape, x->p.plan.write_shape, (size_t)rank * sizeof *shape);
  s->write_shapes[s->num_shapes++] = shape;
  return CAIRN_OK;
}

static void put_array_metadata(prepare_t *x) {
  cairn_buf_t *out = &x->s->array_metadatas;
  int rank = x->p.in.leaf.rank;
  cairn_buf_put_str(out, out->n == 0 ? "{\"array_metadatas\": [" : ", ");
  cairn_buf_put_str(out, "{\"array_metadata\": {\"param_name\": ");
  cairn_json_emit_str(cairn_buf_bytes(&x->p.name), CAIRN_JSON_PYTHON, out);
  cairn_buf_put_str(out, ", \"write_shape\": ");
  cairn__put_shape(out, rank, x->p.plan.write_shape);
  cairn_buf_put_str(out, ", \"chunk_shape\": ");
  cairn__put_shape(out, rank, x->p.plan.chunk);
  cairn_buf_put_str(out, ", \"ext_metadata\": null}}");
}

static cairn_code_t add_leaf(prepare_t *x, cairn_error_t *err) {
  const cairn__desc_t *d = &x->p.in.leaf;
  if (!cairn__form_info(d->form)->stored) return CAIRN_OK;
  if (add_array(x, err) != CAIRN_OK) return err->code;
  if (d->form == CAIRN__FORM_JAX) {
    put_array_metadata(x);
    if (x->p.ctx->primary && keep_write_shape(x, err) != CAIRN_OK)
      return err->code;
  }
  for (size_t i = 0; i < x->p.num_boxes; i++)
    x->next_held += x->p.boxes[i].owner == x->p.ctx->rank;
  return CAIRN_OK;
}

static cairn_code_t walk(prepare_t *x, cairn_error_t *err) {
  bool more = true;
  while (cairn__planner_next(&x->p, &more, err) == CAIRN_OK && more)
    if (add_leaf(x, err) != CAIRN_OK)
      return cairn_within(err, "leaf %s",
                          cairn__path_show(cairn__desc_path(&x->p.in.leaf)).s);
  if (err->code != CAIRN_OK) return err->code;
  if (x->next_held != x->s->num_held)
    return cairn_fail(err, CAIRN_INTERNAL,
                      "the plan counts %zu boxes of this rank, which has %zu",
                      x->next_held, x->s->num_held);
  if (x->s->array_metadatas.n != 0)
    cairn_buf_put_str(&x->s->array_metadatas, "]}");
  return x->s->array_metadatas.failed ? no_memory(err) : CAIRN_OK;
}

cairn_code_t cairn__tree_prepare(cairn__tree_save_t *s, cairn_error_t *err) {
  prepare_t x = {.s = s};
  cairn_code_t rc = cairn__planner_open(&x.p, s->ctx, s->ctx->combined, err);
  if (rc == CAIRN_OK) rc = walk(&x, err);
  cairn__planner_close(&x.p);
  cairn__zarr_cache_free(&x.zarrs);
  return rc;
}
