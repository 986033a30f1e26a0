/* Options of a new database. */
#include <inttypes.h>

#include "ocdbt/writer.h"

void cairn__ocdbt_orbax_opts(cairn__ocdbt_write_opts_t *out) {
  *out = (cairn__ocdbt_write_opts_t){
      .config = {.max_inline_value_bytes = 1024,
                 .max_decoded_node_bytes = 100000000,
                 .version_tree_arity_log2 = 4,
                 .zstd = true},
      .target_data_file_size = UINT64_C(1) << 31,
  };
}

static bool is_zero(const uint8_t uuid[16]) {
  static const uint8_t zero[16];
  return memcmp(uuid, zero, sizeof zero) == 0;
}

cairn_code_t cairn__new_config(const cairn__ocdbt_config_t *in,
                               cairn__ocdbt_config_t *out, cairn_error_t *err) {
  *out = *in;
  if (in->manifest_kind != 0)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "a new database of manifest kind %d", in->manifest_kind);
  if (in->version_tree_arity_log2 < 1 || in->version_tree_arity_log2 > 16)
    return cairn_fail(err, CAIRN_INVALID, "version_tree_arity_log2 is %d",
                      in->version_tree_arity_log2);
  if (in->zstd && (in->zstd_level < -131072 || in->zstd_level > 22))
    return cairn_fail(err, CAIRN_INVALID, "zstd level is %" PRId32,
                      in->zstd_level);
  if (is_zero(in->uuid)) cairn__random(out->uuid, sizeof out->uuid);
  return CAIRN_OK;
}
