/* One save, from the snapshot to the rename (design.md 9, reference
 * orbax.md 2.2):
 *
 *   phase       who      what
 *   OPEN        all      the store of the parent directory
 *   DESCRIBE    all      each item's part, in bytes
 *   CREATE      primary  the temporary directory, with its owner file
 *   CREATED     all      vote; carries the save's id; is any description new?
 *   GATHER      all      vote, only if so: descriptions to the primary
 *   COMBINE     primary  all descriptions into one plan
 *   PLAN        all      vote: the plan to everyone
 *   SEE         all      is the owner file visible from here?
 *   COMMIT      all      handlers write their parts
 *   STORE       all      one commit of each private database; all of it durable
 *   WRITTEN     all      vote; carries what each rank wrote
 *   MERGE       primary  the merged databases
 *   FINALIZE    primary  handlers' side files
 *   SIDE        primary  the step's side files, cairn.json last, all durable
 *   PUBLISH     primary  owner file removed, temporary renamed to the step
 *   CLEAN       primary  after a failure: the temporary directory goes
 *   VISIBLE     all      vote: one outcome on all ranks
 *   CLOSE       all      stores
 *
 * After a failure nothing is started but clean-up, and no vote is missed: a
 * missing rank would leave the others waiting. A vote that says "failed" says
 * so to all, so all jump to CLEAN together.
 *
 * Work that takes too long (save_watch.c) is a failure that the save goes on
 * with while the work is still out ("stuck"): it votes, tells its outcome, and
 * keeps its memory and stores until the work comes back; then it cleans up. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/marks.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "checkpoint/record.h"

enum phase {
  OPEN,
  DESCRIBE,
  CREATE,
  CREATED,
  GATHER,
  COMBINE,
  PLAN,
  SEE,
  COMMIT,
  STORE,
  WRITTEN,
  MERGE,
  FINALIZE,
  SIDE,
  PUBLISH,
  CLEAN,
  VISIBLE,
  CLOSE,
  DONE
};

#define OP_SAVE 0x53415645u /* "SAVE" */
/* Vote bits. */
#define UNCHANGED 1u /* this rank's descriptions are the old ones */
#define TOLD 2u      /* this rank's caller has had its error from the call */

static bool is_vote(int phase) {
  return phase == CREATED || phase == GATHER || phase == PLAN ||
         phase == WRITTEN || phase == VISIBLE;
}

static const char *phase_name(int phase) {
  static const char *const names[] = {[CREATED] = "created",
                                      [GATHER] = "describe",
                                      [PLAN] = "plan",
                                      [WRITTEN] = "written",
                                      [VISIBLE] = "visible"};
  return names[phase];
}

static const char *work_name(int phase) {
  static const char *const names[] = {[OPEN] = "opening the directory",
                                      [DESCRIBE] = "describing the state",
                                      [CREATE] = "making the directory",
                                      [COMBINE] = "making the plan",
                                      [SEE] = "looking for the directory",
                                      [COMMIT] = "writing",
                                      [STORE] = "making it durable",
                                      [MERGE] = "merging databases",
                                      [FINALIZE] = "writing the item's files",
                                      [SIDE] = "writing the step's files",
                                      [PUBLISH] = "renaming the step",
                                      [CLEAN] = "cleaning up",
                                      [CLOSE] = "closing stores"};
  return names[phase];
}

static void advance(cairn_save_t *s);

/* --- work phases --- */

static cairn_future_t *failed(cairn_save_t *s, const char *what) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "%s", what);
  return cairn_future_done(s->rt, &err);
}

static cairn_future_t *open_root(cairn_save_t *s) {
  if (s->at++ > 0) return NULL;
  return cairn__open_directory(s->rt, s->ck->opts.strategy, s->dir,
                               s->ck->opts.not_durable, &s->root);
}

/* The primary takes part like everyone and then makes the directory. */
static cairn_future_t *describe(cairn_save_t *s) {
  if (s->at >= s->n) return NULL;
  cairn__save_item_t *item = &s->items[s->at++];
  return item->ops->describe(item->state, &item->ctx, &item->description);
}

static cairn_future_t *see(cairn_save_t *s) {
  if (s->at++ > 0) return NULL;
  return cairn__owner_check(s->root, s->tmp, s->id, true);
}

/* Views of the item's directory: one that everything goes through, one that
 * notes what is written, for cairn.json. */
static bool open_item(cairn_save_t *s, cairn__save_item_t *item, size_t i) {
  char *prefix = item->name[0] != 0
                     ? cairn__printf("%s/%s/", s->tmp, item->name)
                     : cairn__printf("%s/", s->tmp);
  if (prefix == NULL) return false;
  item->dir = cairn_kv_prefix(s->root, cairn_bytes_str(prefix));
  free(prefix);
  if (item->dir == NULL) return false;
  item->ctx.dir = cairn__record(item->dir, item->name, &s->binding);
  item->ctx.combined = cairn__packed_part(cairn_buf_bytes(&s->ck->combined), i);
  item->priv.place.process_id =
      cairn__printf("%d", cairn_comm_rank(s->ck->comm));
  return item->ctx.dir != NULL && item->priv.place.process_id != NULL;
}

/* When all is written the caller has the rest of the memory back. */
static cairn_future_t *commit(cairn_save_t *s) {
  if (s->at > s->n) return NULL;
  size_t i = s->at++;
  if (i == s->n)
    return s->hold.snapshot != NULL
               ? cairn_work(s->rt, cairn__hold_finish, &s->hold)
               : NULL;
  cairn__save_item_t *item = &s->items[i];
  if (!open_item(s, item, i)) return failed(s, "opening an item");
  return item->ops->commit(item->state, &item->ctx);
}

/* One commit per process and item; then this rank's side files. */
static cairn_future_t *store(cairn_save_t *s) {
  while (s->at < s->n) {
    cairn__save_item_t *item = &s->items[s->at++];
    item->has_writer = item->priv.writer != NULL;
    if (item->has_writer)
      return cairn__item_store_commit(item->priv.writer, &item->summary);
  }
  if (s->at++ > s->n || s->ck->opts.not_durable) return NULL;
  char prefix[CAIRN__OWNER_NAME + 1];
  snprintf(prefix, sizeof(prefix), "%s/", s->tmp);
  return cairn_kv_sync(s->root, cairn_bytes_str(prefix));
}

static cairn_future_t *finalize(cairn_save_t *s) {
  if (s->at >= s->n) return NULL;
  cairn__save_item_t *item = &s->items[s->at++];
  return item->ops->finalize(item->state, &item->ctx);
}

/* Closes what is open, one thing a call, inner things first. */
static cairn_future_t *close_one(cairn_save_t *s) {
  for (size_t i = 0; i < s->n; i++) {
    cairn__save_item_t *item = &s->items[i];
    cairn_future_t *f = cairn__item_close_store(&item->priv);
    if (f != NULL) return f;
    cairn_kv_t **kv = item->ctx.dir != NULL ? &item->ctx.dir : &item->dir;
    cairn_kv_t *open = *kv;
    *kv = NULL;
    if (open != NULL) return cairn_kv_close(open);
  }
  cairn_kv_t **kv = s->step_dir != NULL    ? &s->step_dir
                    : s->step_view != NULL ? &s->step_view
                                           : &s->root;
  cairn_kv_t *open = *kv;
  *kv = NULL;
  return open != NULL ? cairn_kv_close(open) : NULL;
}

static cairn_future_t *start(cairn_save_t *s) {
  switch (s->phase) {
    case OPEN:
      return open_root(s);
    case DESCRIBE:
      return describe(s);
    case CREATE:
      return s->primary ? cairn__save_create(s) : NULL;
    case COMBINE:
      return s->primary && s->exchange ? cairn__save_combine(s) : NULL;
    case SEE:
      return see(s);
    case COMMIT:
      return commit(s);
    case STORE:
      return store(s);
    case MERGE:
      return s->primary ? cairn__save_merge(s) : NULL;
    case FINALIZE:
      return s->primary ? finalize(s) : NULL;
    case SIDE:
      return s->primary ? cairn__save_side_files(s) : NULL;
    case PUBLISH:
      return s->primary ? cairn__save_publish(s) : NULL;
    case CLEAN:
      return s->claimed && !s->published ? cairn__save_clean(s) : NULL;
    default:
      return close_one(s);
  }
}

/* Clean-up runs also, and only then matters, after a failure; its own errors
 * change no outcome. */
static bool is_clean_up(int phase) {
  return phase == CLEAN || phase == CLOSE;
}

/* What the save went on without has come back. If the outcome has been told
 * meanwhile, only clean-up is left. */
static void on_stuck(cairn_save_t *s, cairn_wait_t *w) {
  s->stuck = false;
  /* It may have been the claim, for which the id is made; or a rank's writes,
   * which then came after the primary had cleaned up. */
  s->claimed |= cairn_wait_result(w, &s->late) == CAIRN_OK && s->id[0] != 0;
  if (!s->over) return;
  s->late = (cairn_error_t){0};
  s->phase = CLOSE;
  s->at = 0;
  advance(s);
}

static void on_work(cairn_wait_t *w) {
  cairn_save_t *s = cairn_container_of(w, cairn_save_t, wait);
  if (s->stuck) {
    on_stuck(s, w);
    return;
  }
  cairn_wait_result(w, is_clean_up(s->phase) ? &s->late : &s->err);
  advance(s);
}

void cairn__save_warn(const cairn_save_t *s, int64_t waited_ms) {
  cairn_log(s->rt, CAIRN_LOG_WARN, "save of %s: rank %d (%s) is %s for %lld ms",
            s->name, cairn_comm_rank(s->ck->comm),
            cairn_comm_host(s->ck->comm, cairn_comm_rank(s->ck->comm)),
            work_name(s->phase), (long long)waited_ms);
}

void cairn__save_late(cairn_save_t *s) {
  cairn_error_t err = {0};
  cairn__limits_t limits = cairn__limits(&s->ck->opts, s->slowest);
  cairn_fail(&err, CAIRN_TIMED_OUT, "%s has not ended within %lld ms",
             work_name(s->phase), (long long)cairn__work_ms(limits));
  cairn_error_copy(is_clean_up(s->phase) ? &s->late : &s->err, &err);
  /* All are told so, and somebody may use the step by the time it comes back:
   * it is not withdrawn then. */
  if (s->publishing && !s->published) {
    cairn_within(&s->err, "not confirmed (the step may be there)");
    s->publishing = false;
  }
  s->stuck = true;
  s->unclean |= s->phase == CLEAN;
  s->phase++;
  s->at = 0;
  advance(s);
}

/* --- votes --- */

/* Bytes that this rank has to write, as far as they are known beforehand. */
static int64_t staged_bytes(const cairn_save_t *s) {
  int64_t bytes = 0;
  for (size_t i = 0; i < s->n; i++) bytes += s->items[i].priv.staged;
  return bytes;
}

static uint64_t options_hash(const cairn_save_t *s) {
  const cairn_checkpointer_opts_t *o = &s->ck->opts;
  uint64_t h = cairn__hash64(s->name, strlen(s->name), (uint64_t)o->profile);
  return cairn__save_items_hash(s, h) | 1;
}

static void give_id(cairn__vote_t *v, cairn_error_t *err) {
  cairn_save_t *s = v->user;
  (void)err;
  v->down = cairn_bytes(s->id, 32);
}

static void give_plan(cairn__vote_t *v, cairn_error_t *err) {
  cairn_save_t *s = v->user;
  (void)err;
  v->down = cairn_buf_bytes(&s->combined);
}

/* What each vote carries besides the error. A description that does not fit in
 * memory is an error like any other, brought to the vote that would have
 * carried it. */
static void load_vote(cairn_save_t *s, cairn__vote_t *v) {
  switch (s->phase) {
    case CREATED:
      cairn__save_pack_descriptions(s);
      /* A rank that failed has not said what it holds, and cannot be compared.
       */
      v->hash = s->err.code == CAIRN_OK ? options_hash(s) : 0;
      v->all_bits = s->exchange ? 0 : UNCHANGED;
      v->max_value = staged_bytes(s);
      v->on_root = give_id;
      break;
    case GATHER:
      v->up = cairn_buf_bytes(&s->packed);
      break;
    case PLAN:
      v->on_root = give_plan;
      break;
    case WRITTEN:
      if (s->err.code == CAIRN_OK) cairn__save_pack_written(s);
      if (s->err.code == CAIRN_OK) v->up = cairn_buf_bytes(&s->packed);
      break;
    case VISIBLE:
      v->all_bits = s->told ? TOLD : 0;
      break;
    default:
      break;
  }
}

static void take_plan(cairn_save_t *s, cairn_bytes_t plan) {
  cairn_buf_t *b = &s->ck->combined;
  cairn_buf_reset(b);
  cairn_buf_put(b, plan.p, plan.n);
  if (b->failed) {
    cairn_fail(&s->err, CAIRN_NO_MEMORY, "%zu bytes of plan", plan.n);
  }
  s->ck->description_hash = b->failed ? 0 : s->description_hash;
}

static void unload_vote(cairn_save_t *s, cairn__vote_t *v) {
  switch (s->phase) {
    case CREATED:
      if (v->received.n == 32) memcpy(s->id, v->received.p, 32);
      cairn__mark_of(s->id, s->mark, sizeof(s->mark));
      s->exchange = (v->all_bits & UNCHANGED) == 0;
      s->slowest = v->max_value;
      break;
    case GATHER:
      if (s->primary && !cairn__save_keep_gathered(s, v))
        cairn_fail(&s->err, CAIRN_NO_MEMORY, "descriptions of all ranks");
      break;
    case PLAN:
      take_plan(s, v->received);
      break;
    case WRITTEN:
      if (s->primary && !cairn__save_keep_gathered(s, v))
        cairn_fail(&s->err, CAIRN_NO_MEMORY, "what all ranks wrote");
      break;
    default:
      break;
  }
}

/* Once the primary has heard that all have written it publishes, and a rank
 * that then has no answer cannot know. An error from before says that it did
 * not. */
static void say_not_confirmed(cairn_save_t *s) {
  bool unknown = s->phase == VISIBLE || (s->phase == WRITTEN && !s->primary);
  if (unknown && s->was_well && s->vote.unheard)
    cairn_within(&s->err, "not confirmed (the step may be there)");
}

/* A caller who has had an error from the call is told again if others have not:
 * their next call returns it in place of a save, so this rank's must too. */
static void forget_told(cairn_save_t *s, const cairn__vote_t *v) {
  if (s->phase == VISIBLE && (v->all_bits & TOLD) == 0) s->told = false;
}

static void on_vote(cairn__vote_t *v) {
  cairn_save_t *s = v->user;
  s->voted = s->phase == VISIBLE;
  forget_told(s, v);
  if (s->err.code == CAIRN_OK)
    unload_vote(s, v);
  else
    say_not_confirmed(s);
  if (s->err.code != CAIRN_OK && s->phase < CLEAN) {
    s->phase = CLEAN;
    if (s->exchange) s->ck->description_hash = 0;
  } else {
    s->phase++;
  }
  s->at = 0;
  cairn__save_watch(s);
  advance(s);
}

static void vote(cairn_save_t *s) {
  cairn__vote_t *v = &s->vote;
  cairn__limits_t limits = cairn__limits(&s->ck->opts, s->slowest);
  int64_t elapsed = cairn__save_unwatch(s);
  *v = (cairn__vote_t){.op = OP_SAVE,
                       .phase = (uint32_t)s->phase,
                       .phase_name = phase_name(s->phase),
                       .step = s->step,
                       .deadline_ms = limits.late_ms,
                       .soft_limit_ms = limits.soft_ms,
                       .elapsed_ms = elapsed,
                       .all_bits = ~UINT64_C(0),
                       .user = s};
  load_vote(s, v);
  s->was_well = s->err.code == CAIRN_OK;
  cairn__agree(s->ck->save_lane, v, &s->err, on_vote);
}

static bool is_skipped(const cairn_save_t *s) {
  return s->voted || ((s->phase == GATHER || s->phase == PLAN) && !s->exchange);
}

/* --- the end --- */

static void count_bytes(cairn_save_t *s) {
  long long bytes = 0;
  for (size_t i = 0; i < s->n; i++) bytes += s->items[i].ctx.bytes;
  atomic_store(&s->bytes, bytes);
}

static void resolve_written(cairn_save_t *s) {
  if (s->written_resolved) return;
  s->written_resolved = true;
  count_bytes(s);
  if (s->err.code == CAIRN_OK)
    atomic_store(&s->written_ns, cairn__now_ns() - s->begun_ns);
  cairn_future_resolve(s->written, &s->err);
}

static void drop_items(cairn_save_t *s) {
  for (size_t i = 0; i < s->n; i++) {
    cairn__save_item_t *item = &s->items[i];
    if (item->state != NULL) item->ops->drop(item->state);
    item->state = NULL;
    cairn__item_unstage(&item->priv);
    free((char *)item->priv.place.process_id);
    item->priv.place.process_id = NULL;
  }
  cairn__hold_reset(&s->hold);
}

static void keep_error(cairn_save_t *s) {
  cairn_checkpointer_t *ck = s->ck;
  if (s->err.code == CAIRN_OK) return;
  if (s->step >= 0)
    cairn_within(&s->err, "step %lld", (long long)s->step);
  else
    cairn_within(&s->err, "%s", s->name);
  if (s->told) return;
  pthread_mutex_lock(&ck->lock);
  cairn_error_copy(&ck->background, &s->err);
  pthread_mutex_unlock(&ck->lock);
}

static void log_begun(const cairn_save_t *s) {
  cairn_log(s->rt, CAIRN_LOG_INFO, "saving %s/%s: begun", s->dir, s->name);
}

static void log_end(cairn_save_t *s) {
  cairn_save_stats_t stats;
  if (s->err.code != CAIRN_OK) {
    cairn_log(s->rt, CAIRN_LOG_INFO, "saving %s/%s: failed: %s", s->dir,
              s->name, s->err.message);
    return;
  }
  cairn_save_stats(s, &stats);
  cairn_log(s->rt, CAIRN_LOG_INFO,
            "saving %s/%s: committed after %.0f ms, of which the caller waited "
            "%.0f; this rank's part: %lld bytes, %lld stored",
            s->dir, s->name, stats.committed_s * 1e3, stats.blocked_s * 1e3,
            (long long)stats.bytes, (long long)stats.stored_bytes);
}

static void log_late(cairn_save_t *s) {
  if (s->late.code != CAIRN_OK)
    cairn_log(s->rt, CAIRN_LOG_WARN, "cleaning up after %s: %s", s->name,
              s->late.message);
  s->late = (cairn_error_t){0};
}

/* True if it was s before. */
static bool set_stuck(cairn_save_t *s, cairn_save_t *stuck) {
  pthread_mutex_lock(&s->ck->lock);
  bool was = s->ck->stuck == s;
  s->ck->stuck = stuck;
  pthread_mutex_unlock(&s->ck->lock);
  return was;
}

/* The outcome, to whoever waits for it. */
static void tell(cairn_save_t *s) {
  s->over = true;
  keep_error(s);
  if (s->err.code == CAIRN_OK)
    atomic_store(&s->committed_ns, cairn__now_ns() - s->begun_ns);
  log_end(s);
  if (s->on_done != NULL) s->on_done(s->on_done_arg, s);
  resolve_written(s);
  cairn_future_resolve(s->done, &s->err);
}

/* Memory goes back first, then whoever waits may look, last of all. */
static void finish(cairn_save_t *s) {
  log_late(s);
  drop_items(s);
  if (s->primary) cairn__owner_end(s->id);
  if (!s->over)
    tell(s);
  else if (set_stuck(s, NULL))
    cairn_save_unref(s);
  cairn_future_resolve(s->released, NULL);
  cairn_save_unref(s);
}

/* What is out keeps the stores and the memory that it uses. */
static void finish_stuck(cairn_save_t *s) {
  cairn__save_unwatch(s);
  log_late(s);
  cairn__save_ref(s);
  set_stuck(s, s);
  tell(s);
}

/* A rank that has work out starts no clean-up beside it. */
static bool is_off(const cairn_save_t *s) {
  if (is_vote(s->phase)) return true;
  if (s->phase == CLEAN) return s->stuck || s->err.code == CAIRN_OK;
  if (s->phase == CLOSE) return s->stuck;
  return s->err.code != CAIRN_OK;
}

/* Clean-up that was left comes after the last vote at the latest, while the
 * stores are open. */
static void catch_up(cairn_save_t *s) {
  s->unclean |= s->phase == CLEAN && s->stuck;
  if (s->phase != CLOSE || s->stuck || !s->unclean) return;
  s->unclean = false;
  s->phase = CLEAN;
  s->at = 0;
}

static void advance(cairn_save_t *s) {
  /* Nobody waits for a write that will not come. */
  if (s->err.code != CAIRN_OK) cairn__hold_cancel(&s->hold);
  while (s->phase < DONE) {
    catch_up(s);
    if (is_vote(s->phase) && !is_skipped(s)) {
      if (s->phase == WRITTEN && s->err.code == CAIRN_OK) resolve_written(s);
      vote(s);
      return;
    }
    cairn_future_t *next = is_off(s) ? NULL : start(s);
    if (next != NULL) {
      cairn_then(next, &s->wait, on_work);
      return;
    }
    s->phase++;
    s->at = 0;
  }
  if (s->stuck)
    finish_stuck(s);
  else
    cairn__save_watch_close(s, finish);
}

void cairn__save_run(cairn_task_t *t) {
  cairn_save_t *s = cairn_container_of(t, cairn_save_t, task);
  s->phase = OPEN;
  log_begun(s);
  cairn__save_watch(s);
  advance(s);
}
