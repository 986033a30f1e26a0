#include "snapshot/uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

#define MAX_FAULTS 16

/* The system call, or where that is not allowed the device, which can be given
 * to a group. Not UFFD_USER_MODE_ONLY: without catching the kernel's own writes
 * a read(2) into the memory would fail. */
static int new_fd(void) {
  int flags = O_CLOEXEC | O_NONBLOCK;
  int fd = (int)syscall(SYS_userfaultfd, flags);
  if (fd >= 0 || errno != EPERM) return fd;
  int dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
  if (dev < 0) {
    errno = EPERM;
    return -1;
  }
  fd = ioctl(dev, USERFAULTFD_IOC_NEW, flags);
  int e = errno;
  close(dev);
  errno = e;
  return fd;
}

static int no_fd(cairn_error_t *err) {
  if (errno == EPERM)
    cairn_fail(err, CAIRN_UNSUPPORTED,
               "write-protected snapshots need the sysctl "
               "vm.unprivileged_userfaultfd=1, or read and write access to "
               "/dev/userfaultfd, or the capability CAP_SYS_PTRACE");
  else if (errno == ENOSYS)
    cairn_fail(err, CAIRN_UNSUPPORTED,
               "write-protected snapshots need a kernel with userfaultfd");
  else
    cairn_fail_errno(err, errno, "userfaultfd");
  return -1;
}

/* The kernel's features can be asked for once a descriptor. */
static bool features(uint64_t want, uint64_t *have) {
  struct uffdio_api api = {.api = UFFD_API, .features = want};
  int fd = new_fd();
  bool ok = fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0;
  int e = errno;
  if (fd >= 0) close(fd);
  errno = e;
  *have = api.features;
  return ok;
}

int cairn__uffd_open(bool *unpopulated, cairn_error_t *err) {
  uint64_t have;
  if (!features(0, &have)) return no_fd(err);
  if ((have & UFFD_FEATURE_PAGEFAULT_FLAG_WP) == 0) {
    cairn_fail(err, CAIRN_UNSUPPORTED,
               "write-protected snapshots need Linux 5.7 or later");
    return -1;
  }
  *unpopulated = (have & UFFD_FEATURE_WP_UNPOPULATED) != 0;
  struct uffdio_api api = {.api = UFFD_API,
                           .features = have & (UFFD_FEATURE_PAGEFAULT_FLAG_WP |
                                               UFFD_FEATURE_WP_UNPOPULATED)};
  int fd = new_fd();
  if (fd < 0) return no_fd(err);
  if (ioctl(fd, UFFDIO_API, &api) == 0) return fd;
  no_fd(err);
  close(fd);
  return -1;
}

bool cairn__uffd_register(int fd, uintptr_t lo, uintptr_t hi) {
  struct uffdio_register r = {.range = {.start = lo, .len = hi - lo},
                              .mode = UFFDIO_REGISTER_MODE_WP};
  if (ioctl(fd, UFFDIO_REGISTER, &r) != 0) return false;
  if ((r.ioctls & (UINT64_C(1) << _UFFDIO_WRITEPROTECT)) != 0) return true;
  cairn__uffd_unregister(fd, lo, hi);
  errno = EOPNOTSUPP;
  return false;
}

/* EAGAIN: the address space is changing; it is not for long. */
bool cairn__uffd_protect(int fd, uintptr_t lo, uintptr_t hi, bool armed) {
  struct uffdio_writeprotect w = {
      .range = {.start = lo, .len = hi - lo},
      .mode = armed ? UFFDIO_WRITEPROTECT_MODE_WP : 0};
  while (ioctl(fd, UFFDIO_WRITEPROTECT, &w) != 0) {
    if (errno != EAGAIN && errno != EINTR) return false;
    sched_yield();
  }
  return true;
}

/* Unregistering alone wakes nobody. */
void cairn__uffd_unregister(int fd, uintptr_t lo, uintptr_t hi) {
  struct uffdio_range r = {.start = lo, .len = hi - lo};
  (void)cairn__uffd_protect(fd, lo, hi, false);
  (void)ioctl(fd, UFFDIO_UNREGISTER, &r);
  (void)ioctl(fd, UFFDIO_WAKE, &r);
}

size_t cairn__uffd_faults(int fd, uintptr_t *out, size_t cap) {
  struct uffd_msg msgs[MAX_FAULTS];
  size_t n = 0, most = cap < MAX_FAULTS ? cap : MAX_FAULTS;
  ssize_t got = read(fd, msgs, most * sizeof(*msgs));
  for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(*msgs); i++)
    if (msgs[i].event == UFFD_EVENT_PAGEFAULT)
      out[n++] = (uintptr_t)msgs[i].arg.pagefault.address;
  return n;
}
