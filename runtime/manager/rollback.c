/* Going back to an earlier step: the ones above it go. The primary deletes, and
 * comes to the vote of the scan that follows only then, so all ranks see the
 * root without them. */
#include <stdlib.h>

#include "loop/loop.h"
#include "manager/internal.h"

struct rollback {
  cairn_manager_t *m;
  int64_t *above;
  size_t n;
};

static cairn_future_t *delete_above(void *arg) {
  struct rollback *r = arg;
  cairn__gc_add(r->m, r->above, r->n);
  return cairn__gc_done(r->m);
}

static cairn_code_t check(cairn_manager_t *m, int64_t step,
                          cairn_error_t *err) {
  if (m->opts.read_only)
    return cairn_fail(err, CAIRN_INVALID, "rollback: %s was opened read-only",
                      m->root);
  cairn_code_t rc = cairn_checkpointer_wait(m->ck, -1, err);
  if (rc == CAIRN_OK && !cairn__steps_have(m, step))
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "rollback: no step %lld in %s",
                    (long long)step, m->root);
  return rc;
}

static cairn_code_t delete_all(cairn_manager_t *m, int64_t step,
                               cairn_error_t *err) {
  struct rollback r = {.m = m};
  if (!cairn__steps_cut(m, step, &r.above, &r.n))
    return cairn_fail(err, CAIRN_NO_MEMORY, "rollback");
  if (m->primary && r.n > 0)
    return cairn__call(m->rt, delete_above, &r, -1, err);
  free(r.above);
  return CAIRN_OK;
}

cairn_code_t cairn_manager_rollback(cairn_manager_t *m, int64_t step,
                                    cairn_error_t *err) {
  cairn_error_t local = {0};
  if (m == NULL) return cairn_fail(err, CAIRN_INVALID, "the manager is NULL");
  if (check(m, step, &local) != CAIRN_OK) return cairn_error_copy(err, &local);
  cairn_error_t brought = {0};
  delete_all(m, step, &brought);
  if (cairn__manager_scan(m, false, &brought, &local) != CAIRN_OK)
    return cairn_error_copy(err, &local);
  m->last_begun = cairn_manager_latest(m);
  if (m->last_begun > step)
    return cairn_fail(err, CAIRN_IO,
                      "rollback: step %lld of %s could not be deleted",
                      (long long)m->last_begun, m->root);
  return CAIRN_OK;
}
