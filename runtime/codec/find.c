/* Which codecs there are. */
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
