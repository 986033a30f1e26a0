/* The part of a save on the caller's thread: wait for the save before, check
 * the items, let their handlers take what they need, post the rest. No message,
 * no file, no allocation that grows with the data but for the staging memory
 * itself. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "kv/kv.h"

/* --- life of a save --- */

void cairn__save_ref(cairn_save_t *s) {
  atomic_fetch_add(&s->refs, 1);
}

static void item_free(cairn__save_item_t *item) {
  if (item->state != NULL) item->ops->drop(item->state);
  cairn__item_unstage(&item->priv);
  cairn_buf_reset(&item->description);
  cairn__ocdbt_summary_free(&item->summary);
  free(item->children);
  free(item->name);
  free(item->directory);
}

static void save_free(cairn_save_t *s) {
  for (size_t i = 0; i < s->n; i++) item_free(&s->items[i]);
  cairn__hold_free(&s->hold);
  free(s->items);
  free(s->dir);
  free(s->name);
  free(s->parts);
  cairn_buf_reset(&s->packed);
  cairn_buf_reset(&s->gathered);
  cairn_buf_reset(&s->combined);
  cairn_buf_reset(&s->text);
  cairn__binding_free(&s->binding);
  cairn_future_unref(s->written);
  cairn_future_unref(s->done);
  cairn_future_unref(s->released);
  free(s);
}

void cairn_save_unref(cairn_save_t *s) {
  if (s != NULL && atomic_fetch_sub(&s->refs, 1) == 1) save_free(s);
}

/* --- the items --- */

static cairn_code_t check_name(const char *name, size_t n, cairn_error_t *err) {
  if (name[0] == 0 && n > 1)
    return cairn_fail(err, CAIRN_INVALID,
                      "an item without a name beside %zu others", n - 1);
  const char *problem = cairn__item_name_problem(cairn_bytes_str(name));
  if (problem != NULL)
    return cairn_fail(err, CAIRN_INVALID, "item name \"%.300s\" %s", name,
                      problem);
  return CAIRN_OK;
}

static cairn_code_t check_items(const cairn__save_request_t *req,
                                cairn_error_t *err) {
  const cairn_item_t *items = req->items;
  size_t n = req->n;
  if (n == 0 || items == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no items to save");
  for (size_t i = 0; i < n; i++) {
    const char *name = cairn__item_name(&items[i], req->unnamed);
    if (check_name(name, n, err) != CAIRN_OK) return CAIRN_INVALID;
    for (size_t k = 0; k < i; k++)
      if (strcmp(cairn__item_name(&items[k], req->unnamed), name) == 0)
        return cairn_fail(err, CAIRN_INVALID, "two items are named \"%s\"",
                          name);
  }
  return CAIRN_OK;
}

/* What may still be staged; without a limit, and with nothing staged yet, all
 * there is. With a check everything is held, for it is held memory that is
 * checked. */
static int64_t staging_room(const cairn_save_t *s) {
  int64_t room = s->ck->opts.staging_limit;
  if (room == 0) room = INT64_MAX;
  for (size_t i = 0; i < s->n; i++) room -= s->items[i].priv.staged;
  return room > 0 ? room : 0;
}

static void item_context(cairn_save_t *s, cairn__save_item_t *item) {
  const cairn_checkpointer_opts_t *o = &s->ck->opts;
  item->priv.pool = s->ck->pool;
  item->priv.hold = &s->hold;
  item->priv.place = (cairn__item_place_t){.strategy = o->strategy,
                                           .directory = item->directory,
                                           .profile = o->profile,
                                           .not_durable = o->not_durable,
                                           .mark = s->mark};
  item->ctx = (cairn_item_ctx_t){
      .size = sizeof(cairn_item_ctx_t),
      .rt = s->rt,
      .rank = cairn_comm_rank(s->ck->comm),
      .num_ranks = cairn_comm_size(s->ck->comm),
      .primary = s->primary,
      .step = s->step,
      .item = item->name,
      .profile = o->profile,
      .chunk_bytes = o->chunk_bytes,
      .no_compression = o->no_compression,
      .snapshot = o->snapshot,
      .priv = &item->priv,
      .staging_bytes = o->check_snapshots ? 0 : staging_room(s)};
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const cairn__save_item_t *)a)->name,
                ((const cairn__save_item_t *)b)->name);
}

static cairn_code_t item_init(cairn_save_t *s, const cairn_item_t *in,
                              const char *name, cairn__save_item_t *item,
                              cairn_error_t *err) {
  item->ops = cairn_handler_find(s->rt, in->type);
  if (item->ops == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no handler of type \"%s\"",
                      in->type != NULL ? in->type : "");
  item->name = cairn__bytes_dup(cairn_bytes_str(name));
  char *tmp = cairn__dir_join(s->dir, s->tmp);
  if (item->name != NULL && tmp != NULL)
    item->directory = cairn__dir_join(tmp, item->name);
  free(tmp);
  if (item->directory == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "preparing a save");
  item_context(s, item);
  return item->ops->snapshot(in, &item->ctx, &item->state, err);
}

/* Items are kept sorted by name, as Orbax lists them, so that the order in
 * which ranks name them does not matter. */
static cairn_code_t snapshot_items(cairn_save_t *s,
                                   const cairn__save_request_t *req,
                                   cairn_error_t *err) {
  if (check_items(req, err) != CAIRN_OK) return CAIRN_INVALID;
  s->items = calloc(req->n, sizeof(*s->items));
  if (s->items == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "preparing a save");
  for (size_t i = 0; i < req->n; i++) {
    s->n = i + 1;
    const cairn_item_t *in = &req->items[i];
    const char *name = cairn__item_name(in, req->unnamed);
    if (item_init(s, in, name, &s->items[i], err) != CAIRN_OK) {
      if (name[0] != 0) cairn_within(err, "item %s", name);
      return CAIRN_INVALID;
    }
  }
  qsort(s->items, s->n, sizeof(*s->items), by_name);
  for (size_t i = 0; i < s->n; i++) s->items[i].ctx.priv = &s->items[i].priv;
  int64_t room = staging_room(s);
  return cairn__hold_begin(&s->hold, s->ck->pool,
                           room < INT64_MAX / 2 ? (size_t)room : SIZE_MAX,
                           s->ck->opts.check_snapshots, err);
}

/* --- making one --- */

static cairn_save_t *save_new(cairn_checkpointer_t *ck,
                              const cairn__save_request_t *req) {
  cairn_save_t *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  s->refs = 1;
  s->ck = ck;
  s->rt = ck->rt;
  cairn__hold_init(&s->hold, ck->opts.settles);
  s->step = req->step;
  s->primary = cairn_comm_rank(ck->comm) == 0;
  s->dir = cairn__bytes_dup(cairn_bytes_str(req->dir));
  s->name = cairn__bytes_dup(cairn_bytes_str(req->name));
  snprintf(s->tmp, sizeof(s->tmp), "%s" CAIRN__TMP_SUFFIX, req->name);
  s->on_done = req->on_done;
  s->on_done_arg = req->on_done_arg;
  bool written = cairn__promise(ck->rt, &s->written);
  bool done = cairn__promise(ck->rt, &s->done);
  bool released = cairn__promise(ck->rt, &s->released);
  if (written && done && released && s->dir != NULL && s->name != NULL)
    return s;
  if (written) cairn_future_resolve(s->written, NULL);
  if (done) cairn_future_resolve(s->done, NULL);
  if (released) cairn_future_resolve(s->released, NULL);
  save_free(s);
  return NULL;
}

static cairn_save_t *current_ref(cairn_checkpointer_t *ck) {
  pthread_mutex_lock(&ck->lock);
  cairn_save_t *s = ck->current;
  if (s != NULL) cairn__save_ref(s);
  pthread_mutex_unlock(&ck->lock);
  return s;
}

cairn_code_t cairn__background_take(cairn_checkpointer_t *ck,
                                    cairn_error_t *err) {
  pthread_mutex_lock(&ck->lock);
  cairn_error_t e = ck->background;
  ck->background = (cairn_error_t){0};
  pthread_mutex_unlock(&ck->lock);
  return e.code != CAIRN_OK ? cairn_error_copy(err, &e) : CAIRN_OK;
}

static void replace_current(cairn_checkpointer_t *ck, cairn_save_t *s) {
  cairn__save_ref(s);
  pthread_mutex_lock(&ck->lock);
  cairn_save_t *old = ck->current;
  ck->current = s;
  pthread_mutex_unlock(&ck->lock);
  cairn_save_unref(old);
}

static cairn_code_t wait_for_previous(cairn_checkpointer_t *ck,
                                      cairn_error_t *err) {
  cairn_save_t *before = current_ref(ck);
  if (before != NULL) cairn_future_wait(before->done, -1, NULL);
  cairn_save_unref(before);
  return cairn__background_take(ck, err);
}

/* What a save that is over still has out uses what a new one would change. */
static cairn_code_t check_stuck(cairn_checkpointer_t *ck, cairn_error_t *err) {
  pthread_mutex_lock(&ck->lock);
  if (ck->stuck != NULL)
    cairn_fail(err, CAIRN_BUSY,
               "the store has not yet answered a call of the save of %s",
               ck->stuck->name);
  pthread_mutex_unlock(&ck->lock);
  return err->code;
}

cairn_code_t cairn__save_begin(cairn_checkpointer_t *ck,
                               const cairn__save_request_t *req,
                               cairn_save_t **out, cairn_error_t *err) {
  cairn_error_t local = {0};
  int64_t begun = cairn__now_ns();
  if (out != NULL) *out = NULL;
  if (wait_for_previous(ck, &local) != CAIRN_OK)
    return cairn_error_copy(err, &local);
  cairn_save_t *s = save_new(ck, req);
  if (s == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "preparing a save");

  /* A rank whose items are wrong or whose snapshot fails still takes part,
   * since the others must hear of it; but its own caller hears now. */
  s->begun_ns = begun;
  s->told = check_stuck(ck, &s->err) != CAIRN_OK ||
            snapshot_items(s, req, &s->err) != CAIRN_OK;
  cairn_error_copy(&local, &s->err);
  replace_current(ck, s);
  if (out != NULL && local.code == CAIRN_OK) {
    cairn__save_ref(s);
    *out = s;
  }
  /* The reference from save_new is the loop's now. What is more than may be
   * staged is copied while the loop writes. */
  cairn__save_ref(s);
  cairn_post(s->rt, &s->task, cairn__save_run);
  cairn__hold_copy(&s->hold);
  atomic_store(&s->blocked_ns, cairn__now_ns() - begun);
  cairn_save_unref(s);
  return cairn_error_copy(err, &local);
}

/* --- following one --- */

static cairn_future_t *future_of(cairn_save_t *s, cairn_save_state_t state) {
  return state == CAIRN_SAVE_COMMITTED ? s->done : s->written;
}

static bool is_staged(cairn_save_t *s, cairn_save_state_t state) {
  return state == CAIRN_SAVE_STAGED && cairn__hold_settled(&s->hold);
}

cairn_code_t cairn_save_wait(cairn_save_t *s, cairn_save_state_t until,
                             int64_t timeout_ms, cairn_error_t *err) {
  if (is_staged(s, until)) return CAIRN_OK;
  return cairn_future_wait(future_of(s, until), timeout_ms, err);
}

bool cairn_save_reached(cairn_save_t *s, cairn_save_state_t state) {
  return is_staged(s, state) ||
         (cairn_future_ready(future_of(s, state)) &&
          cairn_future_wait(future_of(s, state), 0, NULL) == CAIRN_OK);
}

cairn_code_t cairn_save_settle(cairn_save_t *s, cairn_error_t *err) {
  return cairn__hold_settle(&s->hold, NULL, err);
}

cairn_code_t cairn_save_settle_leaf(cairn_save_t *s, const char *name,
                                    cairn_error_t *err) {
  return cairn__hold_settle(&s->hold, name != NULL ? name : "", err);
}

static double seconds(long long ns) {
  return (double)ns / 1e9;
}

void cairn_save_stats(cairn_save_t *s, cairn_save_stats_t *out) {
  *out = (cairn_save_stats_t){
      .step = s->step,
      .blocked_s = seconds(atomic_load(&s->blocked_ns)),
      .written_s = seconds(atomic_load(&s->written_ns)),
      .committed_s = seconds(atomic_load(&s->committed_ns)),
      .bytes = atomic_load(&s->bytes),
      .stored_bytes = atomic_load(&s->stored_bytes),
  };
}
