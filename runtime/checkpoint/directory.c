#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"

cairn_future_t *cairn__open_directory(cairn_runtime_t *rt,
                                      const cairn_strategy_t *strategy,
                                      const char *directory, bool not_durable,
                                      cairn_kv_t **out) {
  cairn_error_t err = {0};
  char *spec = NULL;
  cairn_spec_in_t in = {.size = sizeof(in),
                        .purpose = CAIRN_PURPOSE_FILES,
                        .directory = directory,
                        .not_durable = not_durable};
  if (cairn_strategy_spec(strategy, &in, true, &spec, &err) != CAIRN_OK)
    return cairn_future_done(rt, &err);
  /* Where the driver takes URLs the spec is one, as a JSON string. */
  cairn_json_doc_t doc = {0};
  if (cairn_json_parse(cairn_bytes_str(spec), NULL, &doc, &err) == CAIRN_OK &&
      doc.root->kind == CAIRN_JSON_STRING) {
    free(spec);
    spec = cairn__bytes_dup(doc.root->str);
  }
  cairn_json_free(&doc);
  if (spec == NULL) cairn_fail(&err, CAIRN_NO_MEMORY, "%s", directory);
  cairn_future_t *f = err.code == CAIRN_OK ? cairn_kv_open(rt, spec, out)
                                           : cairn_future_done(rt, &err);
  free(spec);
  return f;
}

char *cairn__dir_join(const char *dir, const char *name) {
  size_t n = strlen(dir);
  while (n > 1 && dir[n - 1] == '/') n--;
  if (name[0] == 0) return cairn__printf("%.*s", (int)n, dir);
  return cairn__printf("%.*s%s%s", (int)n, dir, dir[n - 1] == '/' ? "" : "/",
                       name);
}

char *cairn__dir_absolute(const char *dir) {
  if (strstr(dir, "://") != NULL) return cairn__bytes_dup(cairn_bytes_str(dir));
  return cairn__path_absolute(dir);
}
