#include "unit/base/files.h"

#include <criterion/criterion.h>

FILE *golden_open(const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", CAIRN_GOLDEN, name);
  FILE *f = fopen(path, "r");
  cr_assert(f != NULL, "cannot open %s", path);
  return f;
}

bool golden_line(FILE *f, char **line, size_t *cap, bool must,
                 cairn_bytes_t *out) {
  ssize_t n = getline(line, cap, f);
  cr_assert(n > 0 || !must, "the golden file ends early");
  if (n <= 0) return false;
  if ((*line)[n - 1] == '\n') (*line)[--n] = '\0';
  *out = cairn_bytes(*line, (size_t)n);
  return true;
}
