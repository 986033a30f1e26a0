/* The sum of a whole file, for cairn.json: XXH3, 64 bits, taken piece by piece
 * in order.
 *
 * Not CRC-32C: a text that ends in its own CRC-32C, as every OCDBT object and
 * every chunk with that codec does, has the same CRC-32C whatever it says
 * (48674bc7), so the sum would not tell one such file from another. */
#ifndef CAIRN_BASE_SUM_H_
#define CAIRN_BASE_SUM_H_

#include "cairn/types.h"

typedef struct cairn__sum cairn__sum_t;

cairn__sum_t *cairn__sum_new(void);     /* of nothing yet; NULL: no memory */
void cairn__sum_reset(cairn__sum_t *s); /* of nothing again */
void cairn__sum_add(cairn__sum_t *s, const void *p, size_t n);
uint64_t cairn__sum_value(const cairn__sum_t *s);
void cairn__sum_free(cairn__sum_t *s); /* NULL is fine */

/* Of bytes that are all there. */
uint64_t cairn__sum_of(const void *p, size_t n);

#endif
