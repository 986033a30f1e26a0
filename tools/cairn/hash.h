/* SHA-256 of a leaf's bytes, by OpenSSL. */
#ifndef CAIRN_TOOL_HASH_H_
#define CAIRN_TOOL_HASH_H_

#include "cairn/inspect.h"

typedef struct hash hash_t;
hash_t *hash_new(cairn_error_t *err); /* NULL: failed */
void hash_put(hash_t *h, const void *p, size_t n);
/* 64 hex digits and a NUL; ready for the next leaf. */
cairn_code_t hash_take(hash_t *h, char out[65], cairn_error_t *err);
void hash_free(hash_t *h); /* NULL is fine */

#endif
