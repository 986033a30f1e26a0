/* Element types: names and sizes, all from the one table in cairn/types.h. */
#include "cairn/types.h"

static const struct {
  const char *name;
  size_t size;
} dtypes[CAIRN_DTYPE_COUNT] = {[CAIRN_DTYPE_NONE] = {"none", 0},
#define CAIRN_X(name, text, size) [CAIRN_##name] = {text, size},
                               CAIRN_DTYPES(CAIRN_X)
#undef CAIRN_X
};

/* Any int may arrive in an enum that a caller or a file filled. */
static bool known(cairn_dtype_t t) {
  return (unsigned)t < CAIRN_DTYPE_COUNT;
}

size_t cairn_dtype_size(cairn_dtype_t t) {
  return known(t) ? dtypes[t].size : 0;
}

const char *cairn_dtype_name(cairn_dtype_t t) {
  return dtypes[known(t) ? t : CAIRN_DTYPE_NONE].name;
}

cairn_dtype_t cairn_dtype_from_name(cairn_bytes_t name) {
  for (int t = CAIRN_DTYPE_NONE + 1; t < CAIRN_DTYPE_COUNT; t++) {
    const char *have = dtypes[t].name;
    if (strlen(have) == name.n && memcmp(have, name.p, name.n) == 0)
      return (cairn_dtype_t)t;
  }
  return CAIRN_DTYPE_NONE;
}
