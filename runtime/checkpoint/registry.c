/* Which item handlers a runtime knows: a short list, locked because any thread
 * may ask. Entries are added, never removed, so what was found stays valid. */
#include <pthread.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/registry.h"
#include "loop/loop.h"

struct registry {
  pthread_mutex_t lock;
  const cairn_handler_ops_t **ops;
  size_t n;
};

static void *registry_make(void) {
  struct registry *r = calloc(1, sizeof(*r));
  if (r != NULL) pthread_mutex_init(&r->lock, NULL);
  return r;
}

static void registry_drop(void *p) {
  struct registry *r = p;
  pthread_mutex_destroy(&r->lock);
  free(r->ops);
  free(r);
}

static struct registry *registry_of(cairn_runtime_t *rt) {
  return cairn__runtime_slot(rt, CAIRN__SLOT_HANDLERS, registry_make,
                             registry_drop);
}

/* Every member is required but recognise. */
static cairn_code_t check_ops(const cairn_handler_ops_t *ops,
                              cairn_error_t *err) {
  if (ops->type == NULL || ops->type[0] == 0 || ops->typestrs == NULL ||
      ops->typestrs[0] == NULL)
    return cairn_fail(err, CAIRN_INVALID,
                      "handler: type and typestrs are required");
  if (ops->size < sizeof(*ops))
    return cairn_fail(err, CAIRN_INVALID,
                      "handler %s: size %zu, want %zu (built against another "
                      "version?)",
                      ops->type, ops->size, sizeof(*ops));
  if (ops->snapshot == NULL || ops->describe == NULL || ops->combine == NULL ||
      ops->commit == NULL || ops->finalize == NULL || ops->drop == NULL ||
      ops->load == NULL || ops->restore == NULL || ops->inspect == NULL ||
      ops->verify == NULL)
    return cairn_fail(err, CAIRN_INVALID, "handler %s: a member is NULL",
                      ops->type);
  return CAIRN_OK;
}

static const cairn_handler_ops_t *find_locked(const struct registry *r,
                                              const char *type) {
  for (size_t i = 0; i < r->n; i++)
    if (strcmp(r->ops[i]->type, type) == 0) return r->ops[i];
  return NULL;
}

static cairn_code_t add_locked(struct registry *r,
                               const cairn_handler_ops_t *ops,
                               cairn_error_t *err) {
  if (find_locked(r, ops->type) != NULL)
    return cairn_fail(err, CAIRN_EXISTS, "handler %s: the type is taken",
                      ops->type);
  const cairn_handler_ops_t **p =
      realloc(r->ops, (r->n + 1) * sizeof(const cairn_handler_ops_t *));
  if (p == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "handler %s", ops->type);
  r->ops = p;
  r->ops[r->n++] = ops;
  return CAIRN_OK;
}

cairn_code_t cairn_handler_register(cairn_runtime_t *rt,
                                    const cairn_handler_ops_t *ops,
                                    cairn_error_t *err) {
  cairn_code_t rc = check_ops(ops, err);
  if (rc != CAIRN_OK) return rc;
  struct registry *r = registry_of(rt);
  if (r == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "handler %s", ops->type);
  pthread_mutex_lock(&r->lock);
  rc = add_locked(r, ops, err);
  pthread_mutex_unlock(&r->lock);
  return rc;
}

const cairn_handler_ops_t *cairn_handler_find(cairn_runtime_t *rt,
                                              const char *type) {
  struct registry *r = registry_of(rt);
  if (r == NULL || type == NULL) return NULL;
  pthread_mutex_lock(&r->lock);
  const cairn_handler_ops_t *ops = find_locked(r, type);
  pthread_mutex_unlock(&r->lock);
  return ops;
}

static bool has_typestr(const cairn_handler_ops_t *ops, cairn_bytes_t text) {
  for (const char *const *t = ops->typestrs; *t != NULL; t++)
    if (cairn__bytes_eq(cairn_bytes_str(*t), text)) return true;
  return ops->v1_typestr != NULL &&
         cairn__bytes_eq(cairn_bytes_str(ops->v1_typestr), text);
}

const cairn_handler_ops_t *cairn_handler_for(cairn_runtime_t *rt,
                                             cairn_bytes_t typestr) {
  struct registry *r = registry_of(rt);
  const cairn_handler_ops_t *found = NULL;
  if (r == NULL) return NULL;
  pthread_mutex_lock(&r->lock);
  for (size_t i = 0; i < r->n && found == NULL; i++)
    if (has_typestr(r->ops[i], typestr)) found = r->ops[i];
  pthread_mutex_unlock(&r->lock);
  return found;
}

const cairn_handler_ops_t *cairn__handler_recognise(cairn_runtime_t *rt,
                                                    const cairn_bytes_t *names,
                                                    size_t n) {
  struct registry *r = registry_of(rt);
  const cairn_handler_ops_t *found = NULL;
  if (r == NULL) return NULL;
  pthread_mutex_lock(&r->lock);
  for (size_t i = 0; i < r->n && found == NULL; i++)
    if (r->ops[i]->recognise != NULL && r->ops[i]->recognise(names, n))
      found = r->ops[i];
  pthread_mutex_unlock(&r->lock);
  return found;
}

void cairn__handler_types(cairn_runtime_t *rt, cairn_buf_t *out) {
  struct registry *r = registry_of(rt);
  if (r == NULL) return;
  pthread_mutex_lock(&r->lock);
  for (size_t i = 0; i < r->n; i++)
    cairn_buf_printf(out, "%s%s", i > 0 ? ", " : "", r->ops[i]->type);
  pthread_mutex_unlock(&r->lock);
}
