/* Is a step's name free? Loop thread. */
#ifndef CAIRN_CHECKPOINT_TAKEN_H_
#define CAIRN_CHECKPOINT_TAKEN_H_

#include "cairn/kv.h"

/* CAIRN_EXISTS if anything is below `name` in root; says so when what is there
 * is no whole step, since then it has to be moved away before the step can be
 * saved. */
cairn_future_t *cairn__check_free(cairn_kv_t *root, const char *name);

#endif
