/* Comparing, joining and sorting paths. */
#include "keypath.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

cairn_bytes_t cairn__key_as_stored(const cairn_key_t *key,
                                   char tmp[CAIRN__KEY_TEXT]) {
  if (key->type != CAIRN_KEY_SEQ && key->type != CAIRN_KEY_INT)
    return key->name;
  int n = snprintf(tmp, CAIRN__KEY_TEXT, "%" PRId64, key->index);
  return cairn_bytes(tmp, (size_t)n);
}

int cairn__text_cmp(cairn_bytes_t a, cairn_bytes_t b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int c = n != 0 ? memcmp(a.p, b.p, n) : 0;
  return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static int key_cmp(const cairn_key_t *a, const cairn_key_t *b) {
  char ta[CAIRN__KEY_TEXT], tb[CAIRN__KEY_TEXT];
  bool sa = a->type == CAIRN_KEY_SEQ, sb = b->type == CAIRN_KEY_SEQ;
  if (sa != sb) return sa ? -1 : 1;
  if (sa) return (a->index > b->index) - (a->index < b->index);
  return cairn__text_cmp(cairn__key_as_stored(a, ta),
                         cairn__key_as_stored(b, tb));
}

int cairn__keypath_cmp(cairn__keypath_t a, cairn__keypath_t b) {
  size_t n = a.n < b.n ? a.n : b.n;
  for (size_t i = 0; i < n; i++) {
    int c = key_cmp(&a.keys[i], &b.keys[i]);
    if (c != 0) return c;
  }
  return (a.n > b.n) - (a.n < b.n);
}

bool cairn__keypath_starts(cairn__keypath_t b, cairn__keypath_t a) {
  if (a.n > b.n) return false;
  b.n = a.n;
  return cairn__keypath_cmp(a, b) == 0;
}

void cairn__keypath_name(cairn__keypath_t path, cairn_buf_t *out) {
  char tmp[CAIRN__KEY_TEXT];
  for (size_t i = 0; i < path.n; i++) {
    cairn_bytes_t text = cairn__key_as_stored(&path.keys[i], tmp);
    if (i != 0) cairn_buf_put_u8(out, '.');
    cairn_buf_put(out, text.p, text.n);
  }
}

struct sorting {
  cairn__keypath_t (*path)(const void *arg, size_t i);
  const void *arg;
};

static int by_path(const void *a, const void *b, void *arg) {
  const struct sorting *s = arg;
  return cairn__keypath_cmp(s->path(s->arg, *(const size_t *)a),
                            s->path(s->arg, *(const size_t *)b));
}

static bool in_order(size_t n, struct sorting *s) {
  for (size_t i = 0; i + 1 < n; i++) {
    size_t next = i + 1;
    if (by_path(&i, &next, s) > 0) return false;
  }
  return true;
}

size_t *cairn__keypath_sort(size_t n,
                            cairn__keypath_t (*path)(const void *arg, size_t i),
                            const void *arg) {
  struct sorting s = {path, arg};
  size_t *order = calloc(n != 0 ? n : 1, sizeof *order);
  if (order == NULL) return NULL;
  for (size_t i = 0; i < n; i++) order[i] = i;
  if (!in_order(n, &s)) qsort_r(order, n, sizeof *order, by_path, &s);
  return order;
}

cairn__path_shown_t cairn__path_show(cairn__keypath_t path) {
  cairn__path_shown_t out;
  cairn_path_text(path.keys, path.n, out.s, sizeof out.s);
  return out;
}
