/* The default strategy: the directory's own scheme says which driver; databases
 * are OCDBT with the configuration that Orbax gives them (reference
 * orbax.md 1.6, ocdbt.md 14). In the cairn profile index nodes are small, so
 * that one lookup in a million-leaf index decodes little. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"
#include "cairn/strategy.h"

#define ORBAX_NODE_BYTES 100000000
#define CAIRN_NODE_BYTES 65536
#define INLINE_BYTES 1024
#define DATA_FILE_BYTES INT64_C(2147483648)

/* The end of "scheme:" in "scheme://...", or NULL. */
static const char *scheme_end(const char *s) {
  const char *p = s;
  while (isalnum((unsigned char)*p) || *p == '+' || *p == '-' || *p == '.' ||
         *p == '_')
    p++;
  return p != s && strncmp(p, "://", 3) == 0 ? p : NULL;
}

/* Orbax joins directories to paths the same way: literal text, one '/' at the
 * end. */
static void put_directory(cairn_buf_t *b, const char *directory,
                          const char *below, const char *process_id) {
  cairn_buf_t path = {0};
  size_t n = strlen(directory);
  while (n > 1 && directory[n - 1] == '/') n--;
  cairn_buf_put(&path, directory, n);
  if (n == 0 || directory[n - 1] != '/') cairn_buf_put_str(&path, "/");
  if (process_id != NULL) cairn_buf_printf(&path, "%s%s/", below, process_id);
  cairn_json_emit_str(cairn_buf_bytes(&path), CAIRN_JSON_COMPACT, b);
  if (path.failed) b->failed = true;
  cairn_buf_reset(&path);
}

/* A directory as TensorStore takes it where a kvstore is wanted: a spec for a
 * local path, the URL itself otherwise. */
static void put_kv(cairn_buf_t *b, const cairn_spec_in_t *in) {
  const char *process =
      in->purpose == CAIRN_PURPOSE_PRIVATE ? in->process_id : NULL;
  bool url = scheme_end(in->directory) != NULL;
  if (!url) cairn_buf_put_str(b, "{\"driver\":\"file\",\"path\":");
  put_directory(b, in->directory, "ocdbt.process_", process);
  if (!url && in->not_durable) cairn_buf_put_str(b, ",\"file_io_sync\":false");
  if (!url) cairn_buf_put_str(b, "}");
}

static cairn_code_t give(cairn_buf_t *b, char **out, cairn_error_t *err) {
  cairn_buf_put_u8(b, 0);
  if (b->failed) {
    cairn_buf_reset(b);
    return cairn_fail(err, CAIRN_NO_MEMORY, "store spec");
  }
  size_t n;
  *out = (char *)cairn_buf_steal(b, &n);
  return CAIRN_OK;
}

static bool process_id_ok(const char *id) {
  if (id == NULL || *id == 0) return false;
  for (; *id != 0; id++)
    if (!isalnum((unsigned char)*id)) return false;
  return true;
}

static cairn_code_t check(const cairn_spec_in_t *in, cairn_error_t *err) {
  if (in->directory == NULL || *in->directory == 0)
    return cairn_fail(err, CAIRN_INVALID, "directory is empty");
  if (in->purpose == CAIRN_PURPOSE_PRIVATE && !process_id_ok(in->process_id))
    return cairn_fail(err, CAIRN_INVALID,
                      "process id \"%s\": want letters and digits",
                      in->process_id != NULL ? in->process_id : "");
  return CAIRN_OK;
}

static cairn_code_t default_kv_spec(void *self, const cairn_spec_in_t *in,
                                    char **out, cairn_error_t *err) {
  (void)self;
  if (check(in, err) != CAIRN_OK) return CAIRN_INVALID;
  cairn_buf_t b = {0};
  put_kv(&b, in);
  return give(&b, out, err);
}

static cairn_code_t default_read_spec(void *self, const cairn_spec_in_t *in,
                                      char **out, cairn_error_t *err) {
  if (in->purpose == CAIRN_PURPOSE_FILES)
    return default_kv_spec(self, in, out, err);
  if (check(in, err) != CAIRN_OK) return CAIRN_INVALID;
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "{\"driver\":\"ocdbt\",\"base\":");
  put_kv(&b, in);
  cairn_buf_put_str(&b, "}");
  return give(&b, out, err);
}

static cairn_code_t default_write_spec(void *self, const cairn_spec_in_t *in,
                                       char **out, cairn_error_t *err) {
  if (in->purpose == CAIRN_PURPOSE_FILES)
    return default_kv_spec(self, in, out, err);
  if (check(in, err) != CAIRN_OK) return CAIRN_INVALID;
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "{\"driver\":\"ocdbt\",\"base\":");
  put_kv(&b, in);
  cairn_buf_printf(
      &b,
      ",\"assume_config\":true,\"config\":{\"manifest_kind\":\"single\","
      "\"max_inline_value_bytes\":%d,\"max_decoded_node_bytes\":%d},"
      "\"target_data_file_size\":%" PRId64 "}",
      INLINE_BYTES,
      in->profile == CAIRN_PROFILE_CAIRN ? CAIRN_NODE_BYTES : ORBAX_NODE_BYTES,
      DATA_FILE_BYTES);
  return give(&b, out, err);
}

static const cairn_strategy_ops_t default_ops = {
    .size = sizeof(default_ops),
    .name = "default",
    .read_spec = default_read_spec,
    .write_spec = default_write_spec,
    .kv_spec = default_kv_spec,
};

const cairn_strategy_t CAIRN_STRATEGY_DEFAULT = {&default_ops, NULL};

cairn_code_t cairn_strategy_spec(const cairn_strategy_t *strategy,
                                 const cairn_spec_in_t *in, bool for_write,
                                 char **out, cairn_error_t *err) {
  if (strategy == NULL) strategy = &CAIRN_STRATEGY_DEFAULT;
  const cairn_strategy_ops_t *ops = strategy->ops;
  void *self = strategy->self;
  *out = NULL;
  if (in->purpose == CAIRN_PURPOSE_FILES && ops->kv_spec != NULL)
    return ops->kv_spec(self, in, out, err);
  if (for_write && ops->write_spec != NULL)
    return ops->write_spec(self, in, out, err);
  if (!for_write && ops->read_spec != NULL)
    return ops->read_spec(self, in, out, err);
  return for_write ? default_write_spec(NULL, in, out, err)
                   : default_read_spec(NULL, in, out, err);
}
