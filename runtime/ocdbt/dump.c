/* Encoded objects as text for people: a line a record, words and numbers as in
 * the reference, references in TensorStore's notation
 * (kind:base:relative:offset:length). Keys, paths and values are
 * percent-encoded outside A-Za-z0-9-_./ so that a line is a line. */
#include <ctype.h>
#include <inttypes.h>

#include "ocdbt/wire.h"

static bool plain(uint8_t c) {
  return c < 0x80 && (isalnum(c) || strchr("-_./", c) != NULL) && c != 0;
}

static void put_text(cairn_buf_t *b, cairn_bytes_t s) {
  static const char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < s.n; i++) {
    if (plain(s.p[i])) {
      cairn_buf_put_u8(b, s.p[i]);
      continue;
    }
    const char escaped[3] = {'%', digits[s.p[i] >> 4], digits[s.p[i] & 15]};
    cairn_buf_put(b, escaped, sizeof escaped);
  }
}

static void put_loc(cairn_buf_t *b, const char *kind,
                    const cairn__ocdbt_loc_t *l) {
  if (cairn__ocdbt_loc_missing(l)) {
    cairn_buf_printf(b, " %s missing", kind);
    return;
  }
  cairn_buf_printf(b, " %s:", kind);
  put_text(b, l->file.base);
  cairn_buf_put_u8(b, ':');
  put_text(b, l->file.rel);
  cairn_buf_printf(b, ":%" PRIu64 ":%" PRIu64, l->offset, l->length);
}

static void put_statistics(cairn_buf_t *b, const cairn__ocdbt_stats_t *s) {
  cairn_buf_printf(b,
                   " num_keys %" PRIu64 " num_tree_bytes %" PRIu64
                   " num_indirect_value_bytes %" PRIu64,
                   s->num_keys, s->num_tree_bytes, s->num_indirect_value_bytes);
}

static void put_configuration(cairn_buf_t *b, const cairn__ocdbt_config_t *c) {
  char uuid[33];
  cairn__hex(c->uuid, sizeof c->uuid, uuid);
  cairn_buf_printf(b, "config\n  uuid %s\n  manifest_kind %s\n", uuid,
                   c->manifest_kind == 0 ? "single" : "numbered");
  cairn_buf_printf(b,
                   "  max_inline_value_bytes %" PRIu32
                   "\n  max_decoded_node_bytes %" PRIu32
                   "\n  version_tree_arity_log2 %d\n",
                   c->max_inline_value_bytes, c->max_decoded_node_bytes,
                   c->version_tree_arity_log2);
  if (c->zstd)
    cairn_buf_printf(b, "  compression zstd level %" PRId32 "\n",
                     c->zstd_level);
  else
    cairn_buf_put_str(b, "  compression none\n");
}

static void put_version_lines(cairn_buf_t *b, const cairn__ocdbt_version_t *v,
                              size_t n) {
  cairn_buf_printf(b, "versions %zu\n", n);
  for (size_t i = 0; i < n; i++) {
    cairn_buf_printf(b, "  generation %" PRIu64 " root_height %d",
                     v[i].generation, v[i].root_height);
    put_loc(b, "btreenode", &v[i].root);
    put_statistics(b, &v[i].stats);
    cairn_buf_printf(b, " commit_time %" PRIu64 "\n", v[i].commit_time);
  }
}

static void put_ref_lines(cairn_buf_t *b, const cairn__ocdbt_version_ref_t *r,
                          size_t n) {
  cairn_buf_printf(b, "version_nodes %zu\n", n);
  for (size_t i = 0; i < n; i++) {
    cairn_buf_printf(b, "  generation %" PRIu64 " height %d", r[i].generation,
                     r[i].height);
    put_loc(b, "versionnode", &r[i].loc);
    cairn_buf_printf(b,
                     " num_generations %" PRIu64 " commit_time %" PRIu64 "\n",
                     r[i].num_generations, r[i].commit_time);
  }
}

static void put_entry(cairn_buf_t *b, uint8_t height,
                      const cairn__ocdbt_entry_t *e) {
  cairn_buf_put_str(b, "  key ");
  put_text(b, e->key);
  if (height > 0) {
    cairn_buf_printf(b, " subtree_common_prefix_length %d", e->subtree_prefix);
    put_loc(b, "btreenode", &e->loc);
    put_statistics(b, &e->stats);
  } else if (e->is_inline) {
    cairn_buf_printf(b, " inline %zu ", e->value.n);
    put_text(b, e->value);
  } else {
    put_loc(b, "value", &e->loc);
  }
  cairn_buf_put_u8(b, '\n');
}

static cairn_code_t dump_manifest(cairn_bytes_t in, cairn_buf_t *out,
                                  cairn_error_t *err) {
  cairn__ocdbt_manifest_t m;
  cairn_code_t rc = cairn__ocdbt_manifest_decode(in, &m, err);
  if (rc != CAIRN_OK) return rc;
  cairn_buf_put_str(out, "manifest\n");
  put_configuration(out, &m.config);
  if (m.config.manifest_kind == 0) {
    put_version_lines(out, m.versions, m.num_versions);
    put_ref_lines(out, m.nodes, m.num_nodes);
  }
  cairn__ocdbt_manifest_free(&m);
  return CAIRN_OK;
}

static cairn_code_t dump_version_node(cairn_bytes_t in, cairn_buf_t *out,
                                      cairn_error_t *err) {
  cairn__ocdbt_version_node_t n;
  cairn_code_t rc =
      cairn__ocdbt_version_node_decode(in, cairn_bytes(NULL, 0), &n, err);
  if (rc != CAIRN_OK) return rc;
  cairn_buf_printf(out, "version node\nversion_tree_arity_log2 %d\nheight %d\n",
                   n.arity_log2, n.height);
  if (n.height == 0)
    put_version_lines(out, n.versions, n.num_versions);
  else
    put_ref_lines(out, n.children, n.num_children);
  cairn__ocdbt_version_node_free(&n);
  return CAIRN_OK;
}

static cairn_code_t dump_node(cairn_bytes_t in, cairn_buf_t *out,
                              cairn_error_t *err) {
  cairn__ocdbt_node_t n;
  cairn_code_t rc = cairn__ocdbt_node_decode(in, cairn_bytes(NULL, 0), &n, err);
  if (rc != CAIRN_OK) return rc;
  cairn_buf_printf(out, "b-tree node\nheight %d\nentries %zu\n", n.height, n.n);
  for (size_t i = 0; i < n.n; i++) put_entry(out, n.height, &n.entries[i]);
  cairn__ocdbt_node_free(&n);
  return CAIRN_OK;
}

cairn_code_t cairn__ocdbt_dump(cairn_bytes_t in, cairn_buf_t *out,
                               cairn_error_t *err) {
  cairn_code_t rc;
  switch (cairn__frame_magic(in)) {
    case CAIRN__OCDBT_MANIFEST:
      rc = dump_manifest(in, out, err);
      break;
    case CAIRN__OCDBT_VERSION_NODE:
      rc = dump_version_node(in, out, err);
      break;
    case CAIRN__OCDBT_BTREE_NODE:
      rc = dump_node(in, out, err);
      break;
    default:
      return cairn_fail(err, CAIRN_CORRUPT,
                        "magic %08" PRIx32 " is of no OCDBT object",
                        cairn__frame_magic(in));
  }
  if (rc == CAIRN_OK && out->failed)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "dump");
  return rc;
}
