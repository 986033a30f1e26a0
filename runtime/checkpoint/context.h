/* Behind a handler's context: an item of one operation, with the stores and the
 * memory that the checkpoint room lends to it. */
#ifndef CAIRN_CHECKPOINT_CONTEXT_H_
#define CAIRN_CHECKPOINT_CONTEXT_H_

#include "cairn/handler.h"
#include "checkpoint/hold.h"
#include "snapshot/pool.h"
#include "strategy/item_store.h"

struct cairn_item_private {
  cairn__pool_t *pool; /* NULL where nothing is staged */
  cairn__hold_t *hold; /* of the save; NULL otherwise */
  cairn__slab_t **slabs;
  size_t num_slabs;
  int64_t staged;            /* bytes in them */
  cairn__item_place_t place; /* its strings belong to the operation */
  cairn__item_store_t *writer, *reader;
  cairn_kv_t **out; /* of the opening under way */
  cairn_future_t *opening;
  cairn_wait_t wait;
};

/* Gives staging memory back. Any thread. */
void cairn__item_unstage(struct cairn_item_private *priv);
/* Closes the stores that were opened, one a call: a future, or NULL when none
 * is left. Loop thread. */
cairn_future_t *cairn__item_close_store(struct cairn_item_private *priv);

#endif
