/* crc32c: the input and four bytes of its CRC-32C, little endian. */
#include "base/base.h"
#include "codec/codec.h"
#include "codec/ops.h"

#define SUM_BYTES 4

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "crc32c: out of memory");
}

static cairn_code_t sum_encode(const cairn_codec_params_t *p, cairn_bytes_t in,
                               cairn_buf_t *out, cairn_error_t *err) {
  (void)p;
  if (in.n > SIZE_MAX - SUM_BYTES || !cairn_buf_reserve(out, in.n + SUM_BYTES))
    return no_memory(err);
  uint32_t sum = 0;
  if (in.n != 0) sum = cairn__crc32c_copy(0, out->p + out->n, in.p, in.n);
  out->n += in.n;
  for (int i = 0; i < SUM_BYTES; i++)
    out->p[out->n++] = (uint8_t)(sum >> 8 * i);
  return CAIRN_OK;
}

cairn_code_t cairn__crc32c_strip(cairn_bytes_t *in, cairn_error_t *err) {
  if (in->n < SUM_BYTES)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "crc32c: %zu bytes, too short for a sum", in->n);
  const uint8_t *s = in->p + in->n - SUM_BYTES;
  uint32_t stored = (uint32_t)s[0] | (uint32_t)s[1] << 8 |
                    (uint32_t)s[2] << 16 | (uint32_t)s[3] << 24;
  uint32_t sum = cairn__crc32c(0, in->p, in->n - SUM_BYTES);
  if (sum != stored)
    return cairn_fail(err, CAIRN_CORRUPT, "crc32c: sum is %08x, stored %08x",
                      sum, stored);
  in->n -= SUM_BYTES;
  return CAIRN_OK;
}

static cairn_code_t sum_decode(const cairn_codec_params_t *p, cairn_bytes_t in,
                               size_t max, cairn_buf_t *out,
                               cairn_error_t *err) {
  (void)p;
  cairn_code_t rc = cairn__crc32c_strip(&in, err);
  if (rc != CAIRN_OK) return rc;
  if (in.n > max)
    return cairn_fail(err, CAIRN_CORRUPT, "crc32c: more than %zu bytes", max);
  if (!cairn_buf_reserve(out, in.n)) return no_memory(err);
  if (in.n != 0) memcpy(out->p + out->n, in.p, in.n);
  out->n += in.n;
  return CAIRN_OK;
}

const cairn_codec_ops_t cairn__crc32c_ops = {
    .size = sizeof(cairn_codec_ops_t),
    .name = "crc32c",
    .encode = sum_encode,
    .decode = sum_decode,
};
