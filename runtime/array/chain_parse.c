/* zarr 3's list of codecs: some that permute, one that lays out (bytes or
 * sharding_indexed), some over the bytes, in this order. */
#include "array/zarr.h"
#include "base/base.h"

#define ARRAY(x) (x), sizeof(x) / sizeof *(x)

struct entry {
  cairn_bytes_t name;
  const cairn_json_t *config; /* NULL: absent */
};

static bool is(const struct entry *e, const char *name) {
  return cairn__bytes_eq(e->name, cairn_bytes_str(name));
}

static cairn_code_t take_entry(const cairn_json_t *v, struct entry *out,
                               cairn_error_t *err) {
  static const char *const keys[] = {"name", "configuration"};
  if (v->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "want an object");
  const cairn_json_t *name;
  cairn_code_t rc = cairn__member(v, "name", &name, err);
  if (rc == CAIRN_OK) rc = cairn__members_only(v, ARRAY(keys), err);
  if (rc != CAIRN_OK) return rc;
  if (name->kind != CAIRN_JSON_STRING)
    return cairn_fail(err, CAIRN_CORRUPT, "name: want a string");
  out->name = name->str;
  out->config = cairn_json_get(v, "configuration");
  if (out->config != NULL && out->config->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "configuration: want an object");
  return CAIRN_OK;
}

/* "C", "F" or a permutation. */
static cairn_code_t take_order(const cairn_json_t *v, int rank, uint8_t *order,
                               cairn_error_t *err) {
  bool reversed = cairn_json_is_str(v, "F"), seen[CAIRN_MAX_RANK] = {0};
  for (int d = 0; d < rank; d++)
    order[d] = (uint8_t)(reversed ? rank - 1 - d : d);
  if (reversed || cairn_json_is_str(v, "C")) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_ARRAY || v->n != (size_t)rank)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "order: want \"C\", \"F\" or %d integers", rank);
  int d = 0;
  for (const cairn_json_t *e = v->child; e != NULL; e = e->next) {
    int64_t n;
    if (!cairn_json_int(e, &n) || n < 0 || n >= rank || seen[n])
      return cairn_fail(err, CAIRN_CORRUPT, "order[%d]: not a permutation", d);
    seen[n] = true;
    order[d++] = (uint8_t)n;
  }
  return CAIRN_OK;
}

static cairn_code_t parse_transpose(cairn__chain_t *c, const struct entry *e,
                                    cairn_error_t *err) {
  static const char *const keys[] = {"order"};
  uint8_t order[CAIRN_MAX_RANK];
  const cairn_json_t *v;
  cairn_code_t rc = cairn__members_only(e->config, ARRAY(keys), err);
  if (rc == CAIRN_OK) rc = cairn__member(e->config, "order", &v, err);
  if (rc == CAIRN_OK) rc = take_order(v, c->rank, order, err);
  if (rc == CAIRN_OK) cairn__chain_transpose(c, order);
  return rc;
}

static cairn_code_t parse_bytes(cairn__chain_t *c, const struct entry *e,
                                cairn_error_t *err) {
  static const char *const keys[] = {"endian"};
  static const char *const words[] = {"little", "big"};
  size_t word = 0;
  bool required = cairn__dtype_unit(c->dtype) != 0;
  cairn_code_t rc = cairn__members_only(e->config, ARRAY(keys), err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(e->config, "endian", ARRAY(words), required, &word,
                            err);
  if (rc == CAIRN_OK) cairn__chain_endian(c, word == 1);
  return rc;
}

/* The inner chunks of a shard and how many there are. */
static cairn_code_t take_inner(cairn_zarr_t *z, cairn__chain_t *c,
                               const cairn_json_t *config, int64_t *sub,
                               cairn_error_t *err) {
  cairn__shard_t *s = c->shard;
  cairn_code_t rc =
      cairn__member_dims(config, "chunk_shape", 1, &(int){c->rank}, sub, err);
  if (rc != CAIRN_OK) return rc;
  cairn__box_t grid = {.rank = c->rank};
  for (int d = 0; d < c->rank; d++) {
    if (c->encoded[d] % sub[d] != 0)
      return cairn_fail(err, CAIRN_CORRUPT,
                        "chunk_shape[%d]: %lld does not divide %lld", d,
                        (long long)sub[d], (long long)c->encoded[d]);
    grid.extent[d] = c->encoded[d] / sub[d];
  }
  if (!cairn__box_volume(&grid, &s->n) || s->n > CAIRN__MAX_SHARD)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "chunk_shape: more than 2^30 inner chunks");
  if (c->rank == CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "chunk_shape: %d dimensions, a shard has at most %d",
                      c->rank, CAIRN_MAX_RANK - 1);
  s->grid = cairn__zarr_dims(z, c->rank, grid.extent);
  return s->grid != NULL ? CAIRN_OK
                         : cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
}

/* The index is an array of its own: uint64, the grid's shape and a pair. */
static cairn_code_t take_index(cairn_zarr_t *z, cairn__chain_t *c,
                               const cairn_json_t *config, cairn_error_t *err) {
  cairn__shard_t *s = c->shard;
  int64_t shape[CAIRN_MAX_RANK];
  if (c->rank > 0) memcpy(shape, s->grid, (size_t)c->rank * sizeof *shape);
  shape[c->rank] = 2;
  const cairn__chain_in_t in = {
      .dtype = CAIRN_U64, .rank = c->rank + 1, .shape = shape, .index = true};
  cairn_code_t rc =
      cairn__chain_parse(z, config, "index_codecs", &in, &s->index, err);
  if (rc != CAIRN_OK) return rc;
  s->index_bytes = cairn__chain_fixed_bytes(s->index);
  if (s->index_bytes < 0)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "index_codecs: only bytes, transpose and crc32c, whose "
                      "size is fixed");
  return CAIRN_OK;
}

static cairn_code_t parse_sharding(cairn_zarr_t *z, cairn__chain_t *c,
                                   const struct entry *e, int depth,
                                   cairn_error_t *err) {
  static const char *const keys[] = {"chunk_shape", "codecs", "index_codecs",
                                     "index_location"};
  static const char *const places[] = {"end", "start"};
  int64_t sub[CAIRN_MAX_RANK];
  size_t place = 0;
  if (depth == CAIRN__MAX_NESTING)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "sharding nested more than %d times", CAIRN__MAX_NESTING);
  c->shard = cairn__zarr_alloc(z, sizeof *c->shard);
  if (c->shard == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  cairn_code_t rc = cairn__members_only(e->config, ARRAY(keys), err);
  if (rc == CAIRN_OK) rc = take_inner(z, c, e->config, sub, err);
  if (rc == CAIRN_OK)
    rc = cairn__member_word(e->config, "index_location", ARRAY(places), false,
                            &place, err);
  if (rc == CAIRN_OK) rc = take_index(z, c, e->config, err);
  if (rc != CAIRN_OK) return rc;
  c->shard->at_start = place == 1;
  const cairn__chain_in_t in = {
      .dtype = c->dtype, .rank = c->rank, .shape = sub, .depth = depth + 1};
  return cairn__chain_parse(z, e->config, "codecs", &in, &c->shard->inner, err);
}

static cairn_code_t misplaced(const char *why, cairn_error_t *err) {
  return cairn_fail(err, CAIRN_CORRUPT, "%s", why);
}

/* A codec that permutes or lays out. */
static cairn_code_t parse_layout(cairn_zarr_t *z, cairn__chain_t *c,
                                 const struct entry *e,
                                 const cairn__chain_in_t *in, bool *laid_out,
                                 cairn_error_t *err) {
  if (*laid_out)
    return misplaced(is(e, "transpose") ? "must come before bytes"
                                        : "the elements are bytes already",
                     err);
  if (is(e, "transpose")) return parse_transpose(c, e, err);
  *laid_out = true;
  if (is(e, "bytes")) return parse_bytes(c, e, err);
  if (in->index) return cairn_fail(err, CAIRN_UNSUPPORTED, "in an index");
  return parse_sharding(z, c, e, in->depth, err);
}

static cairn_code_t parse_over_bytes(cairn_zarr_t *z, cairn__chain_t *c,
                                     const struct entry *e, bool laid_out,
                                     cairn_error_t *err) {
  cairn__stage_t stage;
  cairn_code_t rc = cairn__stage_parse(3, e->name, e->config, &stage, err);
  if (rc != CAIRN_OK) return rc;
  if (!laid_out) return misplaced("comes before the elements are bytes", err);
  if (c->shard != NULL) return misplaced("comes after sharding_indexed", err);
  return cairn__chain_add(z, c, &stage, err);
}

static cairn_code_t parse_codec(cairn_zarr_t *z, cairn__chain_t *c,
                                const cairn_json_t *v,
                                const cairn__chain_in_t *in, bool *laid_out,
                                cairn_error_t *err) {
  struct entry e;
  cairn_code_t rc = take_entry(v, &e, err);
  if (rc != CAIRN_OK) return rc;
  if (!is(&e, "transpose") && !is(&e, "bytes") && !is(&e, "sharding_indexed"))
    return parse_over_bytes(z, c, &e, *laid_out, err);
  rc = parse_layout(z, c, &e, in, laid_out, err);
  return rc == CAIRN_OK
             ? rc
             : cairn_within(err, "%.*s", (int)e.name.n, (const char *)e.name.p);
}

cairn_code_t cairn__chain_parse(cairn_zarr_t *z, const cairn_json_t *obj,
                                const char *key, const cairn__chain_in_t *in,
                                cairn__chain_t **out, cairn_error_t *err) {
  const cairn_json_t *list;
  bool laid_out = false;
  size_t i = 0;
  cairn_code_t rc = cairn__member(obj, key, &list, err);
  if (rc != CAIRN_OK) return rc;
  if (list->kind != CAIRN_JSON_ARRAY)
    return cairn_fail(err, CAIRN_CORRUPT, "%s: want an array", key);
  rc = cairn__chain_new(z, in->dtype, in->rank, in->shape, out, err);
  if (rc != CAIRN_OK) return cairn_within(err, "chunk_shape");
  for (const cairn_json_t *v = list->child; v != NULL && rc == CAIRN_OK;
       v = v->next, i++) {
    rc = parse_codec(z, *out, v, in, &laid_out, err);
    if (rc != CAIRN_OK) return cairn_within(err, "%s[%zu]", key, i);
  }
  if (laid_out) return CAIRN_OK;
  return cairn_fail(err, CAIRN_CORRUPT,
                    "%s: none that turns elements into bytes", key);
}
