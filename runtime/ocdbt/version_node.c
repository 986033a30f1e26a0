/* Nodes of the version tree (section 9.4). */
#include "ocdbt/wire.h"

static cairn_code_t decode(cairn__wire_t *w, cairn__ocdbt_version_node_t *n) {
  cairn_code_t rc = cairn__wire_arity(w, &n->arity_log2);
  if (rc != CAIRN_OK) return rc;
  if ((rc = cairn__wire_u8(w, "height", &n->height)) != CAIRN_OK) return rc;
  if (n->height > cairn__version_max_height(n->arity_log2))
    return cairn__wire_corrupt(w, "height", "height is %d with arity 2^%d",
                               n->height, n->arity_log2);
  if ((rc = cairn__wire_files(w)) != CAIRN_OK) return rc;
  if (n->height == 0)
    return cairn__wire_versions(w, n->arity_log2, &n->versions,
                                &n->num_versions);
  return cairn__wire_version_children(w, n->arity_log2, n->height, &n->children,
                                      &n->num_children);
}

cairn_code_t cairn__ocdbt_version_node_decode(cairn_bytes_t in,
                                              cairn_bytes_t transitive,
                                              cairn__ocdbt_version_node_t *out,
                                              cairn_error_t *err) {
  cairn__wire_t w;
  *out = (cairn__ocdbt_version_node_t){0};
  cairn_code_t rc = cairn__wire_open(&w, in, CAIRN__OCDBT_VERSION_NODE,
                                     "version node", transitive, err);
  if (rc != CAIRN_OK) return rc;
  rc = decode(&w, out);
  if (rc == CAIRN_OK) rc = cairn__wire_end(&w);
  if (cairn__wire_close(&w, rc, &out->mem) != CAIRN_OK)
    *out = (cairn__ocdbt_version_node_t){0};
  return rc;
}

void cairn__ocdbt_version_node_free(cairn__ocdbt_version_node_t *n) {
  cairn__arena_free(n->mem);
  *n = (cairn__ocdbt_version_node_t){0};
}

static cairn_code_t put_body(const cairn__ocdbt_version_node_t *n,
                             cairn__file_table_t *t, cairn_buf_t *body,
                             cairn_error_t *err) {
  bool leaf = n->height == 0;
  if ((leaf ? n->num_versions : n->num_children) == 0)
    return cairn_fail(err, CAIRN_INVALID, "version node without entries");
  cairn_buf_put_u8(body, n->arity_log2);
  cairn_buf_put_u8(body, n->height);
  if (!(leaf ? cairn__file_table_add_locs(t, &n->versions->root,
                                          sizeof *n->versions, n->num_versions)
             : cairn__file_table_add_locs(
                   t, &n->children->loc, sizeof *n->children, n->num_children)))
    return cairn_fail(err, CAIRN_NO_MEMORY, "version node");
  cairn_code_t rc = cairn__file_table_put(t, body, err);
  if (rc != CAIRN_OK) return rc;
  if (leaf)
    cairn__put_versions(body, t, n->versions, n->num_versions);
  else
    cairn__put_version_refs(body, t, n->children, n->num_children, false);
  if (!body->failed) return CAIRN_OK;
  return cairn_fail(err, CAIRN_NO_MEMORY, "version node");
}

cairn_code_t cairn__ocdbt_version_node_encode(
    const cairn__ocdbt_config_t *config, const cairn__ocdbt_version_node_t *n,
    cairn_buf_t *out, cairn_error_t *err) {
  cairn_buf_t body = {0};
  cairn__file_table_t t = {0};
  cairn_code_t rc = put_body(n, &t, &body, err);
  if (rc == CAIRN_OK)
    rc = cairn__frame_put(config, CAIRN__OCDBT_VERSION_NODE,
                          cairn_buf_bytes(&body), out, err);
  cairn__file_table_reset(&t);
  cairn_buf_reset(&body);
  return rc;
}
