/* The reading half of buf.h: a cursor over bytes that nobody vouches for. */
#include "cairn/buf.h"

bool cairn_cur_take(cairn_cur_t *c, size_t n, cairn_bytes_t *out) {
  if (n > cairn_cur_left(c)) return false;
  *out = cairn_bytes(c->p, n);
  if (n != 0) c->p += n; /* not on a NULL of an empty piece */
  return true;
}

bool cairn_cur_u8(cairn_cur_t *c, uint8_t *out) {
  if (c->p == c->end) return false;
  *out = *c->p++;
  return true;
}

static bool get_le(cairn_cur_t *c, size_t width, uint64_t *out) {
  cairn_bytes_t b;
  uint64_t v = 0;
  if (!cairn_cur_take(c, width, &b)) return false;
  for (size_t i = 0; i < width; i++) v |= (uint64_t)b.p[i] << (8 * i);
  *out = v;
  return true;
}

bool cairn_cur_u32le(cairn_cur_t *c, uint32_t *out) {
  uint64_t v;
  if (!get_le(c, 4, &v)) return false;
  *out = (uint32_t)v;
  return true;
}

bool cairn_cur_u64le(cairn_cur_t *c, uint64_t *out) {
  return get_le(c, 8, out);
}

/* LEB128 into `bits` bits; a value with a bit above those is malformed, and so
 * is a form with more bytes than the widest value needs. */
static bool get_varint(cairn_cur_t *c, unsigned bits, uint64_t *out) {
  uint64_t v = 0;
  const uint8_t *p = c->p;
  for (unsigned shift = 0; shift < bits; shift += 7) {
    if (p == c->end) return false;
    uint8_t byte = *p++;
    uint64_t part = byte & 0x7f;
    if (bits - shift < 7 && part >> (bits - shift) != 0) return false;
    v |= part << shift;
    if (byte < 0x80) {
      c->p = p;
      *out = v;
      return true;
    }
  }
  return false;
}

bool cairn_cur_varint64(cairn_cur_t *c, uint64_t *out) {
  return get_varint(c, 64, out);
}

bool cairn_cur_varint32(cairn_cur_t *c, uint32_t *out) {
  uint64_t v;
  if (!get_varint(c, 32, &v)) return false;
  *out = (uint32_t)v;
  return true;
}
