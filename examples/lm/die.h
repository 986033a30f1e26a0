/* For demonstrations and tests: the worst moment to die. */
#ifndef LM_DIE_H_
#define LM_DIE_H_

#include <cairn/runtime.h>

/* Does not return: SIGKILL to this process as soon as something of the save of
 * `step`, begun before, is in `root`. */
void die_amid_save(cairn_runtime_t *rt, const char *root, int64_t step)
    __attribute__((noreturn));

#endif
