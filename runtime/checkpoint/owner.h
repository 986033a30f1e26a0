/* Who is writing a step: a small file in its temporary directory, made in the
 * same atomic step as the directory itself, refreshed while the save runs, and
 * removed just before the step is renamed into place.
 *
 * So two jobs that save one step cannot mix their files: the second finds a
 * live owner and is CAIRN_BUSY. A leftover whose owner is provably gone is
 * removed; one without an owner file is not ours and is only moved aside. Loop
 * thread. */
#ifndef CAIRN_CHECKPOINT_OWNER_H_
#define CAIRN_CHECKPOINT_OWNER_H_

#include "cairn/kv.h"

/* Makes `tmp` (a name below root) ours under `id` (32 hex digits), which has
 * begun (owner_record.h). CAIRN_BUSY names the live owner. */
cairn_future_t *cairn__owner_claim(cairn_kv_t *root, const char *tmp,
                                   const char *id);
/* CAIRN_BUSY if tmp is no longer ours, CAIRN_NOT_FOUND (naming the directory)
 * if it is not there. Every rank asks, before it writes, so that a directory
 * that not all ranks see is noticed; waits up to 30 s for a network file system
 * to show it. */
cairn_future_t *cairn__owner_check(cairn_kv_t *root, const char *tmp,
                                   const char *id, bool patient);
/* Says that the owner lives, for hosts that cannot see the process. */
cairn_future_t *cairn__owner_beat(cairn_kv_t *root, const char *tmp,
                                  const char *id);
#define CAIRN__OWNER_BEAT_MS 20000

/* Checks, gives the directory a name by which a sweep knows its maker, then
 * removes the owner file: what is left is the step. tmp (CAIRN__OWNER_NAME
 * bytes) holds the new name as soon as it is the directory's, also on failure.
 * Without that name a process killed now would leave a directory that nobody
 * dares to remove. */
cairn_future_t *cairn__owner_drop(cairn_kv_t *root, char *tmp, const char *id);
#define CAIRN__OWNER_NAME 384

/* Removes the directory `name`, whose owner `id` was found dead, or is us, or
 * ("") that has none. Not if it has become another's. */
cairn_future_t *cairn__owner_discard(cairn_kv_t *root, const char *name,
                                     const char *id);

/* Removes what killed saves of Cairn left in root: temporaries with a dead
 * owner, and trash. Errors are logged, not returned: a leftover hurts nobody.
 */
cairn_future_t *cairn__owner_sweep(cairn_kv_t *root);

#endif
