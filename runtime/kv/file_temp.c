/* A value on its way: written to "<key>_<hex>.__lock" beside its place, then
 * given its name in one step. Readers, listings and other writers pass such
 * names over, so one that a crash left behind does no harm. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kv/kv_file.h"

#define HEX_BYTES 8
/* A directory that was just made may be removed by someone who cleans up. */
#define MAX_TRIES 4

/* The key's own name may take all of NAME_MAX; it is cut then. */
static char *temp_name(const char *path) {
  uint8_t random[HEX_BYTES];
  char hex[2 * HEX_BYTES + 1];
  const char *base = strrchr(path, '/') + 1;
  size_t room = NAME_MAX - strlen(CAIRN__LOCK_SUFFIX) - 2 * HEX_BYTES - 1;
  cairn__random(random, sizeof random);
  cairn__hex(random, sizeof random, hex);
  return cairn__printf("%.*s%.*s_%s" CAIRN__LOCK_SUFFIX, (int)(base - path),
                       path, (int)room, base, hex);
}

/* 0666 and the umask, as any other file: nothing keeps the 0600 of a mkstemp.
 */
static int create(const char *path) {
  int fd;
  do fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  while (fd < 0 && errno == EINTR);
  return fd;
}

cairn_code_t cairn__file_temp_open(struct file_temp *t, const char *path,
                                   cairn_error_t *err) {
  *t = (struct file_temp){.path = path, .temp = temp_name(path), .fd = -1};
  if (t->temp == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for a path");
  for (int i = 0; (t->fd = create(t->temp)) < 0; i++) {
    cairn_code_t rc;
    if (errno != ENOENT || i == MAX_TRIES)
      rc = cairn_fail_errno(err, errno, "open %s", t->temp);
    else
      rc = cairn__file_make_parents(path, err);
    if (rc == CAIRN_OK) continue;
    free(t->temp);
    t->temp = NULL;
    return rc;
  }
  return CAIRN_OK;
}

void cairn__file_temp_drop(struct file_temp *t) {
  if (t->temp == NULL) return;
  unlink(
      t->temp); /* before close: the lock, if it is one, is held until then */
  if (t->fd >= 0) close(t->fd);
  free(t->temp);
  *t = (struct file_temp){.fd = -1};
}

/* --- giving it its name --- */

static bool is_ours(const char *path, const struct stat *st) {
  struct stat now;
  return lstat(path, &now) == 0 && now.st_ino == st->st_ino &&
         now.st_dev == st->st_dev;
}

/* rename without replacing: 0 or -1 and errno. Where the file system has no
 * such rename, a second name and then not the first. */
static int name_new(const char *temp, const char *path) {
  if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return -1;
  if (link(temp, path) < 0) return -1;
  unlink(temp);
  return 0;
}

/* NFS may have done what it then, asked again, calls impossible: what counts is
 * whether the file is there. */
static cairn_code_t give_name(struct file_temp *t, bool only_new,
                              const struct stat *st, bool *placed,
                              cairn_error_t *err) {
  int rc = only_new ? name_new(t->temp, t->path) : rename(t->temp, t->path);
  int saved = errno;
  *placed =
      rc == 0 || ((saved == ENOENT || saved == EEXIST) && is_ours(t->path, st));
  if (*placed || (only_new && saved == EEXIST)) return CAIRN_OK;
  return cairn_fail_errno(err, saved, "rename %s -> %s", t->temp, t->path);
}

static cairn_code_t complete(struct file_temp *t, bool durable, struct stat *st,
                             cairn_error_t *err) {
  cairn_code_t rc = durable ? cairn__fs_sync(t->fd, t->temp, err) : CAIRN_OK;
  if (rc == CAIRN_OK && fstat(t->fd, st) < 0)
    rc = cairn_fail_errno(err, errno, "fstat %s", t->temp);
  if (rc == CAIRN_OK && !t->locked) { /* some errors show only now */
    rc = cairn__fs_close(t->fd, t->temp, err);
    t->fd = -1;
  }
  return rc;
}

/* The rename has changed the ctime. If another writer was faster, ours is gone
 * and what we knew before can equal nothing that is there. */
static cairn_gen_t generation(const char *path, const struct stat *before) {
  struct stat st;
  if (lstat(path, &st) == 0 && st.st_ino == before->st_ino &&
      st.st_dev == before->st_dev)
    return cairn__file_gen(&st);
  return cairn__file_gen(before);
}

cairn_code_t cairn__file_temp_publish(struct file_temp *t, bool create_only,
                                      bool durable, cairn_written_t *out,
                                      cairn_error_t *err) {
  const char *path = t->path;
  struct stat st;
  bool placed = false;
  cairn_code_t rc = complete(t, durable, &st, err);
  if (rc == CAIRN_OK) rc = give_name(t, create_only, &st, &placed, err);
  if (placed) {
    if (t->fd >= 0) close(t->fd);
    free(t->temp);
    *t = (struct file_temp){.fd = -1};
  }
  cairn__file_temp_drop(t);
  if (rc != CAIRN_OK || !placed) return rc;
  out->condition_met = true;
  out->gen = generation(path, &st);
  return durable ? cairn__file_settle(&path, 1, err) : CAIRN_OK;
}
