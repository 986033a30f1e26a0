/* The built-in codecs, for the table in find.c. */
#ifndef CAIRN_CODEC_OPS_H_
#define CAIRN_CODEC_OPS_H_

#include "cairn/codec.h"

extern const cairn_codec_ops_t cairn__zstd_ops, cairn__gzip_ops,
    cairn__zlib_ops, cairn__crc32c_ops;

#endif
