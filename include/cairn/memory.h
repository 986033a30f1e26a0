/* Memory for arrays that are saved with CAIRN_SNAPSHOT_COW.
 *
 * Write protection works on huge pages of 2 MiB. What of an array does not fill
 * one is copied when a save begins, and small pages cost 512 times as much to
 * protect; memory from here starts at a huge page, is made of them, and has
 * them for itself.
 *
 *   float *w = cairn_alloc(n * sizeof *w);
 *   ...
 *   cairn_free(w);     (when no save reads it any more) */
#ifndef CAIRN_MEMORY_H_
#define CAIRN_MEMORY_H_

#include "cairn/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n bytes, zero, at a multiple of 2 MiB, rounded up to one; NULL: no memory
 * (errno is ENOMEM). Nothing is there until it is touched, so it lies on the
 * NUMA node of the thread that first writes to it. Any thread. */
CAIRN_API void *cairn_alloc(size_t n);

/* Gives it back; NULL is fine. Not while a save with CAIRN_SNAPSHOT_COW, LAZY
 * or BORROW may still read it. Any thread. */
CAIRN_API void cairn_free(void *p);

#ifdef __cplusplus
}
#endif
#endif
