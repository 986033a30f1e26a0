/* Looking strings up. The common name is a member of the root: found by binary
 * search, so that a tree of strings is not quadratic. */
#include <stdlib.h>

#include "tree_stored.h"

static int by_key(const void *a, const void *b) {
  const cairn_json_t *const *x = a, *const *y = b;
  return cairn__text_cmp((*x)->key, (*y)->key);
}

static int key_to_member(const void *key, const void *member) {
  const cairn_json_t *const *m = member;
  return cairn__text_cmp(*(const cairn_bytes_t *)key, (*m)->key);
}

static bool sort_members(cairn__tree_stored_t *s) {
  const cairn_json_t *root = s->strings.root;
  size_t n = 0;
  if (s->sorted != NULL) return true;
  s->sorted = calloc(root->n + 1, sizeof *s->sorted);
  if (s->sorted == NULL) return false;
  for (const cairn_json_t *v = root->child; v != NULL; v = v->next)
    s->sorted[n++] = v;
  qsort(s->sorted, n, sizeof *s->sorted, by_key);
  return true;
}

static const cairn_json_t *root_member(cairn__tree_stored_t *s,
                                       cairn_bytes_t key) {
  const cairn_json_t *const *found = bsearch(
      &key, s->sorted, s->strings.root->n, sizeof *s->sorted, key_to_member);
  return found != NULL ? *found : NULL;
}

/* One token of a pointer, its escapes undone in out (room for name.n bytes).
 * False: a '~' that is no escape. */
static bool next_token(cairn_bytes_t *rest, uint8_t *out, cairn_bytes_t *token,
                       bool *last) {
  size_t i = 0, n = 0;
  for (; i < rest->n && rest->p[i] != '/'; i++) {
    uint8_t c = rest->p[i];
    if (c == '~') {
      if (++i == rest->n || (rest->p[i] != '0' && rest->p[i] != '1'))
        return false;
      c = rest->p[i] == '0' ? '~' : '/';
    }
    out[n++] = c;
  }
  *token = cairn_bytes(out, n);
  *last = i == rest->n;
  if (!*last) *rest = cairn_bytes(rest->p + i + 1, rest->n - i - 1);
  return true;
}

static const cairn_json_t *walk(cairn__tree_stored_t *s, cairn_bytes_t name,
                                uint8_t *room) {
  const cairn_json_t *at = NULL;
  bool last = false;
  for (bool first = true; !last; first = false) {
    cairn_bytes_t token;
    if (!next_token(&name, room, &token, &last)) return NULL;
    at = first ? root_member(s, token) : cairn_json_get_bytes(at, token);
    if (at == NULL) return NULL;
  }
  return at;
}

cairn_code_t cairn__stored_string(cairn__tree_stored_t *s, cairn_bytes_t name,
                                  cairn_bytes_t *out, cairn_error_t *err) {
  if (!s->has_strings)
    return cairn_fail(err, CAIRN_CORRUPT, "_strings.json is not there");
  uint8_t *room = malloc(name.n + 1);
  if (room == NULL || !sort_members(s)) {
    free(room);
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  }
  const cairn_json_t *v = walk(s, name, room);
  free(room);
  if (v == NULL)
    return cairn_fail(err, CAIRN_CORRUPT, "_strings.json has no such member");
  if (v->kind != CAIRN_JSON_STRING)
    return cairn_fail(err, CAIRN_CORRUPT, "_strings.json: not a string");
  *out = v->str;
  return CAIRN_OK;
}
