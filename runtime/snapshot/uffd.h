/* The system calls behind write protection: userfaultfd(2). The numbers that
 * older headers lack are here. No state, no threads. */
#ifndef CAIRN_SNAPSHOT_UFFD_H_
#define CAIRN_SNAPSHOT_UFFD_H_

#include "cairn/error.h"

/* A descriptor, ready for registering, that also catches writes by the kernel
 * (read(2) into the memory); -1 with an error that says what an administrator
 * must allow. *unpopulated: pages that are not there can be protected. */
int cairn__uffd_open(bool *unpopulated, cairn_error_t *err);

/* Each takes whole pages; false on failure, errno tells. protect arms a range,
 * or disarms it and wakes who waits in it. */
bool cairn__uffd_register(int fd, uintptr_t lo, uintptr_t hi);
bool cairn__uffd_protect(int fd, uintptr_t lo, uintptr_t hi, bool armed);
/* Disarms, unregisters, wakes. */
void cairn__uffd_unregister(int fd, uintptr_t lo, uintptr_t hi);

/* The addresses of at most `cap` writes that wait. */
size_t cairn__uffd_faults(int fd, uintptr_t *out, size_t cap);

#endif
