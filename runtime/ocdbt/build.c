/* A whole new database from its sorted entries, as bytes: the leaves for the
 * merge, the tree, the manifest of generation 1. On a CPU thread. */
#include "base/sum.h"
#include "ocdbt/pack.h"

/* Inline values from a database with a higher limit go out of line; values that
 * are out of line stay so, whatever their size. */
static cairn_code_t move_out(cairn__build_t *b, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < b->entries.n && rc == CAIRN_OK; i++) {
    cairn__ocdbt_entry_t *e = &b->entries.e[i];
    if (!e->is_inline || e->value.n <= cairn__inline_limit(&b->config))
      continue;
    size_t start = b->pack.bytes.n;
    cairn_buf_put(&b->pack.bytes, e->value.p, e->value.n);
    rc = cairn__pack_item(&b->pack, start, &e->loc, err);
    e->is_inline = false;
    e->value = cairn_bytes(NULL, 0);
  }
  return rc;
}

static void count(cairn__build_t *b) {
  b->num_keys = b->entries.n;
  for (size_t i = 0; i < b->entries.n; i++) {
    const cairn__ocdbt_entry_t *e = &b->entries.e[i];
    b->value_bytes += e->is_inline ? e->value.n : e->loc.length;
  }
}

static cairn_code_t put_manifest(cairn__build_t *b, cairn__ocdbt_version_t *v,
                                 cairn_error_t *err) {
  cairn__ocdbt_manifest_t m = {.config = b->config, .num_versions = 1};
  v->generation = 1;
  v->commit_time = (uint64_t)cairn__wall_ns();
  m.versions = v;
  cairn_code_t rc = cairn__ocdbt_manifest_encode(&m, &b->manifest, err);
  if (rc == CAIRN_OK)
    b->manifest_sum = cairn__sum_of(b->manifest.p, b->manifest.n);
  return rc;
}

/* The leaves before the tree: writing the tree cuts the keys. */
cairn_code_t cairn__build_run(cairn__build_t *b, cairn_error_t *err) {
  cairn__ocdbt_version_t v = {0};
  cairn_code_t rc = move_out(b, err);
  count(b);
  if (rc == CAIRN_OK)
    rc = cairn__leaves_put(&b->config, b->entries.e, b->entries.n, &b->leaves,
                           err);
  if (rc == CAIRN_OK)
    rc = cairn__tree_write(&b->config, b->entries.e, b->entries.n, &b->pack, &v,
                           err);
  if (rc == CAIRN_OK) rc = put_manifest(b, &v, err);
  cairn__entries_reset(&b->entries);
  return rc;
}

void cairn__build_reset(cairn__build_t *b) {
  cairn__entries_reset(&b->entries);
  cairn__pack_reset(&b->pack);
  cairn_buf_reset(&b->leaves);
  cairn_buf_reset(&b->manifest);
  *b = (cairn__build_t){0};
}
