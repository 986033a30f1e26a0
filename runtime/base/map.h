/* A hash map from byte-string keys to pointers. Keys are copied into the map;
 * values are the caller's. {0} is empty and valid. */
#ifndef CAIRN_BASE_MAP_H_
#define CAIRN_BASE_MAP_H_

#include "cairn/types.h"

typedef struct cairn__map {
  struct cairn__map_slot *slots;
  size_t n, cap;
} cairn__map_t;

/* The value, or NULL. */
void *cairn__map_get(const cairn__map_t *m, cairn_bytes_t key);
/* Inserts or replaces; *old (may be NULL) gets what was there. False: no
 * memory, nothing changed. value must not be NULL. */
bool cairn__map_set(cairn__map_t *m, cairn_bytes_t key, void *value,
                    void **old);
/* Removes and returns the value, or NULL. */
void *cairn__map_del(cairn__map_t *m, cairn_bytes_t key);
/* Calls fn for each entry, in no order; stops when fn returns false. */
void cairn__map_each(const cairn__map_t *m,
                     bool (*fn)(void *arg, cairn_bytes_t key, void *value),
                     void *arg);
/* Frees keys and slots; values through drop if it is not NULL. {0} after. */
void cairn__map_reset(cairn__map_t *m, void (*drop)(void *value));

#endif
