/* The computing parts of a restore: matching paths, comparing shapes, making
 * the list of reads. */
#include <stdlib.h>

#include "leaf.h"
#include "tree_restore.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

static bool wants_array(const cairn_leaf_t *leaf) {
  return leaf->kind == CAIRN_LEAF_ARRAY || leaf->kind == CAIRN_LEAF_SCALAR;
}

static cairn_code_t within_leaf(const cairn__match_t *m, cairn_error_t *err) {
  return cairn_within(err, "leaf %s", cairn__path_show(m->entry->path).s);
}

/* Match ---------------------------------------------------------------------
 */

static cairn_code_t list_arrays(cairn__tree_restore_t *r, cairn_error_t *err) {
  size_t n = 0;
  for (size_t i = 0; i < r->num_matches; i++)
    n += wants_array(r->matches[i].leaf);
  r->array_of = cairn__bump_calloc(&r->bump, n, sizeof *r->array_of);
  r->names = cairn__bump_calloc(&r->bump, n, sizeof *r->names);
  r->zarrs = cairn__bump_calloc(&r->bump, n, sizeof *r->zarrs);
  if (r->array_of == NULL || r->names == NULL || r->zarrs == NULL)
    return no_memory(err);
  for (size_t i = 0; i < r->num_matches; i++) {
    if (!wants_array(r->matches[i].leaf)) continue;
    r->array_of[r->num_arrays] = i;
    r->names[r->num_arrays++] = r->matches[i].entry->name;
  }
  return CAIRN_OK;
}

cairn_code_t cairn__restore_match(cairn__tree_restore_t *r,
                                  cairn_error_t *err) {
  if (cairn__tree_unpack(r->ctx->combined, &r->stored, err) != CAIRN_OK ||
      cairn__tree_match(r->target, &r->stored.meta, r->ctx->partial,
                        &r->matches, &r->num_matches, &r->diffs,
                        err) != CAIRN_OK)
    return err->code;
  return list_arrays(r, err);
}

/* Fit -----------------------------------------------------------------------
 */

static cairn_code_t check_arrays(cairn__tree_restore_t *r, cairn_error_t *err) {
  size_t absent = 0;
  const cairn__match_t *first = NULL;
  for (size_t i = 0; i < r->num_arrays; i++) {
    const cairn__match_t *m = &r->matches[r->array_of[i]];
    if (r->zarrs[i] != NULL) {
      cairn__match_array(m, r->zarrs[i], &r->diffs);
    } else if (absent++ == 0) {
      first = m;
    }
  }
  if (absent == 0) return CAIRN_OK;
  return cairn_fail(err, CAIRN_CORRUPT,
                    "%zu arrays are in _METADATA and not in the store, the "
                    "first of them %s",
                    absent, cairn__path_show(first->entry->path).s);
}

static cairn_code_t check_string(cairn__tree_restore_t *r,
                                 const cairn__match_t *m, cairn_error_t *err) {
  cairn_bytes_t text;
  if (cairn__stored_string(&r->stored, m->entry->name, &text, err) != CAIRN_OK)
    return within_leaf(m, err);
  if (text.n != 0 && memchr(text.p, 0, text.n) != NULL)
    cairn__diffs_add(&r->diffs.unfit, m->entry->path,
                     " (the stored text holds a NUL)");
  else if (text.n >= m->leaf->capacity)
    cairn__diffs_add(&r->diffs.unfit, m->entry->path,
                     " (room for %zu bytes; stored: %zu and a NUL)",
                     m->leaf->capacity, text.n);
  return CAIRN_OK;
}

static cairn_code_t check_strings(cairn__tree_restore_t *r,
                                  cairn_error_t *err) {
  for (size_t i = 0; i < r->num_matches; i++)
    if (r->matches[i].leaf->kind == CAIRN_LEAF_STRING &&
        check_string(r, &r->matches[i], err) != CAIRN_OK)
      return err->code;
  return CAIRN_OK;
}

static bool has_strides(int rank, const int64_t *strides) {
  for (int i = 0; i < rank; i++)
    if (strides[i] != 0) return true;
  return false;
}

static cairn_code_t add_array(cairn__tree_restore_t *r, cairn_array_io_t *io,
                              const cairn_leaf_t *leaf, cairn_error_t *err) {
  cairn_region_t *regions =
      cairn__bump_calloc(&r->bump, leaf->num_boxes, sizeof *regions);
  if (regions == NULL) return no_memory(err);
  for (size_t i = 0; i < leaf->num_boxes; i++) {
    const cairn_box_t *b = &leaf->boxes[i];
    regions[i] = (cairn_region_t){
        .origin = b->origin,
        .extent = b->extent,
        .strides = has_strides(leaf->rank, b->strides) ? b->strides : NULL,
        .data = b->data};
  }
  io->regions = regions;
  io->n = leaf->num_boxes;
  return CAIRN_OK;
}

static cairn_code_t add_scalar(cairn__tree_restore_t *r, cairn_array_io_t *io,
                               void *data, cairn_error_t *err) {
  static const int64_t none;
  cairn_region_t *region = cairn__bump_calloc(&r->bump, 1, sizeof *region);
  if (region == NULL) return no_memory(err);
  *region = (cairn_region_t){.origin = &none, .extent = &none, .data = data};
  io->regions = region;
  io->n = 1;
  return CAIRN_OK;
}

/* Array i: straight into the target, or beside it when it must be converted. */
static cairn_code_t add_read(cairn__tree_restore_t *r, size_t i,
                             cairn_error_t *err) {
  const cairn_leaf_t *leaf = r->matches[r->array_of[i]].leaf;
  bool cast = leaf->kind == CAIRN_LEAF_SCALAR &&
              cairn_zarr_dtype(r->zarrs[i]) != leaf->dtype;
  if (leaf->kind == CAIRN_LEAF_ARRAY && leaf->num_boxes == 0) return CAIRN_OK;
  cairn_array_io_t *io = cast ? &r->cast_io[r->num_casts] : &r->io[r->num_io++];
  *io = (cairn_array_io_t){.name = r->names[i],
                           .zarr = r->zarrs[i],
                           .fill_missing = !r->stored.meta.stores_fill};
  if (leaf->kind == CAIRN_LEAF_ARRAY) return add_array(r, io, leaf, err);
  if (!cast) return add_scalar(r, io, leaf->data, err);
  cairn__cast_t *c = &r->casts[r->num_casts++];
  c->match = r->array_of[i];
  return add_scalar(r, io, c->raw, err);
}

static size_t count_casts(const cairn__tree_restore_t *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->num_arrays; i++) {
    const cairn_leaf_t *leaf = r->matches[r->array_of[i]].leaf;
    n += leaf->kind == CAIRN_LEAF_SCALAR &&
         cairn_zarr_dtype(r->zarrs[i]) != leaf->dtype;
  }
  return n;
}

static cairn_code_t list_reads(cairn__tree_restore_t *r, cairn_error_t *err) {
  size_t casts = count_casts(r);
  r->io = cairn__bump_calloc(&r->bump, r->num_arrays, sizeof *r->io);
  r->cast_io = cairn__bump_calloc(&r->bump, casts, sizeof *r->cast_io);
  r->casts = cairn__bump_calloc(&r->bump, casts, sizeof *r->casts);
  if (r->io == NULL || r->cast_io == NULL || r->casts == NULL)
    return no_memory(err);
  for (size_t i = 0; i < r->num_arrays; i++)
    if (add_read(r, i, err) != CAIRN_OK) return err->code;
  return CAIRN_OK;
}

cairn_code_t cairn__restore_fit(cairn__tree_restore_t *r, cairn_error_t *err) {
  if (check_strings(r, err) != CAIRN_OK || check_arrays(r, err) != CAIRN_OK)
    return err->code;
  if (cairn__diffs_any(&r->diffs)) return cairn__diffs_fail(&r->diffs, err);
  return list_reads(r, err);
}

/* Scalars and strings -------------------------------------------------------
 */

cairn_code_t cairn__restore_cast(cairn__tree_restore_t *r, cairn_error_t *err) {
  for (size_t i = 0; i < r->num_casts; i++) {
    cairn__cast_t *c = &r->casts[i];
    const cairn__match_t *m = &r->matches[c->match];
    cairn_dtype_t from = cairn_zarr_dtype(r->cast_io[i].zarr);
    if (!cairn__scalar_convert(from, c->raw, m->leaf->dtype, c->made))
      cairn__diffs_add(&r->diffs.unfit, m->entry->path,
                       " (the stored %s is no %s)", cairn_dtype_name(from),
                       cairn_dtype_name(m->leaf->dtype));
  }
  return cairn__diffs_any(&r->diffs) ? cairn__diffs_fail(&r->diffs, err)
                                     : CAIRN_OK;
}

cairn_code_t cairn__restore_store(cairn__tree_restore_t *r,
                                  cairn_error_t *err) {
  for (size_t i = 0; i < r->num_casts; i++) {
    const cairn_leaf_t *leaf = r->matches[r->casts[i].match].leaf;
    memcpy(leaf->data, r->casts[i].made, cairn_dtype_size(leaf->dtype));
  }
  for (size_t i = 0; i < r->num_matches; i++) {
    const cairn__match_t *m = &r->matches[i];
    cairn_bytes_t text;
    if (m->leaf->kind != CAIRN_LEAF_STRING) continue;
    if (cairn__stored_string(&r->stored, m->entry->name, &text, err) !=
        CAIRN_OK)
      return err->code;
    if (text.n != 0) memcpy(m->leaf->data, text.p, text.n);
    ((char *)m->leaf->data)[text.n] = 0;
    r->ctx->bytes += (int64_t)text.n;
  }
  return CAIRN_OK;
}
