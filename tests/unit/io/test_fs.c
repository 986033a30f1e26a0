/* One file: open, read, write, sync, close. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "dir.h"
#include "io/fs.h"

static struct dir d;

static void set_up(void) {
  dir_make(&d);
}

static void tear_down(void) {
  dir_remove(&d);
}

TestSuite(fs, .init = set_up, .fini = tear_down);

static cairn_code_t try_open(const char *path, cairn_error_t *err) {
  int fd = -1;
  cairn_code_t rc = cairn__fs_open_read(path, &fd, NULL, err);
  if (rc == CAIRN_OK) close(fd);
  return rc;
}

Test(fs, regular_file_opens_with_its_size) {
  struct stat st;
  int fd;
  dir_write(&d, "f", "hello");
  cr_assert_eq(cairn__fs_open_read(dir_path(&d, "f"), &fd, &st, NULL),
               CAIRN_OK);
  cr_assert_eq(st.st_size, 5);
  cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  close(fd);
}

Test(fs, what_is_not_a_regular_file_is_not_found) {
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  int sock = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(at.sun_path, sizeof at.sun_path, "%s", dir_path(&d, "sock"));
  cr_assert_eq(bind(sock, (struct sockaddr *)&at, sizeof at), 0);
  dir_write(&d, "f", "x");
  cr_assert_eq(mkfifo(dir_path(&d, "fifo"), 0600), 0);
  cr_assert_eq(mkdir(dir_path(&d, "dir"), 0700), 0);
  cr_assert_eq(try_open(dir_path(&d, "absent"), NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(try_open(dir_path(&d, "f/below"), NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(try_open(dir_path(&d, "fifo"), NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(try_open(dir_path(&d, "dir"), NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(try_open(dir_path(&d, "sock"), NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(try_open("/dev/null", NULL), CAIRN_NOT_FOUND);
  close(sock);
}

Test(fs, open_error_names_call_path_and_cause) {
  cairn_error_t err = {0};
  char want[4200];
  try_open(dir_path(&d, "absent"), &err);
  snprintf(want, sizeof want, "open %s: No such file or directory",
           dir_path(&d, "absent"));
  cr_assert_str_eq(err.message, want);
  cr_assert_eq(err.sys_errno, ENOENT);
}

Test(fs, read_wants_exactly_what_it_asks_for) {
  char got[8] = "";
  cairn_error_t err = {0};
  int fd;
  dir_write(&d, "f", "0123456789");
  cr_assert_eq(cairn__fs_open_read(dir_path(&d, "f"), &fd, NULL, NULL),
               CAIRN_OK);
  cr_assert_eq(cairn__fs_pread(fd, "f", got, 4, 3, NULL), CAIRN_OK);
  cr_assert_str_eq(got, "3456");
  cr_assert_eq(cairn__fs_pread(fd, "f", got, 0, 100, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_pread(fd, "f", got, 4, 8, &err), CAIRN_CORRUPT);
  cr_assert_str_eq(err.message, "read f: ends after 2 of 4 bytes at 8");
  close(fd);
}

/* More pieces than the kernel takes at once (1024), some of them empty. */
Test(fs, write_of_many_pieces_lands_in_order) {
  enum { N = 3000 };
  static struct iovec iov[N];
  static char bytes[N], got[N];
  size_t n = 0;
  int fd = open(dir_path(&d, "f"), O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < N; i++) {
    bytes[i] = (char)('a' + i % 26);
    iov[i] = (struct iovec){&bytes[i], i % 3 != 0};
    if (i % 3 != 0) got[n++] = bytes[i];
  }
  cr_assert_eq(cairn__fs_pwritev(fd, "f", iov, N, 2, NULL), CAIRN_OK);
  cr_assert_eq(lseek(fd, 0, SEEK_END), (off_t)n + 2);
  static char back[N];
  cr_assert_eq(pread(fd, back, n, 2), (ssize_t)n);
  cr_assert_eq(memcmp(back, got, n), 0);
  cr_assert_eq(cairn__fs_pwritev(fd, "f", iov, 0, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_pwritev(fd, "f", iov, 1, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_sync(fd, "f", NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_close(fd, "f", NULL), CAIRN_OK);
}

Test(fs, calls_on_a_bad_descriptor_fail_with_their_name) {
  struct iovec iov = {(char[]){'x'}, 1};
  cairn_error_t e[4] = {{0}};
  char c;
  cr_assert_neq(cairn__fs_pread(-1, "p", &c, 1, 0, &e[0]), CAIRN_OK);
  cr_assert_neq(cairn__fs_pwritev(-1, "p", &iov, 1, 0, &e[1]), CAIRN_OK);
  cr_assert_neq(cairn__fs_sync(-1, "p", &e[2]), CAIRN_OK);
  cr_assert_neq(cairn__fs_close(-1, "p", &e[3]), CAIRN_OK);
  cr_assert_str_eq(e[0].message, "read p: Bad file descriptor");
  cr_assert_str_eq(e[1].message, "write p: Bad file descriptor");
  cr_assert_str_eq(e[2].message, "fdatasync p: Bad file descriptor");
  cr_assert_str_eq(e[3].message, "close p: Bad file descriptor");
}

Test(fs, directory_syncs_and_an_absent_one_does_not) {
  cr_assert_eq(cairn__fs_sync_dir(d.path, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_sync_dir(dir_path(&d, "absent"), NULL),
               CAIRN_NOT_FOUND);
}

/* A short write by the kernel, then the failure, on a full file system. */
Test(fs, full_file_system_is_no_space) {
  static char block[1 << 20];
  struct iovec iov[6];
  cairn_error_t err = {0};
  const char *full = dir_path(&d, "full");
  int fd;
  mkdir(full, 0700);
  if (mount("tmpfs", full, "tmpfs", 0, "size=4m") != 0)
    cr_skip_test("no tmpfs of 4 MiB: %s (needs root)", strerror(errno));
  fd = open(dir_path(&d, "full/f"), O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < 6; i++) iov[i] = (struct iovec){block, sizeof block};
  cr_expect_eq(cairn__fs_pwritev(fd, "full/f", iov, 6, 0, &err),
               CAIRN_NO_SPACE);
  cr_expect_str_eq(err.message, "write full/f: No space left on device");
  cr_expect_eq(lseek(fd, 0, SEEK_END), 4 << 20);
  close(fd);
  umount(full);
}

Test(fs, file_of_several_transfers_comes_back_as_written) {
  enum { N = 3 << 20 };
  char *out = malloc(N), *in = malloc(N);
  struct iovec iov[3];
  int fd = open(dir_path(&d, "f"), O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < N; i++) out[i] = (char)(i * 7 + (i >> 11));
  for (int i = 0; i < 3; i++)
    iov[i] = (struct iovec){out + (i << 20), (size_t)1 << 20};
  cr_assert_eq(cairn__fs_pwritev(fd, "f", iov, 3, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_pread(fd, "f", in, N, 0, NULL), CAIRN_OK);
  cr_assert_eq(memcmp(in, out, N), 0);
  close(fd);
  free(in);
  free(out);
}
