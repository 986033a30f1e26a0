/* A file that is written in parts by several threads, in blocks. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dir.h"
#include "io/direct.h"
#include "io/direct_trial.h"

#define BLOCK CAIRN__DIRECT_BLOCK
enum { THREADS = 3 };

static struct dir d;

static void set_up(void) {
  dir_make(&d);
}

static void tear_down(void) {
  dir_remove(&d);
}

TestSuite(direct, .init = set_up, .fini = tear_down);

/* One file in the making: part i is bytes cut[i] .. cut[i + 1]. */
struct making {
  cairn__direct_t *out;
  const char *data;
  const size_t *cut;
  size_t parts;
};

struct writer {
  struct making *m;
  size_t first;
};

/* Every THREADS-th part, the last one first, in two pieces and an empty one. */
static void *write_parts(void *arg) {
  struct writer *w = arg;
  const struct making *m = w->m;
  for (size_t i = m->parts; i-- > 0;) {
    size_t n = m->cut[i + 1] - m->cut[i], half = n / 2;
    char *p = (char *)m->data + m->cut[i];
    struct iovec iov[] = {{p, half}, {p, 0}, {p + half, n - half}};
    cairn_error_t err = {0};
    if (i % THREADS != w->first) continue;
    if (cairn__direct_write(m->out, m->cut[i], iov, 3, &err) != CAIRN_OK)
      return arg;
  }
  return NULL;
}

static char *numbers(size_t n) {
  char *p = malloc(n + 1);
  uint32_t x = 1;
  cr_assert_not_null(p);
  for (size_t i = 0; i < n; i++)
    p[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
  return p;
}

static void expect_content(const char *path, const char *want, size_t n) {
  char *got = malloc(n + 1);
  int fd = open(path, O_RDONLY);
  struct stat st;
  cr_assert_eq(fstat(fd, &st), 0);
  cr_assert_eq((size_t)st.st_size, n, "%lld bytes, want %zu",
               (long long)st.st_size, n);
  cr_assert_eq(cairn__fs_pread(fd, path, got, n, 0, NULL), CAIRN_OK);
  cr_assert_eq(memcmp(got, want, n), 0);
  close(fd);
  free(got);
}

static void write_and_compare(const size_t *cut, size_t parts) {
  size_t n = cut[parts];
  char *data = numbers(n);
  const char *path = dir_path(&d, "f");
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  struct making m = {cairn__direct_new(fd, path), data, cut, parts};
  struct writer w[THREADS];
  pthread_t t[THREADS];
  void *failed;
  cr_assert_not_null(m.out);
  for (size_t i = 0; i < THREADS; i++) {
    w[i] = (struct writer){&m, i};
    cr_assert_eq(pthread_create(&t[i], NULL, write_parts, &w[i]), 0);
  }
  for (size_t i = 0; i < THREADS; i++) {
    pthread_join(t[i], &failed);
    cr_assert_null(failed);
  }
  cr_assert_eq(cairn__direct_finish(m.out, NULL), CAIRN_OK);
  cairn__direct_free(m.out);
  close(fd);
  expect_content(path, data, n);
  free(data);
}

Test(direct, file_of_nothing) {
  write_and_compare((size_t[]){0}, 0);
}

Test(direct, file_below_a_block) {
  write_and_compare((size_t[]){0, 1, 4096, 5000, BLOCK - 1}, 4);
}

Test(direct, file_of_whole_blocks) {
  write_and_compare((size_t[]){0, BLOCK, 2 * BLOCK}, 2);
}

Test(direct, parts_that_cross_blocks) {
  write_and_compare((size_t[]){0, 3, BLOCK - 7, BLOCK + 4095, BLOCK + 4096,
                               3 * BLOCK + 1, 3 * BLOCK + 513},
                    6);
}

Test(direct, failure_is_told_with_the_path) {
  char *data = numbers(BLOCK);
  struct iovec iov = {data, BLOCK};
  cairn_error_t err = {0};
  dir_write(&d, "f", "");
  int fd = open(dir_path(&d, "f"), O_RDONLY);
  cairn__direct_t *out = cairn__direct_new(fd, "some/f");
  cr_assert_not_null(out);
  cr_expect_neq(cairn__direct_write(out, 0, &iov, 1, &err), CAIRN_OK);
  cr_expect_eq(err.sys_errno, EBADF);
  cr_expect_not_null(strstr(err.message, "some/f"), "%s", err.message);
  cairn__direct_free(out);
  close(fd);
  free(data);
}
