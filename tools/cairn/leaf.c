#include "leaf.h"

#include <stdlib.h>

#define PIECE_BYTES ((int64_t)64 << 20)

bool leaf_is_scalar(const cairn_leaf_info_t *leaf) {
  return leaf->has_data && strcmp(leaf->kind, "scalar") == 0;
}

bool leaf_is_string(const cairn_leaf_info_t *leaf) {
  return !leaf->has_data && strcmp(leaf->kind, "string") == 0;
}

int64_t leaf_elements(const cairn_leaf_info_t *leaf) {
  size_t size = cairn_dtype_size(leaf->dtype);
  return size != 0 ? leaf->bytes / (int64_t)size : 0;
}

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for a leaf");
}

/* Rows [first, first + rows) of the leaf, into *data. */
static cairn_code_t put_rows(cairn_tree_t *tree, const cairn_leaf_info_t *leaf,
                             int64_t first, int64_t rows, void *data,
                             cairn_error_t *err) {
  cairn_leaf_t at = {.kind = CAIRN_LEAF_ARRAY};
  cairn_array_t a = {.dtype = leaf->dtype, .rank = leaf->rank, .data = data};
  if (leaf_is_scalar(leaf)) {
    at = (cairn_leaf_t){
        .kind = CAIRN_LEAF_SCALAR, .dtype = leaf->dtype, .data = data};
    return cairn_tree_put(tree, leaf->path, leaf->path_n, &at, NULL, err);
  }
  for (int i = 0; i < leaf->rank; i++)
    a.shape[i] = a.extent[i] = leaf->shape[i];
  if (leaf->rank > 0) {
    a.origin[0] = first;
    a.extent[0] = rows;
  }
  return cairn_tree_put(tree, leaf->path, leaf->path_n, &at, &a, err);
}

cairn_code_t leaves_read(cairn_step_t *step, const char *item,
                         const cairn_leaf_info_t *leaves, const bool *want,
                         size_t n, cairn_tree_t **out, void **data,
                         cairn_error_t *err) {
  cairn_tree_t *tree;
  size_t wanted = 0;
  *out = NULL;
  cairn_code_t rc = cairn_tree_new(&tree, err);
  if (rc != CAIRN_OK) return rc;
  for (size_t i = 0; rc == CAIRN_OK && i < n; i++) {
    const cairn_leaf_info_t *leaf = &leaves[i];
    data[i] = NULL;
    if (!want[i]) continue;
    data[i] = cairn_tree_alloc(tree, (size_t)leaf->bytes + 1);
    if (data[i] == NULL)
      rc = no_memory(err);
    else
      rc = put_rows(tree, leaf, 0, leaf->rank > 0 ? leaf->shape[0] : 0, data[i],
                    err);
    wanted++;
  }
  if (rc == CAIRN_OK && wanted > 0) rc = cairn_step_read(step, item, tree, err);
  if (rc != CAIRN_OK)
    cairn_tree_free(tree);
  else
    *out = tree;
  return rc;
}

/* --- streams --- */

static int64_t rows_at_once(const cairn_leaf_info_t *leaf, int64_t row_bytes) {
  int64_t chunk = leaf->chunk[0] > 0 ? leaf->chunk[0] : 1;
  int64_t rows = PIECE_BYTES / row_bytes / chunk * chunk;
  if (rows < chunk) rows = chunk;
  return rows < leaf->shape[0] ? rows : leaf->shape[0];
}

static cairn_code_t read_rows(cairn_step_t *step, const char *item,
                              const cairn_leaf_info_t *leaf, int64_t first,
                              int64_t rows, void *data, cairn_error_t *err) {
  cairn_tree_t *tree;
  cairn_code_t rc = cairn_tree_new(&tree, err);
  if (rc != CAIRN_OK) return rc;
  rc = put_rows(tree, leaf, first, rows, data, err);
  if (rc == CAIRN_OK) rc = cairn_step_read(step, item, tree, err);
  cairn_tree_free(tree);
  return rc;
}

static cairn_code_t stream_rows(cairn_step_t *step, const char *item,
                                const cairn_leaf_info_t *leaf, leaf_fn fn,
                                void *arg, cairn_error_t *err) {
  int64_t row_bytes = leaf->bytes / leaf->shape[0];
  int64_t rows = rows_at_once(leaf, row_bytes), left = leaf->shape[0];
  size_t size = cairn_dtype_size(leaf->dtype);
  cairn_code_t rc = CAIRN_OK;
  int64_t bytes;
  void *piece = !__builtin_mul_overflow(rows, row_bytes, &bytes)
                    ? malloc((size_t)bytes)
                    : NULL;
  if (piece == NULL) return no_memory(err);
  for (int64_t at = 0; rc == CAIRN_OK && left > 0; at += rows, left -= rows) {
    if (rows > left) rows = left;
    rc = read_rows(step, item, leaf, at, rows, piece, err);
    if (rc == CAIRN_OK && !fn(arg, piece, (size_t)(rows * row_bytes) / size))
      break;
  }
  free(piece);
  return rc;
}

cairn_code_t leaf_stream(cairn_step_t *step, const char *item,
                         const cairn_leaf_info_t *leaf, leaf_fn fn, void *arg,
                         cairn_error_t *err) {
  _Alignas(16) uint8_t one[16];
  if (leaf_elements(leaf) == 0) return CAIRN_OK;
  if (leaf->rank > 0) return stream_rows(step, item, leaf, fn, arg, err);
  cairn_code_t rc = read_rows(step, item, leaf, 0, 0, one, err);
  if (rc == CAIRN_OK) fn(arg, one, 1);
  return rc;
}
