/* Trees: making, freeing, and reading the leaves in order. */
#include <stdlib.h>

#include "base/base.h"
#include "tree/tree.h"

cairn_code_t cairn_tree_new(cairn_tree_t **out, cairn_error_t *err) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "new tree");
  return CAIRN_OK;
}

void cairn_tree_free(cairn_tree_t *tree) {
  if (tree == NULL) return;
  cairn__map_reset(&tree->nodes, NULL);
  cairn__map_reset(&tree->names, NULL);
  cairn_buf_reset(&tree->scratch);
  cairn__tree_arena_free(tree);
  free(tree->leaves);
  free(tree);
}

void *cairn_tree_alloc(cairn_tree_t *tree, size_t bytes) {
  return cairn__tree_alloc(tree, bytes, 64);
}

/* Among children of one node. Kinds are not mixed in a tree that can be stored;
 * the order of kinds only has to be an order. */
static int compare_siblings(const cairn__node_t *a, const cairn__node_t *b) {
  const cairn_key_t *x = &a->key, *y = &b->key;
  if (x->type != y->type) return x->type < y->type ? -1 : 1;
  if (cairn__key_is_number(x))
    return (x->index > y->index) - (x->index < y->index);
  /* UTF-8 sorts by bytes as by code points. */
  if (x->type == CAIRN_KEY_DICT) return cairn__bytes_cmp(x->name, y->name);
  return (a->serial > b->serial) - (a->serial < b->serial);
}

static int by_place(const void *p, const void *q) {
  const cairn__entry_t *a = *(cairn__entry_t *const *)p;
  const cairn__entry_t *b = *(cairn__entry_t *const *)q;
  size_t x = a->leaf.path_n, y = b->leaf.path_n;
  for (size_t i = 0; i < x && i < y; i++)
    if (a->chain[i] != b->chain[i])
      return compare_siblings(a->chain[i], b->chain[i]);
  return (x > y) - (x < y);
}

size_t cairn_tree_count(const cairn_tree_t *tree) {
  return tree->n;
}

const cairn_leaf_t *cairn_tree_leaf(const cairn_tree_t *tree, size_t i) {
  cairn_tree_t *t =
      (cairn_tree_t *)tree; /* the order of reading is no change */
  if (i >= t->n) return NULL;
  if (!t->sorted) {
    qsort(t->leaves, t->n, sizeof *t->leaves, by_place);
    t->sorted = true;
  }
  return &t->leaves[i]->leaf;
}

const cairn_leaf_t *cairn_tree_find(const cairn_tree_t *tree,
                                    cairn_bytes_t name) {
  const cairn__entry_t *e = cairn__map_get(&tree->names, name);
  return e != NULL ? &e->leaf : NULL;
}
