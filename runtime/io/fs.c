/* One file: open, read, write, sync, close. The calls of the system, without
 * what makes them awkward: interruptions, short transfers, errors that do not
 * say on which path. */
#include "io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

/* Linux transfers at most 0x7ffff000 bytes in one call. */
#define MAX_TRANSFER ((size_t)1 << 30)
#define IOV_WINDOW 64

/* -- Open ------------------------------------------------------------------ */

static int open_and_stat(const char *path, struct stat *st) {
  /* O_NONBLOCK: opening a FIFO would wait for its writer. It means nothing for
   * regular files, and others are not kept. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  int saved;
  if (fd < 0 || fstat(fd, st) == 0) return fd;
  saved = errno;
  close(fd);
  errno = saved;
  return -1;
}

static const char *kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

cairn_code_t cairn__fs_open_read(const char *path, int *fd, struct stat *st,
                                 cairn_error_t *err) {
  struct stat local;
  int got;
  bool again = true;
  if (st == NULL) st = &local;
  while ((got = open_and_stat(path, st)) < 0) {
    if (errno == EINTR) continue;
    if (errno != ESTALE || !again) break;
    again = false; /* NFS: a cached name of a replaced file; look it up anew */
  }
  if (got < 0 && errno == ENOTDIR) /* below a file there is nothing */
    return cairn_fail(err, CAIRN_NOT_FOUND, "open %s: Not a directory", path);
  if (got < 0) return cairn_fail_errno(err, errno, "open %s", path);
  if (!S_ISREG(st->st_mode)) {
    close(got);
    return cairn_fail(err, CAIRN_NOT_FOUND, "open %s: %s, not a file", path,
                      kind_of(st->st_mode));
  }
  *fd = got;
  return CAIRN_OK;
}

/* -- Read ------------------------------------------------------------------ */

cairn_code_t cairn__fs_pread(int fd, const char *path, void *dst, size_t n,
                             int64_t off, cairn_error_t *err) {
  size_t done = 0;
  while (done < n) {
    size_t want = n - done < MAX_TRANSFER ? n - done : MAX_TRANSFER;
    ssize_t got = pread(fd, (char *)dst + done, want, off + (int64_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cairn_fail_errno(err, errno, "read %s", path);
    if (got == 0)
      return cairn_fail(err, CAIRN_CORRUPT,
                        "read %s: ends after %zu of %zu bytes at %" PRId64,
                        path, done, n, off);
    done += (size_t)got;
  }
  return CAIRN_OK;
}

/* -- Write ----------------------------------------------------------------- */

/* What is left to write: iov[at...], of the first `skip` bytes less. */
struct rest {
  const struct iovec *iov;
  int n, at;
  size_t skip;
};

static int window(const struct rest *r, struct iovec out[IOV_WINDOW]) {
  size_t bytes = 0, skip = r->skip;
  int n = 0;
  for (int i = r->at; i < r->n && n < IOV_WINDOW && bytes < MAX_TRANSFER; i++) {
    size_t len = r->iov[i].iov_len - skip;
    if (len > MAX_TRANSFER - bytes) len = MAX_TRANSFER - bytes;
    if (len > 0)
      out[n++] = (struct iovec){(char *)r->iov[i].iov_base + skip, len};
    bytes += len;
    skip = 0;
  }
  return n;
}

static void advance(struct rest *r, size_t n) {
  r->skip += n;
  while (r->at < r->n && r->skip >= r->iov[r->at].iov_len)
    r->skip -= r->iov[r->at++].iov_len;
}

cairn_code_t cairn__fs_pwritev(int fd, const char *path,
                               const struct iovec *iov, int niov, int64_t off,
                               cairn_error_t *err) {
  struct rest r = {iov, niov, 0, 0};
  struct iovec part[IOV_WINDOW];
  for (advance(&r, 0); r.at < r.n;) {
    ssize_t put = pwritev(fd, part, window(&r, part), off);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return cairn_fail_errno(err, errno, "write %s", path);
    if (put == 0)
      return cairn_fail(err, CAIRN_IO, "write %s: no progress at %" PRId64,
                        path, off);
    off += put;
    advance(&r, (size_t)put);
  }
  return CAIRN_OK;
}

/* -- Sync and close -------------------------------------------------------- */

/* Only an interruption is tried again: after another failure the kernel may
 * have dropped the dirty pages, and a second call would report success. */
cairn_code_t cairn__fs_sync(int fd, const char *path, cairn_error_t *err) {
  int rc;
  do rc = fdatasync(fd);
  while (rc < 0 && errno == EINTR);
  if (rc < 0) return cairn_fail_errno(err, errno, "fdatasync %s", path);
  return CAIRN_OK;
}

cairn_code_t cairn__fs_sync_dir(const char *path, cairn_error_t *err) {
  int fd, rc, saved;
  do fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return cairn_fail_errno(err, errno, "open directory %s", path);
  do rc = fsync(fd);
  while (rc < 0 && errno == EINTR);
  saved = errno;
  close(fd);
  /* Some file systems (FUSE, SMB) have no fsync of directories, and order names
   * themselves. */
  if (rc < 0 && saved != EINVAL && saved != ENOTSUP)
    return cairn_fail_errno(err, saved, "fsync %s", path);
  return CAIRN_OK;
}

cairn_code_t cairn__fs_close(int fd, const char *path, cairn_error_t *err) {
  /* Interrupted or not, Linux has closed it: never again. */
  if (close(fd) < 0 && errno != EINTR)
    return cairn_fail_errno(err, errno, "close %s", path);
  return CAIRN_OK;
}
