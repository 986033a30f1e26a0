/* Memory that is given back all at once: what a parse or a plan leaves behind.
 * {0} is empty and valid. */
#ifndef CAIRN_HANDLERS_SLAB_H_
#define CAIRN_HANDLERS_SLAB_H_

#include "cairn/types.h"

typedef struct cairn__slab {
  struct cairn__slab_block *blocks;
} cairn__slab_t;

/* n bytes, 16-byte aligned, not zeroed; NULL when memory is out. What was given
 * before stays where it is. */
void *cairn__slab_alloc(cairn__slab_t *s, size_t n);
/* count * size zeroed bytes; NULL also when the product overflows. */
void *cairn__slab_calloc(cairn__slab_t *s, size_t count, size_t size);
void cairn__slab_free(cairn__slab_t *s); /* {0} after */

#endif
