/* The file system calls that make things durable, as the tests see them: this
 * program has its own fsync and fdatasync (the linker takes them before
 * libc's), which note the path they were called on and can be told to fail. */
#ifndef TESTS_UNIT_KV_SYSCALLS_H_
#define TESTS_UNIT_KV_SYSCALLS_H_

#include <stddef.h>

/* Forgets what was noted. */
void syscalls_reset(void);
/* What was synced since, in order, each path with a '\n' after it. Until the
 * next call of syscalls_*. */
const char *syscalls_synced(void);
/* How often that path was. */
int syscalls_count(const char *path);
/* The next fdatasync (or fsync) of a path that ends so fails with EIO; NULL:
 * none. */
void syscalls_fail(const char *suffix);

#endif
