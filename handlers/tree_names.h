/* Names of arrays, and whose a stored key is. */
#ifndef CAIRN_HANDLERS_TREE_NAMES_H_
#define CAIRN_HANDLERS_TREE_NAMES_H_

#include "bump.h"
#include "tree_meta.h"

typedef struct cairn__names {
  const cairn__tree_meta_t *meta;
  size_t *sorted; /* entries with arrays, by name */
  size_t n;
} cairn__names_t;

/* False: no memory. */
bool cairn__names_init(cairn__names_t *names, const cairn__tree_meta_t *meta);
void cairn__names_free(cairn__names_t *names);

/* The entry whose array the key of a store belongs to, by its name before a
 * '/'; SIZE_MAX if none. (An array with an empty name has keys without one.) */
size_t cairn__names_of_key(const cairn__names_t *names, cairn_bytes_t key);

/* If the key is an array's metadata ("<name>/.zarray", "<name>/zarr.json"), its
 * name in *name, and true. */
bool cairn__names_meta_key(cairn_bytes_t key, int zarr, cairn_bytes_t *name);

#endif
