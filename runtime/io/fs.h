/* Files, blocking: for jobs on the I/O threads, never on the loop thread. Every
 * function says in its error which call failed on which path. EINTR and short
 * transfers are handled. Paths are local, NUL-terminated. */
#ifndef CAIRN_IO_FS_H_
#define CAIRN_IO_FS_H_

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "cairn/error.h"

/* Opens for reading without following into FIFOs or devices: anything but a
 * regular file is CAIRN_NOT_FOUND. ESTALE is retried once. *st may be NULL. */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_open_read(const char *path, int *fd,
                                                  struct stat *st,
                                                  cairn_error_t *err);
/* Exactly n bytes at off; the file's end before that is CAIRN_CORRUPT. */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_pread(int fd, const char *path,
                                              void *dst, size_t n, int64_t off,
                                              cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__fs_pwritev(int fd, const char *path,
                                                const struct iovec *iov,
                                                int niov, int64_t off,
                                                cairn_error_t *err);
/* fdatasync for files, fsync for directories. A failure is final. */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_sync(int fd, const char *path,
                                             cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__fs_sync_dir(const char *path,
                                                 cairn_error_t *err);
/* close, its result checked (EDQUOT and EIO may show here). */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_close(int fd, const char *path,
                                              cairn_error_t *err);
/* The directory and its parents, 0777 & ~umask, EEXIST tolerated. Calls
 * made(arg, dir) for each one created (to be fsynced), if not NULL. */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_mkdirs(const char *path,
                                               void (*made)(void *arg,
                                                            const char *dir),
                                               void *arg, cairn_error_t *err);
/* Removes a tree without following links; absent is fine. Goes on after errors
 * and returns the first. */
cairn_code_t cairn__fs_rmtree(const char *path, cairn_error_t *err);
/* Calls fn(arg, path below root, stat) for every entry in sorted order,
 * directories after what they hold; does not follow links; depth at most 256.
 * A root that is absent is an empty walk; one that is not a directory is
 * CAIRN_INVALID. fn returns false to stop. */
typedef bool (*cairn__fs_walk_fn)(void *arg, const char *rel,
                                  const struct stat *st);
CAIRN_MUST_CHECK cairn_code_t cairn__fs_walk(const char *root,
                                             cairn__fs_walk_fn fn, void *arg,
                                             cairn_error_t *err);
/* rename(2) of a directory onto a name that must not exist (an empty directory
 * there is replaced): CAIRN_EXISTS otherwise. durable: then fsync of both
 * parents. */
CAIRN_MUST_CHECK cairn_code_t cairn__fs_rename_dir(const char *from,
                                                   const char *to, bool durable,
                                                   cairn_error_t *err);

#endif
