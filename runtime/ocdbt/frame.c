/* The envelope of every encoded object (section 3) and its compression
 * (section 4): exactly one zstd frame, decoded in streaming mode because most
 * frames do not say how long their content is. */
#include <inttypes.h>
#include <zstd.h>

#include "ocdbt/wire.h"

#define SMALLEST 16

uint32_t cairn__frame_magic(cairn_bytes_t in) {
  if (in.n < 4) return 0;
  return (uint32_t)in.p[0] << 24 | (uint32_t)in.p[1] << 16 |
         (uint32_t)in.p[2] << 8 | in.p[3];
}

/* One call of the decompressor, with room to write to. */
static cairn_code_t unzstd_step(ZSTD_DStream *d, ZSTD_inBuffer *in, size_t max,
                                cairn_buf_t *out, size_t *hint,
                                cairn_error_t *err) {
  if (out->n == out->cap && !cairn_buf_reserve(out, 1))
    return cairn_fail(err, CAIRN_NO_MEMORY, "decompressed body");
  ZSTD_outBuffer o = {out->p, out->cap, out->n};
  size_t before = in->pos;
  *hint = ZSTD_decompressStream(d, &o, in);
  if (ZSTD_isError(*hint))
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: %s", ZSTD_getErrorName(*hint));
  bool stuck = o.pos == out->n && in->pos == before;
  out->n = o.pos;
  if (out->n > max)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: body above %zu bytes", max);
  if (*hint != 0 && in->pos == in->size && (stuck || out->n < out->cap))
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: frame is cut short");
  return CAIRN_OK;
}

static cairn_code_t unzstd(cairn_bytes_t body, size_t max, cairn_buf_t *out,
                           cairn_error_t *err) {
  ZSTD_DStream *d = ZSTD_createDStream();
  if (d == NULL || !cairn_buf_reserve(out, 4096)) {
    ZSTD_freeDStream(d);
    return cairn_fail(err, CAIRN_NO_MEMORY, "decompress %zu bytes", body.n);
  }
  ZSTD_inBuffer in = {body.p, body.n, 0};
  size_t hint = 1;
  cairn_code_t rc = CAIRN_OK;
  while (rc == CAIRN_OK && hint != 0)
    rc = unzstd_step(d, &in, max, out, &hint, err);
  if (rc == CAIRN_OK && in.pos != in.size)
    rc = cairn_fail(err, CAIRN_CORRUPT,
                    "trailing compressed data: %zu bytes after the zstd frame",
                    in.size - in.pos);
  ZSTD_freeDStream(d);
  return rc;
}

static cairn_code_t check_head(cairn_bytes_t in, uint32_t magic,
                               cairn_error_t *err) {
  if (in.n < SMALLEST)
    return cairn_fail(err, CAIRN_CORRUPT, "too short: %zu bytes", in.n);
  if (cairn__frame_magic(in) != magic)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "magic %08" PRIx32 ", want %08" PRIx32,
                      cairn__frame_magic(in), magic);
  cairn_cur_t c = cairn_cur(cairn_bytes(in.p + 4, 8));
  uint64_t length = 0;
  if (!cairn_cur_u64le(&c, &length) || length != in.n)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "length %" PRIu64 " in the header of %zu bytes", length,
                      in.n);
  return CAIRN_OK;
}

static cairn_code_t check_sum(cairn_bytes_t in, cairn_error_t *err) {
  size_t n = in.n - CAIRN__FRAME_TAIL;
  cairn_cur_t c = cairn_cur(cairn_bytes(in.p + n, CAIRN__FRAME_TAIL));
  uint32_t want = 0, sum = cairn__crc32c(0, in.p, n);
  if (!cairn_cur_u32le(&c, &want) || sum != want)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "checksum %08" PRIx32 ", want %08" PRIx32, sum, want);
  return CAIRN_OK;
}

/* A head field that may not be above `most`. */
static cairn_code_t head_field(cairn__wire_t *w, const char *field,
                               uint32_t most, uint32_t *out) {
  if (cairn__wire_varint32(w, field, out) != CAIRN_OK) return CAIRN_CORRUPT;
  if (*out > most)
    return cairn__wire_corrupt(w, field, "is %" PRIu32 ", at most %" PRIu32,
                               *out, most);
  return CAIRN_OK;
}

cairn_code_t cairn__frame_open(cairn_bytes_t in, uint32_t magic, size_t max,
                               cairn_buf_t *plain, cairn_bytes_t *body,
                               cairn_error_t *err) {
  cairn_code_t rc = check_head(in, magic, err);
  if (rc != CAIRN_OK) return rc;
  cairn__wire_t w = {.object = "envelope", .err = err};
  uint32_t version = 0, compression = 0;
  w.cur = cairn_cur(cairn_bytes(in.p, in.n - CAIRN__FRAME_TAIL));
  w.cur.p += 12;
  if ((rc = head_field(&w, "version", 0, &version)) != CAIRN_OK ||
      (rc = head_field(&w, "compression", 1, &compression)) != CAIRN_OK ||
      (rc = check_sum(in, err)) != CAIRN_OK)
    return rc;
  *body = cairn_bytes(w.cur.p, cairn_cur_left(&w.cur));
  if (compression == 0) return CAIRN_OK;
  rc = unzstd(*body, max, plain, err);
  *body = cairn_buf_bytes(plain);
  return rc;
}

static cairn_code_t put_zstd(int32_t level, cairn_bytes_t body,
                             cairn_buf_t *out, cairn_error_t *err) {
  size_t bound = ZSTD_compressBound(body.n);
  if (ZSTD_isError(bound) || !cairn_buf_reserve(out, bound))
    return cairn_fail(err, CAIRN_NO_MEMORY, "compress %zu bytes", body.n);
  size_t n = ZSTD_compress(out->p + out->n, bound, body.p, body.n, level);
  if (ZSTD_isError(n))
    return cairn_fail(err, CAIRN_NO_MEMORY, "compress %zu bytes: %s", body.n,
                      ZSTD_getErrorName(n));
  out->n += n;
  return CAIRN_OK;
}

/* The length is known only after compression: a hole first. */
cairn_code_t cairn__frame_put(const cairn__ocdbt_config_t *config,
                              uint32_t magic, cairn_bytes_t body,
                              cairn_buf_t *out, cairn_error_t *err) {
  size_t start = out->n;
  for (int shift = 24; shift >= 0; shift -= 8)
    cairn_buf_put_u8(out, (uint8_t)(magic >> shift));
  cairn_buf_put_u64le(out, 0);
  cairn_buf_put_u8(out, 0);
  cairn_buf_put_u8(out, config->zstd);
  if (!config->zstd)
    cairn_buf_put(out, body.p, body.n);
  else if (put_zstd(config->zstd_level, body, out, err) != CAIRN_OK)
    return CAIRN_NO_MEMORY;
  if (!cairn_buf_reserve(out, CAIRN__FRAME_TAIL))
    return cairn_fail(err, CAIRN_NO_MEMORY, "encoded object");
  uint64_t length = out->n - start + CAIRN__FRAME_TAIL;
  for (int i = 0; i < 8; i++)
    out->p[start + 4 + i] = (uint8_t)(length >> (8 * i));
  cairn_buf_put_u32le(out, cairn__crc32c(0, out->p + start, out->n - start));
  return CAIRN_OK;
}
