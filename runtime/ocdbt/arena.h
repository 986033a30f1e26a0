/* Memory that is freed all at once: what a decoded object points to. {0} is
 * empty. Blocks double in size, so a small object costs little. */
#ifndef CAIRN_OCDBT_ARENA_H_
#define CAIRN_OCDBT_ARENA_H_

#include "cairn/types.h"

typedef struct cairn__arena {
  void *head; /* owns everything: pass it to cairn__arena_free */
  uint8_t *p; /* free part of the newest block */
  size_t left, next_size, total;
} cairn__arena_t;

/* align is a power of two, at most 16. NULL: no memory. */
void *cairn__arena_alloc(cairn__arena_t *a, size_t n, size_t align);
/* A copy of b, without NUL. False: no memory. */
bool cairn__arena_dup(cairn__arena_t *a, cairn_bytes_t b, cairn_bytes_t *out);
void cairn__arena_free(void *head);

#endif
