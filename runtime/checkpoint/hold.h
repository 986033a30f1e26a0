/* Memory that a save holds still without having copied it: parts of all its
 * items in one snapshot, which begins when all items have taken theirs.
 *
 * The caller's thread adds, begins and copies; the loop finishes, cancels and
 * resets; any thread settles, also while the save ends. */
#ifndef CAIRN_CHECKPOINT_HOLD_H_
#define CAIRN_CHECKPOINT_HOLD_H_

#include <pthread.h>

#include "cairn/handler.h"
#include "snapshot/snapshot.h"

struct cairn__hold_block;

typedef struct cairn__hold {
  cairn__snapshot_part_t *parts;
  size_t n, cap;
  struct cairn__hold_block *blocks; /* sources and names, as they were added */
  bool settles;                     /* the program does */
  bool copies;    /* a part is to be copied before save returns */
  bool unsettled; /* a part is the caller's only when settled */

  pthread_mutex_t lock;
  pthread_cond_t cond;
  cairn__snapshot_t *snapshot; /* NULL: none yet, or no more */
  int settlers;
  bool settled;   /* all of it */
  bool cancelled; /* the loop's */
} cairn__hold_t;

void cairn__hold_init(cairn__hold_t *h, bool settles);
/* After the last item. room: how much may be staged at a time. */
cairn_code_t cairn__hold_begin(cairn__hold_t *h, cairn__pool_t *pool,
                               size_t room, bool check, cairn_error_t *err);
/* Copies what is to be copied; an end of the save ends it too. */
void cairn__hold_copy(cairn__hold_t *h);
/* The parts of an array, or of all (NULL). CAIRN_CANCELLED: the save failed. */
cairn_code_t cairn__hold_settle(cairn__hold_t *h, const char *name,
                                cairn_error_t *err);
/* True if nothing needs settling (any more). */
bool cairn__hold_settled(cairn__hold_t *h);

/* CPU thread (a job of the hold): all is written; what was found wrong with
 * it. */
cairn_code_t cairn__hold_finish(void *hold, cairn_error_t *err);
/* Reads what is held no more. */
void cairn__hold_cancel(cairn__hold_t *h);
/* Waits for settlers and gives memory back; no read may be under way. */
void cairn__hold_reset(cairn__hold_t *h);
void cairn__hold_free(cairn__hold_t *h); /* resets; {0} after */

#endif
