/* Asking an item's handler: each question gets a context of its own, as a job
 * of one rank that is its own primary would make it. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/blocking.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/record.h"
#include "checkpoint/registry.h"
#include "checkpoint/step.h"
#include "loop/loop.h"

/* --- items --- */

static cairn_code_t no_item(const cairn_step_t *step, const char *name,
                            cairn_error_t *err) {
  cairn_buf_t known = {0};
  for (size_t i = 0; i < step->n; i++)
    cairn_buf_printf(&known, "%s\"%s\"", i > 0 ? ", " : "",
                     step->items[i].name);
  cairn_fail(err, CAIRN_NOT_FOUND, "no item \"%s\" in %s; it has %.*s", name,
             step->path, (int)known.n, (const char *)known.p);
  cairn_buf_reset(&known);
  return CAIRN_NOT_FOUND;
}

cairn_code_t cairn__step_find_item(cairn_step_t *step, const char *name,
                                   cairn__step_item_t **out,
                                   cairn_error_t *err) {
  if (name == NULL) name = "";
  for (size_t i = 0; i < step->n; i++) {
    if (strcmp(step->items[i].name, name) != 0) continue;
    *out = &step->items[i];
    return CAIRN_OK;
  }
  return no_item(step, name, err);
}

static cairn_code_t unknown(cairn_step_t *step, const cairn__step_item_t *item,
                            cairn_error_t *err) {
  cairn_buf_t known = {0};
  cairn__handler_types(step->rt, &known);
  if (item->typestr != NULL)
    cairn_fail(err, CAIRN_UNSUPPORTED,
               "item \"%s\" is for the handler %s; known are %.*s", item->name,
               item->typestr, (int)known.n, (const char *)known.p);
  else
    cairn_fail(err, CAIRN_UNSUPPORTED,
               "item \"%s\" names no handler, and none recognises it; known "
               "are %.*s",
               item->name, (int)known.n, (const char *)known.p);
  cairn_buf_reset(&known);
  return CAIRN_UNSUPPORTED;
}

/* --- calls --- */

static void close_views(cairn_kv_t *dir, cairn_kv_t *checked) {
  if (checked != dir) cairn__close_blocking(checked);
  cairn__close_blocking(dir);
}

cairn_code_t cairn__item_call_begin(cairn_step_t *step,
                                    cairn__step_item_t *item, bool checked,
                                    cairn__item_call_t *call,
                                    cairn_error_t *err) {
  *call = (cairn__item_call_t){.item = item};
  if (item->ops == NULL) return unknown(step, item, err);
  call->directory = cairn__dir_join(step->path, item->name);
  call->dir = cairn_kv_prefix(step->kv, cairn_bytes_str(item->prefix));
  cairn_kv_t *dir = call->dir != NULL && checked
                        ? cairn__checked(call->dir, item->name, &step->binding)
                        : call->dir;
  if (call->directory == NULL || dir == NULL) {
    close_views(call->dir, dir);
    free(call->directory);
    return cairn_fail(err, CAIRN_NO_MEMORY, "item %s", item->name);
  }
  call->priv.place = (cairn__item_place_t){.directory = call->directory,
                                           .profile = step->binding.profile};
  call->ctx = (cairn_item_ctx_t){.size = sizeof(call->ctx),
                                 .rt = step->rt,
                                 .num_ranks = 1,
                                 .primary = true,
                                 .step = step->number,
                                 .item = item->name,
                                 .profile = step->binding.profile,
                                 .partial = true,
                                 .dir = dir,
                                 .priv = &call->priv};
  return CAIRN_OK;
}

static cairn_future_t *close_store(void *arg) {
  cairn__item_call_t *call = arg;
  cairn_future_t *f = cairn__item_close_store(&call->priv);
  return f != NULL ? f : cairn_future_done(call->ctx.rt, NULL);
}

void cairn__item_call_end(cairn__item_call_t *call) {
  cairn__call(call->ctx.rt, close_store, call, -1, NULL);
  close_views(call->dir, call->ctx.dir);
  free(call->directory);
}

static cairn_code_t within_item(const cairn__step_item_t *item,
                                cairn_error_t *local, cairn_error_t *err) {
  if (item->name[0] != 0) cairn_within(local, "item %s", item->name);
  return cairn_error_copy(err, local);
}

/* --- inspect --- */

struct inspect {
  cairn__item_call_t call;
  cairn_item_info_t *out;
};

static cairn_future_t *start_inspect(void *arg) {
  struct inspect *q = arg;
  return q->call.item->ops->inspect(&q->call.ctx, q->out);
}

static cairn_code_t inspect(cairn_step_t *step, cairn__step_item_t *item,
                            cairn_error_t *err) {
  struct inspect q = {.out = &item->info};
  cairn_error_t local = {0};
  if (cairn__item_call_begin(step, item, true, &q.call, err) != CAIRN_OK)
    return err != NULL ? err->code : CAIRN_UNSUPPORTED;
  cairn__call(step->rt, start_inspect, &q, -1, &local);
  cairn__item_call_end(&q.call);
  if (local.code == CAIRN_OK) {
    item->inspected = true;
    return CAIRN_OK;
  }
  cairn_item_info_free(&item->info);
  return within_item(item, &local, err);
}

cairn_code_t cairn_step_inspect(cairn_step_t *step, const char *name,
                                const cairn_item_info_t **out,
                                cairn_error_t *err) {
  cairn__step_item_t *item;
  cairn_error_t local = {0};
  *out = NULL;
  cairn_code_t rc = cairn__step_find_item(step, name, &item, &local);
  if (rc == CAIRN_OK && !item->inspected) rc = inspect(step, item, &local);
  if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
  *out = &item->info;
  return CAIRN_OK;
}

/* --- read: load, then restore --- */

struct read {
  cairn__item_call_t call;
  cairn_buf_t loaded;
  cairn_item_t target;
};

static cairn_future_t *start_load(void *arg) {
  struct read *q = arg;
  return q->call.item->ops->load(&q->call.ctx, &q->loaded);
}

static cairn_future_t *start_restore(void *arg) {
  struct read *q = arg;
  q->call.ctx.combined = cairn_buf_bytes(&q->loaded);
  return q->call.item->ops->restore(&q->target, &q->call.ctx);
}

static cairn_code_t read_item(cairn_step_t *step, cairn__step_item_t *item,
                              int rank, void *value, cairn_error_t *err) {
  struct read q = {.target = {.name = item->name, .value = value}};
  cairn_error_t local = {0};
  cairn_code_t rc = cairn__item_call_begin(step, item, true, &q.call, &local);
  if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
  q.call.ctx.rank = rank;
  q.call.ctx.num_ranks = rank + 1;
  q.target.type = item->ops->type;
  rc = cairn__call(step->rt, start_load, &q, -1, &local);
  if (rc == CAIRN_OK) cairn__call(step->rt, start_restore, &q, -1, &local);
  cairn__item_call_end(&q.call);
  cairn_buf_reset(&q.loaded);
  return within_item(item, &local, err);
}

cairn_code_t cairn_step_read(cairn_step_t *step, const char *name,
                             cairn_tree_t *target, cairn_error_t *err) {
  cairn__step_item_t *item;
  cairn_code_t rc = cairn__step_find_item(step, name, &item, err);
  if (rc != CAIRN_OK) return rc;
  if (item->ops != NULL && strcmp(item->ops->type, "tree") != 0)
    return cairn_fail(err, CAIRN_INVALID, "item \"%s\" is of type %s, no tree",
                      item->name, item->ops->type);
  return read_item(step, item, 0, target, err);
}

cairn_code_t cairn_step_read_blob(cairn_step_t *step, const char *name,
                                  int64_t index, cairn_blob_t *out,
                                  cairn_error_t *err) {
  cairn__step_item_t *item;
  *out = (cairn_blob_t){.missing_ok = true};
  cairn_code_t rc = cairn__step_find_item(step, name, &item, err);
  if (rc != CAIRN_OK) return rc;
  if (item->ops != NULL && strcmp(item->ops->type, "tree") == 0)
    return cairn_fail(err, CAIRN_INVALID,
                      "item \"%s\" is a tree: its leaves are read", item->name);
  bool one = item->ops == NULL || strcmp(item->ops->type, "rank_bytes") != 0;
  if (index < 0 || index >= INT32_MAX || (one && index != 0))
    return cairn_fail(err, CAIRN_NOT_FOUND, "item \"%s\" has no blob %lld",
                      item->name, (long long)index);
  rc = read_item(step, item, (int)index, out, err);
  if (rc == CAIRN_OK && out->out == NULL)
    rc = cairn_fail(err, CAIRN_NOT_FOUND, "item \"%s\" has no blob %lld",
                    item->name, (long long)index);
  return rc;
}
