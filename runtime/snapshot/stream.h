/* Copies of a huge page or so, to memory that is read much later: past the
 * caches, as memcpy does only for far larger ones. The caller's working set
 * stays in them, and the destination is not read first. */
#ifndef CAIRN_SNAPSHOT_STREAM_H_
#define CAIRN_SNAPSHOT_STREAM_H_

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CAIRN__STREAM_FROM ((size_t)256 << 10) /* below, caches are better */

static inline void cairn__stream_copy(char *dst, const char *src, size_t n) {
#ifdef __SSE2__
  size_t k = 0;
  if (n >= CAIRN__STREAM_FROM && (uintptr_t)dst % sizeof(__m128i) == 0) {
    for (; k + 4 * sizeof(__m128i) <= n; k += 4 * sizeof(__m128i)) {
      const __m128i *from = (const void *)(src + k);
      __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
      __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
      __m128i *to = (void *)(dst + k);
      _mm_stream_si128(to, a);
      _mm_stream_si128(to + 1, b);
      _mm_stream_si128(to + 2, c);
      _mm_stream_si128(to + 3, d);
    }
    _mm_sfence();
  }
  memcpy(dst + k, src + k, n - k);
#else
  memcpy(dst, src, n);
#endif
}

#endif
