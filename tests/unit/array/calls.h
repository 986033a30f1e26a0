/* The array calls, waited for. */
#ifndef CAIRN_TESTS_ARRAY_CALLS_H_
#define CAIRN_TESTS_ARRAY_CALLS_H_

#include "cairn/array.h"

cairn_code_t call_write(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                        cairn_error_t *err);
cairn_code_t call_read(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                       cairn_error_t *err);
cairn_code_t call_open(cairn_kv_t *kv, int version, const cairn_bytes_t *names,
                       size_t n, cairn_zarr_t **out, cairn_error_t *err);
/* Damage as "key: message\n" each, for free(). */
cairn_code_t call_verify(cairn_kv_t *kv, cairn_array_io_t *io, size_t n,
                         char **damage, cairn_error_t *err);

typedef struct store { /* an empty memory store with a runtime of its own */
  cairn_runtime_t *rt;
  cairn_kv_t *kv;
} store_t;
store_t store_open(void);
void store_close(store_t *s);
/* The stored bytes of a key; .p for free(), NULL if there is none. */
cairn_bytes_t store_get(store_t *s, const char *key);
void store_put(store_t *s, const char *key, cairn_bytes_t value);
void store_remove(store_t *s, const char *key);

#endif
