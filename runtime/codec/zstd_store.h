/* A zstd frame that does not compress. */
#ifndef CAIRN_CODEC_ZSTD_STORE_H_
#define CAIRN_CODEC_ZSTD_STORE_H_

#include "cairn/codec.h"

cairn_code_t cairn__zstd_store(cairn_bytes_t in, bool checksum,
                               cairn_buf_t *out, cairn_error_t *err);

#endif
