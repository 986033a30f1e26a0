/* What inspection asks of stores, as calls that wait: inspection happens on the
 * caller's thread, one thing after another, so it needs no states of its own.
 * Any thread but the loop. */
#ifndef CAIRN_CHECKPOINT_BLOCKING_H_
#define CAIRN_CHECKPOINT_BLOCKING_H_

#include "cairn/kv.h"
#include "checkpoint/layout.h"

typedef struct cairn__listed {
  char *name; /* a directory of list_dir ends in '/' */
  int64_t size;
} cairn__listed_t;

typedef struct cairn__listing {
  cairn__listed_t *v; /* sorted by name */
  size_t n, cap;
  bool no_memory;
} cairn__listing_t;
void cairn__listing_free(cairn__listing_t *l); /* {0} after */
/* The names of a listing, borrowed; malloc'd, NULL when memory is out. */
cairn_bytes_t *cairn__listing_names(const cairn__listing_t *l);
/* By name; NULL if absent. */
const cairn__listed_t *cairn__listing_find(const cairn__listing_t *l,
                                           const char *name);

/* A directory through the default strategy. Local paths must be there and be
 * directories: CAIRN_NOT_FOUND otherwise. */
CAIRN_MUST_CHECK cairn_code_t cairn__open_blocking(cairn_runtime_t *rt,
                                                   const char *path,
                                                   cairn_kv_t **out,
                                                   cairn_error_t *err);
void cairn__close_blocking(cairn_kv_t *kv); /* NULL is fine */

/* deep: every key below the prefix; otherwise names up to the next '/'. */
CAIRN_MUST_CHECK cairn_code_t cairn__list_blocking(cairn_kv_t *kv,
                                                   const char *prefix,
                                                   bool deep,
                                                   cairn__listing_t *out,
                                                   cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__read_blocking(cairn_kv_t *kv,
                                                   const char *key,
                                                   cairn_value_t *out,
                                                   cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__look_blocking(cairn_kv_t *kv,
                                                   cairn__step_look_t *out,
                                                   cairn_error_t *err);

#endif
