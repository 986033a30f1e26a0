/* Can a tree be stored? Names of parameters are joined from keys without any
 * escape, so different trees can give the same names and keys; Orbax does not
 * notice (reference arrays.md D9, D10), so it is refused here, before a byte is
 * written. */
#include <inttypes.h>

#include "base/base.h"
#include "tree/tree.h"

static cairn__path_text_t text_of(const cairn__entry_t *e) {
  return cairn__path_text(e->leaf.path, e->leaf.path_n);
}

/* A node has no path of its own: it is the first keys of a leaf below it. */
static const cairn__entry_t *some_leaf(const cairn__node_t *n) {
  while (n->entry == NULL) {
    n = n->first;
    while (n->leaves == 0) n = n->next;
  }
  return n->entry;
}

static size_t depth_of(const cairn__node_t *n) {
  size_t depth = 0;
  for (; n->parent != NULL; n = n->parent) depth++;
  return depth;
}

static cairn__path_text_t text_of_node(const cairn__node_t *n) {
  return cairn__path_text(some_leaf(n)->leaf.path, depth_of(n));
}

/* --- each leaf by itself --- */

static cairn_code_t check_string(const cairn__entry_t *e, cairn_error_t *err) {
  size_t n = strnlen(e->leaf.data, e->leaf.capacity);
  if (n == e->leaf.capacity)
    return cairn_fail(err, CAIRN_INVALID, "%s: text without a NUL in %zu bytes",
                      text_of(e).s, n);
  if (!cairn__utf8_ok(cairn_bytes(e->leaf.data, n)))
    return cairn_fail(err, CAIRN_INVALID, "%s: text is not UTF-8",
                      text_of(e).s);
  return CAIRN_OK;
}

static cairn_code_t check_leaf(const cairn__entry_t *e, cairn_error_t *err) {
  for (size_t i = 0; i < e->leaf.path_n; i++)
    if (!cairn__utf8_ok(e->leaf.path[i].name))
      return cairn_fail(err, CAIRN_INVALID, "%s: a key that is not UTF-8",
                        text_of(e).s);
  for (const cairn__node_t *n = e->node->parent; n != NULL; n = n->parent)
    if (n->entry != NULL)
      return cairn_fail(err, CAIRN_INVALID, "%s: is below another leaf, %s",
                        text_of(e).s, text_of(n->entry).s);
  return CAIRN_OK;
}

/* --- names --- */

enum store { NOWHERE, ARRAYS, STRINGS };

static enum store store_of(const cairn__entry_t *e) {
  if (e->leaf.kind == CAIRN_LEAF_ARRAY || e->leaf.kind == CAIRN_LEAF_SCALAR)
    return ARRAYS;
  return e->leaf.kind == CAIRN_LEAF_STRING ? STRINGS : NOWHERE;
}

static cairn_code_t keys_meet(const cairn__entry_t *a, const cairn__entry_t *b,
                              cairn_error_t *err) {
  return cairn_fail(err, CAIRN_INVALID,
                    "%s and %s: the keys they would be stored under meet",
                    text_of(a).s, text_of(b).s);
}

/* Keys of an array are its name, '/' and more; members of the strings' document
 * nest at '/'. With the empty name there is no '/' to tell it from others. */
static cairn_code_t check_keys(const cairn_tree_t *t, const cairn__entry_t *e,
                               cairn_error_t *err) {
  cairn_bytes_t name = e->leaf.name;
  enum store store = store_of(e);
  if (store == NOWHERE) return CAIRN_OK;
  for (size_t i = 0; i < name.n; i++) {
    if (i != 0 && name.p[i] != '/') continue;
    const cairn__entry_t *other =
        cairn__map_get(&t->names, cairn_bytes(name.p, i));
    if (other != NULL && store_of(other) == store)
      return keys_meet(other, e, err);
  }
  return CAIRN_OK;
}

static cairn_code_t check_name(const cairn_tree_t *t, const cairn__entry_t *e,
                               cairn_error_t *err) {
  const cairn__entry_t *first = cairn__map_get(&t->names, e->leaf.name);
  if (first != e)
    return cairn_fail(err, CAIRN_INVALID, "%s and %s have one name, '%.*s'",
                      text_of(first).s, text_of(e).s,
                      (int)(e->leaf.name.n < 200 ? e->leaf.name.n : 200),
                      (const char *)e->leaf.name.p);
  return check_keys(t, e, err);
}

/* --- containers --- */

/* Another child whose key looks the same in a name: 1 and '1'. */
static const cairn__node_t *twin_of(cairn_tree_t *t, const cairn__node_t *n) {
  char digits[24];
  cairn_key_t k = {.name = cairn__key_text(&n->key, digits),
                   .index = n->key.index};
  static const cairn_key_type_t types[] = {CAIRN_KEY_DICT, CAIRN_KEY_ATTR,
                                           CAIRN_KEY_SEQ, CAIRN_KEY_INT};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    k.type = types[i];
    if (k.type == n->key.type ||
        (cairn__key_is_number(&k) && !cairn__key_is_number(&n->key)))
      continue;
    const cairn__node_t *other = cairn__node_find(t, n->parent, &k);
    if (other != NULL && other->leaves > 0) return other;
  }
  return NULL;
}

static cairn_code_t check_list(const cairn__node_t *parent,
                               const cairn__node_t *seq, int64_t top,
                               size_t places, size_t children,
                               cairn_error_t *err) {
  if (places < children)
    return cairn_fail(err, CAIRN_INVALID, "%s: a place in a list beside names",
                      text_of_node(seq).s);
  if ((uint64_t)top >= places)
    return cairn_fail(err, CAIRN_INVALID,
                      "%s: a list with gaps: %zu places, the last of them is "
                      "%" PRId64,
                      text_of_node(parent).s, places, top);
  return CAIRN_OK;
}

static cairn_code_t check_children(cairn_tree_t *t, const cairn__node_t *parent,
                                   cairn_error_t *err) {
  size_t places = 0, children = 0;
  int64_t top = 0;
  const cairn__node_t *seq = NULL;
  for (const cairn__node_t *n = parent->first; n != NULL; n = n->next) {
    if (n->leaves == 0) continue;
    const cairn__node_t *twin = twin_of(t, n);
    if (twin != NULL)
      return cairn_fail(err, CAIRN_INVALID, "%s and %s: keys of one text",
                        text_of_node(n).s, text_of_node(twin).s);
    children++;
    if (n->key.type != CAIRN_KEY_SEQ) continue;
    places++;
    seq = n;
    if (n->key.index > top) top = n->key.index;
  }
  return seq == NULL ? CAIRN_OK
                     : check_list(parent, seq, top, places, children, err);
}

/* Each container once: from the leaf that is the first to be below it. */
static cairn_code_t check_containers(cairn_tree_t *t, const cairn__entry_t *e,
                                     const cairn__entry_t *before,
                                     cairn_error_t *err) {
  for (size_t i = 0; i < e->leaf.path_n; i++) {
    const cairn__node_t *n = i == 0 ? &t->root : e->chain[i - 1];
    if (before != NULL && i <= before->leaf.path_n &&
        (i == 0 || before->chain[i - 1] == n))
      continue;
    cairn_code_t rc = check_children(t, n, err);
    if (rc != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

/* All that changes only with the tree. */
static cairn_code_t check_structure(cairn_tree_t *t, cairn_error_t *err) {
  /* Room for twins' keys, so that looking them up cannot fail. */
  t->scratch.n = 0;
  t->scratch.failed = false;
  if (!cairn_buf_reserve(&t->scratch, 64))
    return cairn_fail(err, CAIRN_NO_MEMORY, "check of a tree");
  (void)cairn_tree_leaf(t, 0);
  for (size_t i = 0; i < t->n; i++) {
    const cairn__entry_t *e = t->leaves[i];
    cairn_code_t rc = check_leaf(e, err);
    if (rc != CAIRN_OK) return rc;
    rc = check_containers(t, e, i > 0 ? t->leaves[i - 1] : NULL, err);
    if (rc != CAIRN_OK) return rc;
    if ((rc = check_name(t, e, err)) != CAIRN_OK) return rc;
  }
  return CAIRN_OK;
}

/* A save checks its tree every time, so what was found is kept until a leaf is
 * put; only strings are the caller's to change. */
cairn_code_t cairn_tree_check(const cairn_tree_t *tree, cairn_error_t *err) {
  cairn_tree_t *t = (cairn_tree_t *)tree; /* sorts, and uses its scratch */
  cairn_code_t rc = CAIRN_OK;
  if (t == NULL) return cairn_fail(err, CAIRN_INVALID, "there is no tree");
  if (t->n == 0) return cairn_fail(err, CAIRN_INVALID, "the tree is empty");
  if (!t->checked) rc = check_structure(t, err);
  t->checked = rc == CAIRN_OK;
  for (size_t i = 0; i < t->n && t->strings > 0 && rc == CAIRN_OK; i++)
    if (t->leaves[i]->leaf.kind == CAIRN_LEAF_STRING)
      rc = check_string(t->leaves[i], err);
  return rc;
}
