/* Metadata for what Cairn writes: the text as TensorStore emits it for Orbax's
 * choices (reference arrays.md A2.2, A3.2), then read like any other. */
#include <inttypes.h>

#include "array/zarr.h"
#include "base/base.h"

static cairn_code_t invalid(cairn_error_t *err, const char *what) {
  return cairn_fail(err, CAIRN_INVALID, "zarr: %s", what);
}

static cairn_code_t check_dims(const cairn_zarr_spec_t *s, cairn_error_t *err) {
  cairn__box_t chunk = {.rank = s->rank};
  int64_t n;
  for (int d = 0; d < s->rank; d++) {
    if (s->shape[d] < 0 || s->shape[d] == INT64_MAX)
      return cairn_fail(err, CAIRN_INVALID, "zarr: shape[%d] is %" PRId64, d,
                        s->shape[d]);
    if (s->chunk[d] < 1 || s->chunk[d] == INT64_MAX)
      return cairn_fail(err, CAIRN_INVALID, "zarr: chunk[%d] is %" PRId64, d,
                        s->chunk[d]);
    chunk.extent[d] = s->chunk[d];
  }
  if (!cairn__box_volume(&chunk, &n) ||
      __builtin_mul_overflow(n, (int64_t)cairn_dtype_size(s->dtype), &n))
    return invalid(err, "a chunk is above 2^63-1 bytes");
  return CAIRN_OK;
}

static cairn_code_t check_spec(const cairn_zarr_spec_t *s, cairn_error_t *err) {
  if (s->version != 2 && s->version != 3)
    return cairn_fail(err, CAIRN_INVALID, "zarr: version %d, want 2 or 3",
                      s->version);
  if (cairn_dtype_size(s->dtype) == 0)
    return cairn_fail(err, CAIRN_INVALID, "zarr: dtype %d is none",
                      (int)s->dtype);
  if (s->rank < 0 || s->rank > CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID, "zarr: rank %d, want 0..%d", s->rank,
                      CAIRN_MAX_RANK);
  if (s->sharded && s->rank == CAIRN_MAX_RANK)
    return cairn_fail(err, CAIRN_INVALID,
                      "zarr: sharded of rank %d, at most %d", s->rank,
                      CAIRN_MAX_RANK - 1);
  if (s->level < -131072 || s->level > 22)
    return cairn_fail(err, CAIRN_INVALID, "zarr: level %d, want -131072..22",
                      s->level);
  if (s->version == 2 && (s->sharded || s->crc32c))
    return invalid(err, "sharded and crc32c are of version 3");
  return check_dims(s, err);
}

static void put_dims(cairn_buf_t *b, int rank, const int64_t *dims) {
  cairn_buf_put_u8(b, '[');
  for (int d = 0; d < rank; d++)
    cairn_buf_printf(b, d == 0 ? "%" PRId64 : ",%" PRId64, dims[d]);
  cairn_buf_put_u8(b, ']');
}

static void put_zarr2(cairn_buf_t *b, const cairn_zarr_spec_t *s) {
  cairn_buf_put_str(b, "{\"chunks\":");
  put_dims(b, s->rank, s->chunk);
  if (s->compress)
    cairn_buf_printf(b, ",\"compressor\":{\"id\":\"zstd\",\"level\":%d}",
                     s->level != 0 ? s->level : 1);
  else
    cairn_buf_put_str(b, ",\"compressor\":null");
  cairn_buf_printf(b, ",\"dimension_separator\":\".\",\"dtype\":\"%s\"",
                   cairn__dtype_zarr2(s->dtype));
  cairn_buf_put_str(
      b, ",\"fill_value\":null,\"filters\":null,\"order\":\"C\",\"shape\":");
  put_dims(b, s->rank, s->shape);
  cairn_buf_put_str(b, ",\"zarr_format\":2}");
}

/* The codecs of one chunk. Types of one byte have no byte order to state. */
static void put_codecs(cairn_buf_t *b, const cairn_zarr_spec_t *s) {
  cairn_buf_put_str(b, "[{");
  if (cairn__dtype_unit(s->dtype) != 0)
    cairn_buf_put_str(b, "\"configuration\":{\"endian\":\"little\"},");
  cairn_buf_put_str(b, "\"name\":\"bytes\"}");
  if (s->compress)
    cairn_buf_printf(b,
                     ",{\"configuration\":{\"checksum\":false,\"level\":%d},"
                     "\"name\":\"zstd\"}",
                     s->level != 0 ? s->level : 3);
  if (s->crc32c) cairn_buf_put_str(b, ",{\"name\":\"crc32c\"}");
  cairn_buf_put_u8(b, ']');
}

static void put_sharding(cairn_buf_t *b, const cairn_zarr_spec_t *s) {
  cairn_buf_put_str(b, "[{\"configuration\":{\"chunk_shape\":");
  put_dims(b, s->rank, s->chunk);
  cairn_buf_put_str(b, ",\"codecs\":");
  put_codecs(b, s);
  cairn_buf_put_str(
      b,
      ",\"index_codecs\":[{\"configuration\":{\"endian\":\"little\"},"
      "\"name\":\"bytes\"},{\"name\":\"crc32c\"}]},"
      "\"name\":\"sharding_indexed\"}]");
}

static const char *zero_of(cairn_dtype_t t) {
  switch (cairn__dtype_kind(t)) {
    case CAIRN__KIND_BOOL:
      return "false";
    case CAIRN__KIND_FLOAT:
      return "0.0";
    case CAIRN__KIND_COMPLEX:
      return "[0.0,0.0]";
    default:
      return "0";
  }
}

static void put_zarr3(cairn_buf_t *b, const cairn_zarr_spec_t *s) {
  cairn_buf_put_str(b, "{\"chunk_grid\":{\"configuration\":{\"chunk_shape\":");
  put_dims(b, s->rank, s->chunk);
  cairn_buf_put_str(b,
                    "},\"name\":\"regular\"},\"chunk_key_encoding\":{\"name\":"
                    "\"default\"},\"codecs\":");
  if (s->sharded)
    put_sharding(b, s);
  else
    put_codecs(b, s);
  cairn_buf_printf(b,
                   ",\"data_type\":\"%s\",\"fill_value\":%s,\"node_type\":"
                   "\"array\",\"shape\":",
                   cairn_dtype_name(s->dtype), zero_of(s->dtype));
  put_dims(b, s->rank, s->shape);
  cairn_buf_put_str(b, ",\"zarr_format\":3}");
}

cairn_code_t cairn_zarr_make(const cairn_zarr_spec_t *spec, cairn_zarr_t **out,
                             cairn_error_t *err) {
  cairn_zarr_spec_t s;
  cairn_buf_t text = {0};
  *out = NULL;
  cairn_code_t rc = cairn__options_take(
      spec, &s, sizeof s, CAIRN__SIZE_UP_TO(cairn_zarr_spec_t, frame_checksum),
      err);
  if (rc == CAIRN_OK) rc = check_spec(&s, err);
  if (rc != CAIRN_OK) return rc;
  if (s.version == 2)
    put_zarr2(&text, &s);
  else
    put_zarr3(&text, &s);
  if (text.failed)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "array metadata");
  else
    rc = cairn_zarr_parse(s.version, cairn_buf_bytes(&text), out, err);
  cairn_buf_reset(&text);
  if (rc == CAIRN_OK) (*out)->frame_checksum = s.frame_checksum;
  return rc;
}
