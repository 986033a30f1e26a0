/* zarr.json (reference arrays.md A3). A member that is not known must say that
 * it need not be. */
#include "array/zarr.h"
#include "base/base.h"

#define ARRAY(x) (x), sizeof(x) / sizeof *(x)

/* {"name": ..., "configuration": ...}: what zarr 3 calls an extension point. */
static cairn_code_t take_named(const cairn_json_t *doc, const char *key,
                               cairn_bytes_t *name, const cairn_json_t **config,
                               cairn_error_t *err) {
  static const char *const keys[] = {"name", "configuration"};
  const cairn_json_t *v, *n;
  cairn_code_t rc = cairn__member(doc, key, &v, err);
  if (rc != CAIRN_OK) return rc;
  if (v->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want an object", key);
  n = cairn_json_get(v, "name");
  if (n == NULL || n->kind != CAIRN_JSON_STRING)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: name: want a string", key);
  *name = n->str;
  *config = cairn_json_get(v, "configuration");
  if (*config != NULL && (*config)->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: configuration: want an object",
                      key);
  rc = cairn__members_only(v, ARRAY(keys), err);
  return rc == CAIRN_OK ? rc : cairn_within(err, "%s", key);
}

static cairn_code_t unknown_name(const char *key, cairn_bytes_t name,
                                 cairn_error_t *err) {
  return cairn_fail(err, CAIRN_UNSUPPORTED, "%s: \"%.*s\"", key,
                    (int)(name.n < 64 ? name.n : 64), (const char *)name.p);
}

static cairn_code_t take_dtype(cairn_zarr_t *z, const cairn_json_t *doc,
                               cairn_error_t *err) {
  const cairn_json_t *v, *config;
  cairn_bytes_t name;
  cairn_code_t rc = cairn__member(doc, "data_type", &v, err);
  if (rc != CAIRN_OK) return rc;
  if (v->kind == CAIRN_JSON_STRING)
    name = v->str;
  else if ((rc = take_named(doc, "data_type", &name, &config, err)) != CAIRN_OK)
    return rc;
  z->dtype = cairn_dtype_from_name(name);
  return z->dtype != CAIRN_DTYPE_NONE ? CAIRN_OK
                                      : unknown_name("data_type", name, err);
}

static cairn_code_t take_grid(cairn_zarr_t *z, const cairn_json_t *doc,
                              cairn_error_t *err) {
  static const char *const keys[] = {"chunk_shape"};
  const cairn_json_t *config = NULL;
  cairn_bytes_t name;
  int64_t chunk[CAIRN_MAX_RANK];
  cairn_code_t rc = take_named(doc, "chunk_grid", &name, &config, err);
  if (rc != CAIRN_OK) return rc;
  if (!cairn__bytes_eq(name, cairn_bytes_str("regular")))
    return unknown_name("chunk_grid", name, err);
  rc = cairn__members_only(config, ARRAY(keys), err);
  if (rc == CAIRN_OK)
    rc = cairn__member_dims(config, "chunk_shape", 1, &z->rank, chunk, err);
  if (rc != CAIRN_OK) return cairn_within(err, "chunk_grid");
  z->chunk = cairn__zarr_dims(z, z->rank, chunk);
  return z->chunk != NULL ? CAIRN_OK
                          : cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
}

static cairn_code_t take_shape(cairn_zarr_t *z, const cairn_json_t *doc,
                               cairn_error_t *err) {
  int64_t shape[CAIRN_MAX_RANK];
  z->rank = -1;
  cairn_code_t rc = cairn__member_dims(doc, "shape", 0, &z->rank, shape, err);
  if (rc != CAIRN_OK) return rc;
  z->shape = cairn__zarr_dims(z, z->rank, shape);
  return z->shape != NULL ? CAIRN_OK
                          : cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
}

static cairn_code_t take_keys(cairn_zarr_t *z, const cairn_json_t *doc,
                              cairn_error_t *err) {
  static const char *const keys[] = {"separator"};
  static const char *const words[] = {".", "/"};
  const cairn_json_t *config;
  cairn_bytes_t name;
  cairn_code_t rc = take_named(doc, "chunk_key_encoding", &name, &config, err);
  if (rc != CAIRN_OK) return rc;
  z->prefixed_keys = cairn__bytes_eq(name, cairn_bytes_str("default"));
  if (!z->prefixed_keys && !cairn__bytes_eq(name, cairn_bytes_str("v2")))
    return unknown_name("chunk_key_encoding", name, err);
  size_t word = z->prefixed_keys ? 1 : 0;
  rc = cairn__members_only(config, ARRAY(keys), err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(config, "separator", ARRAY(words), false, &word,
                            err);
  z->separator = words[word][0];
  return rc == CAIRN_OK ? rc : cairn_within(err, "chunk_key_encoding");
}

/* One string or null for each dimension. */
static cairn_code_t check_labels(const cairn_zarr_t *z, const cairn_json_t *obj,
                                 const char *key, cairn_error_t *err) {
  const cairn_json_t *v = obj != NULL ? cairn_json_get(obj, key) : NULL;
  if (v == NULL) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_ARRAY || v->n != (size_t)z->rank)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want an array of %d", key,
                      z->rank);
  for (const cairn_json_t *e = v->child; e != NULL; e = e->next) {
    if (e->kind != CAIRN_JSON_STRING && e->kind != CAIRN_JSON_NULL)
      return cairn_fail(err, CAIRN_CORRUPT, "%s: want strings or null", key);
  }
  return CAIRN_OK;
}

static cairn_code_t check_optional(const cairn_zarr_t *z,
                                   const cairn_json_t *doc,
                                   cairn_error_t *err) {
  const cairn_json_t *attributes = cairn_json_get(doc, "attributes");
  const cairn_json_t *st = cairn_json_get(doc, "storage_transformers");
  if (attributes != NULL && attributes->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "attributes: want an object");
  if (st != NULL && st->kind != CAIRN_JSON_ARRAY)
    return cairn_fail(err, CAIRN_CORRUPT, "storage_transformers: want []");
  if (st != NULL && st->n != 0)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "storage_transformers: not empty");
  cairn_code_t rc = check_labels(z, doc, "dimension_names", err);
  if (rc != CAIRN_OK) return rc;
  rc = check_labels(z, attributes, "dimension_units", err);
  return rc == CAIRN_OK ? rc : cairn_within(err, "attributes");
}

/* Members of the document that may be ignored say so. */
static cairn_code_t check_unknown(const cairn_json_t *doc, cairn_error_t *err) {
  static const char *const keys[] = {"zarr_format",
                                     "node_type",
                                     "data_type",
                                     "fill_value",
                                     "shape",
                                     "chunk_grid",
                                     "codecs",
                                     "attributes",
                                     "dimension_names",
                                     "chunk_key_encoding",
                                     "storage_transformers"};
  for (const cairn_json_t *m = doc->child; m != NULL; m = m->next) {
    const cairn_json_t *must = cairn_json_get(m, "must_understand");
    if (must != NULL && must->kind == CAIRN_JSON_BOOL && !must->b) continue;
    cairn_code_t rc = cairn__member_known(m, ARRAY(keys), err);
    if (rc != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

static cairn_code_t take_fill(cairn_zarr_t *z, const cairn_json_t *doc,
                              cairn_error_t *err) {
  const cairn_json_t *v;
  cairn_code_t rc = cairn__member(doc, "fill_value", &v, err);
  if (rc != CAIRN_OK) return rc;
  return cairn__fill_parse(3, z->dtype, false, v, z->fill, err);
}

static cairn_code_t check_kind(const cairn_json_t *doc, cairn_error_t *err) {
  static const char *const array[] = {"array"};
  int64_t format;
  size_t word;
  cairn_code_t rc =
      cairn__member_int(doc, "zarr_format", 3, 3, true, &format, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(doc, "node_type", ARRAY(array), true, &word, err);
  return rc != CAIRN_OK ? rc : check_unknown(doc, err);
}

cairn_code_t cairn__zarr3_parse(cairn_zarr_t *z, const cairn_json_t *doc,
                                cairn_error_t *err) {
  cairn_code_t rc = check_kind(doc, err);
  if (rc == CAIRN_OK) rc = take_dtype(z, doc, err);
  if (rc == CAIRN_OK) rc = take_shape(z, doc, err);
  if (rc == CAIRN_OK) rc = take_grid(z, doc, err);
  if (rc == CAIRN_OK) rc = take_keys(z, doc, err);
  if (rc == CAIRN_OK) rc = take_fill(z, doc, err);
  if (rc == CAIRN_OK) rc = check_optional(z, doc, err);
  if (rc != CAIRN_OK) return rc;
  const cairn__chain_in_t in = {
      .dtype = z->dtype, .rank = z->rank, .shape = z->chunk};
  return cairn__chain_parse(z, doc, "codecs", &in, &z->chain, err);
}
