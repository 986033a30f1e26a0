/* Staging memory: slabs that are allocated once, huge-page backed, prefaulted,
 * and reused, because a cold page costs twelve times a warm copy (design.md
 * 11). */
#ifndef CAIRN_SNAPSHOT_POOL_H_
#define CAIRN_SNAPSHOT_POOL_H_

#include "cairn/error.h"

typedef struct cairn__pool cairn__pool_t;
typedef struct cairn__slab cairn__slab_t;

cairn_code_t cairn__pool_new(cairn__pool_t **out, cairn_error_t *err);
void cairn__pool_free(cairn__pool_t *pool); /* every slab must be back */

/* A slab of at least n bytes, 2 MiB aligned, from those that are back or new.
 * Any thread. CAIRN_NO_MEMORY. */
cairn_code_t cairn__pool_get(cairn__pool_t *pool, size_t n, cairn__slab_t **out,
                             cairn_error_t *err);
/* The same, but only the first `ready` bytes are sure to be there: the others
 * are when they are first touched, huge page by huge page. */
cairn_code_t cairn__pool_reserve(cairn__pool_t *pool, size_t n, size_t ready,
                                 cairn__slab_t **out, cairn_error_t *err);
void *cairn__slab_data(cairn__slab_t *slab);
void cairn__pool_put(cairn__pool_t *pool, cairn__slab_t *slab);

/* `size` zeroed bytes (a multiple of a huge page) at a huge page's boundary, to
 * be made of huge pages when touched; NULL: no memory. For munmap. */
#define CAIRN__HUGE_PAGE ((size_t)2 << 20)
void *cairn__map_huge(size_t size);

#endif
