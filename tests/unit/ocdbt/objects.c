#include "unit/ocdbt/objects.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static int digit(char c) {
  return c <= '9' ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

void put_hex(cairn_buf_t *b, const char *hex) {
  int half = -1;
  for (; *hex != '\0'; hex++) {
    if (!isxdigit((unsigned char)*hex)) continue;
    if (half >= 0) cairn_buf_put_u8(b, (uint8_t)(half << 4 | digit(*hex)));
    half = half >= 0 ? -1 : digit(*hex);
  }
  cr_assert_eq(half, -1, "odd number of hex digits");
}

bool read_file(const char *path, cairn_buf_t *out) {
  FILE *f = fopen(path, "rb");
  uint8_t piece[65536];
  size_t n;
  if (f == NULL) return false;
  while ((n = fread(piece, 1, sizeof piece, f)) != 0)
    cairn_buf_put(out, piece, n);
  fclose(f);
  return true;
}

cairn_buf_t golden(const char *name) {
  cairn_buf_t text = {0}, out = {0};
  char path[512];
  snprintf(path, sizeof path, CAIRN_GOLDEN "/ocdbt/%s.hex", name);
  cr_assert(read_file(path, &text), "no %s", path);
  cairn_buf_put_u8(&text, 0);
  put_hex(&out, (const char *)text.p);
  cairn_buf_reset(&text);
  return out;
}

void mend(cairn_buf_t *o) {
  uint64_t n = o->n;
  for (int i = 0; i < 8; i++) o->p[4 + i] = (uint8_t)(n >> (8 * i));
  uint32_t sum = cairn__crc32c(0, o->p, o->n - 4);
  for (int i = 0; i < 4; i++) o->p[o->n - 4 + i] = (uint8_t)(sum >> (8 * i));
}

cairn_buf_t wrap(uint32_t magic, cairn_bytes_t body) {
  cairn_buf_t b = {0};
  for (int shift = 24; shift >= 0; shift -= 8)
    cairn_buf_put_u8(&b, (uint8_t)(magic >> shift));
  cairn_buf_put_u64le(&b, 0);
  put_hex(&b, "0000");
  cairn_buf_put(&b, body.p, body.n);
  cairn_buf_put_u32le(&b, 0);
  mend(&b);
  return b;
}

cairn_buf_t wrap_hex(uint32_t magic, const char *body) {
  cairn_buf_t b = {0};
  put_hex(&b, body);
  cairn_buf_t o = wrap(magic, cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return o;
}

cairn_bytes_t unwrap(const cairn_buf_t *o) {
  return cairn_bytes(o->p + 14, o->n - 18);
}

cairn_code_t decode(uint32_t want, cairn_bytes_t in, const char *transitive,
                    cairn_error_t *err) {
  cairn__ocdbt_manifest_t m = {0};
  cairn__ocdbt_version_node_t v = {0};
  cairn__ocdbt_node_t n = {0};
  /* A copy of exactly this size, so that a sanitizer sees every overrun. */
  uint8_t *copy = malloc(in.n != 0 ? in.n : 1);
  if (in.n != 0) memcpy(copy, in.p, in.n);
  in.p = copy;
  cairn_code_t rc;
  if (want == CAIRN__OCDBT_MANIFEST)
    rc = cairn__ocdbt_manifest_decode(in, &m, err);
  else if (want == CAIRN__OCDBT_VERSION_NODE)
    rc = cairn__ocdbt_version_node_decode(in, str(transitive), &v, err);
  else
    rc = cairn__ocdbt_node_decode(in, str(transitive), &n, err);
  free(copy);
  cairn__ocdbt_manifest_free(&m);
  cairn__ocdbt_version_node_free(&v);
  cairn__ocdbt_node_free(&n);
  return rc;
}

void expect_bad(const char *id, uint32_t want, const cairn_buf_t *object,
                const char *word) {
  cairn_error_t err = {0};
  cairn_code_t rc = decode(want, cairn_buf_bytes(object), "", &err);
  cr_expect_eq(rc, CAIRN_CORRUPT, "%s: code %d", id, rc);
  cr_expect_eq(err.code, rc, "%s: error says %d", id, err.code);
  cr_expect(strstr(err.message, word) != NULL, "%s: \"%s\" does not say \"%s\"",
            id, err.message, word);
}

void expect_bad_take(const char *id, uint32_t want, cairn_buf_t object,
                     const char *word) {
  expect_bad(id, want, &object, word);
  cairn_buf_reset(&object);
}

void expect_bad_hex(const char *id, uint32_t want, const char *body,
                    const char *word) {
  expect_bad_take(id, want, wrap_hex(want, body), word);
}

void expect_good_take(const char *id, uint32_t want, cairn_buf_t object) {
  cairn_error_t err = {0};
  cairn_code_t rc = decode(want, cairn_buf_bytes(&object), "", &err);
  cr_expect_eq(rc, CAIRN_OK, "%s: %s", id, err.message);
  cairn_buf_reset(&object);
}
