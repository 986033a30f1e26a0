/* The shadow ring: a bounded store of slots, one huge page each, that granules
 * are copied to until the writer has them. A granule as large as a slot has one
 * for itself; small ones are packed one behind the other, and their slot is
 * free again when the last of them is.
 *
 * All of its memory is got at the start, so that taking and giving back touches
 * neither malloc nor anything but the ring's own lines. */
#ifndef CAIRN_SNAPSHOT_RING_H_
#define CAIRN_SNAPSHOT_RING_H_

#include "snapshot/pool.h"
#include "snapshot/spin.h"

typedef struct cairn__ring_slot {
  uint32_t used, live; /* bytes handed out; pieces not yet back */
  uint32_t next_free;
} cairn__ring_slot_t;

typedef struct cairn__ring {
  cairn__spin_t lock;
  cairn__slab_t *slab;
  char *data;
  cairn__ring_slot_t *slots;
  uint32_t num;
  uint32_t free, open; /* the first free slot; the one that is being packed */
  size_t in_use;       /* bytes of slots that are not free */
  atomic_size_t peak;  /* the most there were */
} cairn__ring_t;

typedef struct cairn__ring_piece {
  char *data; /* NULL: the ring is full */
  uint32_t slot;
} cairn__ring_piece_t;

/* `num` slots, of which the first `ready` bytes are prefaulted; 0 is a ring
 * that is always full. CAIRN_NO_MEMORY. */
cairn_code_t cairn__ring_init(cairn__ring_t *r, cairn__pool_t *pool, size_t num,
                              size_t ready, cairn_error_t *err);
void cairn__ring_reset(cairn__ring_t *r, cairn__pool_t *pool);

/* n bytes, at most a slot. Any thread. */
cairn__ring_piece_t cairn__ring_get(cairn__ring_t *r, size_t n);
void cairn__ring_put(cairn__ring_t *r, uint32_t slot);

#endif
