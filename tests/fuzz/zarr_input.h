/* Input of the zarr targets: metadata, a NUL, one stored chunk. What parses
 * decodes or fails; what decodes is encoded again and decodes to the same
 * elements. */
#ifndef CAIRN_TESTS_FUZZ_ZARR_INPUT_H_
#define CAIRN_TESTS_FUZZ_ZARR_INPUT_H_

#include <stdlib.h>

#include "array/chain.h"

#define FUZZ_MAX_CHUNK (1 << 16)

static cairn_code_t fuzz_decode(const cairn_zarr_t *z, cairn_bytes_t in,
                                char *out) {
  const cairn__chain_t *c = z->chain;
  cairn_error_t err = {0};
  cairn__decoder_t d = {
      .fill = z->fill, .fill_missing = true, .everything = true};
  cairn__target_t t = {.data = out};
  for (int i = 0; i < c->rank; i++) t.extent[i] = c->shape[i];
  cairn__c_strides(c->rank, c->shape, (int64_t)c->item, t.strides);
  cairn_code_t rc = cairn__chain_decode(&d, c, in, &t, out != NULL, &err);
  cairn__decoder_reset(&d);
  return rc;
}

static void fuzz_encode(const cairn_zarr_t *z, const char *elements,
                        char *back) {
  const cairn__chain_t *c = z->chain;
  int64_t strides[CAIRN_MAX_RANK];
  cairn_buf_t out = {0};
  cairn__encoder_t e = {.frame_checksum = true};
  cairn_error_t err = {0};
  cairn__c_strides(c->rank, c->shape, (int64_t)c->item, strides);
  if (cairn__chain_encode(&e, c, elements, strides, &out, &err) != CAIRN_OK ||
      fuzz_decode(z, cairn_bytes(out.p, out.n), back) != CAIRN_OK ||
      memcmp(elements, back, (size_t)c->bytes) != 0)
    abort();
  cairn__encoder_reset(&e);
  free(out.p);
}

static void fuzz_chunk(const cairn_zarr_t *z, cairn_bytes_t in) {
  if (z->chain->bytes > FUZZ_MAX_CHUNK) {
    fuzz_decode(z, in, NULL);
    return;
  }
  char *elements = calloc(2, FUZZ_MAX_CHUNK);
  if (fuzz_decode(z, in, elements) == CAIRN_OK)
    fuzz_encode(z, elements, elements + FUZZ_MAX_CHUNK);
  free(elements);
}

static void fuzz_zarr(int version, const uint8_t *data, size_t size) {
  const uint8_t *nul = size != 0 ? memchr(data, 0, size) : NULL;
  size_t n = nul != NULL ? (size_t)(nul - data) : size;
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  if (cairn_zarr_parse(version, cairn_bytes(data, n), &z, &err) != CAIRN_OK) {
    if (err.code == CAIRN_OK || err.message[0] == '\0') abort();
    return;
  }
  if (nul != NULL) fuzz_chunk(z, cairn_bytes(nul + 1, size - n - 1));
  cairn_zarr_unref(z);
}

#endif
