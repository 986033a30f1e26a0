/* The codec room's private side. */
#ifndef CAIRN_CODEC_CODEC_H_
#define CAIRN_CODEC_CODEC_H_

#include "cairn/codec.h"

/* True if the bytes, by a sample, shrink by at least an eighth under zstd level
 * 1: a few spread pieces are tried; of up to 64 KiB it is the entropy of two
 * pieces that decides, which takes a microsecond. Pure; CPU thread. */
bool cairn__zstd_pays(const void *p, size_t n);

/* Decodes one whole chain step by step lives in array/; this is one zstd frame
 * into a buffer of known size: exactly n bytes or CAIRN_CORRUPT. Requires that
 * the frame's unused header bit is zero, so that every flipped bit is noticed.
 */
cairn_code_t cairn__zstd_decode_into(cairn_bytes_t in, void *dst, size_t n,
                                     cairn_error_t *err);

/* Verifies the four bytes of CRC-32C at the end of *in and takes them off,
 * without a copy of what is before them. CAIRN_CORRUPT otherwise. */
cairn_code_t cairn__crc32c_strip(cairn_bytes_t *in, cairn_error_t *err);

#endif
