/* zstd: one frame per value, content size always declared, content checksum on
 * request. Contexts are kept per thread: setting one up costs more than coding
 * a small array with it. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/codec.h"
#include "codec/ops.h"
#include "codec/zstd_frame.h"
#include "codec/zstd_store.h"

struct contexts {
  ZSTD_CCtx *c;
  ZSTD_DCtx *d;
};

static pthread_key_t contexts_key;
static bool have_key;
static pthread_once_t contexts_once = PTHREAD_ONCE_INIT;

static void free_contexts(void *arg) {
  struct contexts *t = arg;
  ZSTD_freeCCtx(t->c);
  ZSTD_freeDCtx(t->d);
  free(t);
}

static void make_key(void) {
  have_key = pthread_key_create(&contexts_key, free_contexts) == 0;
}

/* This thread's, NULL when memory is out. */
static struct contexts *contexts(void) {
  pthread_once(&contexts_once, make_key);
  if (!have_key) return NULL;
  struct contexts *t = pthread_getspecific(contexts_key);
  if (t != NULL) return t;
  t = calloc(1, sizeof *t);
  if (t != NULL && pthread_setspecific(contexts_key, t) != 0) {
    free(t);
    t = NULL;
  }
  return t;
}

static ZSTD_CCtx *compressor(void) {
  struct contexts *t = contexts();
  if (t == NULL) return NULL;
  if (t->c == NULL) t->c = ZSTD_createCCtx();
  return t->c;
}

static ZSTD_DCtx *decompressor(void) {
  struct contexts *t = contexts();
  if (t == NULL) return NULL;
  if (t->d == NULL) t->d = ZSTD_createDCtx();
  return t->d;
}

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "zstd: out of memory");
}

static cairn_code_t zstd_failed(size_t rc, cairn_code_t otherwise,
                                cairn_error_t *err) {
  if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
    return no_memory(err);
  return cairn_fail(err, otherwise, "zstd: %s", ZSTD_getErrorName(rc));
}

static cairn_code_t zstd_encode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                cairn_buf_t *out, cairn_error_t *err) {
  if (p->store) return cairn__zstd_store(in, p->checksum, out, err);
  size_t bound = ZSTD_compressBound(in.n);
  ZSTD_CCtx *c = compressor();
  if (c == NULL || ZSTD_isError(bound) || !cairn_buf_reserve(out, bound))
    return no_memory(err);
  ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, p->level);
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, p->checksum);
  size_t n = ZSTD_compress2(c, out->p + out->n, bound, in.p, in.n);
  if (ZSTD_isError(n)) return zstd_failed(n, CAIRN_INTERNAL, err);
  out->n += n;
  return CAIRN_OK;
}

/* Of a frame that has been walked over. */
static cairn_code_t decode_frame(cairn_bytes_t in, void *dst, size_t cap,
                                 size_t *n, cairn_error_t *err) {
  ZSTD_DCtx *d = decompressor();
  if (d == NULL) return no_memory(err);
  *n = ZSTD_decompressDCtx(d, dst, cap, in.p, in.n);
  if (!ZSTD_isError(*n)) return CAIRN_OK;
  if (ZSTD_getErrorCode(*n) == ZSTD_error_dstSize_tooSmall)
    return cairn_fail(err, CAIRN_CORRUPT, "zstd: more than %zu bytes", cap);
  return zstd_failed(*n, CAIRN_CORRUPT, err);
}

static cairn_code_t zstd_decode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                size_t max, cairn_buf_t *out,
                                cairn_error_t *err) {
  (void)p;
  uint64_t bound;
  size_t n;
  cairn_code_t rc = cairn__zstd_walk(in, &bound, err);
  if (rc != CAIRN_OK) return rc;
  if (bound > max) bound = max;
  if (!cairn_buf_reserve(out, (size_t)bound)) return no_memory(err);
  rc = decode_frame(in, out->p + out->n, (size_t)bound, &n, err);
  if (rc == CAIRN_OK) out->n += n;
  return rc;
}

cairn_code_t cairn__zstd_decode_into(cairn_bytes_t in, void *dst, size_t n,
                                     cairn_error_t *err) {
  uint64_t bound;
  size_t got;
  cairn_code_t rc = cairn__zstd_walk(in, &bound, err);
  if (rc == CAIRN_OK) rc = decode_frame(in, dst, n, &got, err);
  if (rc == CAIRN_OK && got != n)
    rc = cairn_fail(err, CAIRN_CORRUPT, "zstd: %zu bytes, want %zu", got, n);
  return rc;
}

const cairn_codec_ops_t cairn__zstd_ops = {
    .size = sizeof(cairn_codec_ops_t),
    .name = "zstd",
    .encode = zstd_encode,
    .decode = zstd_decode,
};

/* --- does it pay? --- */

#define SAMPLE_PIECES 4
#define SAMPLE_BYTES ((size_t)16 * 1024)
#define ENTROPY_BYTES ((size_t)1024)

static double log2_table[ENTROPY_BYTES + 1];
static pthread_once_t log2_once = PTHREAD_ONCE_INIT;

static void make_log2_table(void) {
  for (size_t i = 1; i <= ENTROPY_BYTES; i++) log2_table[i] = log2((double)i);
}

/* Encoded size of one piece of the sample; its own size if that fails. */
static size_t sampled(ZSTD_CCtx *c, const uint8_t *p, size_t n, void *dst,
                      size_t cap) {
  size_t got = ZSTD_compressCCtx(c, dst, cap, p, n, 1);
  return ZSTD_isError(got) || got > n ? n : got;
}

static size_t sample_large(ZSTD_CCtx *c, const uint8_t *p, size_t n) {
  size_t cap = ZSTD_compressBound(SAMPLE_BYTES), total = 0;
  size_t step = (n - SAMPLE_BYTES) / (SAMPLE_PIECES - 1);
  void *dst = c != NULL ? malloc(cap) : NULL;
  for (size_t i = 0; dst != NULL && i < SAMPLE_PIECES; i++)
    total += sampled(c, p + i * step, SAMPLE_BYTES, dst, cap);
  free(dst);
  return total;
}

/* Bits in a byte of the sample, by how often each value is there. Of so few
 * bytes the plain figure comes out too low; Miller and Madow's term mends it.
 */
static double entropy(const uint8_t *p, size_t n) {
  unsigned count[256] = {0};
  double sum = 0;
  int values = 0;
  for (size_t i = 0; i < n; i++) count[p[i]]++;
  for (int i = 0; i < 256; i++) {
    if (count[i] == 0) continue;
    sum += count[i] * log2_table[count[i]];
    values++;
  }
  return log2_table[n] - sum / (double)n +
         (values - 1) / (2 * (double)n * M_LN2);
}

/* Trying zstd on a few kilobytes takes longer than all else that is done with
 * them. */
static bool small_pays(const uint8_t *p, size_t n) {
  uint8_t sample[ENTROPY_BYTES];
  pthread_once(&log2_once, make_log2_table);
  memcpy(sample, p, ENTROPY_BYTES / 2);
  memcpy(sample + ENTROPY_BYTES / 2, p + n - ENTROPY_BYTES / 2,
         ENTROPY_BYTES / 2);
  return entropy(sample, ENTROPY_BYTES) < 7;
}

bool cairn__zstd_pays(const void *p, size_t n) {
  if (n < ENTROPY_BYTES) return true; /* cheap to just do it */
  if (n <= SAMPLE_PIECES * SAMPLE_BYTES) return small_pays(p, n);
  return sample_large(compressor(), p, n) <=
         SAMPLE_PIECES * SAMPLE_BYTES / 8 * 7;
}
