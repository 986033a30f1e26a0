/* Small things that every room needs: comparison and hashing of bytes, checked
 * arithmetic, CRC-32C, random ids, clocks, hex, local paths. */
#ifndef CAIRN_BASE_BASE_H_
#define CAIRN_BASE_BASE_H_

#include "cairn/buf.h"
#include "cairn/error.h"

/* memcmp order, shorter first on a tie (the order of OCDBT keys). */
int cairn__bytes_cmp(cairn_bytes_t a, cairn_bytes_t b);
bool cairn__bytes_eq(cairn_bytes_t a, cairn_bytes_t b);
bool cairn__bytes_starts(cairn_bytes_t s, cairn_bytes_t prefix);
bool cairn__bytes_ends(cairn_bytes_t s, cairn_bytes_t suffix);
size_t cairn__bytes_common(cairn_bytes_t a, cairn_bytes_t b);
/* A NUL-terminated copy for free(); NULL when memory is out. */
char *cairn__bytes_dup(cairn_bytes_t b);
char *cairn__printf(const char *fmt, ...) CAIRN_PRINTF(1, 2); /* for free() */

/* Options as this build knows them, n bytes: of `in`, whose first member is the
 * size that the caller's build gives the struct (0: as compiled), what it has;
 * zeros for the rest and for NULL. `first` is the size of the first version's
 * struct: nobody's is smaller, so a smaller number is no size: CAIRN_INVALID,
 * and *out is zeros. */
cairn_code_t cairn__options_take(const void *in, void *out, size_t n,
                                 size_t first, cairn_error_t *err);
/* The size of a struct whose last member is that one. */
#define CAIRN__SIZE_UP_TO(type, member) \
  (offsetof(type, member) + sizeof(((type *)0)->member))

/* 64-bit hash of bytes, chained through seed; stable over ranks and versions
 * (it travels in votes). Not for use against an adversary. */
uint64_t cairn__hash64(const void *p, size_t n, uint64_t seed);

/* out = a * b or a + b; false on overflow of int64 (inputs are >= 0). */
static inline bool cairn__mul_ok(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}
static inline bool cairn__add_ok(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

/* CRC-32C (Castagnoli, not masked). Chain by passing the sum so far; start with
 * 0. crc32c("123456789") is e3069283. */
uint32_t cairn__crc32c(uint32_t crc, const void *p, size_t n);
/* Of the concatenation of two pieces: crc of the first, crc and length of the
 * second. */
uint32_t cairn__crc32c_combine(uint32_t a, uint32_t b, uint64_t n_b);
/* Copies and sums in one pass. */
uint32_t cairn__crc32c_copy(uint32_t crc, void *dst, const void *src, size_t n);

/* Fills p with random bytes from the kernel. Cannot fail. */
void cairn__random(void *p, size_t n);
/* 32 lower-case hex digits of 16 random bytes, and a NUL. */
void cairn__random_id(char out[33]);
void cairn__hex(const void *p, size_t n, char *out /* 2n + 1 */);
bool cairn__unhex(cairn_bytes_t hex, uint8_t *out /* hex.n / 2 */);
/* Exactly 16 digits, as "%016" PRIx64 writes them; false for anything else. */
bool cairn__unhex64(cairn_bytes_t hex, uint64_t *out);

int64_t cairn__now_ns(void);  /* monotonic */
int64_t cairn__wall_ns(void); /* since 1970 UTC */

/* Base64: url alphabet with '=' padding (as in _sharding) or the plain one. */
void cairn__base64(cairn_bytes_t in, bool url, cairn_buf_t *out);
bool cairn__unbase64(cairn_bytes_t in, bool url, cairn_buf_t *out);

/* Local paths, lexically: joined with one '/', made absolute, "." and ".." and
 * doubled '/' resolved without looking at the disk. For free(). */
char *cairn__path_join(const char *a, const char *b);
char *cairn__path_absolute(const char *path);
/* Offset of the part after the last '/', 0 if there is none. */
size_t cairn__path_base(cairn_bytes_t path);

/* True if b is well-formed UTF-8 (no surrogates, no overlong forms). */
bool cairn__utf8_ok(cairn_bytes_t b);

/* A decimal without sign, blanks or leading zeros ("0" is one), that fits in
 * int64. */
bool cairn__decimal(cairn_bytes_t b, int64_t *out);

#endif
