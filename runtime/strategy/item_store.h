/* An item's databases: each process writes its own (`ocdbt.process_N/`), the
 * primary merges what they say they hold into one at the item's directory. How
 * each is opened is the strategy's answer; this file only follows the spec.
 *
 * Loop thread. */
#ifndef CAIRN_STRATEGY_ITEM_STORE_H_
#define CAIRN_STRATEGY_ITEM_STORE_H_

#include "cairn/strategy.h"
#include "ocdbt/ocdbt.h"

/* Where an item lies and how its stores are opened. Strings are borrowed. */
typedef struct cairn__item_place {
  const cairn_strategy_t *strategy;
  const char *directory;
  const char *process_id;
  cairn_profile_t profile;
  bool not_durable;
  const char *mark; /* what data files begin with; NULL: nothing */
} cairn__item_place_t;

typedef struct cairn__item_store cairn__item_store_t;

/* This process's database, for writing; *kv is its cairn_kv_t. The place's
 * strings are copied. */
cairn_future_t *cairn__item_store_create(cairn_runtime_t *rt,
                                         const cairn__item_place_t *place,
                                         cairn__item_store_t **out);
cairn_kv_t *cairn__item_store_kv(cairn__item_store_t *store);
/* One commit; *out is what the merge needs. Durable when ready, unless the
 * place says otherwise. */
cairn_future_t *cairn__item_store_commit(cairn__item_store_t *store,
                                         cairn__ocdbt_summary_t *out);

/* The merged database, for reading. */
cairn_future_t *cairn__item_store_open(cairn_runtime_t *rt,
                                       const cairn__item_place_t *place,
                                       cairn__item_store_t **out);

/* Closes what create or open opened (uncommitted data files are removed) and
 * frees the store. */
cairn_future_t *cairn__item_store_close(cairn__item_store_t *store);

/* Merges what the processes hold into one database at the place's directory.
 * Base paths are "ocdbt.process_<id>/". Durable when ready, as commit. */
cairn_future_t *cairn__item_store_merge(cairn_runtime_t *rt,
                                        const cairn__item_place_t *place,
                                        const cairn__ocdbt_child_t *children,
                                        size_t n, cairn__ocdbt_summary_t *out);

#endif
