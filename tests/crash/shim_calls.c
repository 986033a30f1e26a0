/* The calls themselves, as libc declares them, each made by its system call. */
#undef _FILE_OFFSET_BITS /* or open would be open64 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim_impl.h"

#define MAX_IOV 1024

/* Two names for one function: 64-bit files have the same calls here. */
#define ALIAS(name, of) __typeof__(of) name __attribute__((alias(#of)))

/* --- paths --- */

static void path_of_fd(int fd, char *out) {
  char link[64];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, out, PATH_MAX - 1);
  out[n > 0 ? n : 0] = 0;
}

static void path_at(int dir, const char *name, char *out) {
  int saved = errno;
  if (name == NULL) name = "";
  if (name[0] == '/') {
    snprintf(out, PATH_MAX, "%s", name);
    return;
  }
  if (dir != AT_FDCWD)
    path_of_fd(dir, out);
  else if (syscall(SYS_getcwd, out, PATH_MAX) <= 0)
    out[0] = 0;
  size_t n = strlen(out);
  snprintf(out + n, PATH_MAX - n, "/%s", name);
  errno = saved;
}

static void call_at(shim_call_t *c, shim_op_t op, int dir, const char *name) {
  c->op = op;
  c->fd = -1;
  c->to[0] = 0;
  c->counted = c->refused = c->lost = c->kill = false;
  c->most = SIZE_MAX;
  path_at(dir, name, c->path);
}

static void call_on(shim_call_t *c, shim_op_t op, int fd) {
  int saved = errno;
  call_at(c, op, AT_FDCWD, "/");
  c->fd = fd;
  path_of_fd(fd, c->path);
  errno = saved;
}

/* A call of one step: begin, do, end. */
#define DO(c, real) \
  (shim__begin(c) ? shim__end(c, (long)(real)) : shim__end(c, -1))

/* --- opening --- */

static int open_at(int dir, const char *path, int flags, mode_t mode) {
  shim_call_t c;
  if ((flags & O_ACCMODE) == O_RDONLY && (flags & O_CREAT) == 0)
    return (int)syscall(SYS_openat, dir, path, flags, mode);
  call_at(&c, SHIM_OPEN, dir, path);
  return (int)DO(&c, syscall(SYS_openat, dir, path, flags, mode));
}

static mode_t mode_of(int flags, va_list ap) {
  bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return creates ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
  va_list ap;
  va_start(ap, flags);
  mode_t mode = mode_of(flags, ap);
  va_end(ap);
  return open_at(AT_FDCWD, path, flags, mode);
}
ALIAS(open64, open);

int openat(int dir, const char *path, int flags, ...) {
  va_list ap;
  va_start(ap, flags);
  mode_t mode = mode_of(flags, ap);
  va_end(ap);
  return open_at(dir, path, flags, mode);
}
ALIAS(openat64, openat);

int creat(const char *path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}
ALIAS(creat64, creat);

static bool is_for_writing(int fd) {
  int saved = errno;
  long flags = syscall(SYS_fcntl, fd, F_GETFL);
  errno = saved;
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int close(int fd) {
  shim_call_t c;
  if (!is_for_writing(fd)) return (int)syscall(SYS_close, fd);
  call_on(&c, SHIM_CLOSE, fd);
  if (!shim__begin(&c)) return -1;
  c.fd = -1; /* nobody's in a moment */
  return (int)shim__end(&c, syscall(SYS_close, fd));
}

/* --- writing --- */

/* At most so many bytes of it; returns the number of pieces. */
static int trim(struct iovec *out, const struct iovec *iov, int n,
                size_t most) {
  int k = 0;
  for (; k < n && k < MAX_IOV && (most > 0 || k == 0); k++) {
    out[k] = iov[k];
    if (out[k].iov_len > most) out[k].iov_len = most;
    most -= out[k].iov_len;
  }
  return k;
}

static size_t length(const struct iovec *iov, int n) {
  size_t total = 0;
  for (int i = 0; i < n; i++) total += iov[i].iov_len;
  return total;
}

/* off < 0: at the file's position. */
static ssize_t put(int fd, const struct iovec *iov, int n, off_t off) {
  struct iovec part[MAX_IOV];
  shim_call_t c;
  call_on(&c, SHIM_WRITE, fd);
  c.most = length(iov, n);
  if (!shim__begin(&c)) return shim__end(&c, -1);
  n = trim(part, iov, n, c.most);
  return shim__end(
      &c, off < 0 ? syscall(SYS_writev, fd, part, (long)n)
                  : syscall(SYS_pwritev, fd, part, (long)n, (long)off, 0L));
}

ssize_t write(int fd, const void *p, size_t n) {
  return put(fd, &(struct iovec){(void *)(uintptr_t)p, n}, 1, -1);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t off) {
  return put(fd, &(struct iovec){(void *)(uintptr_t)p, n}, 1, off);
}
ALIAS(pwrite64, pwrite);

ssize_t writev(int fd, const struct iovec *iov, int n) {
  return put(fd, iov, n, -1);
}

ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t off) {
  return put(fd, iov, n, off);
}
ALIAS(pwritev64, pwritev);

/* --- whole files --- */

int fsync(int fd) {
  shim_call_t c;
  call_on(&c, SHIM_SYNC, fd);
  return (int)DO(&c, syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
  shim_call_t c;
  call_on(&c, SHIM_SYNC, fd);
  return (int)DO(&c, syscall(SYS_fdatasync, fd));
}

int syncfs(int fd) {
  shim_call_t c;
  call_on(&c, SHIM_SYNC, fd);
  return (int)DO(&c, syscall(SYS_syncfs, fd));
}

int sync_file_range(int fd, off_t off, off_t n, unsigned flags) {
  shim_call_t c;
  call_on(&c, SHIM_FLUSH, fd);
  return (int)DO(&c, syscall(SYS_sync_file_range, fd, off, n, flags));
}

int ftruncate(int fd, off_t n) {
  shim_call_t c;
  call_on(&c, SHIM_RESIZE, fd);
  return (int)DO(&c, syscall(SYS_ftruncate, fd, n));
}
ALIAS(ftruncate64, ftruncate);

int fallocate(int fd, int mode, off_t off, off_t n) {
  shim_call_t c;
  call_on(&c, SHIM_RESIZE, fd);
  return (int)DO(&c, syscall(SYS_fallocate, fd, mode, off, n));
}
ALIAS(fallocate64, fallocate);

int flock(int fd, int what) {
  shim_call_t c;
  call_on(&c, SHIM_LOCK, fd);
  return (int)DO(&c, syscall(SYS_flock, fd, what));
}

/* Only what takes a lock; the rest of fcntl changes no file. */
int fcntl64(int fd, int cmd, ...) {
  shim_call_t c;
  va_list ap;
  va_start(ap, cmd);
  void *arg = va_arg(ap, void *);
  va_end(ap);
  if (cmd != F_SETLK && cmd != F_SETLKW && cmd != F_OFD_SETLK &&
      cmd != F_OFD_SETLKW)
    return (int)syscall(SYS_fcntl, fd, cmd, arg);
  call_on(&c, SHIM_LOCK, fd);
  return (int)DO(&c, syscall(SYS_fcntl, fd, cmd, arg));
}
ALIAS(fcntl, fcntl64);

/* --- names --- */

static int rename_at(int from_dir, const char *from, int to_dir, const char *to,
                     unsigned flags) {
  shim_call_t c;
  call_at(&c, SHIM_RENAME, from_dir, from);
  path_at(to_dir, to, c.to);
  return (int)DO(&c, syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
}

int rename(const char *from, const char *to) {
  return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  return rename_at(from_dir, from, to_dir, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to,
              unsigned flags) {
  return rename_at(from_dir, from, to_dir, to, flags);
}

int mkdirat(int dir, const char *path, mode_t mode) {
  shim_call_t c;
  call_at(&c, SHIM_MKDIR, dir, path);
  return (int)DO(&c, syscall(SYS_mkdirat, dir, path, mode));
}

int mkdir(const char *path, mode_t mode) {
  return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int dir, const char *path, int flags) {
  shim_call_t c;
  bool is_dir = (flags & AT_REMOVEDIR) != 0;
  call_at(&c, is_dir ? SHIM_RMDIR : SHIM_UNLINK, dir, path);
  return (int)DO(&c, syscall(SYS_unlinkat, dir, path, flags));
}

int unlink(const char *path) {
  return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
  return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to,
           int flags) {
  shim_call_t c;
  call_at(&c, SHIM_LINK, from_dir, from);
  path_at(to_dir, to, c.to);
  return (int)DO(&c, syscall(SYS_linkat, from_dir, from, to_dir, to, flags));
}

int link(const char *from, const char *to) {
  return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}
