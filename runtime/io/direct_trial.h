/* Is O_DIRECT faster than the page cache? */
#ifndef CAIRN_IO_DIRECT_TRIAL_H_
#define CAIRN_IO_DIRECT_TRIAL_H_

#include <stdbool.h>
#include <stddef.h>

#define CAIRN__DIRECT_BLOCK ((size_t)4 << 20)

/* For new files on the file system that `fd`, open as `path`, is on: found out
 * once for each, by writing a block (aligned, its contents do not matter)
 * beside it. A file system that says no to anything of it says no. */
bool cairn__direct_pays(int fd, const char *path, const void *block);

#endif
