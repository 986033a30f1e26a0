/* Regions of arrays: checked, walked over chunk by chunk, cut into targets. */
#include "array/io.h"

/* --- checking --- */

static cairn_code_t bad_region(const cairn_array_io_t *io, size_t region,
                               const char *why, cairn_error_t *err) {
  char box[256];
  cairn__box_t b = cairn__region_box(io, region);
  cairn__box_text(&b, box, sizeof box);
  cairn_fail(err, CAIRN_INVALID, "region %zu, %s: %s", region, box, why);
  cairn__io_within(err, io, NULL);
  return CAIRN_INVALID;
}

/* Inside the array, and small enough to count its bytes. */
static bool region_inside(const cairn_zarr_t *z, const cairn__box_t *b) {
  int64_t n;
  for (int d = 0; d < z->rank; d++) {
    if (b->origin[d] < 0 || b->extent[d] < 0 ||
        b->extent[d] > z->shape[d] - b->origin[d])
      return false;
  }
  return cairn__box_volume(b, &n) &&
         !__builtin_mul_overflow(n, (int64_t)cairn_dtype_size(z->dtype), &n);
}

static bool whole_chunks(const cairn_zarr_t *z, const cairn__box_t *b) {
  for (int d = 0; d < z->rank; d++) {
    int64_t end = b->origin[d] + b->extent[d];
    if (b->origin[d] % z->chunk[d] != 0 ||
        (end % z->chunk[d] != 0 && end != z->shape[d]))
      return false;
  }
  return true;
}

static cairn_code_t check_region(const cairn_array_io_t *io, size_t i,
                                 bool write, cairn_error_t *err) {
  const cairn_region_t *r = &io->regions[i];
  if (io->zarr->rank > 0 && (r->origin == NULL || r->extent == NULL)) {
    cairn_fail(err, CAIRN_INVALID, "region %zu has no origin or extent", i);
    cairn__io_within(err, io, NULL);
    return CAIRN_INVALID;
  }
  cairn__box_t b = cairn__region_box(io, i);
  if (!region_inside(io->zarr, &b))
    return bad_region(io, i, "outside the array", err);
  int64_t n = 0;
  cairn__box_volume(&b, &n);
  if (n == 0) return CAIRN_OK;
  if (r->data == NULL) return bad_region(io, i, "no memory given", err);
  if (write && !whole_chunks(io->zarr, &b))
    return bad_region(io, i, "cuts a chunk", err);
  return CAIRN_OK;
}

cairn_code_t cairn__io_check(cairn_array_io_t *arrays, size_t n, bool write,
                             cairn_error_t *err) {
  for (size_t i = 0; i < n; i++) {
    cairn_array_io_t *io = &arrays[i];
    if (io->zarr == NULL)
      return cairn_fail(err, CAIRN_INVALID, "array %zu of %zu: no metadata", i,
                        n);
    io->bytes = io->stored_bytes = 0;
    for (size_t r = 0; r < io->n; r++) {
      cairn_code_t rc = check_region(io, r, write, err);
      if (rc != CAIRN_OK) return rc;
    }
  }
  return CAIRN_OK;
}

/* --- regions --- */

cairn__box_t cairn__region_box(const cairn_array_io_t *io, size_t region) {
  const cairn_region_t *r = &io->regions[region];
  cairn__box_t b;
  b.rank = io->zarr->rank;
  for (int d = 0; d < b.rank; d++) {
    b.origin[d] = r->origin[d];
    b.extent[d] = r->extent[d];
  }
  return b;
}

int64_t cairn__region_bytes(const cairn_array_io_t *io, size_t region) {
  cairn__box_t b = cairn__region_box(io, region);
  int64_t n = 0;
  cairn__box_volume(&b, &n);
  return n * (int64_t)cairn_dtype_size(io->zarr->dtype);
}

bool cairn__region_target(const cairn_array_io_t *io, size_t region,
                          const cairn__box_t *cells, cairn__target_t *out) {
  const cairn_region_t *r = &io->regions[region];
  cairn__box_t b = cairn__region_box(io, region), part;
  if (!cairn__box_intersect(&b, cells, &part)) return false;
  if (r->strides != NULL)
    memcpy(out->strides, r->strides, (size_t)b.rank * sizeof *r->strides);
  else
    cairn__c_strides(b.rank, b.extent,
                     (int64_t)cairn_dtype_size(io->zarr->dtype), out->strides);
  out->data = r->data;
  for (int d = 0; d < b.rank; d++) {
    out->data += (part.origin[d] - b.origin[d]) * out->strides[d];
    out->origin[d] = part.origin[d] - cells->origin[d];
    out->extent[d] = part.extent[d];
  }
  return true;
}

/* --- the walk --- */

static bool enter(cairn__walk_t *w) {
  const cairn_array_io_t *io = &w->arrays[w->array];
  cairn__box_t b = {.rank = io->zarr->rank};
  if (!w->whole)
    b = cairn__region_box(io, w->region);
  else if (b.rank > 0)
    memcpy(b.extent, io->zarr->shape, (size_t)b.rank * sizeof *b.extent);
  if (!cairn__grid_range(&b, io->zarr->chunk, &w->range)) return false;
  cairn__grid_first(&w->range, w->index);
  return true;
}

bool cairn__walk_next(cairn__walk_t *w) {
  if (w->inside && cairn__grid_next(&w->range, w->index)) return true;
  if (w->inside) w->region++;
  for (w->inside = false; w->array < w->n; w->region++) {
    while (w->array < w->n &&
           w->region >= (w->whole ? 1 : w->arrays[w->array].n)) {
      w->array++;
      w->region = 0;
    }
    if (w->array < w->n && enter(w)) return w->inside = true;
  }
  return false;
}

void cairn__walk_skip(cairn__walk_t *w) {
  if (w->inside) w->region++;
  w->inside = false;
}

bool cairn__walk_is_first(const cairn__walk_t *w) {
  const cairn_array_io_t *io = &w->arrays[w->array];
  cairn__box_t cells, out;
  if (w->whole || w->region == 0) return true;
  cairn__grid_cells(io->zarr->rank, io->zarr->chunk, w->index, &cells);
  for (size_t r = 0; r < w->region; r++) {
    cairn__box_t b = cairn__region_box(io, r);
    if (cairn__box_intersect(&b, &cells, &out)) return false;
  }
  return true;
}

/* --- names --- */

bool cairn__io_key(cairn_buf_t *b, cairn_bytes_t name, const char *last) {
  b->n = 0;
  cairn_buf_put(b, name.p, name.n);
  if (name.n != 0) cairn_buf_put_u8(b, '/');
  cairn_buf_put_str(b, last);
  return !b->failed;
}

bool cairn__io_chunk_key(cairn_buf_t *b, const cairn_array_io_t *io,
                         const int64_t *index) {
  char key[CAIRN_MAX_CHUNK_KEY];
  cairn_zarr_chunk_key(io->zarr, index, key, sizeof key);
  return cairn__io_key(b, io->name, key);
}

void cairn__io_within(cairn_error_t *err, const cairn_array_io_t *io,
                      const int64_t *index) {
  char key[CAIRN_MAX_CHUNK_KEY];
  int n = io->name.n < 300 ? (int)io->name.n : 300;
  const char *name = n > 0 ? (const char *)io->name.p : "\"\"";
  if (n == 0) n = 2;
  if (index == NULL) {
    cairn_within(err, "array %.*s", n, name);
    return;
  }
  cairn_zarr_chunk_key(io->zarr, index, key, sizeof key);
  cairn_within(err, "array %.*s, chunk %s", n, name, key);
}
