/* .zarray (reference arrays.md A2). Unknown members are kept and ignored. */
#include "array/zarr.h"
#include "base/base.h"

static cairn_code_t take_dtype(const cairn_json_t *doc, cairn_dtype_t *out,
                               bool *big, cairn_error_t *err) {
  const cairn_json_t *v;
  cairn_code_t rc = cairn__member(doc, "dtype", &v, err);
  if (rc != CAIRN_OK) return rc;
  if (v->kind == CAIRN_JSON_ARRAY)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "dtype: structured type");
  if (v->kind != CAIRN_JSON_STRING)
    return cairn_fail(err, CAIRN_CORRUPT, "dtype: want a string");
  *out = cairn__dtype_from_zarr2(v->str, big);
  if (*out == CAIRN_DTYPE_NONE)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "dtype: \"%.*s\"",
                      (int)(v->str.n < 64 ? v->str.n : 64),
                      (const char *)v->str.p);
  return CAIRN_OK;
}

/* "F": the first dimension is the fastest, which is a reversal. */
static cairn_code_t take_order(const cairn_json_t *doc, cairn__chain_t *c,
                               cairn_error_t *err) {
  static const char *const words[] = {"C", "F"};
  uint8_t reversed[CAIRN_MAX_RANK];
  size_t word;
  cairn_code_t rc =
      cairn__member_word(doc, "order", words, 2, true, &word, err);
  if (rc != CAIRN_OK || word == 0) return rc;
  for (int d = 0; d < c->rank; d++) reversed[d] = (uint8_t)(c->rank - 1 - d);
  cairn__chain_transpose(c, reversed);
  return CAIRN_OK;
}

static cairn_code_t take_compressor(cairn_zarr_t *z, const cairn_json_t *doc,
                                    cairn_error_t *err) {
  const cairn_json_t *v, *id;
  cairn__stage_t stage;
  cairn_code_t rc = cairn__member(doc, "compressor", &v, err);
  if (rc != CAIRN_OK || v->kind == CAIRN_JSON_NULL) return rc;
  if (v->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "compressor: want null or an object");
  id = cairn_json_get(v, "id");
  if (id == NULL || id->kind != CAIRN_JSON_STRING)
    return cairn_fail(err, CAIRN_CORRUPT, "compressor: id: want a string");
  rc = cairn__stage_parse(2, id->str, v, &stage, err);
  if (rc != CAIRN_OK) return cairn_within(err, "compressor");
  return cairn__chain_add(z, z->chain, &stage, err);
}

static cairn_code_t take_filters(const cairn_json_t *doc, cairn_error_t *err) {
  const cairn_json_t *v;
  cairn_code_t rc = cairn__member(doc, "filters", &v, err);
  if (rc != CAIRN_OK || v->kind == CAIRN_JSON_NULL) return rc;
  if (v->kind != CAIRN_JSON_ARRAY)
    return cairn_fail(err, CAIRN_CORRUPT, "filters: want null or an array");
  return v->n == 0 ? CAIRN_OK
                   : cairn_fail(err, CAIRN_UNSUPPORTED, "filters: not empty");
}

static cairn_code_t take_separator(cairn_zarr_t *z, const cairn_json_t *doc,
                                   cairn_error_t *err) {
  static const char *const words[] = {".", "/"};
  size_t word = 0;
  cairn_code_t rc = cairn__member_word(doc, "dimension_separator", words, 2,
                                       false, &word, err);
  z->separator = words[word][0];
  return rc;
}

static cairn_code_t take_grid(cairn_zarr_t *z, const cairn_json_t *doc,
                              cairn_error_t *err) {
  int64_t shape[CAIRN_MAX_RANK], chunk[CAIRN_MAX_RANK];
  z->rank = -1;
  cairn_code_t rc = cairn__member_dims(doc, "shape", 0, &z->rank, shape, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_dims(doc, "chunks", 1, &z->rank, chunk, err);
  if (rc != CAIRN_OK) return rc;
  z->shape = cairn__zarr_dims(z, z->rank, shape);
  z->chunk = cairn__zarr_dims(z, z->rank, chunk);
  if (z->shape == NULL || z->chunk == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  return CAIRN_OK;
}

static cairn_code_t take_fill(cairn_zarr_t *z, const cairn_json_t *doc,
                              bool big, cairn_error_t *err) {
  const cairn_json_t *v;
  cairn_code_t rc = cairn__member(doc, "fill_value", &v, err);
  if (rc != CAIRN_OK) return rc;
  return cairn__fill_parse(2, z->dtype, big, v, z->fill, err);
}

cairn_code_t cairn__zarr2_parse(cairn_zarr_t *z, const cairn_json_t *doc,
                                cairn_error_t *err) {
  int64_t format;
  bool big = false;
  cairn_code_t rc =
      cairn__member_int(doc, "zarr_format", 2, 2, true, &format, err);
  if (rc == CAIRN_OK) rc = take_grid(z, doc, err);
  if (rc == CAIRN_OK) rc = take_dtype(doc, &z->dtype, &big, err);
  if (rc == CAIRN_OK) rc = take_fill(z, doc, big, err);
  if (rc != CAIRN_OK) return rc;
  rc = cairn__chain_new(z, z->dtype, z->rank, z->chunk, &z->chain, err);
  if (rc != CAIRN_OK) return cairn_within(err, "chunks");
  cairn__chain_endian(z->chain, big);
  rc = take_order(doc, z->chain, err);
  if (rc == CAIRN_OK) rc = take_compressor(z, doc, err);
  if (rc == CAIRN_OK) rc = take_filters(doc, err);
  if (rc == CAIRN_OK) rc = take_separator(z, doc, err);
  return rc;
}
