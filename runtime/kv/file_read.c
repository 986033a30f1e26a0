/* Reading a file: opened without waiting for whatever it may be, identified by
 * the open descriptor (so that data and generation belong together although it
 * may be replaced meanwhile), read straight into place. */
#include <errno.h>
#include <unistd.h>

#include "kv/kv_file.h"

cairn_gen_t cairn__file_gen(const struct stat *st) {
  int64_t part[5] = {(int64_t)st->st_dev, (int64_t)st->st_ino,
                     st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
                     st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec,
                     (int64_t)st->st_size};
  cairn_gen_t g = {.n = 1 + sizeof part}; /* first byte 0: a value */
  memcpy(g.b + 1, part, sizeof part);
  return g;
}

cairn_code_t cairn__file_stat(const char *path, struct stat *st, bool *found,
                              cairn_error_t *err) {
  *found = stat(path, st) == 0;
  if (*found)
    *found = S_ISREG(st->st_mode);
  else if (errno != ENOENT && errno != ENOTDIR)
    return cairn_fail_errno(err, errno, "stat %s", path);
  return CAIRN_OK;
}

cairn_code_t cairn__file_check_root(const struct file_kv *kv,
                                    cairn_error_t *err) {
  char path[kv->root_n + 1];
  struct stat st;
  memcpy(path, kv->root, kv->root_n + 1);
  if (kv->root_n > 1) path[kv->root_n - 1] = '\0'; /* "/a/" of a file: error */
  if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
    return cairn_fail(err, CAIRN_INVALID, "%s is not a directory", path);
  return CAIRN_OK;
}

struct read_op {
  struct file_op op;
  const cairn_read_opts_t *opts;
  cairn_value_t *out;
};

/* Nothing there; but if the store itself is a file, that is a mistake. */
static cairn_code_t missing(struct read_op *r, cairn_error_t *err) {
  r->out->gen = CAIRN_GEN_ABSENT;
  return cairn__file_check_root(r->op.kv, err);
}

static void describe(struct read_op *r, const struct stat *st) {
  r->out->found = true;
  r->out->gen = cairn__file_gen(st);
  r->out->total_size = (uint64_t)st->st_size;
}

static cairn_code_t do_stat(void *job, cairn_error_t *err) {
  struct read_op *r = job;
  struct stat st;
  bool found;
  cairn_code_t rc = cairn__file_stat(r->op.path, &st, &found, err);
  if (rc != CAIRN_OK) return rc;
  if (!found) return missing(r, err);
  describe(r, &st);
  return CAIRN_OK;
}

static cairn_code_t read_open(struct read_op *r, int fd, const struct stat *st,
                              cairn_error_t *err) {
  uint64_t off;
  size_t n;
  void *dst;
  cairn_code_t rc =
      cairn__read_range(r->opts, (uint64_t)st->st_size, &off, &n, err);
  if (rc == CAIRN_OK) rc = cairn__value_room(r->opts, n, r->out, &dst, err);
  if (rc == CAIRN_OK)
    rc = cairn__fs_pread(fd, r->op.path, dst, n, (int64_t)off, err);
  if (rc == CAIRN_OK) describe(r, st);
  return rc;
}

static cairn_code_t do_read(void *job, cairn_error_t *err) {
  struct read_op *r = job;
  cairn_error_t why = {0};
  struct stat st;
  int fd;
  cairn_code_t rc = cairn__fs_open_read(r->op.path, &fd, &st, &why);
  if (rc == CAIRN_NOT_FOUND) return missing(r, err);
  if (rc != CAIRN_OK) return cairn_error_copy(err, &why);
  rc = read_open(r, fd, &st, err);
  close(fd);
  return rc;
}

cairn_future_t *cairn__file_read(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t key, const cairn_read_opts_t *o,
                                 cairn_value_t *out) {
  cairn_future_t *refused;
  struct read_op *r =
      cairn__file_op_new(rt, self, sizeof *r, key, false, &refused);
  if (r == NULL) return refused;
  r->opts = o;
  r->out = out;
  return cairn__file_op_run(&r->op,
                            o->what == CAIRN_READ_STAT ? do_stat : do_read);
}
