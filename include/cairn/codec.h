/* Codecs: bytes to bytes, on a CPU thread. There are four, built in: zstd,
 * gzip, zlib, crc32c; what others TensorStore may know is CAIRN_UNSUPPORTED.
 * (How array elements become bytes, transposed or byte-swapped, belongs to the
 * array's layout and is in <cairn/array.h>.) */
#ifndef CAIRN_CODEC_H_
#define CAIRN_CODEC_H_

#include "cairn/buf.h"
#include "cairn/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_codec_params {
  size_t size;   /* sizeof this struct */
  int level;     /* zstd, gzip, zlib */
  bool checksum; /* zstd: content checksum in the frame */
  bool store;    /* zstd: one frame of raw blocks, at copy speed */
} cairn_codec_params_t;

typedef struct cairn_codec_ops {
  size_t size;
  const char *name; /* as in zarr 3 metadata: "zstd" */
  /* Appends the encoding of in to out. CAIRN_NO_MEMORY, CAIRN_INTERNAL. */
  cairn_code_t (*encode)(const cairn_codec_params_t *p, cairn_bytes_t in,
                         cairn_buf_t *out, cairn_error_t *err);
  /* Appends the decoding of in to out: at most `max` bytes, and all of `in`
   * must be used. More output, bytes left over, or a bad sum: CAIRN_CORRUPT.
   * Memory taken is bounded by max, whatever `in` claims. */
  cairn_code_t (*decode)(const cairn_codec_params_t *p, cairn_bytes_t in,
                         size_t max, cairn_buf_t *out, cairn_error_t *err);
} cairn_codec_ops_t;

/* The built-in codec of that name, or NULL; const for ever. Any thread. */
CAIRN_API const cairn_codec_ops_t *cairn_codec_find(cairn_bytes_t name);

#ifdef __cplusplus
}
#endif
#endif
