/* The file store, for its own files: a key is a path below a directory.
 *
 *   kv_file.c     spec, open, close, the vtable
 *   file_op.c     one operation: key to path, a job on an I/O thread, its end
 *   file_read.c   read and stat
 *   file_temp.c   a temporary file and how it becomes the value
 *   file_write.c  write and remove
 *   file_lock.c   the lock of a write that is conditional on a generation
 *   file_upload.c a value in parts
 *   file_dirs.c   directories: making, and making their names durable
 *   file_sync.c   what was written with defer_sync
 *   file_names.c  the entries of a directory in the order of keys
 *   file_list.c   listings
 *   file_tree.c   rename and remove of a prefix
 *
 * What a reader may find: the old value or the new one, never a part, since a
 * value is written under a name ending in ".__lock", made durable, and renamed;
 * names ending so are never keys. That is TensorStore's convention, so both may
 * work on one directory.
 *
 * Conditions: "absent" is decided by the kernel (rename without replacing). "Of
 * this generation" is checked under a lock file that TensorStore takes too;
 * such writers exclude each other. Unconditional writes take no lock: the last
 * rename stays. */
#ifndef CAIRN_KV_KV_FILE_H_
#define CAIRN_KV_KV_FILE_H_

#include <sys/stat.h>

#include "base/map.h"
#include "io/fs.h"
#include "kv/kv.h"

#define CAIRN__LOCK_SUFFIX ".__lock"

struct file_kv {
  char *root; /* absolute, ending in '/' */
  size_t root_n;
  bool sync; /* file_io_sync */
  cairn__map_t
      deferred; /* path to struct deferred (file_sync.c); loop thread */
  uint64_t deferred_seq;
};

/* --- operations (file_op.c) --- */

/* Head of every operation's struct. One allocation, with the path at its end.
 */
struct file_op {
  cairn_runtime_t *rt;
  struct file_kv *kv;
  char *path; /* root and key */
  size_t path_n;
  cairn_future_t *done;
  cairn_wait_t wait;
  /* Optional, on the loop when the job is over: sees and may set the error,
   * frees what the operation holds. True: it goes on (and has armed `wait`). */
  bool (*end)(struct file_op *op, cairn_error_t *err);
};

/* A zeroed struct of `size` bytes for an operation on `key`, which is checked
 * before any system call. NULL: *refused is the future to return. */
void *cairn__file_op_new(cairn_runtime_t *rt, struct file_kv *kv, size_t size,
                         cairn_bytes_t key, bool is_prefix,
                         cairn_future_t **refused);
/* Runs the job on an I/O thread; returns op->done. */
cairn_future_t *cairn__file_op_run(struct file_op *op, cairn_work_fn job);
/* The same again, from `end`. */
void cairn__file_op_again(struct file_op *op, cairn_work_fn job);
/* Ends an operation whose job did not run. Returns op->done. */
cairn_future_t *cairn__file_op_fail(struct file_op *op,
                                    const cairn_error_t *err);

/* CAIRN_INVALID unless the key is one that a file can have. A prefix may be
 * empty or end in '/', and its last part may be any beginning of a name. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_check_key(const struct file_kv *kv,
                                                    cairn_bytes_t key,
                                                    bool is_prefix,
                                                    cairn_error_t *err);
/* Whether a directory entry can be (part of) a key. */
bool cairn__file_is_key_part(cairn_bytes_t name);

/* --- generations --- */

/* Device, inode, mtime, ctime and size: two rewrites within one tick of the
 * clock can agree in the first three. */
cairn_gen_t cairn__file_gen(const struct stat *st);
/* Of what is stored at path: CAIRN_GEN_ABSENT if nothing that a read would
 * find. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_stat(const char *path,
                                               struct stat *st, bool *found,
                                               cairn_error_t *err);
/* CAIRN_INVALID if the store's root is there and no directory. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_check_root(const struct file_kv *kv,
                                                     cairn_error_t *err);

/* --- directories (file_dirs.c); I/O threads --- */

/* Length of the directory part of an absolute path, without the '/'. */
size_t cairn__file_dir_length(const char *path, size_t n);
/* Makes the directories that `path` needs. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_make_parents(const char *path,
                                                       cairn_error_t *err);
/* Makes the names of the n paths durable: fsync of their directories, and of
 * those above for as long as they were made by this process and not synced
 * since; what a directory holds before the directory. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_settle(const char *const *paths,
                                                 size_t n, cairn_error_t *err);
/* For a rename of a directory: names below `from` that are not durable are so
 * below `to` from now on. For a removal, to is NULL. False: no memory. */
bool cairn__file_dirs_moved(const char *from, const char *to);

/* --- temporary files (file_temp.c); I/O threads --- */

struct file_temp {
  const char *path; /* of the value; borrowed */
  char *temp;       /* NULL: nothing to drop */
  int fd;
  bool locked; /* fd holds the lock: stays open until after the rename */
};

/* A new empty file beside `path`; makes missing directories. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_temp_open(struct file_temp *t,
                                                    const char *path,
                                                    cairn_error_t *err);
/* Gives the file its name. durable: file before, directory after. create: only
 * if nothing has that name, else out->condition_met is false, and no error.
 * Success or not, t is empty after and no temporary is left. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_temp_publish(struct file_temp *t,
                                                       bool create,
                                                       bool durable,
                                                       cairn_written_t *out,
                                                       cairn_error_t *err);
void cairn__file_temp_drop(struct file_temp *t);

/* --- locks (file_lock.c); I/O threads --- */

/* Takes "<path>.__lock" as a temporary of `path`. *busy: someone holds it; t is
 * empty then. CAIRN_NOT_FOUND: the directory is not there. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_lock_try(struct file_temp *t,
                                                   const char *path, bool *busy,
                                                   cairn_error_t *err);

/* --- deferred sync (file_sync.c); loop thread --- */

/* Around a write that need not be durable: begin before it (false: no memory),
 * end when it is over, well or not. */
bool cairn__file_defer_begin(struct file_kv *kv, const char *path);
void cairn__file_defer_end(struct file_kv *kv, const char *path);
/* Around a rename of a directory: both names are known to sync, then one. */
bool cairn__file_defer_rename(struct file_kv *kv, const char *from,
                              const char *to);
void cairn__file_defer_forget(struct file_kv *kv, const char *dir);
void cairn__file_defer_reset(struct file_kv *kv);

/* --- entries of a directory (file_names.c); I/O threads --- */

struct file_name {
  char *name; /* a directory's ends in '/', so that sorting sorts keys */
  size_t n;
  int64_t size;
  bool is_dir, is_link;
};

struct file_names {
  struct file_name *v;
  size_t n, cap;
};

/* The entries of `dir` whose name begins with `start`, in the order of the keys
 * below them; an absent directory has none. `all`: also those that are no keys
 * (temporaries, devices), and nothing is looked at closer. follow: dir itself
 * may be a link. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_names_read(const char *dir,
                                                     cairn_bytes_t start,
                                                     bool all, bool follow,
                                                     struct file_names *out,
                                                     cairn_error_t *err);
void cairn__file_names_reset(struct file_names *l);

/* --- the vtable's members --- */

cairn_future_t *cairn__file_read(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t key, const cairn_read_opts_t *o,
                                 cairn_value_t *out);
cairn_future_t *cairn__file_write(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t key, const struct iovec *iov,
                                  int niov, const cairn_write_opts_t *o,
                                  cairn_written_t *out);
cairn_future_t *cairn__file_remove(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_write_opts_t *o,
                                   cairn_written_t *out);
cairn_future_t *cairn__file_list(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                 void *arg);
cairn_future_t *cairn__file_list_dir(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                     void *arg);
cairn_future_t *cairn__file_upload_begin(cairn_runtime_t *rt, void *self,
                                         cairn_bytes_t key,
                                         const cairn_write_opts_t *o,
                                         void **upload);
cairn_future_t *cairn__file_upload_part(cairn_runtime_t *rt, void *upload,
                                        uint64_t offset,
                                        const struct iovec *iov, int niov);
cairn_future_t *cairn__file_upload_commit(cairn_runtime_t *rt, void *upload);
cairn_future_t *cairn__file_upload_abort(cairn_runtime_t *rt, void *upload);
cairn_future_t *cairn__file_rename_prefix(cairn_runtime_t *rt, void *self,
                                          cairn_bytes_t from, cairn_bytes_t to);
cairn_future_t *cairn__file_remove_prefix(cairn_runtime_t *rt, void *self,
                                          cairn_bytes_t prefix);
cairn_future_t *cairn__file_sync(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t prefix);

#endif
