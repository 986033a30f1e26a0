/* File systems of our own: full, out of inodes, with a umask and a group. They
 * are mounted where no other process sees them, and gone with this one; tests
 * that may not do that skip. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/base.h"
#include "io/fs.h"
#include "job.h"

#define RANKS 3

/* A root on a tmpfs with these options. */
static char *small_root(const char *options) {
  char *dir = crash_dir();
  if (unshare(CLONE_NEWNS) < 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
      mount("none", dir, "tmpfs", 0, options) < 0) {
    int saved = errno;
    crash_dir_remove(dir);
    cr_skip_test("no tmpfs to be had: %s", strerror(saved));
  }
  return dir;
}

static void small_root_remove(char *dir) {
  cr_assert_eq(umount(dir), 0);
  crash_dir_remove(dir);
}

static struct statvfs room(const char *dir) {
  struct statvfs v;
  cr_assert_eq(statvfs(dir, &v), 0);
  return v;
}

/* --- full --- */

/* Bytes that no codec makes fewer. */
static void fill_with_noise(float *p, int64_t n, uint32_t seed) {
  uint32_t *bits = (uint32_t *)p, x = seed * 2654435761u | 1;
  for (int64_t i = 0; i < n; i++) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    bits[i] = x;
  }
}

static bool is_noise(const float *p, int64_t n, uint32_t seed) {
  float *want = malloc((size_t)n * sizeof(*want));
  fill_with_noise(want, n, seed);
  bool same = memcmp(p, want, (size_t)n * sizeof(*want)) == 0;
  free(want);
  return same;
}

/* rows of 256 floats, 1 KiB each. */
static void save_rows(cairn_manager_t *m, rank_env_t *env, int64_t rows,
                      int64_t step, told_t *told) {
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, rows, 256, env->rank, env->size);
  state_fill(&s, (int)step);
  fill_with_noise(s.matrix, s.mine * s.cols, (uint32_t)(step + env->rank));
  if (cairn_manager_save(m, step, s.tree, NULL, &err) == CAIRN_OK)
    cairn_manager_wait(m, -1, &err);
  told->code = err.code;
  strcpy(told->message, err.message);
  state_free(&s);
}

static void expect_rows(cairn_manager_t *m, rank_env_t *env, int64_t rows,
                        int64_t step) {
  cairn_error_t err = {0};
  state_t s;
  state_init(&s, rows, 256, env->rank, env->size);
  cr_assert_eq(cairn_manager_restore(m, step, s.tree, NULL, &err), CAIRN_OK,
               "%s", err.message);
  cr_assert(is_noise(s.matrix, s.mine * s.cols, (uint32_t)(step + env->rank)));
  cr_assert_eq(s.step, step);
  state_free(&s);
}

struct full {
  const char *root;
  pthread_barrier_t all;
  unsigned long free_before, free_after;
  told_t told[RANKS];
};

static void full_rank(rank_env_t *env) {
  struct full *f = env->arg;
  told_t well;
  cairn_manager_t *m = job_open(env, f->root, NULL);
  save_rows(m, env, 1024, 1, &well);
  cr_assert_eq(well.code, CAIRN_OK, "%s", well.message);
  pthread_barrier_wait(&f->all);
  if (env->rank == 0) f->free_before = room(f->root).f_bfree;
  pthread_barrier_wait(&f->all);
  save_rows(m, env, 8192, 2, &f->told[env->rank]);
  pthread_barrier_wait(&f->all);
  if (env->rank == 0) f->free_after = room(f->root).f_bfree;
  pthread_barrier_wait(&f->all);
  expect_rows(m, env, 1024, 1);
  save_rows(m, env, 1024, 2, &well);
  cr_assert_eq(well.code, CAIRN_OK, "%s", well.message);
  expect_rows(m, env, 1024, 2);
  job_close(m);
}

Test(space, a_full_disk_is_said_and_given_back) {
  struct full f = {.root = small_root("size=4m")};
  pthread_barrier_init(&f.all, NULL, RANKS);
  ranks_run(RANKS, full_rank, &f);
  for (int r = 0; r < RANKS; r++) {
    cr_assert_eq(f.told[r].code, CAIRN_NO_SPACE, "%s", f.told[r].message);
    cr_assert_str_eq(f.told[r].message, f.told[0].message);
  }
  cr_assert_not_null(strstr(f.told[0].message, strerror(ENOSPC)));
  cr_assert_not_null(strstr(f.told[0].message, "step 2"));
  cr_assert_eq(f.free_after, f.free_before);
  only_steps(f.root);
  small_root_remove((char *)f.root);
}

/* --- few inodes --- */

#define ARRAYS 2000

struct many {
  float value[ARRAYS][16];
  cairn_tree_t *tree;
};

static struct many *many_new(float first) {
  struct many *m = calloc(1, sizeof(*m));
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(&m->tree, &err), CAIRN_OK);
  for (int i = 0; i < ARRAYS; i++) {
    char name[32];
    snprintf(name, sizeof(name), "layer/w%d", i);
    for (int k = 0; k < 16; k++) m->value[i][k] = first + (float)(i * 16 + k);
    cairn_tree_put_array(
        m->tree, name,
        &(cairn_array_t){
            .dtype = CAIRN_F32, .rank = 1, .shape = {16}, .data = m->value[i]},
        &err);
  }
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  return m;
}

static void many_free(struct many *m) {
  cairn_tree_free(m->tree);
  free(m);
}

static void many_rank(rank_env_t *env) {
  cairn_error_t err = {0};
  struct many *a = many_new(1), *b = many_new(0);
  cairn_manager_t *m = job_open(env, env->arg, NULL);
  cairn_manager_save(m, 1, a->tree, NULL, &err);
  cairn_manager_wait(m, -1, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_restore(m, 1, b->tree, NULL, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_arr_eq(a->value, b->value, sizeof(a->value));
  job_close(m);
  many_free(a);
  many_free(b);
}

Test(space, two_thousand_arrays_need_few_inodes) {
  char *root = small_root("size=512m,nr_inodes=200");
  ranks_run(2, many_rank, root);
  struct statvfs v = room(root);
  printf("%lu inodes used\n", (unsigned long)(v.f_files - v.f_ffree));
  cr_assert_lt(v.f_files - v.f_ffree, 100);
  small_root_remove(root);
}

/* --- who may read it --- */

struct modes {
  mode_t mask;
  gid_t group;
  int n;
};

static bool has_mode(void *arg, const char *rel, const struct stat *st) {
  struct modes *m = arg;
  mode_t want = S_ISDIR(st->st_mode) ? 02777 & ~m->mask : 0666 & ~m->mask;
  cr_expect_eq(st->st_mode & 07777, want, "%s has mode %o, not %o", rel,
               st->st_mode & 07777, want);
  cr_expect_eq(st->st_gid, m->group, "%s is of group %d", rel, (int)st->st_gid);
  m->n++;
  return true;
}

static void modes_follow(mode_t mask) {
  char *root = crash_dir();
  struct modes m = {.mask = mask, .group = getgid()};
  if (geteuid() == 0) m.group = 4242; /* else our own is as good */
  cr_assert_eq(chown(root, (uid_t)-1, m.group), 0);
  cr_assert_eq(chmod(root, 02777), 0);
  mode_t old = umask(mask);
  job_of_one_step(root, RANKS, 1);
  umask(old);
  cr_assert_eq(cairn__fs_walk(root, has_mode, &m, NULL), CAIRN_OK);
  cr_assert_gt(m.n, 20);
  crash_dir_remove(root);
}

Test(space, modes_follow_the_umask_and_the_parents_group) {
  modes_follow(0007);
  modes_follow(0022);
}

static void read_as_another(void *arg) {
  if (setgroups(0, NULL) < 0 || setgid(4242) < 0 || setuid(4243) < 0) _exit(77);
  cairn_runtime_t *rt;
  cairn_step_t *step;
  cairn_error_t err = {0};
  cairn_verified_t v;
  cr_assert_eq(cairn_runtime_open(NULL, &rt, &err), CAIRN_OK);
  cr_assert_eq(cairn_step_open(rt, arg, &step, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(cairn_step_verify(step, NULL, NULL, &v, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(v.damaged, 0);
  cairn_step_close(step);
  cairn_runtime_close(rt, NULL);
}

Test(space, another_of_the_group_may_read) {
  if (geteuid() != 0) cr_skip_test("only root can become another user");
  char *root = crash_dir();
  cr_assert_eq(chown(root, (uid_t)-1, 4242), 0);
  cr_assert_eq(chmod(root, 02770), 0);
  mode_t old = umask(0007);
  job_of_one_step(root, RANKS, 1);
  umask(old);
  crash_must_exit_0(crash_child(read_as_another, root), "another user");
  crash_dir_remove(root);
}
