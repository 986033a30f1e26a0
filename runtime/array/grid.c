/* The grid of chunks: which ones a box meets, where their cells are, and the
 * keys they are stored under. */
#include "array/zarr.h"

bool cairn__grid_range(const cairn__box_t *box, const int64_t *chunk,
                       cairn__range_t *out) {
  out->rank = box->rank;
  for (int d = 0; d < box->rank; d++) {
    if (box->extent[d] <= 0) return false;
    out->lo[d] = box->origin[d] / chunk[d];
    out->hi[d] = (box->origin[d] + box->extent[d] - 1) / chunk[d] + 1;
  }
  return true;
}

void cairn__grid_first(const cairn__range_t *r, int64_t *index) {
  for (int d = 0; d < r->rank; d++) index[d] = r->lo[d];
}

bool cairn__grid_next(const cairn__range_t *r, int64_t *index) {
  for (int d = r->rank - 1; d >= 0; d--) {
    if (++index[d] < r->hi[d]) return true;
    index[d] = r->lo[d];
  }
  return false;
}

/* Index times chunk is below shape + chunk, so neither overflows below 2^63
 * when the metadata was accepted; the end may, and is cut there. */
void cairn__grid_cells(int rank, const int64_t *chunk, const int64_t *index,
                       cairn__box_t *out) {
  out->rank = rank;
  for (int d = 0; d < rank; d++) {
    out->origin[d] = index[d] * chunk[d];
    out->extent[d] = chunk[d] > INT64_MAX - out->origin[d]
                         ? INT64_MAX - out->origin[d]
                         : chunk[d];
  }
}

int64_t cairn__grid_linear(int rank, const int64_t *grid,
                           const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < rank; d++) at = at * grid[d] + index[d];
  return at;
}

int64_t cairn_zarr_num_chunks(const cairn_zarr_t *z) {
  cairn__box_t grid = {.rank = z->rank};
  int64_t n;
  for (int d = 0; d < z->rank; d++)
    grid.extent[d] = z->shape[d] == 0 ? 0 : (z->shape[d] - 1) / z->chunk[d] + 1;
  return cairn__box_volume(&grid, &n) ? n : INT64_MAX;
}

static char *put_index(char *p, int64_t v) {
  char digits[20];
  int n = 0;
  do {
    digits[n++] = (char)('0' + v % 10);
    v /= 10;
  } while (v > 0);
  while (n > 0) *p++ = digits[--n];
  return p;
}

void cairn_zarr_chunk_key(const cairn_zarr_t *z, const int64_t *index,
                          char *out, size_t cap) {
  char key[CAIRN_MAX_CHUNK_KEY], *p = key;
  if (cap == 0) return;
  if (z->prefixed_keys) *p++ = 'c';
  if (z->rank == 0 && !z->prefixed_keys) *p++ = '0';
  for (int d = 0; d < z->rank; d++) {
    if (d > 0 || z->prefixed_keys) *p++ = z->separator;
    p = put_index(p, index[d]);
  }
  size_t n = (size_t)(p - key);
  if (n > cap - 1) n = cap - 1;
  memcpy(out, key, n);
  out[n] = '\0';
}
