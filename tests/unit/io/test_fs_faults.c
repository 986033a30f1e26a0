/* System calls that are interrupted, fall short, or fail. The linker sends
 * those of the library here (extra.cmake); each test says what the next ones
 * do. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "dir.h"
#include "io/fs.h"

/* Other tests of this program make calls on several threads. */
static struct fault {
  atomic_int times; /* so many calls */
  int errnum;       /* fail with this; 0: */
  size_t bytes;     /* transfer at most this */
  atomic_int calls; /* counted */
} on_open, on_fstat, on_pread, on_pwritev, on_sync, on_close;

static bool hits(struct fault *f) {
  f->calls++;
  if (f->times == 0) return false;
  f->times--;
  errno = f->errnum;
  return f->errnum != 0;
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __real_fstat64(int fd, struct stat *st);
int __wrap_fstat64(int fd, struct stat *st);
ssize_t __real_pread64(int fd, void *p, size_t n, off_t off);
ssize_t __wrap_pread64(int fd, void *p, size_t n, off_t off);
ssize_t __real_pwritev64(int fd, const struct iovec *v, int n, off_t off);
ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_open64(const char *path, int flags, ...) {
  va_list ap;
  int mode;
  va_start(ap, flags);
  mode = flags & O_CREAT ? va_arg(ap, int) : 0;
  va_end(ap);
  return hits(&on_open) ? -1 : __real_open64(path, flags, mode);
}

int __wrap_fstat64(int fd, struct stat *st) {
  return hits(&on_fstat) ? -1 : __real_fstat64(fd, st);
}

ssize_t __wrap_pread64(int fd, void *p, size_t n, off_t off) {
  if (hits(&on_pread)) return -1;
  if (on_pread.bytes != 0 && n > on_pread.bytes) n = on_pread.bytes;
  return __real_pread64(fd, p, n, off);
}

ssize_t __wrap_pwritev64(int fd, const struct iovec *v, int n, off_t off) {
  struct iovec one = v[0];
  if (hits(&on_pwritev)) return -1;
  if (on_pwritev.bytes == 0) return __real_pwritev64(fd, v, n, off);
  if (one.iov_len > on_pwritev.bytes) one.iov_len = on_pwritev.bytes;
  return __real_pwritev64(fd, &one, 1, off);
}

int __wrap_fdatasync(int fd) {
  return hits(&on_sync) ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd) {
  return hits(&on_sync) ? -1 : __real_fsync(fd);
}

int __wrap_close(int fd) {
  int rc = __real_close(fd);
  return hits(&on_close) ? -1 : rc;
}

static struct dir d;

static void set_up(void) {
  dir_make(&d);
  dir_write(&d, "f", "0123456789");
}

static void tear_down(void) {
  dir_remove(&d);
}

TestSuite(faults, .init = set_up, .fini = tear_down);

static cairn_code_t try_open(void) {
  int fd = -1;
  cairn_code_t rc = cairn__fs_open_read(dir_path(&d, "f"), &fd, NULL, NULL);
  if (rc == CAIRN_OK) __real_close(fd);
  return rc;
}

Test(faults, stale_handle_is_tried_again_once) {
  on_open = (struct fault){.times = 1, .errnum = ESTALE};
  cr_assert_eq(try_open(), CAIRN_OK);
  cr_assert_eq(on_open.calls, 2);
  on_fstat = (struct fault){.times = 1, .errnum = ESTALE};
  cr_assert_eq(try_open(), CAIRN_OK);
  on_open = (struct fault){.times = 2, .errnum = ESTALE};
  cr_assert_eq(try_open(), CAIRN_UNAVAILABLE);
  cr_assert_eq(on_open.calls, 2);
}

Test(faults, failed_open_and_stat_leave_no_descriptor) {
  int before = dup(0), after;
  __real_close(before);
  on_fstat = (struct fault){.times = 1, .errnum = EIO};
  cr_assert_eq(try_open(), CAIRN_IO);
  on_open = (struct fault){.times = 1, .errnum = EMFILE};
  cr_assert_eq(try_open(), CAIRN_UNAVAILABLE);
  after = dup(0);
  cr_assert_eq(after, before);
  __real_close(after);
}

Test(faults, interrupted_calls_go_on) {
  struct iovec iov = {(char[]){'x'}, 1};
  char c;
  int fd = __real_open64(dir_path(&d, "f"), O_RDWR);
  on_open = on_pread = on_pwritev = on_sync =
      (struct fault){.times = 3, .errnum = EINTR};
  cr_assert_eq(try_open(), CAIRN_OK);
  cr_assert_eq(cairn__fs_pread(fd, "f", &c, 1, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_pwritev(fd, "f", &iov, 1, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_sync(fd, "f", NULL), CAIRN_OK);
  on_sync = on_open = (struct fault){.times = 2, .errnum = EINTR};
  cr_assert_eq(cairn__fs_sync_dir(d.path, NULL), CAIRN_OK);
  /* Closed all the same: a second close could hit another thread's file. */
  on_close = (struct fault){.times = 1, .errnum = EINTR};
  cr_assert_eq(cairn__fs_close(fd, "f", NULL), CAIRN_OK);
  cr_assert_eq(on_close.calls, 1);
}

Test(faults, short_reads_are_put_together) {
  char got[11] = "";
  int fd = __real_open64(dir_path(&d, "f"), O_RDONLY);
  on_pread.bytes = 3;
  cr_assert_eq(cairn__fs_pread(fd, "f", got, 10, 0, NULL), CAIRN_OK);
  cr_assert_str_eq(got, "0123456789");
  cr_assert_eq(on_pread.calls, 4);
  __real_close(fd);
}

Test(faults, short_writes_go_on_where_they_stopped) {
  char back[13] = "";
  struct iovec iov[] = {{"", 0}, {"abcd", 4},   {"e", 1},
                        {"", 0}, {"fghijk", 6}, {"l", 1}};
  int fd = __real_open64(dir_path(&d, "g"), O_RDWR | O_CREAT, 0600);
  on_pwritev.bytes = 3;
  cr_assert_eq(cairn__fs_pwritev(fd, "g", iov, 6, 0, NULL), CAIRN_OK);
  cr_assert_eq(__real_pread64(fd, back, 13, 0), 12);
  cr_assert_str_eq(back, "abcdefghijkl");
  __real_close(fd);
}

Test(faults, failed_sync_is_not_tried_again) {
  cairn_error_t err = {0};
  int fd = __real_open64(dir_path(&d, "f"), O_RDWR);
  on_sync = (struct fault){.times = 1, .errnum = EIO};
  cr_assert_eq(cairn__fs_sync(fd, "f", &err), CAIRN_IO);
  cr_assert_str_eq(err.message, "fdatasync f: Input/output error");
  cr_assert_eq(on_sync.calls, 1);
  on_sync = (struct fault){.times = 1, .errnum = EIO};
  cr_assert_eq(cairn__fs_sync_dir(d.path, NULL), CAIRN_IO);
  cr_assert_eq(on_sync.calls, 1);
  __real_close(fd);
}

Test(faults, file_system_without_fsync_of_directories_is_accepted) {
  on_sync = (struct fault){.times = 1, .errnum = EINVAL};
  cr_assert_eq(cairn__fs_sync_dir(d.path, NULL), CAIRN_OK);
}

Test(faults, quota_that_shows_at_close_is_no_space) {
  cairn_error_t err = {0};
  int fd = __real_open64(dir_path(&d, "f"), O_RDWR);
  on_close = (struct fault){.times = 1, .errnum = EDQUOT};
  cr_assert_eq(cairn__fs_close(fd, "f", &err), CAIRN_NO_SPACE);
  cr_assert_str_eq(err.message, "close f: Disk quota exceeded");
}

Test(faults, rename_whose_sync_fails_has_happened_and_says_what_failed) {
  cairn_error_t err = {0};
  char want[4200];
  mkdir(dir_path(&d, "a"), 0700);
  on_sync = (struct fault){.times = 1, .errnum = EIO};
  cr_assert_eq(
      cairn__fs_rename_dir(dir_path(&d, "a"), dir_path(&d, "b"), true, &err),
      CAIRN_IO);
  snprintf(want, sizeof want, "fsync %s: Input/output error", d.path);
  cr_assert_str_eq(err.message, want);
  cr_assert(dir_has(&d, "b"));
}
