/* `_sharding`: how jax.Arrays were laid over devices (orbax.md 1.6). */
#ifndef CAIRN_HANDLERS_SHARDING_H_
#define CAIRN_HANDLERS_SHARDING_H_

#include "cairn/json.h"
#include "desc.h"

/* Can it be written? CAIRN_INVALID says what is wrong. */
cairn_code_t cairn__sharding_check(const cairn_sharding_t *s, int rank,
                                   cairn_error_t *err);

/* Devices that hold each distinct box: devices of the mesh over the product of
 * the axes that the spec names. Of a described jax.Array. */
cairn_code_t cairn__sharding_replicas(const cairn__desc_t *d, int *out,
                                      cairn_error_t *err);

/* The texts of a mesh, kept from array to array. */
typedef struct cairn__sharding_text {
  cairn_bytes_t mesh; /* the one that before and after are of */
  cairn_buf_t before, after;
} cairn__sharding_text_t;
/* Appends the value of one member of `_sharding`, without its outer quotes. */
cairn_code_t cairn__sharding_emit(cairn__sharding_text_t *t,
                                  const cairn__desc_t *d, cairn_buf_t *out,
                                  cairn_error_t *err);
void cairn__sharding_text_free(cairn__sharding_text_t *t);

/* Base64 with '-', '_' and padding: the names of the members. */
void cairn__put_base64url(cairn_bytes_t in, cairn_buf_t *out);

#endif
