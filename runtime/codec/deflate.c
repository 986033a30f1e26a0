/* gzip and zlib: the same stream in two wrappings. */
#include <limits.h>
#include <zlib.h>

#include "codec/ops.h"

#define ZLIB_WINDOW 15
#define GZIP_WINDOW (15 + 16)
#define STEP ((size_t)64 * 1024)

static cairn_code_t failed(const z_stream *s, int rc, cairn_code_t otherwise,
                           const char *name, cairn_error_t *err) {
  if (rc == Z_MEM_ERROR)
    return cairn_fail(err, CAIRN_NO_MEMORY, "%s: out of memory", name);
  return cairn_fail(err, otherwise, "%s: %s", name,
                    s->msg != NULL ? s->msg : zError(rc));
}

/* zlib counts in unsigned int: feeds it at most that much at a time. */
static void feed(z_stream *s, cairn_bytes_t in, size_t *used) {
  if (s->avail_in != 0) return;
  size_t n = in.n - *used;
  if (n > UINT_MAX) n = UINT_MAX;
  s->next_in = n != 0 ? (Bytef *)(uintptr_t)(in.p + *used) : s->next_in;
  s->avail_in = (uInt)n;
  *used += n;
}

static bool room(z_stream *s, cairn_buf_t *out, size_t n) {
  if (!cairn_buf_reserve(out, n)) return false;
  s->next_out = out->p + out->n;
  s->avail_out = (uInt)n;
  return true;
}

static cairn_code_t encode(const char *name, int window, int level,
                           cairn_bytes_t in, cairn_buf_t *out,
                           cairn_error_t *err) {
  z_stream s = {0};
  size_t used = 0;
  int rc = deflateInit2(&s, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  if (rc != Z_OK) return failed(&s, rc, CAIRN_INVALID, name, err);
  do {
    feed(&s, in, &used);
    if (!room(&s, out, STEP)) {
      rc = Z_MEM_ERROR;
      break;
    }
    rc = deflate(&s, used == in.n ? Z_FINISH : Z_NO_FLUSH);
    out->n += STEP - s.avail_out;
  } while (rc == Z_OK || rc == Z_BUF_ERROR);
  cairn_code_t code =
      rc == Z_STREAM_END ? CAIRN_OK : failed(&s, rc, CAIRN_INTERNAL, name, err);
  deflateEnd(&s);
  return code;
}

/* Inflates until the stream ends, input is short, or there is one byte more
 * than `max`. */
static int inflate_all(z_stream *s, cairn_bytes_t in, size_t max, size_t *used,
                       cairn_buf_t *out) {
  size_t start = out->n;
  int rc;
  do {
    size_t left = max + 1 - (out->n - start), step = left < STEP ? left : STEP;
    if (left == 0) return Z_OK;
    feed(s, in, used);
    if (!room(s, out, step)) return Z_MEM_ERROR;
    rc = inflate(s, Z_NO_FLUSH);
    out->n += step - s->avail_out;
  } while (rc == Z_OK);
  return rc;
}

static cairn_code_t decode(const char *name, int window, cairn_bytes_t in,
                           size_t max, cairn_buf_t *out, cairn_error_t *err) {
  z_stream s = {0};
  size_t used = 0, start = out->n;
  cairn_code_t code = CAIRN_OK;
  if (max == SIZE_MAX) max--;
  int rc = inflateInit2(&s, window);
  if (rc != Z_OK) return failed(&s, rc, CAIRN_INTERNAL, name, err);
  rc = inflate_all(&s, in, max, &used, out);
  size_t after = in.n - used + s.avail_in;
  if (out->n - start > max)
    code = cairn_fail(err, CAIRN_CORRUPT, "%s: more than %zu bytes", name, max);
  else if (rc == Z_BUF_ERROR)
    code = cairn_fail(err, CAIRN_CORRUPT, "%s: stream is truncated", name);
  else if (rc == Z_NEED_DICT)
    code = cairn_fail(err, CAIRN_CORRUPT, "%s: wants a dictionary", name);
  else if (rc != Z_STREAM_END)
    code = failed(&s, rc, CAIRN_CORRUPT, name, err);
  else if (after != 0)
    code = cairn_fail(err, CAIRN_CORRUPT, "%s: %zu bytes after the stream",
                      name, after);
  if (code != CAIRN_OK) out->n = start;
  inflateEnd(&s);
  return code;
}

static cairn_code_t gzip_encode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                cairn_buf_t *out, cairn_error_t *err) {
  return encode("gzip", GZIP_WINDOW, p->level, in, out, err);
}

static cairn_code_t gzip_decode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                size_t max, cairn_buf_t *out,
                                cairn_error_t *err) {
  (void)p;
  return decode("gzip", GZIP_WINDOW, in, max, out, err);
}

static cairn_code_t zlib_encode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                cairn_buf_t *out, cairn_error_t *err) {
  return encode("zlib", ZLIB_WINDOW, p->level, in, out, err);
}

static cairn_code_t zlib_decode(const cairn_codec_params_t *p, cairn_bytes_t in,
                                size_t max, cairn_buf_t *out,
                                cairn_error_t *err) {
  (void)p;
  return decode("zlib", ZLIB_WINDOW, in, max, out, err);
}

const cairn_codec_ops_t cairn__gzip_ops = {
    .size = sizeof(cairn_codec_ops_t),
    .name = "gzip",
    .encode = gzip_encode,
    .decode = gzip_decode,
};

const cairn_codec_ops_t cairn__zlib_ops = {
    .size = sizeof(cairn_codec_ops_t),
    .name = "zlib",
    .encode = zlib_encode,
    .decode = zlib_decode,
};
