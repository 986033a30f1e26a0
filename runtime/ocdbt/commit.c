/* The writer's one commit. */
#include "ocdbt/writer.h"

static cairn_code_t prepare(cairn__publish_t *p, cairn_error_t *err) {
  cairn__writer_t *w = cairn_container_of(p, cairn__writer_t, publish);
  return cairn__records_entries(&w->records, p->build.pack.place,
                                &p->build.entries, err);
}

/* Files are kept when a manifest names them, and also when it may: a write that
 * failed can have come through. */
static void over(cairn__publish_t *p, cairn_error_t *err) {
  cairn__writer_t *w = cairn_container_of(p, cairn__writer_t, publish);
  cairn_future_t *done = w->commit_done;
  if (p->may_be_visible) w->keep = true;
  if (err->code != CAIRN_OK) {
    char name[512];
    cairn_kv_describe(w->base, cairn_bytes(NULL, 0), name, sizeof name);
    cairn_within(err, "commit %s", name);
  }
  cairn__kv_leave(w->kv); /* perhaps the end of w */
  cairn_future_resolve(done, err);
}

cairn_future_t *cairn__ocdbt_commit(cairn_kv_t *writer,
                                    cairn__ocdbt_summary_t *out) {
  cairn_error_t err = {0};
  cairn_runtime_t *rt = cairn_kv_runtime(writer);
  cairn__writer_t *w = cairn__kv_self(writer, &cairn__ocdbt_writer_ops);
  *out = (cairn__ocdbt_summary_t){0};
  if (w == NULL || w->committing) {
    cairn_fail(&err, CAIRN_INVALID, "commit of %s",
               w == NULL ? "a store that is no OCDBT writer"
                         : "a database that was committed");
    return cairn_future_done(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) return done;
  w->committing = true;
  w->commit_done = done;
  w->publish = (cairn__publish_t){.base = w->base,
                                  .log = w->log,
                                  .defer_sync = w->defer_sync,
                                  .sync_data = w->sync_data,
                                  .prepare = prepare,
                                  .over = over,
                                  .out = out};
  w->publish.build.config = w->config;
  cairn__kv_enter(w->kv);
  cairn__publish_start(&w->publish);
  return done;
}
