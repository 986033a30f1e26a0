/* Leaf entries on their way to the merge: encoded as leaf nodes with full keys,
 * so that they travel front-coded, compressed and summed; and merged. */
#include <inttypes.h>
#include <stdlib.h>

#include "ocdbt/pack.h"

#define PIECE_BYTES ((size_t)1 << 20)

static size_t piece(const cairn__ocdbt_entry_t *e, size_t n) {
  size_t bytes = 0, i = 0;
  while (i < n && i < CAIRN__OCDBT_MAX_ARITY &&
         (i == 0 || bytes < PIECE_BYTES)) {
    bytes += 32 + e[i].key.n + e[i].value.n;
    i++;
  }
  return i;
}

cairn_code_t cairn__leaves_put(const cairn__ocdbt_config_t *config,
                               const cairn__ocdbt_entry_t *entries, size_t n,
                               cairn_buf_t *out, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t s = 0, len; s < n && rc == CAIRN_OK; s += len) {
    len = piece(entries + s, n - s);
    rc = cairn__ocdbt_node_encode(config, 0, entries + s, len, out, err);
  }
  return rc;
}

cairn_code_t cairn__leaves_next(cairn_bytes_t *rest, cairn_bytes_t transitive,
                                cairn__ocdbt_node_t *out, cairn_error_t *err) {
  uint64_t length = 0;
  cairn_cur_t c = cairn_cur(*rest);
  cairn_bytes_t magic, node;
  *out = (cairn__ocdbt_node_t){0};
  if (!cairn_cur_take(&c, 4, &magic) || !cairn_cur_u64le(&c, &length) ||
      length < CAIRN__FRAME_HEAD || length > rest->n)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "leaves: end of data in a list of %zu", rest->n);
  node = cairn_bytes(rest->p, (size_t)length);
  cairn_code_t rc = cairn__ocdbt_node_decode(node, transitive, out, err);
  if (rc == CAIRN_OK && out->height != 0) {
    rc = cairn_fail(err, CAIRN_CORRUPT, "leaves: node of height %d",
                    out->height);
    cairn__ocdbt_node_free(out);
  }
  *rest = cairn_bytes(rest->p + length, rest->n - (size_t)length);
  return rc;
}

/* --- entries --- */

cairn__ocdbt_entry_t *cairn__entries_add(cairn__entries_t *es) {
  if (es->n == es->cap) {
    size_t cap = es->cap != 0 ? 2 * es->cap : 64;
    cairn__ocdbt_entry_t *e = realloc(es->e, cap * sizeof *e);
    if (e == NULL) return NULL;
    es->e = e;
    es->cap = cap;
  }
  cairn__ocdbt_entry_t *e = &es->e[es->n++];
  *e = (cairn__ocdbt_entry_t){0};
  return e;
}

void cairn__entries_reset(cairn__entries_t *es) {
  free(es->e);
  cairn__arena_free(es->arena.head);
  *es = (cairn__entries_t){0};
}
