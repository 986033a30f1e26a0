/* Which codecs there are, and the buffer that they append to. */
#include <stdlib.h>

#include "codec/codec.h"
#include "codec/ops.h"

const cairn_codec_ops_t *cairn_codec_find(cairn_bytes_t name) {
  static const cairn_codec_ops_t *const all[] = {
      &cairn__zstd_ops, &cairn__gzip_ops, &cairn__zlib_ops, &cairn__crc32c_ops};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t n = strlen(all[i]->name);
    if (name.n == n && memcmp(name.p, all[i]->name, n) == 0) return all[i];
  }
  return NULL;
}

bool cairn_codec_reserve(cairn_codec_out_t *out, size_t more) {
  if (out->cap - out->n >= more && out->p != NULL) return true;
  size_t want;
  if (__builtin_add_overflow(out->n, more, &want)) return false;
  /* Grown by half, so that many small appends stay cheap; a first, large one
   * gets what it asked for. */
  size_t grown = out->cap + out->cap / 2;
  if (want < grown) want = grown;
  if (want == 0) want = 1;
  uint8_t *p = realloc(out->p, want);
  if (p == NULL) return false;
  out->p = p;
  out->cap = want;
  return true;
}
