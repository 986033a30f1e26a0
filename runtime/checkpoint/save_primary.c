/* What only the primary does in a save. Each function is one phase: it returns
 * the next future of it, going by s->at, or NULL when the phase is over. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "checkpoint/record.h"
#include "checkpoint/taken.h"

static cairn_future_t *failed_with(cairn_save_t *s, const cairn_error_t *err) {
  return cairn_future_done(s->rt, err);
}

static cairn_future_t *no_memory(cairn_save_t *s, const char *what) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s", what);
  return failed_with(s, &err);
}

/* --- create --- */

cairn_future_t *cairn__save_create(cairn_save_t *s) {
  switch (s->at++) {
    case 0:
      return cairn__check_free(s->root, s->name);
    case 1:
      cairn__random_id(s->id);
      if (!cairn__owner_begin(s->id)) return no_memory(s, "owner of a step");
      s->init_ns = cairn__wall_ns();
      return cairn__owner_claim(s->root, s->tmp, s->id);
    default:
      s->claimed = true;
      s->beat = cairn__beat_start(s->root, s->tmp, s->id);
      if (s->beat == NULL) cairn_fail(&s->err, CAIRN_NO_MEMORY, "timer");
      return NULL;
  }
}

/* --- combine, on a CPU thread --- */

static cairn_code_t combine_item(cairn_save_t *s, size_t i,
                                 cairn_bytes_t *parts, cairn_error_t *err) {
  cairn__save_item_t *item = &s->items[i];
  int ranks = item->ctx.num_ranks;
  cairn_buf_t plan = {0};
  for (int r = 0; r < ranks; r++) parts[r] = cairn__packed_part(s->parts[r], i);
  cairn_code_t rc = item->ops->combine(parts, ranks, &item->ctx, &plan, err);
  if (rc == CAIRN_OK) {
    cairn_buf_put_varint(&s->combined, plan.n);
    cairn_buf_put(&s->combined, plan.p, plan.n);
    if (plan.failed || s->combined.failed)
      rc = cairn_fail(err, CAIRN_NO_MEMORY, "plan");
  }
  cairn_buf_reset(&plan);
  if (rc != CAIRN_OK && item->name[0] != 0)
    cairn_within(err, "item %s", item->name);
  return rc;
}

static cairn_code_t combine(void *job, cairn_error_t *err) {
  cairn_save_t *s = job;
  cairn_bytes_t *parts =
      calloc((size_t)cairn_comm_size(s->ck->comm), sizeof(*parts));
  if (parts == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "plan");
  cairn_code_t rc = CAIRN_OK;
  cairn_buf_reset(&s->combined);
  for (size_t i = 0; rc == CAIRN_OK && i < s->n; i++)
    rc = combine_item(s, i, parts, err);
  free(parts);
  return rc;
}

cairn_future_t *cairn__save_combine(cairn_save_t *s) {
  return s->at++ == 0 ? cairn_work(s->rt, combine, s) : NULL;
}

/* --- merge --- */

static bool note_merged(cairn_save_t *s, cairn__save_item_t *item) {
  for (size_t k = 0; k < item->summary.num_files; k++) {
    const cairn__ocdbt_written_file_t *f = &item->summary.files[k];
    if (!cairn__binding_add_file(&s->binding, item->name,
                                 cairn_bytes_str(f->name), f->length, f->sum))
      return false;
  }
  return true;
}

/* What was merged at the call before goes into the binding at this one. */
cairn_future_t *cairn__save_merge(cairn_save_t *s) {
  cairn_error_t err = {0};
  if (s->at == 0 && cairn__save_unpack_written(s, &err) != CAIRN_OK)
    return failed_with(s, &err);
  if (s->at > 0 && !note_merged(s, &s->items[s->at - 1]))
    return no_memory(s, "listing the merged database");
  while (s->at < s->n) {
    cairn__save_item_t *item = &s->items[s->at++];
    cairn__ocdbt_summary_free(&item->summary);
    if (item->num_children > 0)
      return cairn__item_store_merge(s->rt, &item->priv.place, item->children,
                                     item->num_children, &item->summary);
  }
  return NULL;
}

/* --- side files --- */

static cairn_future_t *write_text(cairn_save_t *s, cairn_kv_t *dir,
                                  const char *key) {
  static const cairn_write_opts_t later = {.size = sizeof(later),
                                           .defer_sync = true};
  if (s->text.failed) return no_memory(s, key);
  s->iov = (struct iovec){s->text.p, s->text.n};
  return cairn_kv_write(dir, cairn_bytes_str(key), &s->iov, 1, &later, NULL);
}

/* Orbax names the path that the item or step has at that moment. */
static cairn_future_t *write_success(cairn_save_t *s, cairn_kv_t *dir,
                                     const char *path) {
  cairn_buf_reset(&s->text);
  cairn_buf_printf(&s->text, "Checkpoint commit was successful to %s",
                   path != NULL ? path : "");
  if (path == NULL) s->text.failed = true;
  return write_text(s, dir, "commit_success.txt");
}

static cairn_future_t *write_item_success(cairn_save_t *s, size_t i) {
  cairn__save_item_t *item = &s->items[i];
  return write_success(s, item->ctx.dir, item->directory);
}

static cairn_future_t *write_step_success(cairn_save_t *s, cairn_kv_t *dir) {
  char *path = cairn__dir_join(s->dir, s->name);
  cairn_future_t *f = write_success(s, dir, path);
  free(path);
  return f;
}

static const char *typestr_of(const cairn__save_item_t *item) {
  return item->ctx.profile == CAIRN_PROFILE_ORBAX_V1 &&
                 item->ops->v1_typestr != NULL
             ? item->ops->v1_typestr
             : item->ops->typestrs[0];
}

static cairn_future_t *write_step_metadata(cairn_save_t *s, cairn_kv_t *dir) {
  cairn__item_type_t *types = calloc(s->n, sizeof(*types));
  if (types == NULL) return no_memory(s, "_CHECKPOINT_METADATA");
  for (size_t i = 0; i < s->n; i++)
    types[i] = (cairn__item_type_t){s->items[i].name, typestr_of(&s->items[i])};
  cairn_buf_reset(&s->text);
  cairn__checkpoint_metadata_emit(types, s->n, s->init_ns, cairn__wall_ns(),
                                  &s->text);
  free(types);
  return write_text(s, dir, "_CHECKPOINT_METADATA");
}

/* Binds all that was written before it, and so comes last. */
static cairn_future_t *write_binding(cairn_save_t *s, cairn_kv_t *dir) {
  cairn__binding_t *b = &s->binding;
  b->step = s->step;
  b->ranks = cairn_comm_size(s->ck->comm);
  b->profile = s->ck->opts.profile;
  memcpy(b->save_id, s->id, sizeof(b->save_id));
  cairn_buf_reset(&s->text);
  for (size_t i = 0; i < s->n; i++)
    if (!cairn__binding_add_item(b, s->items[i].name, s->items[i].ops->type))
      s->text.failed = true;
  cairn__binding_emit(b, &s->text);
  return write_text(s, dir, CAIRN__BINDING_FILE);
}

static bool has_item_level(const cairn_save_t *s) {
  return s->items[0].name[0] != 0;
}

/* Orbax v1 saves at a path in a layout of its own, which it knows again by an
 * empty file; its numbered steps have the layout of v0. */
static bool is_v1_layout(const cairn_save_t *s) {
  return s->ck->opts.profile == CAIRN_PROFILE_ORBAX_V1 && s->step < 0 &&
         has_item_level(s);
}

static cairn_future_t *write_v1_marker(cairn_save_t *s, cairn_kv_t *dir) {
  if (!is_v1_layout(s)) return cairn_future_done(s->rt, NULL);
  cairn_buf_reset(&s->text);
  return write_text(s, dir, "orbax.checkpoint");
}

/* A view of the step's own directory, and the recorder over it, live for this
 * phase; a recorder's close does nothing but free, so nobody waits for it. */
static cairn_future_t *write_step_file(cairn_save_t *s, size_t which) {
  char prefix[CAIRN__OWNER_NAME + 1];
  snprintf(prefix, sizeof(prefix), "%s/", s->tmp);
  if (which == 4)
    return s->ck->opts.not_durable
               ? NULL
               : cairn_kv_sync(s->root, cairn_bytes_str(prefix));
  if (s->step_dir == NULL) {
    s->step_view = cairn_kv_prefix(s->root, cairn_bytes_str(prefix));
    if (s->step_view != NULL)
      s->step_dir = cairn__record(s->step_view, "", &s->binding);
    if (s->step_dir == NULL) return no_memory(s, "side files");
  }
  switch (which) {
    case 0:
      return write_step_metadata(s, s->step_dir);
    case 1:
      return write_step_success(s, s->step_dir);
    case 2:
      return write_v1_marker(s, s->step_dir);
    default:
      return write_binding(s, s->step_view);
  }
}

cairn_future_t *cairn__save_side_files(cairn_save_t *s) {
  bool per_item = has_item_level(s) && !is_v1_layout(s);
  size_t items = per_item ? s->n : 0, at = s->at++;
  if (at < items) return write_item_success(s, at);
  return at - items < 5 ? write_step_file(s, at - items) : NULL;
}
