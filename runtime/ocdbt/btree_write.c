/* B+tree nodes, encoded (section 10). */
#include "ocdbt/wire.h"

static cairn_code_t check_keys(const cairn__ocdbt_entry_t *e, size_t n,
                               cairn_error_t *err) {
  if (n == 0 || n > CAIRN__OCDBT_MAX_ARITY)
    return cairn_fail(err, CAIRN_INVALID, "b-tree node with %zu entries", n);
  for (size_t i = 0; i < n; i++)
    if (e[i].key.n > CAIRN__OCDBT_MAX_KEY)
      return cairn_fail(err, CAIRN_INVALID, "key of %zu bytes, at most %d",
                        e[i].key.n, CAIRN__OCDBT_MAX_KEY);
  return CAIRN_OK;
}

static size_t prefix_length(const cairn__ocdbt_entry_t *e, size_t i) {
  return i == 0 ? 0 : cairn__bytes_common(e[i - 1].key, e[i].key);
}

static void put_keys(cairn_buf_t *b, uint8_t height,
                     const cairn__ocdbt_entry_t *e, size_t n) {
  for (size_t i = 1; i < n; i++) cairn_buf_put_varint(b, prefix_length(e, i));
  for (size_t i = 0; i < n; i++)
    cairn_buf_put_varint(b, e[i].key.n - prefix_length(e, i));
  for (size_t i = 0; i < n && height > 0; i++)
    cairn_buf_put_varint(b, e[i].subtree_prefix);
  for (size_t i = 0; i < n; i++) {
    size_t skip = prefix_length(e, i);
    if (skip < e[i].key.n)
      cairn_buf_put(b, e[i].key.p + skip, e[i].key.n - skip);
  }
}

static void put_values(cairn_buf_t *b, cairn__file_table_t *t,
                       const cairn__ocdbt_entry_t *e, size_t n) {
  for (size_t i = 0; i < n; i++)
    cairn_buf_put_varint(b, e[i].is_inline ? e[i].value.n : e[i].loc.length);
  for (size_t i = 0; i < n; i++) cairn_buf_put_u8(b, e[i].is_inline ? 0 : 1);
  for (size_t i = 0; i < n; i++)
    if (!e[i].is_inline)
      cairn_buf_put_varint(b, cairn__file_table_id(t, &e[i].loc.file));
  for (size_t i = 0; i < n; i++)
    if (!e[i].is_inline) cairn_buf_put_varint(b, e[i].loc.offset);
  for (size_t i = 0; i < n; i++)
    if (e[i].is_inline) cairn_buf_put(b, e[i].value.p, e[i].value.n);
}

static cairn_code_t put_body(uint8_t height, const cairn__ocdbt_entry_t *e,
                             size_t n, cairn__file_table_t *t,
                             cairn_buf_t *body, cairn_error_t *err) {
  cairn_code_t rc = check_keys(e, n, err);
  if (rc != CAIRN_OK) return rc;
  for (size_t i = 0; i < n; i++) {
    if (height == 0 && e[i].is_inline) continue;
    if (!cairn__file_table_add(t, &e[i].loc.file, NULL))
      return cairn_fail(err, CAIRN_NO_MEMORY, "b-tree node");
  }
  cairn_buf_put_u8(body, height);
  if ((rc = cairn__file_table_put(t, body, err)) != CAIRN_OK) return rc;
  cairn_buf_put_varint(body, n);
  put_keys(body, height, e, n);
  if (height == 0) {
    put_values(body, t, e, n);
  } else {
    cairn__put_locs(body, t, &e->loc, sizeof *e, n);
    cairn__put_stats(body, &e->stats, sizeof *e, n);
  }
  if (!body->failed) return CAIRN_OK;
  return cairn_fail(err, CAIRN_NO_MEMORY, "b-tree node");
}

cairn_code_t cairn__ocdbt_node_encode(const cairn__ocdbt_config_t *config,
                                      uint8_t height,
                                      const cairn__ocdbt_entry_t *entries,
                                      size_t n, cairn_buf_t *out,
                                      cairn_error_t *err) {
  cairn_buf_t body = {0};
  cairn__file_table_t t = {0};
  cairn_code_t rc = put_body(height, entries, n, &t, &body, err);
  if (rc == CAIRN_OK)
    rc = cairn__frame_put(config, CAIRN__OCDBT_BTREE_NODE,
                          cairn_buf_bytes(&body), out, err);
  cairn__file_table_reset(&t);
  cairn_buf_reset(&body);
  return rc;
}
