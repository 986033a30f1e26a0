/* Listings. The walk goes through the tree in key order with a stack of
 * directories whose names are read; it is a struct and not a recursion, so that
 * a job on an I/O thread can go on until it has a batch of keys, the loop can
 * hand those out, and the next job goes on from there: memory stays bounded by
 * the largest directories on the way, and a caller that has seen enough ends
 * the walk.
 *
 * Directories are entered as directories only, never through a link, except
 * those that the prefix names. */
#include <stdlib.h>

#include "kv/kv_file.h"

#define MAX_DEPTH 256
#define BATCH_KEYS 1024
#define BATCH_STEPS 4096 /* directories and keys looked at in one job */

struct frame {
  struct file_names names;
  size_t at;     /* next to look at */
  size_t path_n; /* length of the directory's path, with its '/' */
};

struct key {
  size_t start, n; /* in `keys` */
  int64_t size;
};

struct list_op {
  struct file_op op;
  cairn_kv_key_fn fn;
  void *arg;
  bool recursive;
  cairn_buf_t path; /* of the directory on top; NUL-ended */
  struct frame stack[MAX_DEPTH];
  int depth;
  cairn_buf_t bytes; /* the batch */
  struct key batch[BATCH_KEYS];
  size_t batch_n;
  bool begun, over;
};

/* --- the walk; I/O thread --- */

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the listing");
}

/* Reads the directory that `path` names and puts it on the stack. */
static cairn_code_t push(struct list_op *l, cairn_bytes_t start,
                         cairn_error_t *err) {
  if (l->depth == MAX_DEPTH)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "more than %d directories deep",
                      MAX_DEPTH);
  cairn_buf_put_u8(&l->path, '\0');
  if (l->path.failed) return no_memory(err);
  struct frame *f = &l->stack[l->depth];
  f->at = 0;
  f->path_n = --l->path.n;
  /* Without its '/': with it the system would follow a link. */
  l->path.p[f->path_n - 1] = '\0';
  const char *dir = f->path_n > 1 ? (const char *)l->path.p : "/";
  cairn_code_t rc =
      cairn__file_names_read(dir, start, false, l->depth == 0, &f->names, err);
  l->path.p[f->path_n - 1] = '/';
  if (rc == CAIRN_OK) l->depth++;
  return rc;
}

static void pop(struct list_op *l) {
  cairn__file_names_reset(&l->stack[--l->depth].names);
}

static cairn_code_t put_key(struct list_op *l, const struct file_name *e,
                            cairn_error_t *err) {
  size_t root = l->op.kv->root_n, start = l->bytes.n;
  if (l->recursive)
    cairn_buf_put(&l->bytes, l->path.p + root, l->path.n - root);
  cairn_buf_put(&l->bytes, e->name, e->n);
  if (l->bytes.failed) return no_memory(err);
  l->batch[l->batch_n++] = (struct key){start, l->bytes.n - start, e->size};
  return CAIRN_OK;
}

static cairn_code_t step(struct list_op *l, cairn_error_t *err) {
  struct frame *f = &l->stack[l->depth - 1];
  l->path.n = f->path_n;
  if (f->at == f->names.n) {
    pop(l);
    return CAIRN_OK;
  }
  const struct file_name *e = &f->names.v[f->at++];
  if (!e->is_dir || !l->recursive) return put_key(l, e, err);
  if (e->is_link) return CAIRN_OK;
  cairn_buf_put(&l->path, e->name, e->n);
  return push(l, cairn_bytes(NULL, 0), err);
}

/* The first directory is the one that the prefix ends in. */
static cairn_code_t begin(struct list_op *l, cairn_error_t *err) {
  cairn_bytes_t path = cairn_bytes(l->op.path, l->op.path_n);
  size_t dir = cairn__path_base(path);
  l->begun = true;
  cairn_buf_put(&l->path, path.p, dir);
  cairn_code_t rc = cairn__file_check_root(l->op.kv, err);
  if (rc == CAIRN_OK)
    rc = push(l, cairn_bytes(path.p + dir, path.n - dir), err);
  return rc;
}

static cairn_code_t do_batch(void *job, cairn_error_t *err) {
  struct list_op *l = job;
  cairn_code_t rc = l->begun ? CAIRN_OK : begin(l, err);
  l->batch_n = l->bytes.n = 0;
  for (int i = 0; i < BATCH_STEPS && rc == CAIRN_OK; i++) {
    if (l->depth == 0 || l->batch_n == BATCH_KEYS) break;
    rc = step(l, err);
  }
  l->over = l->depth == 0;
  return rc;
}

/* --- the loop's side --- */

static bool tell(struct list_op *l) {
  size_t skip = 0;
  if (!l->recursive) { /* names below the prefix, also one that is cut */
    cairn_bytes_t path = cairn_bytes(l->op.path, l->op.path_n);
    skip = path.n - cairn__path_base(path);
  }
  for (size_t i = 0; i < l->batch_n; i++) {
    const struct key *k = &l->batch[i];
    if (k->n == skip) continue;
    cairn_bytes_t key = cairn_bytes(l->bytes.p + k->start + skip, k->n - skip);
    if (!l->fn(l->arg, key, k->size)) return false;
  }
  return true;
}

static bool batch_end(struct file_op *op, cairn_error_t *err) {
  struct list_op *l = cairn_container_of(op, struct list_op, op);
  if (tell(l) && err->code == CAIRN_OK && !l->over) {
    cairn__file_op_again(op, do_batch);
    return true;
  }
  while (l->depth > 0) pop(l);
  cairn_buf_reset(&l->path);
  cairn_buf_reset(&l->bytes);
  return false;
}

static cairn_future_t *list(cairn_runtime_t *rt, void *self,
                            cairn_bytes_t prefix, bool recursive,
                            cairn_kv_key_fn fn, void *arg) {
  cairn_future_t *refused;
  struct list_op *l =
      cairn__file_op_new(rt, self, sizeof *l, prefix, true, &refused);
  if (l == NULL) return refused;
  l->recursive = recursive;
  l->fn = fn;
  l->arg = arg;
  l->op.end = batch_end;
  return cairn__file_op_run(&l->op, do_batch);
}

cairn_future_t *cairn__file_list(cairn_runtime_t *rt, void *self,
                                 cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                 void *arg) {
  return list(rt, self, prefix, true, fn, arg);
}

cairn_future_t *cairn__file_list_dir(cairn_runtime_t *rt, void *self,
                                     cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                     void *arg) {
  return list(rt, self, prefix, false, fn, arg);
}
