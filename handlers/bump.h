/* Memory that is given back all at once: what a parse or a plan leaves behind.
 * {0} is empty and valid. */
#ifndef CAIRN_HANDLERS_BUMP_H_
#define CAIRN_HANDLERS_BUMP_H_

#include "cairn/types.h"

typedef struct cairn__bump {
  struct cairn__bump_block *blocks;
} cairn__bump_t;

/* n bytes, 16-byte aligned, not zeroed; NULL when memory is out. What was given
 * before stays where it is. */
void *cairn__bump_alloc(cairn__bump_t *s, size_t n);
/* count * size zeroed bytes; NULL also when the product overflows. */
void *cairn__bump_calloc(cairn__bump_t *s, size_t count, size_t size);
void cairn__bump_free(cairn__bump_t *s); /* {0} after */

#endif
