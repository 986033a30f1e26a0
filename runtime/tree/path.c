/* Keys and paths: from text, as text, and as nodes. */
#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "cairn/json.h"
#include "tree/tree.h"

/* --- text to keys --- */

cairn_code_t cairn__path_split(const char *path, cairn_key_t *keys, size_t *n,
                               cairn_error_t *err) {
  *n = 0;
  if (path == NULL) return cairn_fail(err, CAIRN_INVALID, "no path");
  for (const char *p = path;; p++) {
    size_t len = strcspn(p, "/");
    if (len == 0)
      return cairn_fail(err, CAIRN_INVALID, "path '%.200s' has an empty part",
                        path);
    if (*n == CAIRN__TREE_MAX_KEYS)
      return cairn_fail(err, CAIRN_INVALID, "path '%.200s' has over %d parts",
                        path, CAIRN__TREE_MAX_KEYS);
    keys[(*n)++] = (cairn_key_t){.name = cairn_bytes(p, len)};
    p += len;
    if (*p == '\0') return CAIRN_OK;
  }
}

cairn_code_t cairn__path_check(const cairn_key_t *path, size_t n,
                               cairn_error_t *err) {
  if (n > CAIRN__TREE_MAX_KEYS)
    return cairn_fail(err, CAIRN_INVALID, "path of %zu keys, at most %d", n,
                      CAIRN__TREE_MAX_KEYS);
  if (n > 0 && path == NULL) return cairn_fail(err, CAIRN_INVALID, "no path");
  for (size_t i = 0; i < n; i++) {
    const cairn_key_t *k = &path[i];
    if ((int)k->type < CAIRN_KEY_DICT || k->type > CAIRN_KEY_ATTR)
      return cairn_fail(err, CAIRN_INVALID, "key %zu is of no type (%d)", i,
                        (int)k->type);
    if (k->type == CAIRN_KEY_SEQ && k->index < 0)
      return cairn_fail(err, CAIRN_INVALID, "key %zu is place %" PRId64, i,
                        k->index);
    if (!cairn__key_is_number(k) && k->name.p == NULL && k->name.n > 0)
      return cairn_fail(err, CAIRN_INVALID, "key %zu has no name", i);
  }
  return CAIRN_OK;
}

/* --- keys to text --- */

cairn_bytes_t cairn__key_text(const cairn_key_t *k, char digits[24]) {
  if (!cairn__key_is_number(k)) return k->name;
  int n = snprintf(digits, 24, "%" PRId64, k->index);
  return cairn_bytes(digits, (size_t)n);
}

/* A name that needs no quotes, as Python and C agree. */
static bool is_plain(cairn_bytes_t name) {
  for (size_t i = 0; i < name.n; i++) {
    uint8_t c = name.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return name.n > 0;
}

static void put_key(const cairn_key_t *k, bool first, cairn_buf_t *out) {
  if (cairn__key_is_number(k)) {
    cairn_buf_printf(out, "[%" PRId64 "]", k->index);
  } else if (is_plain(k->name) && (first || k->type == CAIRN_KEY_ATTR)) {
    if (!first) cairn_buf_put_u8(out, '.');
    cairn_buf_put(out, k->name.p, k->name.n);
  } else {
    cairn_buf_put_u8(out, '[');
    cairn_py_repr(k->name, out);
    cairn_buf_put_u8(out, ']');
  }
}

/* Where a text of n bytes is cut so that "..." follows within cap, and no
 * character is cut in two. */
static size_t cut_at(const uint8_t *p, size_t cap) {
  size_t n = cap > 4 ? cap - 4 : 0;
  while (n > 0 && (p[n] & 0xc0) == 0x80) n--;
  return n;
}

void cairn_path_text(const cairn_key_t *path, size_t path_n, char *out,
                     size_t cap) {
  cairn_buf_t b = {0};
  if (cap == 0) return;
  if (path_n == 0) cairn_buf_put_str(&b, "(the whole tree)");
  for (size_t i = 0; i < path_n && b.n < cap; i++)
    put_key(&path[i], i == 0, &b);
  if (b.failed) {
    snprintf(out, cap, "?");
  } else if (b.n < cap) {
    memcpy(out, b.p, b.n);
    out[b.n] = '\0';
  } else {
    size_t n = cut_at(b.p, cap);
    memcpy(out, b.p, n);
    snprintf(out + n, cap - n, "...");
  }
  cairn_buf_reset(&b);
}

cairn__path_text_t cairn__path_text(const cairn_key_t *path, size_t n) {
  cairn__path_text_t t;
  cairn_path_text(path, n, t.s, sizeof t.s);
  return t;
}

/* --- nodes --- */

/* The map's key for a child: its parent's number, its type and its name. */
static bool set_scratch(cairn_tree_t *t, const cairn__node_t *parent,
                        const cairn_key_t *k) {
  cairn_buf_t *b = &t->scratch;
  b->n = 0;
  b->failed = false;
  cairn_buf_put_u64le(b, parent->serial);
  cairn_buf_put_u8(b, (uint8_t)k->type);
  if (cairn__key_is_number(k))
    cairn_buf_put_u64le(b, (uint64_t)k->index);
  else
    cairn_buf_put(b, k->name.p, k->name.n);
  return !b->failed;
}

cairn__node_t *cairn__node_find(cairn_tree_t *t, const cairn__node_t *parent,
                                const cairn_key_t *key) {
  if (!set_scratch(t, parent, key)) return NULL;
  return cairn__map_get(&t->nodes, cairn_buf_bytes(&t->scratch));
}

static void add_child(cairn__node_t *parent, cairn__node_t *n) {
  if (parent->last != NULL)
    parent->last->next = n;
  else
    parent->first = n;
  parent->last = n;
}

cairn__node_t *cairn__node_get(cairn_tree_t *t, cairn__node_t *parent,
                               const cairn_key_t *key) {
  cairn__node_t *n = NULL;
  const void *name = NULL;
  if (!set_scratch(t, parent, key)) return NULL;
  n = cairn__map_get(&t->nodes, cairn_buf_bytes(&t->scratch));
  if (n != NULL) return n;
  n = cairn__tree_alloc(t, sizeof *n, _Alignof(cairn__node_t));
  if (n != NULL && !cairn__key_is_number(key))
    name = cairn__tree_copy(t, key->name.p, key->name.n);
  if (n == NULL || (name == NULL && !cairn__key_is_number(key))) return NULL;
  *n = (cairn__node_t){
      .key = {.type = key->type}, .parent = parent, .serial = t->num_nodes + 1};
  if (name != NULL)
    n->key.name = cairn_bytes(name, key->name.n);
  else
    n->key.index = key->index;
  if (!cairn__map_set(&t->nodes, cairn_buf_bytes(&t->scratch), n, NULL))
    return NULL;
  t->num_nodes++;
  add_child(parent, n);
  return n;
}
