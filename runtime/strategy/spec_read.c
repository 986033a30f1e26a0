#include "strategy/spec_read.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"

/* A member that must be an integer in [min, max]; absent is fine. */
static cairn_code_t get_int(const cairn_json_t *obj, const char *key,
                            int64_t min, int64_t max, int64_t *out,
                            cairn_error_t *err) {
  const cairn_json_t *v = cairn_json_get(obj, key);
  if (v == NULL) return CAIRN_OK;
  int64_t i;
  if (!cairn_json_int(v, &i) || i < min || i > max)
    return cairn_fail(err, CAIRN_INVALID,
                      "%s: want an integer of %" PRId64 " to %" PRId64, key,
                      min, max);
  *out = i;
  return CAIRN_OK;
}

static cairn_code_t read_compression(const cairn_json_t *v,
                                     cairn__ocdbt_config_t *c,
                                     cairn_error_t *err) {
  if (v == NULL) return CAIRN_OK;
  if (v->kind == CAIRN_JSON_NULL) {
    c->zstd = false;
    return CAIRN_OK;
  }
  if (!cairn_json_is_str(cairn_json_get(v, "id"), "zstd"))
    return cairn_fail(err, CAIRN_INVALID,
                      "compression: want null or {\"id\":\"zstd\"}");
  int64_t level = 0;
  if (get_int(v, "level", -131072, 22, &level, err) != CAIRN_OK)
    return cairn_within(err, "compression");
  c->zstd = true;
  c->zstd_level = (int32_t)level;
  return CAIRN_OK;
}

static cairn_code_t read_uuid(const cairn_json_t *v, cairn__ocdbt_config_t *c,
                              cairn_error_t *err) {
  if (v == NULL) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_STRING || v->str.n != 32 ||
      !cairn__unhex(v->str, c->uuid))
    return cairn_fail(err, CAIRN_INVALID, "uuid: want 32 hex digits");
  return CAIRN_OK;
}

static bool known(cairn_bytes_t key, const char *const *names) {
  for (; *names != NULL; names++)
    if (cairn__bytes_eq(key, cairn_bytes_str(*names))) return true;
  return false;
}

static cairn_code_t check_members(const cairn_json_t *obj, const char *what,
                                  const char *const *names,
                                  cairn_error_t *err) {
  if (obj->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_INVALID, "%s: want an object", what);
  for (const cairn_json_t *v = obj->child; v != NULL; v = v->next)
    if (!known(v->key, names))
      return cairn_fail(err, CAIRN_INVALID, "%s: unknown member \"%.*s\"", what,
                        (int)v->key.n, (const char *)v->key.p);
  return CAIRN_OK;
}

static cairn_code_t read_config(const cairn_json_t *v, cairn__ocdbt_config_t *c,
                                cairn_error_t *err) {
  static const char *const names[] = {"uuid",
                                      "manifest_kind",
                                      "max_inline_value_bytes",
                                      "max_decoded_node_bytes",
                                      "version_tree_arity_log2",
                                      "compression",
                                      NULL};
  if (v == NULL) return CAIRN_OK;
  if (check_members(v, "config", names, err) != CAIRN_OK) return CAIRN_INVALID;
  const cairn_json_t *kind = cairn_json_get(v, "manifest_kind");
  if (kind != NULL && !cairn_json_is_str(kind, "single"))
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "config: manifest_kind: only \"single\" is written");
  int64_t max_inline = c->max_inline_value_bytes,
          node = c->max_decoded_node_bytes, arity = c->version_tree_arity_log2;
  if (get_int(v, "max_inline_value_bytes", 0, CAIRN__OCDBT_MAX_INLINE,
              &max_inline, err) != CAIRN_OK ||
      get_int(v, "max_decoded_node_bytes", 0, UINT32_MAX, &node, err) !=
          CAIRN_OK ||
      get_int(v, "version_tree_arity_log2", 1, 16, &arity, err) != CAIRN_OK ||
      read_compression(cairn_json_get(v, "compression"), c, err) != CAIRN_OK ||
      read_uuid(cairn_json_get(v, "uuid"), c, err) != CAIRN_OK)
    return cairn_within(err, "config");
  c->max_inline_value_bytes = (uint32_t)max_inline;
  c->max_decoded_node_bytes = (uint32_t)node;
  c->version_tree_arity_log2 = (uint8_t)arity;
  return CAIRN_OK;
}

/* The base as text that cairn_kv_open takes: a URL, or a spec. */
static cairn_code_t read_base(const cairn_json_t *v, char **out,
                              cairn_error_t *err) {
  if (v == NULL ||
      (v->kind != CAIRN_JSON_STRING && v->kind != CAIRN_JSON_OBJECT))
    return cairn_fail(err, CAIRN_INVALID, "base: want a URL or an object");
  if (v->kind == CAIRN_JSON_STRING) {
    *out = cairn__bytes_dup(v->str);
  } else {
    cairn_buf_t text = {0};
    cairn_json_emit(v, CAIRN_JSON_COMPACT, &text);
    *out = text.failed ? NULL : cairn__bytes_dup(cairn_buf_bytes(&text));
    cairn_buf_reset(&text);
  }
  return *out != NULL ? CAIRN_OK : cairn_fail(err, CAIRN_NO_MEMORY, "base");
}

static cairn_code_t read_doc(const cairn_json_t *doc, char **base,
                             cairn__ocdbt_write_opts_t *o, cairn_error_t *err) {
  static const char *const names[] = {"driver",
                                      "base",
                                      "config",
                                      "assume_config",
                                      "target_data_file_size",
                                      "cache_pool",
                                      "data_copy_concurrency",
                                      "context",
                                      "path",
                                      NULL};
  if (check_members(doc, "spec", names, err) != CAIRN_OK) return CAIRN_INVALID;
  if (!cairn_json_is_str(cairn_json_get(doc, "driver"), "ocdbt"))
    return cairn_fail(err, CAIRN_INVALID, "driver: want \"ocdbt\"");
  int64_t target = (int64_t)o->target_data_file_size;
  if (get_int(doc, "target_data_file_size", 0, INT64_MAX, &target, err) !=
          CAIRN_OK ||
      read_config(cairn_json_get(doc, "config"), &o->config, err) != CAIRN_OK)
    return err != NULL ? err->code : CAIRN_INVALID;
  o->target_data_file_size = (uint64_t)target;
  return read_base(cairn_json_get(doc, "base"), base, err);
}

cairn_code_t cairn__ocdbt_spec_read(const char *spec, char **base,
                                    cairn__ocdbt_write_opts_t *opts,
                                    cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn_json_doc_t doc = {0};
  *base = NULL;
  cairn__ocdbt_orbax_opts(opts);
  if (cairn_json_parse(cairn_bytes_str(spec), NULL, &doc, &local) == CAIRN_OK)
    read_doc(doc.root, base, opts, &local);
  cairn_json_free(&doc);
  if (local.code == CAIRN_OK) return CAIRN_OK;
  cairn_within(&local, "ocdbt spec");
  return cairn_error_copy(err, &local);
}
