/* The configuration at the start of every manifest (section 5). */
#include <inttypes.h>

#include "ocdbt/wire.h"

#define MIN_LEVEL (-131072)
#define MAX_LEVEL 22

cairn_code_t cairn__wire_arity(cairn__wire_t *w, uint8_t *out) {
  cairn_code_t rc = cairn__wire_u8(w, "version_tree_arity_log2", out);
  if (rc == CAIRN_OK && (*out < 1 || *out > 16))
    rc = cairn__wire_corrupt(w, "version_tree_arity_log2", "arity is %d", *out);
  return rc;
}

static cairn_code_t kind(cairn__wire_t *w, uint8_t *out) {
  cairn_code_t rc = cairn__wire_u8(w, "manifest_kind", out);
  if (rc == CAIRN_OK && *out > 1)
    rc = cairn__wire_corrupt(w, "manifest_kind", "is %d", *out);
  return rc;
}

static cairn_code_t compression(cairn__wire_t *w, cairn__ocdbt_config_t *out) {
  uint32_t method = 0, level = 0;
  cairn_code_t rc = cairn__wire_varint32(w, "compression_method", &method);
  if (rc != CAIRN_OK) return rc;
  if (method > 1)
    return cairn__wire_corrupt(w, "compression_method", "is %" PRIu32, method);
  out->zstd = method == 1;
  if (!out->zstd) return CAIRN_OK;
  if ((rc = cairn__wire_u32le(w, "zstd level", &level)) != CAIRN_OK) return rc;
  out->zstd_level = (int32_t)level;
  if (out->zstd_level < MIN_LEVEL || out->zstd_level > MAX_LEVEL)
    return cairn__wire_corrupt(w, "zstd level", "is %" PRId32, out->zstd_level);
  return CAIRN_OK;
}

cairn_code_t cairn__wire_config(cairn__wire_t *w, cairn__ocdbt_config_t *out) {
  cairn_bytes_t uuid = {0};
  cairn_code_t rc = cairn__wire_take(w, "uuid", sizeof out->uuid, &uuid);
  if (rc != CAIRN_OK) return rc;
  memcpy(out->uuid, uuid.p, sizeof out->uuid);
  if ((rc = kind(w, &out->manifest_kind)) != CAIRN_OK ||
      (rc = cairn__wire_varint32(w, "max_inline_value_bytes",
                                 &out->max_inline_value_bytes)) != CAIRN_OK ||
      (rc = cairn__wire_varint32(w, "max_decoded_node_bytes",
                                 &out->max_decoded_node_bytes)) != CAIRN_OK ||
      (rc = cairn__wire_arity(w, &out->version_tree_arity_log2)) != CAIRN_OK)
    return rc;
  return compression(w, out);
}

void cairn__put_config(cairn_buf_t *b, const cairn__ocdbt_config_t *c) {
  cairn_buf_put(b, c->uuid, sizeof c->uuid);
  cairn_buf_put_u8(b, c->manifest_kind);
  cairn_buf_put_varint(b, c->max_inline_value_bytes);
  cairn_buf_put_varint(b, c->max_decoded_node_bytes);
  cairn_buf_put_u8(b, c->version_tree_arity_log2);
  cairn_buf_put_u8(b, c->zstd);
  if (c->zstd) cairn_buf_put_u32le(b, (uint32_t)c->zstd_level);
}
