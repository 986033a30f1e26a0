/* A step of which something was changed after it was committed: a byte, a
 * length, a file, a file exchanged for another save's. Verify always says so,
 * and a restore either fails or gives the right values.
 *
 * By default some bytes of each file; CAIRN_CRASH_EVERY=1 takes each. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "io/fs.h"
#include "job.h"

#define BYTES_OF_A_FILE 40

struct damage {
  char *root;
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck;
  char *step; /* path of the step */
  state_t state;
  int restored, refused; /* restores of what was damaged */
};

/* --- set-up: a step by two ranks, looked at by one --- */

static void quiet(void *arg, cairn_log_level_t level, const char *text) {
  (void)arg, (void)level, (void)text;
}

static void damage_open(struct damage *d, cairn_profile_t profile) {
  cairn_runtime_opts_t o = {.cpu_threads = 1, .io_threads = 1, .log = quiet};
  cairn_checkpointer_opts_t co = {.profile = profile};
  cr_assert_eq(cairn_runtime_open(&o, &d->rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(d->rt, &d->comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_checkpointer_open(d->rt, d->comm, &co, &d->ck, NULL),
               CAIRN_OK);
  state_init(&d->state, JOB_ROWS, JOB_COLS, 0, 1);
}

static void damage_close(struct damage *d) {
  cr_assert_eq(cairn_checkpointer_close(d->ck, -1, NULL), CAIRN_OK);
  cairn_comm_close(d->comm, NULL);
  cr_assert_eq(cairn_runtime_close(d->rt, NULL), CAIRN_OK);
  state_free(&d->state);
  free(d->step);
  crash_dir_remove(d->root);
}

struct saving {
  const char *root;
  cairn_profile_t profile;
  int64_t step;
};

static void save_rank(rank_env_t *env) {
  struct saving *v = env->arg;
  cairn_manager_opts_t o = {.checkpointer.profile = v->profile};
  cairn_manager_t *m = job_open(env, v->root, &o);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  job_save_well(m, &s, v->step);
  job_close(m);
  state_free(&s);
}

/* *d stays where it is: the tree points into it. */
static void damage_begin(struct damage *d, cairn_profile_t profile) {
  *d = (struct damage){.root = crash_dir()};
  ranks_run(2, save_rank, &(struct saving){d->root, profile, 1});
  d->step = cairn__printf("%s/1", d->root);
  damage_open(d, profile);
}

/* --- looking --- */

static bool restores(struct damage *d) {
  cairn_item_t item = cairn_item("default", "tree", d->state.tree);
  cairn_error_t err = {0};
  state_clear(&d->state);
  if (cairn_checkpointer_restore(d->ck, d->step, &item, 1, NULL, &err) ==
      CAIRN_OK)
    return true;
  cr_assert_neq(err.message[0], 0);
  return false;
}

/* False also if it could not even be opened. */
static bool verifies(struct damage *d) {
  cairn_step_t *step;
  cairn_error_t err = {0};
  cairn_verified_t v = {0};
  if (cairn_step_open(d->rt, d->step, &step, &err) != CAIRN_OK) return false;
  bool well = cairn_step_verify(step, NULL, NULL, &v, &err) == CAIRN_OK &&
              v.damaged == 0 && v.bound;
  cairn_step_close(step);
  return well;
}

static void must_be_noticed(struct damage *d, const char *what) {
  cr_expect_not(verifies(d), "verify does not notice: %s", what);
  if (!restores(d)) {
    d->refused++;
    return;
  }
  d->restored++;
  cr_expect(state_is(&d->state, 1), "restored to wrong values: %s", what);
}

static void must_be_well(struct damage *d) {
  cr_assert(verifies(d));
  cr_assert(restores(d));
  state_expect(&d->state, 1);
}

/* --- files --- */

struct file {
  char *path, *name; /* whole; below the step */
  uint8_t *bytes;
  size_t n;
};

struct files {
  const char *step;
  struct file v[64];
  size_t n;
};

static bool add_file(void *arg, const char *rel, const struct stat *st) {
  struct files *l = arg;
  if (!S_ISREG(st->st_mode)) return true;
  cr_assert_lt(l->n, 64);
  struct file *f = &l->v[l->n++];
  f->path = cairn__printf("%s/%s", l->step, rel);
  f->name = strdup(rel);
  f->n = (size_t)st->st_size;
  f->bytes = malloc(f->n + 1);
  int fd = open(f->path, O_RDONLY);
  cr_assert_eq(read(fd, f->bytes, f->n), (ssize_t)f->n);
  close(fd);
  return true;
}

static struct files files_of(const char *step) {
  struct files l = {.step = step};
  cr_assert_eq(cairn__fs_walk(step, add_file, &l, NULL), CAIRN_OK);
  cr_assert_gt(l.n, 10);
  return l;
}

static void files_free(struct files *l) {
  for (size_t i = 0; i < l->n; i++) {
    free(l->v[i].path);
    free(l->v[i].name);
    free(l->v[i].bytes);
  }
}

static void put(const char *path, const void *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  cr_assert_geq(fd, 0);
  cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
  close(fd);
}

/* --- bytes --- */

static void flip(struct damage *d, struct file *f, size_t at, int bit) {
  char what[PATH_MAX];
  f->bytes[at] ^= (uint8_t)(1 << bit);
  put(f->path, f->bytes, f->n);
  snprintf(what, sizeof(what), "bit %d of byte %zu of %zu of %s", bit, at, f->n,
           f->name);
  must_be_noticed(d, what);
  f->bytes[at] ^= (uint8_t)(1 << bit);
  put(f->path, f->bytes, f->n);
}

static void flip_bytes(struct damage *d, struct file *f) {
  bool every = crash_rounds("CAIRN_CRASH_EVERY", 0) != 0;
  size_t step = every ? 1 : f->n / BYTES_OF_A_FILE + 1;
  for (size_t at = 0; at < f->n; at += step)
    flip(d, f, at, (int)(at / step % 8));
}

static void flips_are_noticed(cairn_profile_t profile) {
  struct damage d;
  damage_begin(&d, profile);
  struct files l = files_of(d.step);
  must_be_well(&d);
  for (size_t i = 0; i < l.n; i++) flip_bytes(&d, &l.v[i]);
  must_be_well(&d);
  printf("%d restores were refused, %d gave the right values\n", d.refused,
         d.restored);
  cr_assert_gt(d.refused, 50);
  files_free(&l);
  damage_close(&d);
}

Test(damage, of_one_bit_is_noticed) {
  flips_are_noticed(CAIRN_PROFILE_CAIRN);
}

Test(damage, of_one_bit_is_noticed_in_what_orbax_would_write) {
  flips_are_noticed(CAIRN_PROFILE_ORBAX);
}

/* --- lengths and files --- */

static void cut(struct damage *d, struct file *f, size_t n, const char *how) {
  char what[PATH_MAX];
  snprintf(what, sizeof(what), "%s is %s", f->name, how);
  put(f->path, f->bytes, n);
  must_be_noticed(d, what);
}

static void change_file(struct damage *d, struct file *f) {
  char what[PATH_MAX];
  if (f->n > 0) {
    cut(d, f, f->n / 2, "half as long");
    cut(d, f, f->n - 1, "a byte shorter");
    cut(d, f, 0, "empty");
  }
  f->bytes[f->n] = 0;
  cut(d, f, f->n + 1, "a byte longer");
  cr_assert_eq(unlink(f->path), 0);
  snprintf(what, sizeof(what), "%s is gone", f->name);
  must_be_noticed(d, what);
  cr_assert_eq(mkdir(f->path, 0777), 0);
  snprintf(what, sizeof(what), "%s is a directory", f->name);
  must_be_noticed(d, what);
  cr_assert_eq(rmdir(f->path), 0);
  put(f->path, f->bytes, f->n);
}

Test(damage, of_lengths_and_names_is_noticed) {
  struct damage d;
  damage_begin(&d, CAIRN_PROFILE_CAIRN);
  struct files l = files_of(d.step);
  for (size_t i = 0; i < l.n; i++) change_file(&d, &l.v[i]);
  must_be_well(&d);
  files_free(&l);
  damage_close(&d);
}

/* --- files of another save under the names of this one's --- */

/* Of two saves, those of one role: names below d/ are random. */
static bool same_role(const struct file *a, const struct file *b) {
  const char *x = strstr(a->name, "/d/"), *y = strstr(b->name, "/d/");
  if (x == NULL || y == NULL) return strcmp(a->name, b->name) == 0;
  size_t n = (size_t)(x - a->name);
  return n == (size_t)(y - b->name) && memcmp(a->name, b->name, n) == 0;
}

/* A chunk's sum is its own and does not say of which save it is: a data file of
 * another save, given this one's random name, is noticed by verify alone, and
 * by a restore only if the places or lengths differ. */
static void exchange(struct damage *d, struct file *f,
                     const struct files *others) {
  char what[PATH_MAX];
  for (size_t i = 0; i < others->n; i++) {
    const struct file *o = &others->v[i];
    if (!same_role(f, o) ||
        (o->n == f->n && memcmp(o->bytes, f->bytes, f->n) == 0))
      continue;
    snprintf(what, sizeof(what), "%s is another save's", f->name);
    put(f->path, o->bytes, o->n);
    if (strstr(f->name, "/d/") != NULL)
      cr_expect_not(verifies(d), "verify does not notice: %s", what);
    else
      must_be_noticed(d, what);
    put(f->path, f->bytes, f->n);
  }
}

Test(damage, by_a_file_of_another_save_is_noticed) {
  struct damage d;
  damage_begin(&d, CAIRN_PROFILE_CAIRN);
  char *other = cairn__printf("%s/2", d.root);
  ranks_run(2, save_rank, &(struct saving){d.root, CAIRN_PROFILE_CAIRN, 2});
  struct files l = files_of(d.step), others = files_of(other);
  for (size_t i = 0; i < l.n; i++) exchange(&d, &l.v[i], &others);
  must_be_well(&d);
  files_free(&l);
  files_free(&others);
  free(other);
  damage_close(&d);
}
