/* Any bytes as a b-tree node, below a base path: no crash, keys that ascend,
 * and what decodes comes back from its encoding. */
#include "fuzz/ocdbt_input.h"

static const cairn__ocdbt_config_t plain = {.version_tree_arity_log2 = 4};

static void check_keys(const cairn__ocdbt_node_t *n) {
  require(n->n >= 1);
  for (size_t i = 0; i < n->n; i++) {
    const cairn__ocdbt_entry_t *e = &n->entries[i];
    require(i == 0 || cairn__bytes_cmp(e[-1].key, e->key) < 0);
    require(e->subtree_prefix <= e->key.n);
    require(e->is_inline || !cairn__ocdbt_loc_missing(&e->loc));
    cairn_code_t rc = cairn__ocdbt_path_check(&e->loc.file, NULL);
    require(rc == CAIRN_OK || rc == CAIRN_CORRUPT);
  }
}

static void encode_twice(const cairn__ocdbt_node_t *n) {
  cairn__ocdbt_node_t again;
  cairn_buf_t a = {0}, b = {0};
  cairn_bytes_t none = {0};
  require(cairn__ocdbt_node_encode(&plain, n->height, n->entries, n->n, &a,
                                   NULL) == CAIRN_OK);
  require(cairn__ocdbt_node_decode(cairn_buf_bytes(&a), none, &again, NULL) ==
          CAIRN_OK);
  require(again.n == n->n && again.height == n->height);
  require(cairn__ocdbt_node_encode(&plain, again.height, again.entries, again.n,
                                   &b, NULL) == CAIRN_OK);
  require(cairn__bytes_eq(cairn_buf_bytes(&a), cairn_buf_bytes(&b)));
  cairn__ocdbt_node_free(&again);
  cairn_buf_reset(&a);
  cairn_buf_reset(&b);
}

static void run(cairn_bytes_t in) {
  cairn__ocdbt_node_t n;
  cairn_error_t err = {0};
  if (!decoded(cairn__ocdbt_node_decode(in, cairn_bytes_str("t/"), &n, &err),
               &err))
    return;
  check_keys(&n);
  encode_twice(&n);
  cairn__ocdbt_node_free(&n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run(cairn_bytes(data, size));
  uint8_t *p = mended(data, size, CAIRN__OCDBT_BTREE_NODE);
  if (p != NULL) run(cairn_bytes(p, size));
  free(p);
  return 0;
}
