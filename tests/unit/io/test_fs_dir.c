/* Making and renaming directories. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
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

TestSuite(mkdirs, .init = set_up, .fini = tear_down);
TestSuite(rename_dir, .init = set_up, .fini = tear_down);

/* -- mkdirs ---------------------------------------------------------------- */

static void note_made(void *arg, const char *dir) {
  char *text = arg;
  strcat(text, strrchr(dir, '/'));
}

Test(mkdirs, makes_parents_and_reports_each_once_outermost_first) {
  char made[64] = "";
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "a//b/c/"), note_made, made, NULL),
               CAIRN_OK);
  cr_assert(dir_has(&d, "a/b/c"));
  cr_assert_str_eq(made, "/a/b/c");
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "a/b/c"), note_made, made, NULL),
               CAIRN_OK);
  cr_assert_str_eq(made, "/a/b/c");
}

Test(mkdirs, link_to_nothing_is_not_found) {
  cr_assert_eq(symlink("nothing", dir_path(&d, "link")), 0);
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "link"), NULL, NULL, NULL),
               CAIRN_NOT_FOUND);
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "link/a"), NULL, NULL, NULL),
               CAIRN_NOT_FOUND);
}

Test(mkdirs, relative_paths_and_roots_work) {
  cr_assert_eq(chdir(d.path), 0);
  cr_assert_eq(cairn__fs_mkdirs("x/y", NULL, NULL, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_mkdirs("/", NULL, NULL, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_mkdirs(".", NULL, NULL, NULL), CAIRN_OK);
  cr_assert_eq(cairn__fs_mkdirs("", NULL, NULL, NULL), CAIRN_NOT_FOUND);
  cr_assert(dir_has(&d, "x/y"));
}

Test(mkdirs, link_to_a_directory_is_one) {
  mkdir(dir_path(&d, "real"), 0700);
  cr_assert_eq(symlink("real", dir_path(&d, "link")), 0);
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "link/sub"), NULL, NULL, NULL),
               CAIRN_OK);
  cr_assert(dir_has(&d, "real/sub"));
}

Test(mkdirs, file_in_the_way_is_an_error_that_names_it) {
  cairn_error_t err = {0};
  char want[4200];
  dir_write(&d, "f", "");
  cr_assert_eq(cairn__fs_mkdirs(dir_path(&d, "f"), NULL, NULL, &err),
               CAIRN_EXISTS);
  snprintf(want, sizeof want, "mkdir %s: File exists", dir_path(&d, "f"));
  cr_assert_str_eq(err.message, want);
  cr_assert_neq(cairn__fs_mkdirs(dir_path(&d, "f/sub"), NULL, NULL, NULL),
                CAIRN_OK);
}

static atomic_int n_made;
static pthread_barrier_t together;

static void count_made(void *arg, const char *dir) {
  (void)arg, (void)dir;
  atomic_fetch_add(&n_made, 1);
}

static void *race(void *arg) {
  (void)arg;
  cairn_code_t worst = CAIRN_OK;
  for (int i = 0; i < 50; i++) {
    char name[128];
    snprintf(name, sizeof name, "%s/%d/a/b/c/d", d.path, i);
    pthread_barrier_wait(&together);
    cairn_code_t rc = cairn__fs_mkdirs(name, count_made, NULL, NULL);
    if (rc != CAIRN_OK) worst = rc;
  }
  return (void *)(intptr_t)worst;
}

Test(mkdirs, several_threads_make_the_same_path_and_each_directory_once) {
  pthread_t t[4];
  pthread_barrier_init(&together, NULL, 4);
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, race, NULL);
  for (int i = 0; i < 4; i++) {
    void *rc;
    pthread_join(t[i], &rc);
    cr_assert_eq((intptr_t)rc, CAIRN_OK);
  }
  cr_assert_eq(atomic_load(&n_made), 50 * 5);
  pthread_barrier_destroy(&together);
}

/* -- rename_dir ------------------------------------------------------------ */

static cairn_code_t move(const char *from, const char *to, cairn_error_t *err) {
  return cairn__fs_rename_dir(dir_path(&d, from), dir_path(&d, to), true, err);
}

static void make_full(const char *name) {
  char file[64];
  mkdir(dir_path(&d, name), 0700);
  snprintf(file, sizeof file, "%s/in-%s", name, name);
  dir_write(&d, file, "x");
}

Test(rename_dir, onto_a_free_name) {
  make_full("a");
  cr_assert_eq(move("a", "b", NULL), CAIRN_OK);
  cr_assert(dir_has(&d, "b/in-a"));
  cr_assert_not(dir_has(&d, "a"));
}

Test(rename_dir, into_another_parent_and_with_slashes_at_the_end) {
  make_full("a");
  mkdir(dir_path(&d, "p"), 0700);
  cr_assert_eq(move("a/", "p/b/", NULL), CAIRN_OK);
  cr_assert(dir_has(&d, "p/b/in-a"));
}

Test(rename_dir, replaces_an_empty_directory) {
  make_full("a");
  mkdir(dir_path(&d, "b"), 0700);
  cr_assert_eq(move("a", "b", NULL), CAIRN_OK);
  cr_assert(dir_has(&d, "b/in-a"));
}

Test(rename_dir, onto_anything_else_exists_and_leaves_both) {
  cairn_error_t err = {0};
  char want[8500];
  make_full("a");
  make_full("b");
  dir_write(&d, "file", "precious");
  cr_assert_eq(symlink("nowhere", dir_path(&d, "link")), 0);
  cr_assert_eq(move("a", "b", &err), CAIRN_EXISTS);
  snprintf(want, sizeof want, "rename %s -> %s: Directory not empty",
           dir_path(&d, "a"), dir_path(&d, "b"));
  cr_assert_str_eq(err.message, want);
  cr_assert_eq(move("a", "file", NULL), CAIRN_EXISTS);
  cr_assert_eq(move("a", "link", NULL), CAIRN_EXISTS);
  cr_assert(dir_has(&d, "a/in-a"));
  cr_assert(dir_has(&d, "b/in-b"));
  cr_assert(dir_has(&d, "file"));
}

Test(rename_dir, of_what_is_not_a_directory_is_refused) {
  dir_write(&d, "file", "x");
  dir_write(&d, "other", "precious");
  cr_assert_eq(move("file", "other", NULL), CAIRN_INVALID);
  cr_assert(dir_has(&d, "file"));
  cr_assert_eq(move("absent", "b", NULL), CAIRN_NOT_FOUND);
  make_full("a");
  cr_assert_eq(move("a", "absent/b", NULL), CAIRN_NOT_FOUND);
  cr_assert_eq(move("a", "a/b", NULL), CAIRN_INVALID);
}

Test(rename_dir, to_another_file_system_says_so) {
  cairn_error_t err = {0};
  make_full("a");
  mkdir(dir_path(&d, "m"), 0700);
  if (mount("tmpfs", dir_path(&d, "m"), "tmpfs", 0, "size=1m") != 0)
    cr_skip_test("no second file system: %s (needs root)", strerror(errno));
  cr_expect_eq(move("a", "m/a", &err), CAIRN_UNSUPPORTED);
  cr_expect_eq(err.sys_errno, EXDEV);
  cr_expect_not_null(strstr(err.message, "not on the same file system"), "%s",
                     err.message);
  umount(dir_path(&d, "m"));
}
