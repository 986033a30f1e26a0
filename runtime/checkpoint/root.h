/* The steps of a root, for tools and for finding the newest. */
#ifndef CAIRN_CHECKPOINT_ROOT_H_
#define CAIRN_CHECKPOINT_ROOT_H_

#include "checkpoint/layout.h"

/* The directory name (malloc'd) of the complete step with the largest number.
 * Looks at no more steps than it must. CAIRN_NOT_FOUND: there is none, with
 * what is wrong with the newest if there are others. */
CAIRN_MUST_CHECK cairn_code_t cairn__root_newest(cairn_runtime_t *rt,
                                                 const char *root, char **dir,
                                                 cairn_error_t *err);

#endif
