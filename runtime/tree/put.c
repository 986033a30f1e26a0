/* Putting leaves into a tree. What is put is checked by itself, before the tree
 * is touched; what leaves mean to each other is cairn_tree_check's. */
#include <stdlib.h>

#include "base/base.h"
#include "tree/tree.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "tree");
}

static cairn_code_t set_scalar(cairn_leaf_t *leaf, const cairn_leaf_t *in,
                               cairn_error_t *err) {
  if (cairn_dtype_size(in->dtype) == 0)
    return cairn_fail(err, CAIRN_INVALID, "no element type (%d)",
                      (int)in->dtype);
  if (in->data == NULL) return cairn_fail(err, CAIRN_INVALID, "data is NULL");
  leaf->dtype = in->dtype;
  leaf->data = in->data;
  return CAIRN_OK;
}

static cairn_code_t set_string(cairn_leaf_t *leaf, const cairn_leaf_t *in,
                               cairn_error_t *err) {
  if (in->data == NULL) return cairn_fail(err, CAIRN_INVALID, "text is NULL");
  if (in->capacity == 0)
    return cairn_fail(err, CAIRN_INVALID, "text of capacity 0");
  leaf->data = in->data;
  leaf->capacity = in->capacity;
  return CAIRN_OK;
}

static cairn_code_t set_value(cairn_tree_t *t, cairn_leaf_t *leaf,
                              const cairn_leaf_t *in,
                              const cairn_array_t *array, cairn_error_t *err) {
  if ((in->kind == CAIRN_LEAF_ARRAY) != (array != NULL))
    return cairn_fail(err, CAIRN_INVALID, "%s",
                      array != NULL ? "an array given for another kind of leaf"
                                    : "no array given");
  leaf->kind = in->kind;
  switch (in->kind) {
    case CAIRN_LEAF_ARRAY:
      return cairn__leaf_set_array(t, leaf, array, err);
    case CAIRN_LEAF_SCALAR:
      return set_scalar(leaf, in, err);
    case CAIRN_LEAF_STRING:
      return set_string(leaf, in, err);
    case CAIRN_LEAF_NONE:
    case CAIRN_LEAF_EMPTY_DICT:
    case CAIRN_LEAF_EMPTY_LIST:
    case CAIRN_LEAF_EMPTY_TUPLE:
    case CAIRN_LEAF_PLACEHOLDER:
      return CAIRN_OK;
  }
  return cairn_fail(err, CAIRN_INVALID, "no kind of leaf (%d)", (int)in->kind);
}

/* The nodes of the path and the path's own copy of its keys. */
static bool set_path(cairn_tree_t *t, cairn__entry_t *e,
                     const cairn_key_t *path, size_t n) {
  cairn_key_t *keys = cairn__tree_alloc(t, n * sizeof *keys, sizeof(void *));
  cairn__node_t *at = &t->root;
  e->chain = cairn__tree_alloc(t, n * sizeof *e->chain, sizeof(void *));
  if (keys == NULL || e->chain == NULL) return false;
  for (size_t i = 0; i < n; i++) {
    at = cairn__node_get(t, at, &path[i]);
    if (at == NULL) return false;
    e->chain[i] = at;
    keys[i] = at->key;
  }
  e->node = at;
  e->leaf.path = keys;
  e->leaf.path_n = n;
  return true;
}

static bool set_name(cairn_tree_t *t, cairn_leaf_t *leaf) {
  char digits[24];
  cairn_buf_t b = {0};
  for (size_t i = 0; i < leaf->path_n; i++) {
    cairn_bytes_t k = cairn__key_text(&leaf->path[i], digits);
    if (i > 0) cairn_buf_put_u8(&b, '.');
    cairn_buf_put(&b, k.p, k.n);
  }
  const void *name = b.failed ? NULL : cairn__tree_copy(t, b.p, b.n);
  leaf->name = cairn_bytes(name, b.n);
  cairn_buf_reset(&b);
  return name != NULL;
}

/* The last step, and all of it or nothing. */
static bool publish(cairn_tree_t *t, cairn__entry_t *e) {
  if (t->n == t->cap) {
    size_t cap = t->cap == 0 ? 16 : t->cap * 2;
    cairn__entry_t **v = reallocarray(t->leaves, cap, sizeof *v);
    if (v == NULL) return false;
    t->leaves = v;
    t->cap = cap;
  }
  if (cairn__map_get(&t->names, e->leaf.name) == NULL &&
      !cairn__map_set(&t->names, e->leaf.name, e, NULL))
    return false;
  t->leaves[t->n++] = e;
  t->sorted = t->checked = false;
  t->strings += e->leaf.kind == CAIRN_LEAF_STRING;
  e->node->entry = e;
  for (cairn__node_t *n = e->node; n != NULL; n = n->parent) n->leaves++;
  return true;
}

static cairn_code_t put(cairn_tree_t *t, const cairn_key_t *path, size_t n,
                        const cairn_leaf_t *leaf, const cairn_array_t *array,
                        cairn_error_t *err) {
  cairn__entry_t *e = cairn__tree_alloc(t, sizeof *e, _Alignof(cairn__entry_t));
  if (e == NULL) return no_memory(err);
  cairn_code_t rc = set_value(t, &e->leaf, leaf, array, err);
  if (rc != CAIRN_OK) return rc;
  if (!set_path(t, e, path, n)) return no_memory(err);
  if (e->node->entry != NULL)
    return cairn_fail(err, CAIRN_EXISTS, "the tree has this leaf already");
  if (!set_name(t, &e->leaf) || !publish(t, e)) return no_memory(err);
  return CAIRN_OK;
}

cairn_code_t cairn_tree_put(cairn_tree_t *tree, const cairn_key_t *path,
                            size_t path_n, const cairn_leaf_t *leaf,
                            const cairn_array_t *array, cairn_error_t *err) {
  if (tree == NULL || leaf == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no %s",
                      tree == NULL ? "tree" : "leaf");
  cairn_code_t rc = cairn__path_check(path, path_n, err);
  if (rc != CAIRN_OK) return rc;
  rc = put(tree, path, path_n, leaf, array, err);
  if (rc != CAIRN_OK) cairn_within(err, "%s", cairn__path_text(path, path_n).s);
  return rc;
}

static cairn_code_t put_at(cairn_tree_t *tree, const char *path,
                           const cairn_leaf_t *leaf, const cairn_array_t *array,
                           cairn_error_t *err) {
  cairn_key_t keys[CAIRN__TREE_MAX_KEYS];
  size_t n;
  cairn_code_t rc = cairn__path_split(path, keys, &n, err);
  if (rc != CAIRN_OK) return rc;
  return cairn_tree_put(tree, keys, n, leaf, array, err);
}

cairn_code_t cairn_tree_put_array(cairn_tree_t *tree, const char *path,
                                  const cairn_array_t *array,
                                  cairn_error_t *err) {
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_ARRAY};
  return put_at(tree, path, &leaf, array, err);
}

static cairn_code_t put_scalar(cairn_tree_t *tree, const char *path,
                               cairn_dtype_t dtype, void *data,
                               cairn_error_t *err) {
  cairn_leaf_t leaf = {.kind = CAIRN_LEAF_SCALAR, .dtype = dtype, .data = data};
  return put_at(tree, path, &leaf, NULL, err);
}

cairn_code_t cairn_tree_put_int64(cairn_tree_t *tree, const char *path,
                                  int64_t *value, cairn_error_t *err) {
  return put_scalar(tree, path, CAIRN_I64, value, err);
}

cairn_code_t cairn_tree_put_double(cairn_tree_t *tree, const char *path,
                                   double *value, cairn_error_t *err) {
  return put_scalar(tree, path, CAIRN_F64, value, err);
}

cairn_code_t cairn_tree_put_bool(cairn_tree_t *tree, const char *path,
                                 bool *value, cairn_error_t *err) {
  _Static_assert(sizeof *value == 1, "a bool is one byte, as it is stored");
  return put_scalar(tree, path, CAIRN_BOOL, value, err);
}

cairn_code_t cairn_tree_put_string(cairn_tree_t *tree, const char *path,
                                   char *text, size_t capacity,
                                   cairn_error_t *err) {
  cairn_leaf_t leaf = {
      .kind = CAIRN_LEAF_STRING, .data = text, .capacity = capacity};
  return put_at(tree, path, &leaf, NULL, err);
}
