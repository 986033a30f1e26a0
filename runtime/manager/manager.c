#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "manager/internal.h"

#define UNNAMED "default" /* what Orbax's manager calls a lone item */

/* --- opening --- */

static void manager_free(cairn_manager_t *m) {
  pthread_mutex_destroy(&m->lock);
  free(m->steps);
  free(m->root);
  free(m);
}

static cairn_code_t set_root(cairn_manager_t *m, const char *root,
                             cairn_error_t *err) {
  if (root == NULL || root[0] == 0)
    return cairn_fail(err, CAIRN_INVALID, "a manager needs a root directory");
  m->root = cairn__dir_absolute(root);
  if (m->root == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "%s", root);
  return CAIRN_OK;
}

static void set_format(cairn_manager_t *m) {
  const char *prefix = m->opts.step_prefix;
  snprintf(m->format.prefix, sizeof(m->format.prefix), "%s",
           prefix != NULL ? prefix : "");
  m->format.digits = m->opts.step_digits;
  m->opts.step_prefix = NULL; /* the copy is in format */
}

/* What is wrong with this rank's options must reach the others too: so it is
 * brought to the first vote, instead of returned while they wait. */
cairn_code_t cairn_manager_open(cairn_runtime_t *rt, cairn_comm_t *comm,
                                const char *root,
                                const cairn_manager_opts_t *opts,
                                cairn_manager_t **out, cairn_error_t *err) {
  cairn_error_t brought = {0}, local = {0};
  if (rt == NULL || comm == NULL)
    return cairn_fail(err, CAIRN_INVALID,
                      "a manager needs a runtime and a communicator");
  cairn_manager_t *m = calloc(1, sizeof(*m));
  if (m == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "manager");
  pthread_mutex_init(&m->lock, NULL);
  m->rt = rt;
  m->comm = comm;
  m->primary = cairn_comm_rank(comm) == 0;
  m->last_begun = -1;
  cairn__manager_opts(opts, &m->opts, &brought);
  set_root(m, root, &brought);
  set_format(m);
  if (cairn_checkpointer_open(rt, comm, &m->opts.checkpointer, &m->ck,
                              &local) != CAIRN_OK) {
    manager_free(m);
    return cairn_error_copy(err, &local);
  }
  if (cairn__manager_scan(m, true, &brought, &local) != CAIRN_OK) {
    cairn_checkpointer_close(m->ck, -1, NULL);
    cairn_within(&local, "open %s", root != NULL ? root : "(no root)");
    manager_free(m);
    return cairn_error_copy(err, &local);
  }
  m->last_begun = cairn_manager_latest(m);
  *out = m;
  return CAIRN_OK;
}

static cairn_code_t no_manager(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_INVALID, "the manager is NULL");
}

static cairn_code_t wait_for_save(cairn_manager_t *m, int64_t timeout_ms,
                                  cairn_error_t *err) {
  return m != NULL ? cairn_checkpointer_wait(m->ck, timeout_ms, err)
                   : no_manager(err);
}

/* --- saving --- */

/* Loop thread. */
static void on_saved(void *arg, cairn_save_t *save) {
  cairn_manager_t *m = arg;
  int64_t *drop;
  size_t n;
  if (save->err.code != CAIRN_OK) return;
  if (!cairn__steps_add(m, save->step) ||
      !cairn__steps_drop(m, m->opts.max_to_keep, &drop, &n)) {
    cairn_log(m->rt, CAIRN_LOG_WARN,
              "out of memory: step %lld of %s is not in the list of steps",
              (long long)save->step, m->root);
    return;
  }
  if (n > 0 && m->primary)
    cairn__gc_add(m, drop, n);
  else
    free(drop);
}

/* Once as a warning: a job that went back without cairn_manager_rollback saves
 * nothing until it is above its old steps again. */
static void say_skipped(cairn_manager_t *m, int64_t step) {
  if (!m->primary) return;
  cairn_log(m->rt, m->said_skipped ? CAIRN_LOG_INFO : CAIRN_LOG_WARN,
            "%s: step %lld is not saved: there is step %lld already", m->root,
            (long long)step, (long long)cairn_manager_latest(m));
  m->said_skipped = true;
}

/* Whether a step is above all others, decided alike on every rank: a step above
 * the last one begun needs no look at how that one ended; any other waits for
 * it. A call that the policy skips looks at neither: whether the save before
 * has ended yet differs from rank to rank, and if one rank were told of its
 * error by such a call and another by the next save, only the first would go on
 * with that save. */
static cairn_code_t decide(cairn_manager_t *m, int64_t step, bool force,
                           cairn_save_decision_t *what, cairn_error_t *err) {
  *what = CAIRN_SAVED;
  if (!force && step % m->opts.save_interval_steps != 0) {
    *what = CAIRN_SKIPPED_POLICY; /* most calls of most jobs */
    cairn_log(m->rt, CAIRN_LOG_DEBUG,
              "%s: step %lld is not saved: no multiple of %lld", m->root,
              (long long)step, (long long)m->opts.save_interval_steps);
    return CAIRN_OK;
  }
  if (step > m->last_begun) return CAIRN_OK;
  cairn_code_t rc = cairn_checkpointer_wait(m->ck, -1, err);
  if (rc != CAIRN_OK) return rc;
  if (!force && step <= cairn_manager_latest(m)) {
    *what = CAIRN_SKIPPED_NOT_ABOVE;
    say_skipped(m, step);
    return CAIRN_OK;
  }
  if (cairn__steps_have(m, step))
    return cairn_fail(err, CAIRN_EXISTS, "step %lld exists already in %s",
                      (long long)step, m->root);
  return CAIRN_OK;
}

static cairn_code_t check_call(cairn_manager_t *m, int64_t step,
                               cairn_error_t *err) {
  if (m == NULL) return no_manager(err);
  if (m->opts.read_only)
    return cairn_fail(err, CAIRN_INVALID, "save: %s was opened read-only",
                      m->root);
  if (step < 0)
    return cairn_fail(err, CAIRN_INVALID, "save: step %lld is negative",
                      (long long)step);
  return CAIRN_OK;
}

static cairn_code_t begin(cairn_manager_t *m, int64_t step,
                          const cairn_item_t *items, size_t n,
                          cairn_save_t **save, cairn_error_t *err) {
  char name[200];
  cairn__step_name(&m->format, step, name, sizeof(name));
  cairn__save_request_t req = {.dir = m->root,
                               .name = name,
                               .unnamed = UNNAMED,
                               .step = step,
                               .items = items,
                               .n = n,
                               .on_done = on_saved,
                               .on_done_arg = m};
  cairn_code_t rc = cairn__save_begin(m->ck, &req, save, err);
  if (rc == CAIRN_OK && step > m->last_begun) m->last_begun = step;
  return rc;
}

cairn_code_t cairn_manager_save_items(cairn_manager_t *m, int64_t step,
                                      const cairn_item_t *items, size_t n,
                                      const cairn_manager_save_opts_t *opts,
                                      cairn_error_t *err) {
  cairn_manager_save_opts_t o;
  cairn_save_decision_t what = CAIRN_SAVED;
  cairn_code_t rc = cairn__manager_save_opts(opts, &o, err);
  if (o.save != NULL) *o.save = NULL;
  if (rc == CAIRN_OK) rc = check_call(m, step, err);
  if (rc == CAIRN_OK) rc = decide(m, step, o.force, &what, err);
  if (rc == CAIRN_OK && what == CAIRN_SAVED)
    rc = begin(m, step, items, n, o.save, err);
  if (rc == CAIRN_OK && o.decision != NULL) *o.decision = what;
  return rc;
}

cairn_code_t cairn_manager_save(cairn_manager_t *m, int64_t step,
                                const cairn_tree_t *state,
                                const cairn_manager_save_opts_t *opts,
                                cairn_error_t *err) {
  cairn_item_t item = cairn_item(UNNAMED, "tree", (void *)state);
  return cairn_manager_save_items(m, step, &item, 1, opts, err);
}

/* --- restoring --- */

cairn_code_t cairn_manager_restore_items(cairn_manager_t *m, int64_t step,
                                         const cairn_item_t *items, size_t n,
                                         const cairn_restore_opts_t *opts,
                                         cairn_error_t *err) {
  char name[200];
  cairn_restore_opts_t o;
  cairn_code_t rc = cairn__restore_opts(opts, &o, err);
  if (rc == CAIRN_OK) rc = wait_for_save(m, -1, err);
  if (rc != CAIRN_OK) return rc;
  if (step == CAIRN_LATEST && (step = cairn_manager_latest(m)) < 0)
    return cairn_fail(err, CAIRN_NOT_FOUND, "no step in %s yet", m->root);
  if (step < 0)
    return cairn_fail(err, CAIRN_INVALID, "restore: step %lld is negative",
                      (long long)step);
  cairn__step_name(&m->format, step, name, sizeof(name));
  cairn__restore_request_t req = {.dir = m->root,
                                  .name = name,
                                  .unnamed = UNNAMED,
                                  .step = step,
                                  .items = items,
                                  .n = n,
                                  .partial = o.partial};
  rc = cairn__restore(m->ck, &req, err);
  if (rc == CAIRN_OK && o.step != NULL) *o.step = step;
  return rc;
}

cairn_code_t cairn_manager_restore(cairn_manager_t *m, int64_t step,
                                   cairn_tree_t *state,
                                   const cairn_restore_opts_t *opts,
                                   cairn_error_t *err) {
  cairn_item_t item = cairn_item(UNNAMED, "tree", state);
  return cairn_manager_restore_items(m, step, &item, 1, opts, err);
}

/* --- looking --- */

cairn_code_t cairn_manager_steps(cairn_manager_t *m, int64_t **out, size_t *n,
                                 cairn_error_t *err) {
  if (m == NULL) return no_manager(err);
  pthread_mutex_lock(&m->lock);
  *n = m->num_steps;
  *out = malloc(*n * sizeof(**out) + 1);
  if (*out != NULL && *n != 0) memcpy(*out, m->steps, *n * sizeof(**out));
  pthread_mutex_unlock(&m->lock);
  return *out != NULL ? CAIRN_OK
                      : cairn_fail(err, CAIRN_NO_MEMORY, "list of steps");
}

int64_t cairn_manager_latest(cairn_manager_t *m) {
  if (m == NULL) return -1;
  pthread_mutex_lock(&m->lock);
  int64_t latest = m->num_steps > 0 ? m->steps[m->num_steps - 1] : -1;
  pthread_mutex_unlock(&m->lock);
  return latest;
}

cairn_code_t cairn_manager_reload(cairn_manager_t *m, cairn_error_t *err) {
  cairn_code_t rc = wait_for_save(m, -1, err);
  if (rc == CAIRN_OK) rc = cairn__gc_wait(m, -1, err);
  if (rc == CAIRN_OK) rc = cairn__manager_scan(m, false, NULL, err);
  if (rc != CAIRN_OK) return rc;
  int64_t latest = cairn_manager_latest(m);
  if (latest > m->last_begun) m->last_begun = latest; /* another job's */
  return CAIRN_OK;
}

/* --- ending --- */

cairn_code_t cairn_manager_wait(cairn_manager_t *m, int64_t timeout_ms,
                                cairn_error_t *err) {
  cairn_code_t rc = wait_for_save(m, timeout_ms, err);
  return rc == CAIRN_OK ? cairn__gc_wait(m, timeout_ms, err) : rc;
}

cairn_code_t cairn_manager_close(cairn_manager_t *m, int64_t timeout_ms,
                                 cairn_error_t *err) {
  cairn_error_t local = {0};
  if (m == NULL) return CAIRN_OK;
  if (cairn__gc_wait(m, timeout_ms, &local) != CAIRN_OK)
    return cairn_error_copy(err, &local);
  if (!cairn__checkpointer_end(m->ck, timeout_ms, &local))
    return cairn_error_copy(err, &local);
  /* A save that ended in between may have begun to delete. */
  cairn__gc_wait(m, -1, NULL);
  cairn_checkpointer_close(m->ck, -1, NULL);
  manager_free(m);
  return cairn_error_copy(err, &local);
}
