/* Roots that are no place to save in, and odd ones that are. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lone.h"
#include "support/ranks.h"
#include "support/state.h"

static char *below(const char *dir, const char *name) {
  char *path;
  cr_assert(asprintf(&path, "%s/%s", dir, name) > 0);
  return path;
}

/* --- no place to save in --- */

static void open_fails(const char *root, cairn_code_t want, const char *word) {
  cairn_error_t err = {0};
  lone_t l;
  cr_assert_eq(lone_try_open(&l, root, NULL, &err), want, "%.200s: %s", root,
               err.message);
  cr_assert_not_null(strstr(err.message, word), "%s", err.message);
  cr_assert_null(l.m);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
}

Test(bad_input_roots, that_are_no_directories_are_refused) {
  char *dir = temp_dir(), *file = below(dir, "file");
  char *under = below(dir, "file/root"), *link = below(dir, "dangling");
  char *loop = below(dir, "loop");
  fclose(fopen(file, "w"));
  cr_assert_eq(symlink("nowhere/at/all", link), 0);
  cr_assert_eq(symlink("loop", loop), 0);
  open_fails(file, CAIRN_INVALID, "is not a directory");
  open_fails(under, CAIRN_INVALID, "Not a directory");
  open_fails(link, CAIRN_NOT_FOUND, "dangling");
  open_fails(loop, CAIRN_INVALID, "loop");
  open_fails("/dev/null", CAIRN_INVALID, "/dev/null");
  open_fails("/proc/nothing", CAIRN_NOT_FOUND, "/proc/nothing");
  cr_assert_eq(entries_in(dir), 3);
  free(file), free(under), free(link), free(loop);
  temp_dir_remove(dir);
}

Test(bad_input_roots, of_unknown_schemes_are_refused_naming_the_known) {
  open_fails("s4://bucket/run", CAIRN_INVALID, "file");
  open_fails("file://host/run", CAIRN_INVALID, "file:///absolute/path");
  open_fails("file:///a%zz", CAIRN_INVALID, "escape");
}

Test(bad_input_roots, that_are_too_long_are_refused) {
  char path[3 * PATH_MAX], name[400];
  memset(name, 'n', 300);
  snprintf(path, sizeof(path), "/tmp/%.300s", name);
  open_fails(path, CAIRN_INVALID, "name too long");
  size_t n = 0;
  while (n < 2 * PATH_MAX) n += (size_t)sprintf(path + n, "/abcdefghi");
  open_fails(path, CAIRN_INVALID, "too long");
}

/* What a child says by its exit status; 77: cannot be tried here. */
static int status_of(void (*fn)(const char *dir), const char *dir) {
  pid_t pid = fork();
  if (pid == 0) {
    fn(dir);
    _exit(0);
  }
  int status;
  cr_assert_eq(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static cairn_code_t open_code(const char *root) {
  cairn_error_t err = {0};
  lone_t l;
  cairn_code_t rc = lone_try_open(&l, root, NULL, &err);
  lone_close(&l, NULL);
  return rc;
}

static void as_nobody(const char *dir) {
  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(77);
  char *inside = below(dir, "sub/run");
  if (open_code(dir) != CAIRN_DENIED || open_code(inside) != CAIRN_DENIED)
    _exit(1);
}

Test(bad_input_roots, where_nothing_may_be_written_are_denied) {
  char *dir = temp_dir();
  cr_assert_eq(chmod(dir, 0555), 0);
  int status = status_of(as_nobody, dir);
  if (status == 77) cr_skip_test("cannot become another user");
  cr_assert_eq(status, 0);
  cr_assert_eq(chmod(dir, 0), 0);
  cr_assert_eq(status_of(as_nobody, dir), 0);
  cr_assert_eq(chmod(dir, 0755), 0);
  cr_assert_eq(entries_in(dir), 0);
  temp_dir_remove(dir);
}

/* --- odd places that are fine --- */

static void works_at(const char *root) {
  cairn_error_t err = {0};
  lone_t l;
  state_t s;
  lone_open(&l, root, NULL);
  state_init(&s, 8, 4, 0, 1);
  state_fill(&s, 7);
  cr_assert_eq(lone_save(&l, 7, s.tree, &err), CAIRN_OK, "%.200s: %s", root,
               err.message);
  cr_assert_eq(lone_close(&l, &err), CAIRN_OK);
  state_clear(&s);
  lone_open(&l, root, NULL);
  cr_assert_eq(cairn_manager_restore(l.m, CAIRN_LATEST, s.tree, NULL, &err),
               CAIRN_OK, "%.200s: %s", root, err.message);
  state_expect(&s, 7);
  cr_assert_eq(lone_close(&l, &err), CAIRN_OK);
  state_free(&s);
}

Test(bad_input_roots, odd_ones_work) {
  static const char *const names[] = {"a b/c",
                                      "é/e\xcc\x81",
                                      "x//y///",
                                      "p/./q/../r/",
                                      "%41",
                                      "a:b",
                                      "~",
                                      "new\nline",
                                      "-rf",
                                      "*",
                                      "7",
                                      "{\"driver\"",
                                      "x.orbax-checkpoint-tmp"};
  char *dir = temp_dir();
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    char *root = below(dir, names[i]);
    works_at(root);
    free(root);
  }
  char *real = below(dir, "real"), *link = below(dir, "link");
  cr_assert_eq(mkdir(real, 0777), 0);
  cr_assert_eq(symlink("real", link), 0);
  works_at(link);
  works_at(real + 0 * strlen(real));
  free(real), free(link);
  temp_dir_remove(dir);
}

Test(bad_input_roots, url_of_a_file_works) {
  char *dir = temp_dir(), *url;
  cr_assert(asprintf(&url, "file://%s/a%%20b", dir) > 0);
  works_at(url);
  char *plain = below(dir, "a b/7/default");
  cr_assert_gt(entries_in(plain), 0);
  free(plain), free(url);
  temp_dir_remove(dir);
}

/* The longest root leaves room for the names below it. */
Test(bad_input_roots, long_ones_work_or_are_refused_at_open) {
  char *dir = temp_dir(), root[PATH_MAX];
  size_t n = (size_t)snprintf(root, sizeof(root), "%s", dir);
  while (n < 3600)
    n += (size_t)snprintf(root + n, sizeof(root) - n, "/%0100d", 0);
  works_at(root);
  temp_dir_remove(dir);
}

static void relative(const char *dir) {
  cairn_error_t err = {0};
  lone_t l;
  state_t s;
  if (chdir(dir) != 0) _exit(1);
  lone_open(&l, "run", NULL);
  if (chdir("/") != 0) _exit(2);
  state_init(&s, 8, 4, 0, 1);
  state_fill(&s, 1);
  if (lone_save(&l, 1, s.tree, &err) != CAIRN_OK) _exit(3);
  state_clear(&s);
  if (cairn_manager_restore(l.m, 1, s.tree, NULL, &err) != CAIRN_OK) _exit(4);
  if (!state_is(&s, 1)) _exit(5);
  lone_close(&l, NULL);
  char *step = below(dir, "run/1");
  if (entries_in(step) <= 0) _exit(6);
}

Test(bad_input_roots, relative_ones_stay_where_they_were) {
  char *dir = temp_dir();
  cr_assert_eq(status_of(relative, dir), 0);
  temp_dir_remove(dir);
}

/* --- a disk that is full: cases.md 15 --- */

static void on_full_disk(const char *dir) {
  cairn_error_t err = {0};
  if (mount("tmpfs", dir, "tmpfs", 0, "size=4m") != 0) _exit(77);
  static uint8_t small[1 << 20], large[8 << 20];
  for (size_t i = 0; i < sizeof(large); i++)
    large[i] = (uint8_t)(i * i >> 7) ^ (uint8_t)(i >> 13);
  memcpy(small, large, sizeof(small));
  lone_t l;
  cairn_manager_opts_t o = {.checkpointer = {.no_compression = true}};
  lone_open(&l, dir, &o);
  for (int64_t step = 1; step <= 4; step++) {
    cairn_tree_t *t = tree_of_nothing();
    bool big = step == 2;
    cairn_array_t a = {.dtype = CAIRN_U8,
                       .rank = 1,
                       .shape = {big ? sizeof(large) : sizeof(small)},
                       .data = big ? large : small};
    cairn_tree_put_array(t, "w", &a, &err);
    cairn_code_t rc = lone_save(&l, step == 3 ? 2 : step, t, &err);
    cairn_tree_free(t);
    if (rc != (big ? CAIRN_NO_SPACE : step == 4 ? rc : CAIRN_OK)) _exit(2);
    if (big && strstr(err.message, "step 2") == NULL) _exit(3);
    if (big && entries_in(dir) != 1) _exit(4); /* temporary space given back */
    err = (cairn_error_t){0};
  }
  lone_close(&l, NULL);
  umount(dir);
}

Test(bad_input_roots, full_disk_loses_nothing) {
  char *dir = temp_dir();
  int status = status_of(on_full_disk, dir);
  umount(dir);
  temp_dir_remove(dir);
  if (status == 77) cr_skip_test("cannot mount a tmpfs");
  cr_assert_eq(status, 0);
}

static void on_few_inodes(const char *dir) {
  cairn_error_t err = {0};
  if (mount("tmpfs", dir, "tmpfs", 0, "size=64m,nr_inodes=60") != 0) _exit(77);
  static float data[2000][16];
  cairn_tree_t *t = tree_of_nothing();
  for (int i = 0; i < 2000; i++) {
    char name[16];
    snprintf(name, sizeof(name), "w%d", i);
    cairn_array_t a = {
        .dtype = CAIRN_F32, .rank = 1, .shape = {16}, .data = data[i]};
    cairn_tree_put_array(t, name, &a, &err);
  }
  lone_t l;
  lone_open(&l, dir, NULL);
  if (lone_save(&l, 1, t, &err) != CAIRN_OK) _exit(2);
  lone_close(&l, NULL);
  cairn_tree_free(t);
  umount(dir);
}

/* cases.md 17 */
Test(bad_input_roots, thousands_of_arrays_need_few_inodes) {
  char *dir = temp_dir();
  int status = status_of(on_few_inodes, dir);
  umount(dir);
  temp_dir_remove(dir);
  if (status == 77) cr_skip_test("cannot mount a tmpfs");
  cr_assert_eq(status, 0);
}

/* --- two on one root --- */

Test(bad_input_roots, two_managers_see_each_other_after_a_reload) {
  char *dir = temp_dir();
  cairn_error_t err = {0};
  lone_t a, b;
  state_t s;
  lone_open(&a, dir, NULL);
  lone_open(&b, dir, NULL);
  state_init(&s, 8, 4, 0, 1);
  state_fill(&s, 1);
  cr_assert_eq(lone_save(&a, 1, s.tree, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_latest(b.m), -1);
  cr_assert_eq(lone_save(&b, 1, s.tree, &err), CAIRN_EXISTS, "%s", err.message);
  cr_assert_not_null(strstr(err.message, "step 1"), "%s", err.message);
  err = (cairn_error_t){0};
  cr_assert_eq(cairn_manager_reload(b.m, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_latest(b.m), 1);
  state_fill(&s, 2);
  cr_assert_eq(lone_save(&b, 2, s.tree, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_restore(a.m, 2, s.tree, NULL, &err), CAIRN_OK,
               "%s", err.message);
  state_expect(&s, 2);
  cr_assert_eq(lone_close(&a, &err), CAIRN_OK);
  cr_assert_eq(lone_close(&b, &err), CAIRN_OK);
  cr_assert_eq(entries_in(dir), 2);
  state_free(&s);
  temp_dir_remove(dir);
}

/* cases.md 98: each saves steps 0 to 9 with its own numbers. */
static void save_ten(const char *dir) {
  int seed = getpid() % 2 == 0 ? 1 : 2;
  cairn_error_t err = {0};
  lone_t l;
  state_t s;
  state_init(&s, 64, 32, 0, 1);
  state_fill(&s, seed);
  lone_open(&l, dir, NULL);
  for (int64_t step = 0; step < 10; step++) {
    cairn_manager_save_opts_t o = {.force = true};
    err = (cairn_error_t){0};
    cairn_code_t rc = cairn_manager_save(l.m, step, s.tree, &o, &err);
    if (rc == CAIRN_OK) rc = cairn_manager_wait(l.m, -1, &err);
    if (rc != CAIRN_OK && rc != CAIRN_BUSY && rc != CAIRN_EXISTS) {
      fprintf(stderr, "step %d: %s\n", (int)step, err.message);
      _exit(2);
    }
  }
  lone_close(&l, NULL);
  state_free(&s);
}

Test(bad_input_roots, two_jobs_that_save_one_step_do_not_mix) {
  char *dir = temp_dir();
  pid_t pids[4];
  for (int i = 0; i < 4; i++)
    if ((pids[i] = fork()) == 0) {
      save_ten(dir);
      _exit(0);
    }
  for (int i = 0; i < 4; i++) {
    int status;
    cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
    cr_assert_eq(status, 0);
  }
  cr_assert_eq(entries_in(dir), 10);
  cairn_error_t err = {0};
  lone_t l;
  state_t s;
  lone_open(&l, dir, NULL);
  state_init(&s, 64, 32, 0, 1);
  for (int64_t step = 0; step < 10; step++) {
    state_clear(&s);
    cr_assert_eq(cairn_manager_restore(l.m, step, s.tree, NULL, &err), CAIRN_OK,
                 "%s", err.message);
    cr_assert(state_is(&s, 1) || state_is(&s, 2), "step %d", (int)step);
  }
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  state_free(&s);
  temp_dir_remove(dir);
}

/* --- steps at the ends --- */

Test(bad_input_roots, first_and_last_step_there_can_be) {
  static const int64_t steps[] = {0, 1, INT64_MAX - 1, INT64_MAX};
  char *dir = temp_dir();
  cairn_error_t err = {0};
  lone_t l;
  state_t s;
  state_init(&s, 8, 4, 0, 1);
  lone_open(&l, dir, NULL);
  for (int i = 0; i < 4; i++) {
    state_fill(&s, i + 1);
    cr_assert_eq(lone_save(&l, steps[i], s.tree, &err), CAIRN_OK, "%s",
                 err.message);
  }
  cr_assert_eq(lone_close(&l, &err), CAIRN_OK);
  lone_open(&l, dir, NULL);
  cr_assert_eq(cairn_manager_latest(l.m), INT64_MAX);
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(cairn_manager_restore(l.m, steps[i], s.tree, NULL, &err),
                 CAIRN_OK, "%s", err.message);
    state_expect(&s, i + 1);
  }
  cr_assert_eq(cairn_manager_restore(l.m, INT64_MIN, s.tree, NULL, &err),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save(l.m, INT64_MIN, s.tree, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  state_free(&s);
  temp_dir_remove(dir);
}
