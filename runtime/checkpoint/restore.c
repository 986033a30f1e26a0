/* One restore: the primary looks, everyone reads.
 *
 *   phase     who      what
 *   OPEN      all      the store of the step
 *   LOOK      primary  is the step whole?
 *   LOAD      primary  per item: what all ranks must know
 *   LOADED    all      vote; carries it down
 *   READ      all      per item: into the targets
 *   RESTORED  all      vote: nobody goes on with half a model
 *   CLOSE     all      stores
 *
 * Lives on the caller's stack, who waits for it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checked.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/marks.h"
#include "kv/kv.h"
#include "loop/loop.h"

enum phase { OPEN, LOOK, LOAD, LOADED, READ, RESTORED, CLOSE, DONE };

#define OP_RESTORE 0x4c4f4144u /* "LOAD" */

struct item {
  const cairn_handler_ops_t *ops;
  const char *name;
  char *directory;
  cairn_item_ctx_t ctx;
  struct cairn_item_private priv;
  cairn_buf_t loaded; /* primary */
};

struct restore {
  cairn_checkpointer_t *ck;
  const cairn__restore_request_t *req;
  struct item *items;
  char *directory; /* of the step */
  cairn_kv_t *root;
  cairn__step_look_t look;
  cairn_buf_t packed, received;
  int phase;
  size_t at;
  bool primary;
  cairn_error_t err, late;
  cairn_wait_t wait;
  cairn__vote_t vote;
  cairn_future_t *done;
};

static void advance(struct restore *r);

/* --- phases --- */

static cairn_future_t *open_root(struct restore *r) {
  if (r->at++ > 0) return NULL;
  return cairn__open_directory(r->ck->rt, r->ck->opts.strategy, r->directory,
                               false, &r->root);
}

static void judge(struct restore *r) {
  if (r->look.state == CAIRN_STEP_BROKEN)
    cairn_fail(&r->err, CAIRN_CORRUPT, "%s is incomplete: %s", r->directory,
               r->look.why);
  else if (r->look.state == CAIRN_STEP_UNMARKED)
    cairn_fail(&r->err, CAIRN_CORRUPT, "%s is not marked complete: %s",
               r->directory, r->look.why);
}

static cairn_future_t *look(struct restore *r) {
  switch (r->at++) {
    case 0:
      return cairn__step_look(r->root, &r->look);
    case 1:
      judge(r);
      return r->err.code == CAIRN_OK
                 ? cairn__marks_check(r->root, &r->look.binding)
                 : NULL;
    default:
      return NULL;
  }
}

static bool has_item(const struct restore *r, const char *name) {
  for (size_t i = 0; i < r->look.num_items; i++)
    if (strcmp(r->look.items[i], name) == 0) return true;
  return false;
}

static void fail_no_item(struct restore *r, const char *name) {
  cairn_buf_t known = {0};
  for (size_t i = 0; i < r->look.num_items; i++)
    cairn_buf_printf(&known, "%s\"%s\"", i > 0 ? ", " : "", r->look.items[i]);
  cairn_fail(&r->err, CAIRN_NOT_FOUND, "no item \"%s\" in %s; it has %.*s",
             name, r->directory, (int)known.n, (const char *)known.p);
  cairn_buf_reset(&known);
}

static bool open_item(struct restore *r, struct item *item) {
  char *prefix = item->name[0] != 0 ? cairn__printf("%s/", item->name)
                                    : cairn__printf("%s", "");
  if (prefix == NULL) return false;
  if (item->ctx.dir == NULL)
    item->ctx.dir = cairn_kv_prefix(r->root, cairn_bytes_str(prefix));
  free(prefix);
  return item->ctx.dir != NULL;
}

/* For the primary, who has read cairn.json and reads the side files. */
static bool check_item(struct restore *r, struct item *item) {
  cairn_kv_t *kv = cairn__checked(item->ctx.dir, item->name, &r->look.binding);
  if (kv != NULL) item->ctx.dir = kv;
  return kv != NULL;
}

static cairn_future_t *no_memory(struct restore *r) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "restoring");
  return cairn_future_done(r->ck->rt, &err);
}

static cairn_future_t *load(struct restore *r) {
  if (r->at >= r->req->n) return NULL;
  struct item *item = &r->items[r->at++];
  if (!has_item(r, item->name)) {
    fail_no_item(r, item->name);
    return NULL;
  }
  if (!open_item(r, item) || !check_item(r, item)) return no_memory(r);
  return item->ops->load(&item->ctx, &item->loaded);
}

static cairn_future_t *read_item(struct restore *r) {
  if (r->at >= r->req->n) return NULL;
  size_t i = r->at++;
  struct item *item = &r->items[i];
  if (!open_item(r, item)) return no_memory(r);
  item->ctx.combined = cairn__packed_part(cairn_buf_bytes(&r->received), i);
  return item->ops->restore(&r->req->items[i], &item->ctx);
}

static cairn_future_t *close_one(struct restore *r) {
  for (size_t i = 0; i < r->req->n && r->items != NULL; i++) {
    cairn_future_t *f = cairn__item_close_store(&r->items[i].priv);
    if (f != NULL) return f;
    cairn_kv_t *dir = r->items[i].ctx.dir;
    r->items[i].ctx.dir = NULL;
    if (dir != NULL) return cairn_kv_close(dir);
  }
  cairn_kv_t *root = r->root;
  r->root = NULL;
  return root != NULL ? cairn_kv_close(root) : NULL;
}

static cairn_future_t *start(struct restore *r) {
  switch (r->phase) {
    case OPEN:
      return open_root(r);
    case LOOK:
      return r->primary ? look(r) : NULL;
    case LOAD:
      return r->primary ? load(r) : NULL;
    case READ:
      return read_item(r);
    default:
      return close_one(r);
  }
}

/* --- votes --- */

static void pack(struct restore *r) {
  cairn_buf_reset(&r->packed);
  for (size_t i = 0; i < r->req->n; i++) {
    cairn_buf_t *b = &r->items[i].loaded;
    cairn_buf_put_varint(&r->packed, b->n);
    cairn_buf_put(&r->packed, b->p, b->n);
    if (b->failed) r->packed.failed = true;
  }
  if (r->packed.failed)
    cairn_fail(&r->err, CAIRN_NO_MEMORY, "what all ranks must know");
}

static void give_loaded(cairn__vote_t *v, cairn_error_t *err) {
  struct restore *r = v->user;
  (void)err;
  v->down = cairn_buf_bytes(&r->packed);
}

static void take_loaded(struct restore *r, const cairn__vote_t *v) {
  cairn_buf_put(&r->received, v->received.p, v->received.n);
  if (r->received.failed)
    cairn_fail(&r->err, CAIRN_NO_MEMORY, "%zu bytes of metadata",
               v->received.n);
}

static void on_vote(cairn__vote_t *v) {
  struct restore *r = v->user;
  if (r->err.code == CAIRN_OK && r->phase == LOADED) take_loaded(r, v);
  /* A first vote that failed failed for all: nobody comes to the second. A rank
   * that alone lacks memory for what it was sent does. */
  bool agreed_failure = r->err.code != CAIRN_OK && v->received.p == NULL;
  r->phase = r->phase == LOADED && agreed_failure ? CLOSE : r->phase + 1;
  r->at = 0;
  advance(r);
}

/* Ranks that ask for other items would take each other's metadata. */
static uint64_t items_hash(const struct restore *r) {
  uint64_t h = r->req->n;
  for (size_t i = 0; i < r->req->n; i++) {
    const char *name = r->items[i].name, *type = r->items[i].ops->type;
    h = cairn__hash64(name, strlen(name) + 1, h);
    h = cairn__hash64(type, strlen(type) + 1, h);
  }
  return h | 1;
}

static void vote(struct restore *r) {
  if (r->primary && r->phase == LOADED && r->err.code == CAIRN_OK) pack(r);
  r->vote =
      (cairn__vote_t){.op = OP_RESTORE,
                      .phase = (uint32_t)r->phase,
                      .phase_name = r->phase == LOADED ? "loaded" : "restored",
                      .step = r->req->step,
                      .hash = r->err.code == CAIRN_OK ? items_hash(r) : 0,
                      .deadline_ms = r->ck->opts.deadline_ms,
                      .soft_limit_ms = r->ck->opts.soft_limit_ms,
                      .on_root = r->phase == LOADED ? give_loaded : NULL,
                      .user = r};
  cairn__agree(r->ck->call_lane, &r->vote, &r->err, on_vote);
}

/* --- flow --- */

static void on_work(cairn_wait_t *w) {
  struct restore *r = cairn_container_of(w, struct restore, wait);
  size_t i = r->at;
  bool per_item = r->phase == LOAD || r->phase == READ;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK && per_item && i > 0 &&
      r->items[i - 1].name[0] != 0)
    cairn_within(&err, "item %s", r->items[i - 1].name);
  cairn_error_copy(r->phase == CLOSE ? &r->late : &r->err, &err);
  advance(r);
}

static void advance(struct restore *r) {
  while (r->phase < DONE) {
    if (r->phase == LOADED || r->phase == RESTORED) {
      vote(r);
      return;
    }
    cairn_future_t *next =
        r->err.code == CAIRN_OK || r->phase == CLOSE ? start(r) : NULL;
    if (next != NULL) {
      cairn_then(next, &r->wait, on_work);
      return;
    }
    r->phase++;
    r->at = 0;
  }
  cairn_future_resolve(r->done, &r->err);
}

static cairn_future_t *restore_start(void *arg) {
  struct restore *r = arg;
  cairn_future_t *done;
  if (!cairn__promise(r->ck->rt, &done)) return done;
  r->done = done;
  advance(r);
  return done;
}

static cairn_code_t item_init(struct restore *r, const cairn_item_t *in,
                              struct item *item, cairn_error_t *err) {
  const cairn_checkpointer_opts_t *o = &r->ck->opts;
  item->ops = cairn_handler_find(r->ck->rt, in->type);
  if (item->ops == NULL)
    return cairn_fail(err, CAIRN_INVALID, "no handler of type \"%s\"",
                      in->type != NULL ? in->type : "");
  item->name = cairn__item_name(in, r->req->unnamed);
  item->directory = cairn__dir_join(r->directory, item->name);
  if (item->directory == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "restoring");
  item->priv.place = (cairn__item_place_t){.strategy = o->strategy,
                                           .directory = item->directory,
                                           .profile = o->profile};
  item->ctx = (cairn_item_ctx_t){.size = sizeof(cairn_item_ctx_t),
                                 .rt = r->ck->rt,
                                 .rank = cairn_comm_rank(r->ck->comm),
                                 .num_ranks = cairn_comm_size(r->ck->comm),
                                 .primary = r->primary,
                                 .step = r->req->step,
                                 .item = item->name,
                                 .profile = o->profile,
                                 .partial = r->req->partial,
                                 .priv = &item->priv};
  return CAIRN_OK;
}

static void prepare(struct restore *r) {
  const cairn__restore_request_t *req = r->req;
  r->directory = cairn__dir_join(req->dir, req->name);
  r->items = calloc(req->n != 0 ? req->n : 1, sizeof(*r->items));
  if (r->directory == NULL || r->items == NULL)
    cairn_fail(&r->err, CAIRN_NO_MEMORY, "restoring");
  if (req->items == NULL && req->n != 0)
    cairn_fail(&r->err, CAIRN_INVALID, "%zu items at NULL", req->n);
  for (size_t i = 0; r->err.code == CAIRN_OK && i < req->n; i++)
    item_init(r, &req->items[i], &r->items[i], &r->err);
}

static void release(struct restore *r) {
  for (size_t i = 0; i < r->req->n && r->items != NULL; i++) {
    free(r->items[i].directory);
    cairn_buf_reset(&r->items[i].loaded);
  }
  free(r->items);
  free(r->directory);
  cairn__step_look_free(&r->look);
  cairn_buf_reset(&r->packed);
  cairn_buf_reset(&r->received);
}

cairn_code_t cairn__restore(cairn_checkpointer_t *ck,
                            const cairn__restore_request_t *req,
                            cairn_error_t *err) {
  struct restore r = {.ck = ck, .req = req};
  cairn_error_t local = {0};
  r.primary = cairn_comm_rank(ck->comm) == 0;
  prepare(&r);
  cairn__call(ck->rt, restore_start, &r, -1, &local);
  release(&r);
  if (local.code == CAIRN_OK) return CAIRN_OK;
  if (req->step >= 0)
    cairn_within(&local, "restore step %lld", (long long)req->step);
  else
    cairn_within(&local, "restore %s", req->name);
  return cairn_error_copy(err, &local);
}
