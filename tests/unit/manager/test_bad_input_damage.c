/* Steps that were damaged after they were committed, whatever file and byte:
 * the restore says so or gives what was saved; it does not crash, hang, or ask
 * for memory without measure. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lone.h"
#include "support/ranks.h"
#include "support/state.h"

#define MAX_FILES 64

static char *dir;
static char *files[MAX_FILES];
static int num_files;
static bool is_bound; /* by cairn.json */

static int on_file(const char *path, const struct stat *st, int type,
                   struct FTW *ftw) {
  (void)st, (void)ftw;
  if (type == FTW_F && num_files < MAX_FILES) files[num_files++] = strdup(path);
  return 0;
}

/* One step of a state with values inline and in data files. */
static void make_step(cairn_profile_t profile, bool bound) {
  cairn_error_t err = {0};
  char binding[300];
  cairn_manager_opts_t o = {.checkpointer = {.profile = profile}};
  lone_t l;
  state_t s;
  dir = temp_dir();
  lone_open(&l, dir, &o);
  state_init(&s, 64, 32, 0, 1);
  state_fill(&s, 5);
  cr_assert_eq(lone_save(&l, 5, s.tree, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  state_free(&s);
  snprintf(binding, sizeof(binding), "%s/5/cairn.json", dir);
  is_bound = bound;
  if (!bound) cr_assert_eq(unlink(binding), 0);
  num_files = 0;
  cr_assert_eq(nftw(dir, on_file, 8, FTW_PHYS), 0);
  cr_assert_gt(num_files, 5);
}

static void drop_step(void) {
  for (int i = 0; i < num_files; i++) free(files[i]);
  temp_dir_remove(dir);
}

/* Opens, restores, closes: right values or an error with a message. */
static bool restores(const char *what, int64_t at) {
  cairn_error_t err = {0};
  cairn_manager_t *m;
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  state_t s;
  state_init(&s, 64, 32, 0, 1);
  state_clear(&s);
  cr_assert_eq(cairn_runtime_open(NULL, &rt, &err), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, &err), CAIRN_OK);
  cr_assert_eq(
      cairn_manager_open(rt, comm, dir,
                         &(cairn_manager_opts_t){.read_only = true}, &m, &err),
      CAIRN_OK, "%s", err.message);
  cairn_code_t rc = cairn_manager_restore(m, 5, s.tree, NULL, &err);
  /* Without cairn.json nothing vouches for what is a text of its own. */
  if (!is_bound && strstr(what, "_strings.json") != NULL)
    strcpy(s.name, "run 5");
  if (rc == CAIRN_OK)
    cr_assert(state_is(&s, 5), "wrong values: %s at %d", what, (int)at);
  else
    cr_assert(err.message[0] != 0 && rc != CAIRN_INTERNAL, "%s at %d: %s", what,
              (int)at, err.message);
  cr_assert_eq(cairn_manager_close(m, -1, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_close(comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_OK);
  state_free(&s);
  return rc == CAIRN_OK;
}

static void flip(const char *path, int64_t at, uint8_t bit) {
  uint8_t byte;
  int fd = open(path, O_RDWR);
  cr_assert_geq(fd, 0);
  cr_assert_eq(pread(fd, &byte, 1, at), 1);
  byte ^= bit;
  cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}

static int64_t size_of(const char *path) {
  struct stat st;
  cr_assert_eq(stat(path, &st), 0);
  return st.st_size;
}

/* Every byte of small files, a sample of large ones; other bits at each. */
static void flip_all(cairn_profile_t profile, bool bound) {
  make_step(profile, bound);
  cr_assert(restores("nothing", 0));
  for (int i = 0; i < num_files; i++) {
    int64_t n = size_of(files[i]), by = n > 60 ? n / 60 : 1;
    for (int64_t at = 0; at < n; at += by) {
      uint8_t bit = (uint8_t)(1 << (at % 8));
      flip(files[i], at, bit);
      restores(files[i], at);
      flip(files[i], at, bit);
    }
  }
  cr_assert(restores("nothing", 0));
  drop_step();
}

Test(bad_input_damage, flipped_bits_never_give_wrong_values, .timeout = 110) {
  flip_all(CAIRN_PROFILE_CAIRN, true);
}

Test(bad_input_damage, nor_without_the_binding, .timeout = 110) {
  flip_all(CAIRN_PROFILE_CAIRN, false);
}

Test(bad_input_damage, nor_in_other_profiles, .timeout = 110) {
  flip_all(CAIRN_PROFILE_ORBAX, false);
  flip_all(CAIRN_PROFILE_ORBAX_V1, false);
}

static void cut_to(const char *path, int64_t n, int64_t whole) {
  uint8_t *all = malloc((size_t)whole + 1);
  int fd = open(path, O_RDWR);
  cr_assert_eq(pread(fd, all, (size_t)whole, 0), whole);
  cr_assert_eq(ftruncate(fd, n), 0);
  restores(path, n);
  cr_assert_eq(pwrite(fd, all, (size_t)whole, 0), whole);
  close(fd);
  free(all);
}

static void cut_all(cairn_profile_t profile, bool bound) {
  make_step(profile, bound);
  for (int i = 0; i < num_files; i++) {
    int64_t n = size_of(files[i]);
    cut_to(files[i], 0, n);
    cut_to(files[i], n / 2, n);
    cut_to(files[i], n - 1, n);
    cut_to(files[i], n + 3, n);
    cr_assert_eq(truncate(files[i], n), 0);
  }
  cr_assert(restores("nothing", 0));
  drop_step();
}

Test(bad_input_damage, cut_files_never_give_wrong_values, .timeout = 110) {
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    cut_all((cairn_profile_t)p, true);
    cut_all((cairn_profile_t)p, false);
  }
}

/* A step that was copied by half: each file absent, or a directory, or a link
 * to nothing. */
static void without_each(cairn_profile_t profile, bool bound) {
  make_step(profile, bound);
  for (int i = 0; i < num_files; i++) {
    char aside[400];
    snprintf(aside, sizeof(aside), "%s/aside", dir);
    cr_assert_eq(rename(files[i], aside), 0);
    restores(files[i], -1);
    cr_assert_eq(mkdir(files[i], 0777), 0);
    restores(files[i], -2);
    cr_assert_eq(rmdir(files[i]), 0);
    cr_assert_eq(symlink("nothing", files[i]), 0);
    restores(files[i], -3);
    cr_assert_eq(unlink(files[i]), 0);
    cr_assert_eq(rename(aside, files[i]), 0);
  }
  cr_assert(restores("nothing", 0));
  drop_step();
}

Test(bad_input_damage, absent_files_never_give_wrong_values, .timeout = 110) {
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    without_each((cairn_profile_t)p, true);
    without_each((cairn_profile_t)p, false);
  }
}
