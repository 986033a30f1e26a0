/* Verification of everything that is reachable, shared by check.c (versions)
 * and check_tree.c (one tree). */
#ifndef CAIRN_OCDBT_CHECK_H_
#define CAIRN_OCDBT_CHECK_H_

#include "ocdbt/reader.h"

/* Compares a whole tree, down from the root of v, with what references say.
 * Nodes that were found good are remembered in `seen` (by location, values for
 * free()), because versions share most of their nodes. */
cairn_future_t *cairn__tree_check(cairn__reader_t *r,
                                  const cairn__ocdbt_version_t *v,
                                  cairn__map_t *seen);

#endif
