/* B+tree nodes, decoded (section 10). Keys are unfolded: each entry's key is
 * whole, relative to the node's implicit prefix. */
#include <inttypes.h>
#include <stdlib.h>

#include "ocdbt/wire.h"

/* Columns that are needed only until keys and values are put together. */
struct columns {
  uint16_t *prefix, *suffix;
  uint8_t *kind;
};

static cairn_code_t key_build(cairn__wire_t *w, uint16_t prefix,
                              uint16_t suffix, cairn_bytes_t before,
                              cairn_bytes_t *out) {
  cairn_bytes_t tail = {0};
  size_t n = (size_t)prefix + suffix;
  uint8_t *p = NULL;
  if (prefix > before.n)
    return cairn__wire_corrupt(
        w, "key", "key prefix %d is longer than the previous key", prefix);
  if (n > CAIRN__OCDBT_MAX_KEY)
    return cairn__wire_corrupt(w, "key", "key length is %zu", n);
  cairn_code_t rc = cairn__wire_take(w, "key_suffix", suffix, &tail);
  if (rc != CAIRN_OK) return rc;
  if ((rc = cairn__wire_string(w, "key", n, &p)) != CAIRN_OK) return rc;
  if (prefix != 0) memcpy(p, before.p, prefix);
  if (suffix != 0) memcpy(p + prefix, tail.p, suffix);
  *out = cairn_bytes(p, n);
  return CAIRN_OK;
}

static cairn_code_t keys_build(cairn__wire_t *w, const struct columns *c,
                               cairn__ocdbt_node_t *node) {
  cairn_bytes_t before = {0};
  for (size_t i = 0; i < node->n; i++) {
    cairn__ocdbt_entry_t *e = &node->entries[i];
    cairn_code_t rc = key_build(w, c->prefix[i], c->suffix[i], before, &e->key);
    if (rc != CAIRN_OK) return rc;
    if (i != 0 && cairn__bytes_cmp(before, e->key) >= 0)
      return cairn__wire_corrupt(w, "key", "key order at entry %zu", i);
    if (e->subtree_prefix > e->key.n)
      return cairn__wire_corrupt(w, "subtree_common_prefix_length",
                                 "subtree prefix %d is longer than the key",
                                 e->subtree_prefix);
    before = e->key;
  }
  return CAIRN_OK;
}

static cairn_code_t keys(cairn__wire_t *w, struct columns *c,
                         cairn__ocdbt_node_t *node) {
  size_t n = node->n;
  cairn_code_t rc = cairn__wire_column16(w, "key_prefix_length", c->prefix + 1,
                                         sizeof *c->prefix, n - 1);
  if (rc == CAIRN_OK)
    rc = cairn__wire_column16(w, "key_suffix_length", c->suffix,
                              sizeof *c->suffix, n);
  if (rc == CAIRN_OK && node->height > 0)
    rc = cairn__wire_column16(w, "subtree_common_prefix_length",
                              &node->entries->subtree_prefix,
                              sizeof *node->entries, n);
  return rc == CAIRN_OK ? keys_build(w, c, node) : rc;
}

/* The kinds; and inline lengths, checked before their bytes are looked for. */
static cairn_code_t kinds(cairn__wire_t *w, struct columns *c,
                          cairn__ocdbt_node_t *node) {
  for (size_t i = 0; i < node->n; i++) {
    cairn__ocdbt_entry_t *e = &node->entries[i];
    cairn_code_t rc = cairn__wire_u8(w, "value_kind", &c->kind[i]);
    if (rc != CAIRN_OK) return rc;
    if (c->kind[i] > 1)
      return cairn__wire_corrupt(w, "value_kind", "kind is %d", c->kind[i]);
    e->is_inline = c->kind[i] == 0;
    if (e->is_inline && e->loc.length > CAIRN__OCDBT_MAX_INLINE)
      return cairn__wire_corrupt(w, "value_length",
                                 "inline too long: %" PRIu64 " bytes",
                                 e->loc.length);
  }
  return CAIRN_OK;
}

/* The columns of out-of-line values have elements for those only. */
static cairn_code_t value_locs(cairn__wire_t *w, cairn__ocdbt_node_t *node) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < node->n && rc == CAIRN_OK; i++)
    if (!node->entries[i].is_inline)
      rc = cairn__wire_file_id(w, &node->entries[i].loc.file);
  for (size_t i = 0; i < node->n && rc == CAIRN_OK; i++)
    if (!node->entries[i].is_inline)
      rc = cairn__wire_varint64(w, "offset", &node->entries[i].loc.offset);
  for (size_t i = 0; i < node->n && rc == CAIRN_OK; i++)
    if (!node->entries[i].is_inline)
      rc = cairn__wire_loc_check(w, &node->entries[i].loc, false);
  return rc;
}

static cairn_code_t inline_values(cairn__wire_t *w, cairn__ocdbt_node_t *node) {
  for (size_t i = 0; i < node->n; i++) {
    cairn__ocdbt_entry_t *e = &node->entries[i];
    cairn_bytes_t bytes = {0};
    uint8_t *p = NULL;
    if (!e->is_inline) continue;
    size_t n = (size_t)e->loc.length;
    cairn_code_t rc = cairn__wire_take(w, "inline value", n, &bytes);
    if (rc != CAIRN_OK) return rc;
    e->loc = (cairn__ocdbt_loc_t){0};
    if (n == 0) continue;
    if ((rc = cairn__wire_string(w, "inline value", n, &p)) != CAIRN_OK)
      return rc;
    memcpy(p, bytes.p, n);
    e->value = cairn_bytes(p, n);
  }
  return CAIRN_OK;
}

static cairn_code_t leaf_values(cairn__wire_t *w, struct columns *c,
                                cairn__ocdbt_node_t *node) {
  cairn_code_t rc =
      cairn__wire_column64(w, "value_length", &node->entries->loc.length,
                           sizeof *node->entries, node->n);
  if (rc == CAIRN_OK) rc = kinds(w, c, node);
  if (rc == CAIRN_OK) rc = value_locs(w, node);
  if (rc == CAIRN_OK) rc = inline_values(w, node);
  return rc;
}

static cairn_code_t children(cairn__wire_t *w, cairn__ocdbt_node_t *node) {
  const size_t stride = sizeof *node->entries;
  cairn_code_t rc =
      cairn__wire_locs(w, &node->entries->loc, stride, node->n, false);
  if (rc == CAIRN_OK)
    rc = cairn__wire_stats(w, &node->entries->stats, stride, node->n);
  return rc;
}

static cairn_code_t entry_count(cairn__wire_t *w, size_t *out) {
  uint32_t n = 0;
  cairn_code_t rc = cairn__wire_varint32(w, "num_entries", &n);
  if (rc != CAIRN_OK) return rc;
  if (n == 0) return cairn__wire_corrupt(w, "num_entries", "empty node");
  if (n > CAIRN__OCDBT_MAX_ARITY)
    return cairn__wire_corrupt(w, "num_entries", "count is %" PRIu32, n);
  /* A suffix length, a value length and a kind each, at least. */
  if (n > cairn_cur_left(&w->cur) / 3)
    return cairn__wire_corrupt(w, "num_entries",
                               "end of data before %" PRIu32 " entries", n);
  *out = n;
  return CAIRN_OK;
}

static cairn_code_t decode(cairn__wire_t *w, struct columns *c,
                           cairn__ocdbt_node_t *node) {
  cairn_code_t rc;
  if ((rc = cairn__wire_u8(w, "height", &node->height)) != CAIRN_OK ||
      (rc = cairn__wire_files(w)) != CAIRN_OK ||
      (rc = entry_count(w, &node->n)) != CAIRN_OK)
    return rc;
  node->entries = cairn__wire_alloc(w, node->n, sizeof *node->entries);
  if (node->entries == NULL) return CAIRN_NO_MEMORY;
  c->prefix = calloc(node->n, sizeof *c->prefix);
  c->suffix = calloc(node->n, sizeof *c->suffix);
  c->kind = calloc(node->n, sizeof *c->kind);
  if (c->prefix == NULL || c->suffix == NULL || c->kind == NULL)
    return cairn_fail(w->err, CAIRN_NO_MEMORY, "%zu entries", node->n);
  if ((rc = keys(w, c, node)) != CAIRN_OK) return rc;
  return node->height == 0 ? leaf_values(w, c, node) : children(w, node);
}

cairn_code_t cairn__ocdbt_node_decode(cairn_bytes_t in,
                                      cairn_bytes_t transitive,
                                      cairn__ocdbt_node_t *out,
                                      cairn_error_t *err) {
  cairn__wire_t w;
  struct columns c = {0};
  *out = (cairn__ocdbt_node_t){0};
  cairn_code_t rc = cairn__wire_open(&w, in, CAIRN__OCDBT_BTREE_NODE,
                                     "b-tree node", transitive, err);
  if (rc != CAIRN_OK) return rc;
  rc = decode(&w, &c, out);
  if (rc == CAIRN_OK) rc = cairn__wire_end(&w);
  free(c.prefix);
  free(c.suffix);
  free(c.kind);
  if (cairn__wire_close(&w, rc, &out->mem) != CAIRN_OK)
    *out = (cairn__ocdbt_node_t){0};
  return rc;
}

void cairn__ocdbt_node_free(cairn__ocdbt_node_t *n) {
  cairn__arena_free(n->mem);
  *n = (cairn__ocdbt_node_t){0};
}
