/* A view of an item's directory that compares what is read from it with
 * cairn.json: side files carry no sum of their own, so that a flipped bit in a
 * string or a path would be restored for the truth. Files that cairn.json does
 * not name, and parts of files, are given as they are. Side files are small;
 * their sums are taken on the loop. Loop thread. */
#ifndef CAIRN_CHECKPOINT_CHECKED_H_
#define CAIRN_CHECKPOINT_CHECKED_H_

#include "cairn/kv.h"
#include "checkpoint/side_files.h"

/* Takes dir, which is closed with the view; `at` (the item's name) and *files
 * are borrowed. NULL: no memory, and dir is the caller's. Read-only. */
cairn_kv_t *cairn__checked(cairn_kv_t *dir, const char *at,
                           const cairn__binding_t *files);

#endif
