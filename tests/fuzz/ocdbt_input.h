/* An encoded object as the fuzzer gives it, and once more with length and sum
 * set right, so that what lies behind those two checks is reached as well. */
#ifndef CAIRN_TESTS_FUZZ_OCDBT_INPUT_H_
#define CAIRN_TESTS_FUZZ_OCDBT_INPUT_H_

#include <stdlib.h>

#include "ocdbt/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool ok) {
  if (!ok) abort();
}

/* A copy of exactly that size for free(), magic, length and sum mended. NULL if
 * it is too short to be an object. */
static inline uint8_t *mended(const uint8_t *data, size_t size,
                              uint32_t magic) {
  if (size < 16) return NULL;
  uint8_t *p = malloc(size);
  require(p != NULL);
  memcpy(p, data, size);
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(magic >> (24 - 8 * i));
  for (int i = 0; i < 8; i++) p[4 + i] = (uint8_t)((uint64_t)size >> (8 * i));
  uint32_t sum = cairn__crc32c(0, p, size - 4);
  for (int i = 0; i < 4; i++) p[size - 4 + i] = (uint8_t)(sum >> (8 * i));
  return p;
}

/* Failure is CORRUPT, said in words, and nothing else. */
static inline bool decoded(cairn_code_t rc, const cairn_error_t *err) {
  require(rc == CAIRN_OK ||
          (rc == CAIRN_CORRUPT && err->code == rc && err->message[0] != '\0'));
  return rc == CAIRN_OK;
}

#endif
