/* The lock of a write that is conditional on a generation: TensorStore's, so
 * that its writers and ours exclude each other. "<key>.__lock" is created and
 * locked; if it is not the file of that name any more, its last holder has
 * renamed or removed it, and we begin again. The holder writes the new value
 * into it and renames it over the old one, or removes it.
 *
 * Never waits: whoever finds it taken comes back later from the loop, so a
 * holder that is stuck keeps no thread of ours. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv/kv_file.h"

#define MAX_TRIES 16

static int open_lock(const char *path) {
  int fd;
  do
    fd = open(
        path,
        O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW,
        0666);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* 0, or an errno: EAGAIN if it is taken. The lock belongs to the open file, so
 * it works between threads too; flock where the file system has no such locks.
 */
static int take(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(fd, F_OFD_SETLK, &whole) == 0) return 0;
  if (errno == EACCES || errno == EAGAIN) return EAGAIN;
  if (errno != EINVAL && errno != EOPNOTSUPP) return errno;
  return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

/* Whether the file locked is still the one of that name. */
static bool still_there(const char *path, const struct stat *st) {
  struct stat now;
  return lstat(path, &now) == 0 && now.st_dev == st->st_dev &&
         now.st_ino == st->st_ino;
}

/* One try: *fd, or *busy, or neither if the file was replaced meanwhile. */
static cairn_code_t try_once(const char *path, int *fd, bool *busy,
                             cairn_error_t *err) {
  struct stat st;
  int rc;
  *fd = open_lock(path);
  if (*fd < 0) return cairn_fail_errno(err, errno, "open %s", path);
  if (fstat(*fd, &st) < 0) {
    rc = errno;
  } else if (!S_ISREG(st.st_mode)) {
    close(*fd);
    return cairn_fail(err, CAIRN_IO, "open %s: not a regular file", path);
  } else {
    rc = take(*fd);
  }
  *busy = rc == EAGAIN;
  if (rc == 0 && still_there(path, &st)) return CAIRN_OK;
  close(*fd);
  *fd = -1;
  return rc == 0 || *busy ? CAIRN_OK
                          : cairn_fail_errno(err, rc, "lock %s", path);
}

cairn_code_t cairn__file_lock_try(struct file_temp *t, const char *path,
                                  bool *busy, cairn_error_t *err) {
  char *lock = cairn__printf("%s" CAIRN__LOCK_SUFFIX, path);
  cairn_code_t rc = CAIRN_OK;
  int fd = -1;
  *busy = false;
  *t = (struct file_temp){.fd = -1};
  if (lock == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
  for (int i = 0; i < MAX_TRIES && rc == CAIRN_OK && fd < 0 && !*busy; i++)
    rc = try_once(lock, &fd, busy, err);
  if (rc == CAIRN_OK && fd >= 0) {
    *t = (struct file_temp){
        .path = path, .temp = lock, .fd = fd, .locked = true};
    return CAIRN_OK;
  }
  free(lock);
  if (rc == CAIRN_OK) *busy = true; /* others keep replacing it */
  return rc;
}
