/* State trees inside: a tree of nodes, one a key, found through one hash map by
 * parent and key; and the list of leaves, sorted when somebody reads it.
 *
 * All memory is the tree's arena's, so that nothing needs freeing one by one.
 */
#ifndef CAIRN_TREE_TREE_H_
#define CAIRN_TREE_TREE_H_

#include "base/map.h"
#include "cairn/buf.h"
#include "cairn/tree.h"

#define CAIRN__TREE_MAX_KEYS 256 /* in a path */

typedef struct cairn__node cairn__node_t;
typedef struct cairn__entry cairn__entry_t;

struct cairn__node {
  cairn_key_t key;
  cairn__node_t *parent;
  cairn__node_t *first, *last,
      *next;             /* children, and the next of the parent's */
  cairn__entry_t *entry; /* the leaf at this path, or NULL */
  size_t serial;         /* nodes made before it */
  size_t leaves; /* at it and below it; 0: left behind by a put that failed */
};

struct cairn__entry {
  cairn_leaf_t leaf;
  cairn__node_t *node;
  cairn__node_t **chain; /* nodes of leaf.path, outermost first */
};

struct cairn_tree {
  struct cairn__arena_block *blocks;
  cairn__node_t root;
  cairn__map_t nodes;
  cairn__map_t names;      /* joined name to the first entry that has it */
  cairn_buf_t scratch;     /* keys of `nodes` */
  cairn__entry_t **leaves; /* in flatten order if sorted */
  size_t n, cap, num_nodes;
  size_t strings; /* leaves that are */
  bool sorted;
  bool checked; /* well, and nothing was put since */
};

/* n zeroed bytes of the arena at a multiple of align (a power of two, at most
 * 64); NULL when memory is out. */
void *cairn__tree_alloc(cairn_tree_t *t, size_t n, size_t align);
void *cairn__tree_copy(cairn_tree_t *t, const void *p, size_t n);
void cairn__tree_arena_free(cairn_tree_t *t);

/* NULL: no such child. */
cairn__node_t *cairn__node_find(cairn_tree_t *t, const cairn__node_t *parent,
                                const cairn_key_t *key);
/* Makes it if need be. NULL: no memory. */
cairn__node_t *cairn__node_get(cairn_tree_t *t, cairn__node_t *parent,
                               const cairn_key_t *key);

static inline bool cairn__key_is_number(const cairn_key_t *k) {
  return k->type == CAIRN_KEY_SEQ || k->type == CAIRN_KEY_INT;
}
/* What the key adds to a joined name; digits are put in `digits`. */
cairn_bytes_t cairn__key_text(const cairn_key_t *k, char digits[24]);

/* A path of dict keys, cut at each '/', into at most CAIRN__TREE_MAX_KEYS. */
CAIRN_MUST_CHECK cairn_code_t cairn__path_split(const char *path,
                                                cairn_key_t *keys, size_t *n,
                                                cairn_error_t *err);
/* Are these keys what they say, whatever the tree? */
CAIRN_MUST_CHECK cairn_code_t cairn__path_check(const cairn_key_t *path,
                                                size_t n, cairn_error_t *err);
typedef struct cairn__path_text {
  char s[240];
} cairn__path_text_t;
cairn__path_text_t cairn__path_text(const cairn_key_t *path, size_t n);

/* Checks the array and copies what it points to, but for data, into the leaf.
 */
CAIRN_MUST_CHECK cairn_code_t cairn__leaf_set_array(cairn_tree_t *t,
                                                    cairn_leaf_t *leaf,
                                                    const cairn_array_t *array,
                                                    cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__sharding_copy(cairn_tree_t *t,
                                                   const cairn_sharding_t *in,
                                                   int rank,
                                                   const cairn_sharding_t **out,
                                                   cairn_error_t *err);

#endif
