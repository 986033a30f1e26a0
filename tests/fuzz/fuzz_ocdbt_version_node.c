/* Any bytes as a node of the version tree, below a base path: no crash; what
 * decodes comes back from its encoding. */
#include "fuzz/ocdbt_input.h"

static const cairn__ocdbt_config_t plain = {.version_tree_arity_log2 = 4};

static void encode_twice(const cairn__ocdbt_version_node_t *n) {
  cairn__ocdbt_version_node_t again;
  cairn_buf_t a = {0}, b = {0};
  cairn_bytes_t none = {0};
  require(cairn__ocdbt_version_node_encode(&plain, n, &a, NULL) == CAIRN_OK);
  require(cairn__ocdbt_version_node_decode(cairn_buf_bytes(&a), none, &again,
                                           NULL) == CAIRN_OK);
  require(cairn__ocdbt_version_node_encode(&plain, &again, &b, NULL) ==
          CAIRN_OK);
  require(cairn__bytes_eq(cairn_buf_bytes(&a), cairn_buf_bytes(&b)));
  cairn__ocdbt_version_node_free(&again);
  cairn_buf_reset(&a);
  cairn_buf_reset(&b);
}

static void run(cairn_bytes_t in) {
  cairn__ocdbt_version_node_t n;
  cairn_error_t err = {0};
  if (!decoded(
          cairn__ocdbt_version_node_decode(in, cairn_bytes_str("t/"), &n, &err),
          &err))
    return;
  encode_twice(&n);
  cairn__ocdbt_version_node_free(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run(cairn_bytes(data, size));
  uint8_t *p = mended(data, size, CAIRN__OCDBT_VERSION_NODE);
  if (p != NULL) run(cairn_bytes(p, size));
  free(p);
  return 0;
}
