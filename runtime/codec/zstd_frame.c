/* libzstd decodes frame after frame, skips skippable ones and ignores the
 * unused bit; a chunk is exactly one frame, and each of its bits must count. So
 * the frame's outside is checked here first: a few bytes of header and three
 * per block. The blocks also tell how much output there can be, which makes the
 * declared size a claim that is checked before memory is taken for it. */
#include "codec/zstd_frame.h"

#include "cairn/buf.h"

enum { RAW, RLE, COMPRESSED, RESERVED };

struct header {
  bool single_segment, checksum, sized;
  uint64_t content, block_max;
};

static cairn_code_t truncated(cairn_error_t *err, const char *what) {
  return cairn_fail(err, CAIRN_CORRUPT, "zstd: truncated in the %s", what);
}

static bool take_le(cairn_cur_t *c, size_t n, uint64_t *out) {
  cairn_bytes_t b;
  if (!cairn_cur_take(c, n, &b)) return false;
  *out = 0;
  for (size_t i = n; i-- > 0;) *out = *out << 8 | b.p[i];
  return true;
}

/* Window_Descriptor: the window bounds the size of a block. */
static bool take_window(cairn_cur_t *c, struct header *h) {
  uint8_t d;
  if (!cairn_cur_u8(c, &d)) return false;
  uint64_t base = UINT64_C(1) << (10 + (d >> 3));
  h->block_max = base + base / 8 * (d & 7);
  return true;
}

static bool take_content_size(cairn_cur_t *c, unsigned flag, struct header *h) {
  static const uint8_t bytes[] = {0, 2, 4, 8};
  size_t n = flag == 0 && h->single_segment ? 1 : bytes[flag];
  h->sized = n != 0;
  if (!take_le(c, n, &h->content)) return false;
  if (n == 2) h->content += 256;
  if (h->single_segment) h->block_max = h->content;
  return true;
}

static cairn_code_t take_header(cairn_cur_t *c, struct header *h,
                                cairn_error_t *err) {
  uint32_t magic;
  uint8_t d;
  if (!cairn_cur_u32le(c, &magic)) return truncated(err, "magic");
  if (magic != CAIRN__ZSTD_MAGIC)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: magic %08x, want %08x", magic,
                      CAIRN__ZSTD_MAGIC);
  if (!cairn_cur_u8(c, &d)) return truncated(err, "header");
  if (d & 0x18)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: unused header bits set (%02x)",
                      d);
  if (d & 3)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: frame wants a dictionary");
  h->single_segment = d & 0x20;
  h->checksum = d & 4;
  if ((!h->single_segment && !take_window(c, h)) ||
      !take_content_size(c, d >> 6, h))
    return truncated(err, "header");
  if (h->block_max > CAIRN__ZSTD_BLOCK_MAX)
    h->block_max = CAIRN__ZSTD_BLOCK_MAX;
  return CAIRN_OK;
}

/* One block; *most grows by what it can decode to. */
static cairn_code_t skip_block(cairn_cur_t *c, const struct header *h,
                               bool *last, uint64_t *most, cairn_error_t *err) {
  uint64_t head;
  cairn_bytes_t body;
  if (!take_le(c, 3, &head)) return truncated(err, "block header");
  unsigned type = head >> 1 & 3;
  uint64_t size = head >> 3;
  *last = head & 1;
  if (type == RESERVED || size > CAIRN__ZSTD_BLOCK_MAX)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: bad block header %06x",
                      (unsigned)head);
  if (!cairn_cur_take(c, type == RLE ? 1 : (size_t)size, &body))
    return truncated(err, "blocks");
  *most += type == COMPRESSED ? h->block_max : size;
  return CAIRN_OK;
}

cairn_code_t cairn__zstd_walk(cairn_bytes_t in, uint64_t *bound,
                              cairn_error_t *err) {
  cairn_cur_t c = cairn_cur(in);
  struct header h = {0};
  uint64_t most = 0;
  cairn_bytes_t sum;
  cairn_code_t rc = take_header(&c, &h, err);
  for (bool last = false; rc == CAIRN_OK && !last;)
    rc = skip_block(&c, &h, &last, &most, err);
  if (rc != CAIRN_OK) return rc;
  if (h.checksum && !cairn_cur_take(&c, 4, &sum))
    return truncated(err, "checksum");
  if (cairn_cur_left(&c) != 0)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: %zu bytes after the frame",
                      cairn_cur_left(&c));
  if (h.sized && h.content > most)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "zstd: declares %llu bytes, its blocks hold at most %llu",
                      (unsigned long long)h.content, (unsigned long long)most);
  *bound = h.sized ? h.content : most;
  return CAIRN_OK;
}
