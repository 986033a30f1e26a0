/* One database above those of all ranks, from the leaves that they sent. */
#include <stdlib.h>

#include "kv/kv.h"
#include "ocdbt/writer.h"

struct merging {
  cairn__publish_t publish;
  const cairn__ocdbt_child_t *children;
  size_t n;
  cairn__datalog_t *log;
  cairn_error_t err;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static cairn_code_t prepare(cairn__publish_t *p, cairn_error_t *err) {
  struct merging *m = cairn_container_of(p, struct merging, publish);
  return cairn__leaves_merge(m->children, m->n, &p->build.entries, err);
}

static void merging_end(struct merging *m) {
  cairn_future_t *done = m->done;
  cairn_error_t err = m->err;
  cairn__datalog_free(m->log);
  free(m);
  cairn_future_resolve(done, &err);
}

static void on_discarded(cairn_wait_t *w) {
  struct merging *m = cairn_container_of(w, struct merging, wait);
  cairn_wait_result(w, &m->err); /* the error of the merge stays */
  merging_end(m);
}

static void over(cairn__publish_t *p, cairn_error_t *err) {
  struct merging *m = cairn_container_of(p, struct merging, publish);
  if (err->code != CAIRN_OK) {
    char name[512];
    cairn_kv_describe(p->base, cairn_bytes(NULL, 0), name, sizeof name);
    cairn_within(err, "merge %s", name);
    m->err = *err;
  }
  if (err->code == CAIRN_OK || p->may_be_visible)
    merging_end(m);
  else
    cairn_then(cairn__datalog_discard(m->log), &m->wait, on_discarded);
}

static cairn_code_t merging_make(cairn_kv_t *base,
                                 const cairn__ocdbt_write_opts_t *o,
                                 struct merging **out, cairn_error_t *err) {
  struct merging *m = calloc(1, sizeof *m);
  if (m == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "merge");
  m->publish = (cairn__publish_t){.base = base,
                                  .defer_sync = o->defer_sync,
                                  .sync_data = o->sync_data,
                                  .prepare = prepare,
                                  .over = over};
  cairn_code_t rc =
      cairn__new_config(&o->config, &m->publish.build.config, err);
  if (rc == CAIRN_OK) {
    m->done = cairn_future_new(cairn_kv_runtime(base));
    m->log = cairn_future_ready(m->done) ? NULL : cairn__datalog_new(base, o);
    m->publish.log = m->log;
    if (m->log == NULL) rc = cairn_fail(err, CAIRN_NO_MEMORY, "merge");
  }
  *out = m;
  if (rc == CAIRN_OK) return CAIRN_OK;
  if (m->done != NULL) cairn__promise_drop(m->done);
  free(m);
  return rc;
}

cairn_future_t *cairn__ocdbt_merge(cairn_kv_t *base,
                                   const cairn__ocdbt_write_opts_t *o,
                                   const cairn__ocdbt_child_t *children,
                                   size_t n, cairn__ocdbt_summary_t *out) {
  cairn_error_t err = {0};
  struct merging *m = NULL;
  *out = (cairn__ocdbt_summary_t){0};
  if (merging_make(base, o, &m, &err) != CAIRN_OK)
    return cairn_future_done(cairn_kv_runtime(base), &err);
  m->children = children;
  m->n = n;
  m->publish.out = out;
  cairn_future_t *done = m->done;
  cairn__publish_start(&m->publish);
  return done;
}
