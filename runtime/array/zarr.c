/* The life of a cairn_zarr_t, and what it tells. All that belongs to one lies
 * in a few blocks that go with it: of ten thousand arrays each is one or two
 * allocations. */
#include "array/zarr.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define BLOCK 1024

struct cairn__block {
  struct cairn__block *next;
  size_t used, cap;
  _Alignas(16) uint8_t bytes[];
};

void *cairn__zarr_alloc(cairn_zarr_t *z, size_t n) {
  struct cairn__block *b = z->blocks;
  n = (n + 15) & ~(size_t)15;
  if (b == NULL || b->cap - b->used < n) {
    size_t cap = n > BLOCK ? n : BLOCK;
    b = calloc(1, sizeof *b + cap);
    if (b == NULL) return NULL;
    b->cap = cap;
    b->next = z->blocks;
    z->blocks = b;
  }
  void *p = b->bytes + b->used;
  b->used += n;
  return p;
}

int64_t *cairn__zarr_dims(cairn_zarr_t *z, int rank, const int64_t *from) {
  size_t n = (size_t)rank * sizeof *from;
  int64_t *dims = cairn__zarr_alloc(z, n);
  if (dims != NULL && n != 0) memcpy(dims, from, n);
  return dims;
}

cairn_zarr_t *cairn_zarr_ref(cairn_zarr_t *z) {
  atomic_fetch_add_explicit(&z->refs, 1, memory_order_relaxed);
  return z;
}

void cairn_zarr_unref(cairn_zarr_t *z) {
  if (z == NULL) return;
  if (atomic_fetch_sub_explicit(&z->refs, 1, memory_order_acq_rel) != 1) return;
  for (struct cairn__block *b = z->blocks, *next; b != NULL; b = next) {
    next = b->next;
    free(b);
  }
  free(z);
}

/* The innermost chunks, in the array's dimensions: each shard on the way down
 * counts in those of its encoded form. */
static int64_t *innermost(cairn_zarr_t *z) {
  int64_t shape[CAIRN_MAX_RANK];
  uint8_t axis[CAIRN_MAX_RANK]; /* of the array, for each of the chain's */
  const cairn__chain_t *c = z->chain;
  for (int d = 0; d < z->rank; d++) axis[d] = (uint8_t)d;
  for (; c->shard != NULL; c = c->shard->inner) {
    uint8_t before[CAIRN_MAX_RANK];
    memcpy(before, axis, sizeof before);
    for (int d = 0; d < z->rank; d++) axis[d] = before[c->order[d]];
  }
  for (int d = 0; d < z->rank; d++) shape[axis[d]] = c->shape[d];
  return cairn__zarr_dims(z, z->rank, shape);
}

static cairn_code_t parse_into(cairn_zarr_t *z, cairn_bytes_t text,
                               cairn_error_t *err) {
  const cairn_json_limits_t strict = {.strict = true};
  cairn_json_doc_t doc;
  cairn_code_t rc = cairn_json_parse(text, &strict, &doc, err);
  if (rc != CAIRN_OK) return rc;
  if (doc.root->kind != CAIRN_JSON_OBJECT)
    rc = cairn_fail(err, CAIRN_CORRUPT, "metadata is not an object");
  else if (z->version == 2)
    rc = cairn__zarr2_parse(z, doc.root, err);
  else
    rc = cairn__zarr3_parse(z, doc.root, err);
  cairn_json_free(&doc);
  if (rc != CAIRN_OK) return rc;
  uint8_t *copy = cairn__zarr_alloc(z, text.n);
  z->read_chunk = innermost(z);
  if (copy == NULL || z->read_chunk == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  memcpy(copy, text.p, text.n);
  z->text = cairn_bytes(copy, text.n);
  return CAIRN_OK;
}

cairn_code_t cairn_zarr_parse(int version, cairn_bytes_t text,
                              cairn_zarr_t **out, cairn_error_t *err) {
  cairn_error_t own = {0}; /* what is added to it knows the code */
  if (err == NULL) err = &own;
  *out = NULL;
  if (version != 2 && version != 3)
    return cairn_fail(err, CAIRN_INVALID, "zarr version %d, want 2 or 3",
                      version);
  cairn_zarr_t *z = calloc(1, sizeof *z);
  if (z == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  atomic_init(&z->refs, 1);
  z->version = version;
  cairn_code_t rc = parse_into(z, text, err);
  if (rc == CAIRN_OK)
    *out = z;
  else
    cairn_zarr_unref(z);
  return rc;
}

cairn_bytes_t cairn_zarr_text(const cairn_zarr_t *z) {
  return z->text;
}

int cairn_zarr_version(const cairn_zarr_t *z) {
  return z->version;
}

cairn_dtype_t cairn_zarr_dtype(const cairn_zarr_t *z) {
  return z->dtype;
}

int cairn_zarr_rank(const cairn_zarr_t *z) {
  return z->rank;
}

const int64_t *cairn_zarr_shape(const cairn_zarr_t *z) {
  return z->shape;
}

const int64_t *cairn_zarr_chunk(const cairn_zarr_t *z) {
  return z->chunk;
}

const int64_t *cairn_zarr_read_chunk(const cairn_zarr_t *z) {
  return z->read_chunk;
}

int64_t cairn_zarr_bytes(const cairn_zarr_t *z) {
  cairn__box_t all = {.rank = z->rank};
  int64_t n;
  if (z->rank > 0)
    memcpy(all.extent, z->shape, (size_t)z->rank * sizeof *z->shape);
  if (!cairn__box_volume(&all, &n) ||
      !cairn__mul_ok(n, (int64_t)cairn_dtype_size(z->dtype), &n))
    return INT64_MAX;
  return n;
}

const char *cairn_zarr_meta_key(int version) {
  return version == 2 ? ".zarray" : "zarr.json";
}

static void add_name(char *out, size_t cap, const char *name) {
  size_t n = strlen(out);
  snprintf(out + n, cap - n, "%s%s", n > 0 ? ", " : "", name);
}

void cairn_zarr_codecs(const cairn_zarr_t *z, char *out, size_t cap) {
  if (cap == 0) return;
  out[0] = '\0';
  for (const cairn__chain_t *c = z->chain; c != NULL;) {
    bool moved = false;
    for (int d = 0; d < c->rank; d++) moved = moved || c->order[d] != d;
    if (moved) add_name(out, cap, "transpose");
    if (c->shard != NULL) add_name(out, cap, "sharding_indexed");
    for (int i = 0; i < c->num_stages; i++)
      add_name(out, cap, c->stages[i].ops->name);
    c = c->shard != NULL ? c->shard->inner : NULL;
  }
}
