/* One operation on a file store: its key checked and made a path, a job on an
 * I/O thread, and what is done on the loop when that is over. */
#include <limits.h>
#include <stdlib.h>

#include "kv/kv_file.h"

/* Longest addition to a key: "_", 16 hex digits and the suffix. */
#define TEMP_ROOM 32

/* --- keys --- */

static cairn_bytes_t suffix(void) {
  return cairn_bytes_str(CAIRN__LOCK_SUFFIX);
}

static const char *part_problem(cairn_bytes_t part) {
  if (part.n == 0) return "an empty name in it";
  if (part.n == 1 && part.p[0] == '.') return "\".\" in it";
  if (part.n == 2 && memcmp(part.p, "..", 2) == 0) return "\"..\" in it";
  if (cairn__bytes_ends(part, suffix())) return "a name ending in .__lock";
  return NULL;
}

/* Parts between separators. A backslash separates too: TensorStore, which may
 * have to read this, takes it for one on every system. */
static const char *key_problem(cairn_bytes_t key, bool is_prefix) {
  size_t start = 0, name = 0; /* of the part; of the file name */
  for (size_t i = 0; i <= key.n; i++) {
    bool last = i == key.n;
    if (!last && key.p[i] == '\0') return "a NUL in it";
    if (!last && key.p[i] != '/' && key.p[i] != '\\') continue;
    cairn_bytes_t part = cairn_bytes(key.p + start, i - start);
    const char *problem = last && is_prefix ? NULL : part_problem(part);
    if (problem != NULL) return problem;
    if ((last || key.p[i] == '/') && i - name > NAME_MAX)
      return "a name of more than 255 bytes";
    start = i + 1;
    if (!last && key.p[i] == '/') name = i + 1;
  }
  return NULL;
}

cairn_code_t cairn__file_check_key(const struct file_kv *kv, cairn_bytes_t key,
                                   bool is_prefix, cairn_error_t *err) {
  const char *problem = NULL;
  if (key.n == 0 && !is_prefix)
    problem = "no name";
  else if (key.n > PATH_MAX || kv->root_n + key.n + TEMP_ROOM > PATH_MAX)
    problem = "a path that is too long";
  else if (key.n > 0)
    problem = key_problem(key, is_prefix);
  if (problem == NULL) return CAIRN_OK;
  return cairn_fail(err, CAIRN_INVALID, "not a key for files: %s", problem);
}

bool cairn__file_is_key_part(cairn_bytes_t name) {
  return key_problem(name, false) == NULL;
}

/* --- operations --- */

static cairn_future_t *refuse(cairn_runtime_t *rt, cairn_error_t *err) {
  return cairn_future_done(rt, err);
}

void *cairn__file_op_new(cairn_runtime_t *rt, struct file_kv *kv, size_t size,
                         cairn_bytes_t key, bool is_prefix,
                         cairn_future_t **refused) {
  cairn_error_t err = {0};
  struct file_op *op = NULL;
  if (cairn__file_check_key(kv, key, is_prefix, &err) == CAIRN_OK) {
    op = calloc(1, size + kv->root_n + key.n + 1);
    if (op == NULL) cairn_fail(&err, CAIRN_NO_MEMORY, "no memory");
  }
  if (op == NULL) {
    *refused = refuse(rt, &err);
    return NULL;
  }
  op->rt = rt;
  op->kv = kv;
  op->path = (char *)op + size;
  op->path_n = kv->root_n + key.n;
  memcpy(op->path, kv->root, kv->root_n);
  if (key.n > 0) memcpy(op->path + kv->root_n, key.p, key.n);
  if (cairn__promise(rt, &op->done)) return op;
  *refused = op->done;
  free(op);
  return NULL;
}

static void finish(struct file_op *op, const cairn_error_t *err) {
  cairn_future_t *done = op->done;
  free(op);
  cairn_future_resolve(done, err);
}

static void on_job(cairn_wait_t *w) {
  struct file_op *op = cairn_container_of(w, struct file_op, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (op->end != NULL && op->end(op, &err)) return;
  finish(op, &err);
}

void cairn__file_op_again(struct file_op *op, cairn_work_fn job) {
  cairn_then(cairn_work_io(op->rt, job, op), &op->wait, on_job);
}

cairn_future_t *cairn__file_op_run(struct file_op *op, cairn_work_fn job) {
  cairn_future_t *done = op->done;
  cairn__file_op_again(op, job);
  return done;
}

cairn_future_t *cairn__file_op_fail(struct file_op *op,
                                    const cairn_error_t *err) {
  cairn_future_t *done = op->done;
  finish(op, err);
  return done;
}
