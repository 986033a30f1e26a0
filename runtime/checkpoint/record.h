/* Views of a directory for cairn.json: one that remembers what was written
 * through it, each file's length and sum, and one that compares what is read
 * through it with those. Side files are small; their sums are taken on the
 * loop. Loop thread. */
#ifndef CAIRN_CHECKPOINT_RECORD_H_
#define CAIRN_CHECKPOINT_RECORD_H_

#include "cairn/kv.h"
#include "checkpoint/side_files.h"

/* dir is borrowed and must outlive the view. NULL: no memory. *files grows as
 * files are written, their names below `at`; out of memory there fails the
 * write. Writes are deferred: the caller syncs the directory. */
cairn_kv_t *cairn__record(cairn_kv_t *dir, const char *at,
                          cairn__binding_t *files);
/* Whole files that *bound names (below `at`) and that differ from it are
 * CAIRN_CORRUPT when they are read. Both are borrowed. NULL: no memory. */
cairn_kv_t *cairn__checked(cairn_kv_t *dir, const char *at,
                           const cairn__binding_t *bound);

#endif
