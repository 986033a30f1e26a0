/* CRC-32C by the processor's instruction (SSE 4.2, ARMv8 CRC).
 *
 * The instruction takes three cycles but one can start each cycle, so long
 * inputs are summed in three streams side by side. The sum of the first two is
 * then moved over the length of what follows them by a table. */
#include <endian.h>
#include <pthread.h>
#include <string.h>

#include "base/crc32c.h"

#if defined(__x86_64__)

#include <nmmintrin.h>
#define CRC_TARGET __attribute__((target("sse4.2")))
#define step8(reg, w) ((uint32_t)_mm_crc32_u64((reg), (w)))
#define step1(reg, b) _mm_crc32_u8((reg), (b))

bool cairn__crc32c_hw_have(void) {
  return __builtin_cpu_supports("sse4.2") != 0;
}

#elif defined(__aarch64__)

#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define CRC_TARGET __attribute__((target("+crc")))
#define step8(reg, w) __crc32cd((reg), (w))
#define step1(reg, b) __crc32cb((reg), (b))

bool cairn__crc32c_hw_have(void) {
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

#endif

#ifdef CRC_TARGET

enum { LONG = 4096, SHORT = 256 }; /* bytes of one of three streams */

/* after[k][b]: register byte k of value b, moved over one stream's length. */
typedef uint32_t shift_t[4][256];
static shift_t over_long, over_short;
static pthread_once_t shifts_once = PTHREAD_ONCE_INIT;

/* Of single bits by multiplication; the rest follow, since sums are linear. */
static void make_shift(shift_t t, uint64_t n_bytes) {
  for (int k = 0; k < 4; k++)
    for (uint32_t b = 1; b < 256; b++) {
      uint32_t rest = b & (b - 1);
      t[k][b] = rest != 0 ? t[k][rest] ^ t[k][b ^ rest]
                          : cairn__crc32c_zeros(b << 8 * k, n_bytes);
    }
}

static void make_shifts(void) {
  make_shift(over_long, LONG);
  make_shift(over_short, SHORT);
}

static uint32_t shift(shift_t t, uint32_t reg) {
  return t[0][reg & 255] ^ t[1][reg >> 8 & 255] ^ t[2][reg >> 16 & 255] ^
         t[3][reg >> 24];
}

static inline uint64_t load8(const uint8_t *p) {
  uint64_t w;
  memcpy(&w, p, 8);
  return le64toh(w);
}

/* Three streams of `len` bytes each, as often as they fit. */
CRC_TARGET static uint32_t three(uint32_t reg, const uint8_t **p, size_t *n,
                                 size_t len, shift_t t) {
  for (; *n >= 3 * len; *p += 3 * len, *n -= 3 * len) {
    const uint8_t *a = *p, *b = a + len, *c = b + len;
    uint32_t reg_b = 0, reg_c = 0;
    for (size_t i = 0; i < len; i += 8) {
      reg = step8(reg, load8(a + i));
      reg_b = step8(reg_b, load8(b + i));
      reg_c = step8(reg_c, load8(c + i));
    }
    reg = shift(t, shift(t, reg) ^ reg_b) ^ reg_c;
  }
  return reg;
}

CRC_TARGET uint32_t cairn__crc32c_hw(uint32_t reg, const uint8_t *p, size_t n) {
  if (n >= 3 * SHORT) {
    pthread_once(&shifts_once, make_shifts);
    reg = three(reg, &p, &n, LONG, over_long);
    reg = three(reg, &p, &n, SHORT, over_short);
  }
  for (; n >= 8; p += 8, n -= 8) reg = step8(reg, load8(p));
  for (; n > 0; p++, n--) reg = step1(reg, *p);
  return reg;
}

#else

bool cairn__crc32c_hw_have(void) {
  return false;
}

uint32_t cairn__crc32c_hw(uint32_t reg, const uint8_t *p, size_t n) {
  return cairn__crc32c_tables(reg, p, n);
}

#endif
