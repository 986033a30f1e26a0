#include "hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

struct hash {
  EVP_MD_CTX *ctx;
  bool failed;
};

static void begin(hash_t *h) {
  h->failed = EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1;
}

hash_t *hash_new(cairn_error_t *err) {
  hash_t *h = calloc(1, sizeof *h);
  if (h != NULL) h->ctx = EVP_MD_CTX_new();
  if (h == NULL || h->ctx == NULL) {
    free(h);
    cairn_fail(err, CAIRN_NO_MEMORY, "SHA-256");
    return NULL;
  }
  begin(h);
  return h;
}

void hash_put(hash_t *h, const void *p, size_t n) {
  if (EVP_DigestUpdate(h->ctx, p, n) != 1) h->failed = true;
}

cairn_code_t hash_take(hash_t *h, char out[65], cairn_error_t *err) {
  uint8_t sum[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (h->failed || EVP_DigestFinal_ex(h->ctx, sum, &n) != 1 || n != 32)
    return cairn_fail(err, CAIRN_INTERNAL, "SHA-256 failed in libcrypto");
  for (unsigned i = 0; i < n; i++) snprintf(out + 2 * i, 3, "%02x", sum[i]);
  begin(h);
  return CAIRN_OK;
}

void hash_free(hash_t *h) {
  if (h == NULL) return;
  EVP_MD_CTX_free(h->ctx);
  free(h);
}
