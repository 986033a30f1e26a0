/* Which drivers a runtime knows. Kept in the runtime's slot for this room, so
 * two runtimes may know different ones; file and memory are always there. */
#include <pthread.h>
#include <stdlib.h>

#include "kv/kv.h"
#include "loop/loop.h"

struct entry {
  const cairn_kv_ops_t *ops;
  struct entry *next;
};

struct registry {
  pthread_mutex_t lock; /* drivers are registered from any thread */
  struct entry *first;
};

static bool add(struct registry *r, const cairn_kv_ops_t *ops) {
  struct entry *e = malloc(sizeof *e);
  if (e == NULL) return false;
  *e = (struct entry){ops, r->first};
  r->first = e;
  return true;
}

static void registry_drop(void *arg) {
  struct registry *r = arg;
  while (r->first != NULL) {
    struct entry *e = r->first;
    r->first = e->next;
    free(e);
  }
  pthread_mutex_destroy(&r->lock);
  free(r);
}

static void *registry_make(void) {
  struct registry *r = calloc(1, sizeof *r);
  if (r == NULL) return NULL;
  pthread_mutex_init(&r->lock, NULL);
  if (!add(r, &cairn__kv_memory_ops) || !add(r, &cairn__kv_file_ops)) {
    registry_drop(r);
    return NULL;
  }
  return r;
}

static struct registry *registry_of(cairn_runtime_t *rt) {
  return cairn__runtime_slot(rt, CAIRN__SLOT_KV, registry_make, registry_drop);
}

static const cairn_kv_ops_t *find(const struct registry *r,
                                  cairn_bytes_t scheme) {
  for (const struct entry *e = r->first; e != NULL; e = e->next)
    if (cairn__bytes_eq(cairn_bytes_str(e->ops->scheme), scheme)) return e->ops;
  return NULL;
}

const cairn_kv_ops_t *cairn__kv_find(cairn_runtime_t *rt,
                                     cairn_bytes_t scheme) {
  struct registry *r = registry_of(rt);
  if (r == NULL) return NULL;
  pthread_mutex_lock(&r->lock);
  const cairn_kv_ops_t *ops = find(r, scheme);
  pthread_mutex_unlock(&r->lock);
  return ops;
}

void cairn__kv_known(cairn_runtime_t *rt, cairn_buf_t *out) {
  struct registry *r = registry_of(rt);
  if (r == NULL) return;
  pthread_mutex_lock(&r->lock);
  for (const struct entry *e = r->first; e != NULL; e = e->next) {
    if (out->n > 0) cairn_buf_put_str(out, ", ");
    cairn_buf_put_str(out, e->ops->scheme);
  }
  pthread_mutex_unlock(&r->lock);
}

/* The required members are the first ones, up to list: a driver built against
 * an older minor version may end after them. */
cairn_code_t cairn__kv_check_ops(const cairn_kv_ops_t *ops,
                                 cairn_error_t *err) {
  if (ops == NULL) return cairn_fail(err, CAIRN_INVALID, "kv driver: NULL");
  if (ops->abi_major != CAIRN_KV_ABI_MAJOR)
    return cairn_fail(err, CAIRN_INVALID,
                      "kv driver: built for interface %u, this is %d",
                      (unsigned)ops->abi_major, CAIRN_KV_ABI_MAJOR);
  if (ops->size < offsetof(cairn_kv_ops_t, upload_begin))
    return cairn_fail(err, CAIRN_INVALID, "kv driver: size %zu is too small",
                      ops->size);
  if (ops->scheme == NULL || ops->scheme[0] == '\0')
    return cairn_fail(err, CAIRN_INVALID, "kv driver: no scheme");
  if (ops->open == NULL || ops->close == NULL || ops->caps == NULL ||
      ops->read == NULL || ops->write == NULL || ops->remove == NULL ||
      ops->list == NULL)
    return cairn_fail(err, CAIRN_INVALID,
                      "kv driver %s: a required function is missing",
                      ops->scheme);
  return CAIRN_OK;
}

cairn_code_t cairn_kv_register(cairn_runtime_t *rt, const cairn_kv_ops_t *ops,
                               cairn_error_t *err) {
  cairn_code_t rc = cairn__kv_check_ops(ops, err);
  if (rc != CAIRN_OK) return rc;
  struct registry *r = registry_of(rt);
  if (r == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "kv driver %s", ops->scheme);
  pthread_mutex_lock(&r->lock);
  if (find(r, cairn_bytes_str(ops->scheme)) != NULL)
    rc = cairn_fail(err, CAIRN_EXISTS, "kv driver %s is registered already",
                    ops->scheme);
  else if (!add(r, ops))
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "kv driver %s", ops->scheme);
  pthread_mutex_unlock(&r->lock);
  return rc;
}
