/* The manifest (section 6). Of kind numbered it holds its config only; the
 * numbered files beside it say kind single. */
#include "ocdbt/wire.h"

static cairn_code_t decode(cairn__wire_t *w, cairn__ocdbt_manifest_t *m) {
  cairn_code_t rc = cairn__wire_config(w, &m->config);
  if (rc != CAIRN_OK || m->config.manifest_kind == 1) return rc;
  unsigned arity = m->config.version_tree_arity_log2;
  if ((rc = cairn__wire_files(w)) != CAIRN_OK ||
      (rc = cairn__wire_versions(w, arity, &m->versions, &m->num_versions)) !=
          CAIRN_OK)
    return rc;
  return cairn__wire_version_nodes(w, arity,
                                   m->versions[m->num_versions - 1].generation,
                                   &m->nodes, &m->num_nodes);
}

cairn_code_t cairn__ocdbt_manifest_decode(cairn_bytes_t in,
                                          cairn__ocdbt_manifest_t *out,
                                          cairn_error_t *err) {
  cairn__wire_t w;
  *out = (cairn__ocdbt_manifest_t){0};
  cairn_code_t rc = cairn__wire_open(&w, in, CAIRN__OCDBT_MANIFEST, "manifest",
                                     cairn_bytes(NULL, 0), err);
  if (rc != CAIRN_OK) return rc;
  rc = decode(&w, out);
  if (rc == CAIRN_OK) rc = cairn__wire_end(&w);
  if (cairn__wire_close(&w, rc, &out->mem) != CAIRN_OK)
    *out = (cairn__ocdbt_manifest_t){0};
  return rc;
}

void cairn__ocdbt_manifest_free(cairn__ocdbt_manifest_t *m) {
  cairn__arena_free(m->mem);
  *m = (cairn__ocdbt_manifest_t){0};
}

static cairn_code_t put_lists(const cairn__ocdbt_manifest_t *m,
                              cairn_buf_t *body, cairn_error_t *err) {
  cairn__file_table_t t = {0};
  cairn_code_t rc;
  if (cairn__file_table_add_locs(&t, &m->versions->root, sizeof *m->versions,
                                 m->num_versions) &&
      (m->num_nodes == 0 ||
       cairn__file_table_add_locs(&t, &m->nodes->loc, sizeof *m->nodes,
                                  m->num_nodes)))
    rc = cairn__file_table_put(&t, body, err);
  else
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "manifest");
  if (rc == CAIRN_OK) {
    cairn__put_versions(body, &t, m->versions, m->num_versions);
    cairn__put_version_refs(body, &t, m->nodes, m->num_nodes, true);
  }
  cairn__file_table_reset(&t);
  return rc;
}

cairn_code_t cairn__ocdbt_manifest_encode(const cairn__ocdbt_manifest_t *m,
                                          cairn_buf_t *out,
                                          cairn_error_t *err) {
  cairn_buf_t body = {0};
  cairn_code_t rc = CAIRN_OK;
  cairn__put_config(&body, &m->config);
  if (m->config.manifest_kind == 0) {
    if (m->num_versions == 0)
      rc = cairn_fail(err, CAIRN_INVALID, "manifest without a version");
    else
      rc = put_lists(m, &body, err);
  }
  if (rc == CAIRN_OK && body.failed)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "manifest");
  if (rc == CAIRN_OK)
    rc = cairn__frame_put(&m->config, CAIRN__OCDBT_MANIFEST,
                          cairn_buf_bytes(&body), out, err);
  cairn_buf_reset(&body);
  return rc;
}
