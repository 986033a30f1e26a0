/* Walking and removing trees. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

TestSuite(walk, .init = set_up, .fini = tear_down);
TestSuite(rmtree, .init = set_up, .fini = tear_down);

/*  t/a.txt  t/b/  t/b/z  t/b.txt  t/link -> ../outside  outside/kept  */
static void make_tree(void) {
  mkdir(dir_path(&d, "t"), 0700);
  mkdir(dir_path(&d, "t/b"), 0700);
  mkdir(dir_path(&d, "t/c"), 0700);
  mkdir(dir_path(&d, "outside"), 0700);
  dir_write(&d, "t/b.txt", "");
  dir_write(&d, "t/b/z", "four");
  dir_write(&d, "t/b/Z", "");
  dir_write(&d, "t/a.txt", "");
  dir_write(&d, "outside/kept", "");
  cr_assert_eq(symlink("../outside", dir_path(&d, "t/link")), 0);
}

struct seen {
  char text[512];
  int left; /* stop after so many; -1: never */
};

static bool see(void *arg, const char *rel, const struct stat *st) {
  struct seen *s = arg;
  size_t n = strlen(s->text);
  snprintf(s->text + n, sizeof s->text - n, "%s%s%s ", rel,
           S_ISDIR(st->st_mode) ? "/" : "", S_ISLNK(st->st_mode) ? "@" : "");
  return --s->left != 0;
}

Test(walk, is_sorted_with_directories_after_what_they_hold) {
  struct seen s = {.left = -1};
  make_tree();
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "t"), see, &s, NULL), CAIRN_OK);
  cr_assert_str_eq(s.text, "a.txt b/Z b/z b/ b.txt c/ link@ ");
}

Test(walk, stops_when_told) {
  struct seen s = {.left = 2};
  make_tree();
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "t"), see, &s, NULL), CAIRN_OK);
  cr_assert_str_eq(s.text, "a.txt b/Z ");
}

Test(walk, root_may_be_a_link_or_absent_but_not_a_file) {
  struct seen s = {.left = -1};
  make_tree();
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "t/link"), see, &s, NULL), CAIRN_OK);
  cr_assert_str_eq(s.text, "kept ");
  s = (struct seen){.left = -1};
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "absent"), see, &s, NULL), CAIRN_OK);
  cr_assert_str_eq(s.text, "");
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "t/a.txt"), see, &s, NULL),
               CAIRN_INVALID);
}

/* `depth` directories, one in the other, by descriptors: the path would be too
 * long for one call. */
static void make_deep(const char *name, int depth) {
  int at = open(d.path, O_RDONLY | O_DIRECTORY);
  mkdirat(at, name, 0700);
  for (int i = 0; i < depth; i++) {
    int next = openat(at, i == 0 ? name : "d", O_RDONLY | O_DIRECTORY);
    cr_assert_geq(next, 0);
    close(at);
    at = next;
    if (i + 1 < depth) mkdirat(at, "d", 0700);
  }
  close(at);
}

static bool count(void *arg, const char *rel, const struct stat *st) {
  (void)rel, (void)st;
  ++*(int *)arg;
  return true;
}

Test(walk, depth_is_limited) {
  cairn_error_t err = {0};
  int n = 0;
  make_deep("ok", 257); /* the root and 256 below it */
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "ok"), count, &n, NULL), CAIRN_OK);
  cr_assert_eq(n, 256);
  make_deep("deep", 258);
  cr_assert_eq(cairn__fs_walk(dir_path(&d, "deep"), count, &n, &err),
               CAIRN_UNSUPPORTED);
  cr_assert_not_null(strstr(err.message, "256"));
}

Test(rmtree, removes_the_tree_and_not_what_links_point_to) {
  make_tree();
  cr_assert_eq(cairn__fs_rmtree(dir_path(&d, "t"), NULL), CAIRN_OK);
  cr_assert_not(dir_has(&d, "t"));
  cr_assert(dir_has(&d, "outside/kept"));
}

Test(rmtree, root_that_is_a_link_or_a_file_goes_alone) {
  make_tree();
  cr_assert_eq(cairn__fs_rmtree(dir_path(&d, "t/link"), NULL), CAIRN_OK);
  cr_assert_not(dir_has(&d, "t/link"));
  cr_assert_eq(cairn__fs_rmtree(dir_path(&d, "t/a.txt"), NULL), CAIRN_OK);
  cr_assert_not(dir_has(&d, "t/a.txt"));
  cr_assert(dir_has(&d, "outside/kept"));
}

Test(rmtree, of_what_is_absent_is_fine) {
  cr_assert_eq(cairn__fs_rmtree(dir_path(&d, "absent"), NULL), CAIRN_OK);
}

Test(rmtree, goes_on_after_an_error_and_returns_the_first) {
  cairn_error_t err = {0};
  make_tree();
  /* Permissions do not stop root; too many directories in one another stop
   * everybody. */
  make_deep("t/b/deep", 300);
  cr_assert_eq(cairn__fs_rmtree(dir_path(&d, "t"), &err), CAIRN_UNSUPPORTED);
  cr_assert_not(dir_has(&d, "t/a.txt"));
  cr_assert_not(dir_has(&d, "t/b.txt"));
  cr_assert_not(dir_has(&d, "t/c"));
  cr_assert(dir_has(&d, "t/b/deep"));
}
