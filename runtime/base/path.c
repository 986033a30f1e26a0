/* Local paths, as text. */
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

char *cairn__path_join(const char *a, const char *b) {
  size_t n = strlen(a);
  if (n == 0) return strdup(b);
  while (n > 0 && a[n - 1] == '/') n--;
  while (*b == '/') b++;
  cairn_buf_t out = {0};
  cairn_buf_put(&out, a, n);
  if (*b != '\0' || n == 0) cairn_buf_put_u8(&out, '/');
  cairn_buf_put(&out, b, strlen(b) + 1);
  if (out.failed) cairn_buf_reset(&out);
  return (char *)cairn_buf_steal(&out, NULL);
}

/* Appends the parts of `path` to `out`, each with a '/' before it. ".." of the
 * root is the root. */
static void put_parts(cairn_buf_t *out, const char *path) {
  while (*path != '\0') {
    size_t n = strcspn(path, "/");
    if (n == 2 && memcmp(path, "..", 2) == 0) {
      while (out->n > 0 && out->p[--out->n] != '/') continue;
    } else if (n > 0 && !(n == 1 && *path == '.')) {
      cairn_buf_put_u8(out, '/');
      cairn_buf_put(out, path, n);
    }
    path += n;
    path += *path == '/';
  }
}

char *cairn__path_absolute(const char *path) {
  cairn_buf_t out = {0};
  if (*path != '/') {
    char *cwd = getcwd(NULL, 0);
    if (cwd == NULL) return NULL;
    put_parts(&out, cwd);
    free(cwd);
  }
  put_parts(&out, path);
  if (out.n == 0) cairn_buf_put_u8(&out, '/');
  cairn_buf_put_u8(&out, '\0');
  if (out.failed) cairn_buf_reset(&out);
  return (char *)cairn_buf_steal(&out, NULL);
}

size_t cairn__path_base(cairn_bytes_t path) {
  size_t n = path.n;
  while (n > 0 && path.p[n - 1] != '/') n--;
  return n;
}
