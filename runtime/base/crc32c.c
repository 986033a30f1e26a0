/* CRC-32C: choosing the way to sum, tables for machines without the
 * instruction, and sums of joined pieces.
 *
 * Bits are reflected: the top bit of a register is the coefficient of x^0. */
#include "base/crc32c.h"

#include <endian.h>
#include <pthread.h>

#include "base/base.h"

#define POLY 0x82f63b78u /* Castagnoli, reflected */

typedef uint32_t (*sum_fn)(uint32_t reg, const uint8_t *p, size_t n);

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

/* tables[k][b]: what byte b does to the register k bytes later. */
static void make_tables(void) {
  for (uint32_t b = 0; b < 256; b++) {
    uint32_t v = b;
    for (int bit = 0; bit < 8; bit++) v = v >> 1 ^ (v & 1 ? POLY : 0);
    tables[0][b] = v;
  }
  for (int k = 1; k < 8; k++)
    for (uint32_t b = 0; b < 256; b++) {
      uint32_t v = tables[k - 1][b];
      tables[k][b] = v >> 8 ^ tables[0][v & 255];
    }
}

uint32_t cairn__crc32c_tables(uint32_t reg, const uint8_t *p, size_t n) {
  pthread_once(&tables_once, make_tables);
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    w = le64toh(w) ^ reg;
    reg = 0;
    for (int k = 0; k < 8; k++) reg ^= tables[7 - k][w >> 8 * k & 255];
  }
  for (; n > 0; p++, n--) reg = reg >> 8 ^ tables[0][(reg ^ *p) & 255];
  return reg;
}

static uint32_t first_use(uint32_t reg, const uint8_t *p, size_t n);
static sum_fn chosen = first_use; /* atomic; all threads choose the same */

static uint32_t first_use(uint32_t reg, const uint8_t *p, size_t n) {
  sum_fn fn = cairn__crc32c_hw_have() ? cairn__crc32c_hw : cairn__crc32c_tables;
  __atomic_store_n(&chosen, fn, __ATOMIC_RELEASE);
  return fn(reg, p, n);
}

uint32_t cairn__crc32c(uint32_t crc, const void *p, size_t n) {
  sum_fn fn = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  return ~fn(~crc, p, n);
}

/* In pieces that stay in the first-level cache. What is summed is the copy: the
 * sum then vouches for the bytes that go on, whatever happens to src. */
uint32_t cairn__crc32c_copy(uint32_t crc, void *dst, const void *src,
                            size_t n) {
  enum { PIECE = 12288 };
  const uint8_t *from = src;
  uint8_t *to = dst;
  while (n > 0) {
    size_t part = n < PIECE ? n : PIECE;
    memcpy(to, from, part);
    crc = cairn__crc32c(crc, to, part);
    to += part;
    from += part;
    n -= part;
  }
  return crc;
}

/* a * b modulo the polynomial. */
static uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b >> 1 ^ (b & 1 ? POLY : 0);
  }
  return product;
}

/* A zero byte multiplies the register by x^8, so n of them by x^8n: found by
 * squaring. */
uint32_t cairn__crc32c_zeros(uint32_t reg, uint64_t n_bytes) {
  uint32_t power = 1u << 23; /* x^8 */
  for (; n_bytes != 0; n_bytes >>= 1) {
    if (n_bytes & 1) reg = multiply(power, reg);
    power = multiply(power, power);
  }
  return reg;
}

uint32_t cairn__crc32c_combine(uint32_t a, uint32_t b, uint64_t n_b) {
  return cairn__crc32c_zeros(a, n_b) ^ b;
}
