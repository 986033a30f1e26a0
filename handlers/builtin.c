/* Which handlers every runtime knows. */
#include "handlers.h"

bool cairn__has_name(const cairn_bytes_t *names, size_t n, const char *name) {
  size_t len = strlen(name);
  for (size_t i = 0; i < n; i++)
    if (names[i].n == len && memcmp(names[i].p, name, len) == 0) return true;
  return false;
}

/* The tree comes first: blobs are stored as trees, with the same handler
 * string, and a string alone means the tree. */
cairn_code_t cairn_handlers_builtin(cairn_runtime_t *rt, cairn_error_t *err) {
  static const cairn_handler_ops_t *const all[] = {
      &cairn__tree_handler,
      &cairn__json_handler,
      &cairn__bytes_handler,
      &cairn__rank_bytes_handler,
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cairn_code_t rc;
    if (cairn_handler_find(rt, all[i]->type) == all[i]) continue;
    if ((rc = cairn_handler_register(rt, all[i], err)) != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}
