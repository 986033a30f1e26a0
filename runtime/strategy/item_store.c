#include "strategy/item_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "kv/kv.h"
#include "strategy/spec_read.h"

struct cairn__item_store {
  cairn_runtime_t *rt;
  cairn_future_t *done;   /* of the operation under way */
  cairn_future_t *closed; /* made at open, so that close cannot fail for it */
  cairn_wait_t wait;
  cairn_error_t err;
  bool sync; /* deferred writes are made durable at commit */
  cairn__ocdbt_write_opts_t opts;
  cairn_kv_t *base; /* where the database's files are */
  cairn_kv_t *kv;   /* the database */
};

/* Resolving is the last thing: whoever waits may close the store at once. */
static void end(cairn__item_store_t *s) {
  cairn_error_t err = s->err;
  cairn_future_t *done = s->done;
  s->err = (cairn_error_t){0};
  s->done = NULL;
  cairn_future_resolve(done, &err);
}

static cairn_code_t ask(const cairn__item_place_t *place,
                        cairn_purpose_t purpose, bool for_write, char **base,
                        cairn__ocdbt_write_opts_t *opts, cairn_error_t *err) {
  cairn_spec_in_t in = {.size = sizeof(in),
                        .purpose = purpose,
                        .directory = place->directory,
                        .process_id = place->process_id,
                        .profile = place->profile,
                        .not_durable = place->not_durable};
  char *spec = NULL;
  cairn_code_t rc =
      cairn_strategy_spec(place->strategy, &in, for_write, &spec, err);
  if (rc == CAIRN_OK) rc = cairn__ocdbt_spec_read(spec, base, opts, err);
  free(spec);
  return rc;
}

static cairn__item_store_t *store_new(cairn_runtime_t *rt,
                                      const cairn__item_place_t *place) {
  cairn__item_store_t *s = calloc(1, sizeof(*s));
  if (s == NULL) return NULL;
  s->rt = rt;
  s->sync = !place->not_durable;
  if (cairn__promise(rt, &s->closed)) return s;
  cairn_future_unref(s->closed);
  free(s);
  return NULL;
}

static void store_discard(cairn__item_store_t *s) {
  cairn__promise_drop(s->closed);
  free(s);
}

static cairn_future_t *failed(cairn_runtime_t *rt, const cairn_error_t *err) {
  return cairn_future_done(rt, err);
}

static void on_database(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  cairn_wait_result(w, &s->err);
  end(s);
}

static void on_base_for_write(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  if (cairn_wait_result(w, &s->err) != CAIRN_OK) {
    end(s);
    return;
  }
  cairn_then(cairn__ocdbt_create(s->base, &s->opts, &s->kv), &s->wait,
             on_database);
}

static void on_base_for_read(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  if (cairn_wait_result(w, &s->err) != CAIRN_OK) {
    end(s);
    return;
  }
  cairn_then(cairn__ocdbt_open(s->base, &s->kv), &s->wait, on_database);
}

static void set_mark(cairn__ocdbt_write_opts_t *o,
                     const cairn__item_place_t *place) {
  if (place->mark != NULL)
    snprintf(o->mark, sizeof(o->mark), "%s", place->mark);
}

static cairn_future_t *store_open(cairn_runtime_t *rt,
                                  const cairn__item_place_t *place,
                                  cairn_purpose_t purpose, bool for_write,
                                  cairn__item_store_t **out) {
  cairn_error_t err = {0};
  char *base = NULL;
  cairn__item_store_t *s = store_new(rt, place);
  if (s == NULL) {
    cairn_fail(&err, CAIRN_NO_MEMORY, "item store");
    return failed(rt, &err);
  }
  if (ask(place, purpose, for_write, &base, &s->opts, &err) != CAIRN_OK) {
    store_discard(s);
    return failed(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) {
    store_discard(s);
    free(base);
    return done;
  }
  s->opts.defer_sync = true;
  set_mark(&s->opts, place);
  s->opts.sync_data = s->sync;
  s->done = done;
  *out = s;
  cairn_then(cairn_kv_open(rt, base, &s->base), &s->wait,
             for_write ? on_base_for_write : on_base_for_read);
  free(base);
  return done;
}

cairn_future_t *cairn__item_store_create(cairn_runtime_t *rt,
                                         const cairn__item_place_t *place,
                                         cairn__item_store_t **out) {
  return store_open(rt, place, CAIRN_PURPOSE_PRIVATE, true, out);
}

cairn_future_t *cairn__item_store_open(cairn_runtime_t *rt,
                                       const cairn__item_place_t *place,
                                       cairn__item_store_t **out) {
  return store_open(rt, place, CAIRN_PURPOSE_READ, false, out);
}

cairn_kv_t *cairn__item_store_kv(cairn__item_store_t *store) {
  return store->kv;
}

/* --- commit: the database's files, then (unless relaxed) all of them durable
 * --- */

static void on_synced(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  cairn_wait_result(w, &s->err);
  end(s);
}

static void on_committed(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  if (cairn_wait_result(w, &s->err) != CAIRN_OK || !s->sync) {
    end(s);
    return;
  }
  cairn_then(cairn_kv_sync(s->base, cairn_bytes(NULL, 0)), &s->wait, on_synced);
}

cairn_future_t *cairn__item_store_commit(cairn__item_store_t *s,
                                         cairn__ocdbt_summary_t *out) {
  cairn_future_t *done;
  if (!cairn__promise(s->rt, &done)) return done;
  s->done = done;
  cairn_then(cairn__ocdbt_commit(s->kv, out), &s->wait, on_committed);
  return done;
}

/* --- close --- */

static void on_base_closed(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  cairn_wait_result(w, &s->err);
  cairn_error_t err = s->err;
  cairn_future_t *closed = s->closed;
  free(s);
  cairn_future_resolve(closed, &err);
}

static void close_base(cairn__item_store_t *s) {
  cairn_future_t *f = s->base != NULL ? cairn_kv_close(s->base)
                                      : cairn_future_done(s->rt, NULL);
  cairn_then(f, &s->wait, on_base_closed);
}

static void on_kv_closed(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  cairn_wait_result(w, &s->err);
  close_base(s);
}

cairn_future_t *cairn__item_store_close(cairn__item_store_t *s) {
  cairn_future_t *closed = s->closed;
  if (s->kv != NULL)
    cairn_then(cairn_kv_close(s->kv), &s->wait, on_kv_closed);
  else
    close_base(s);
  return closed;
}

/* --- merge --- */

struct merge {
  cairn__item_store_t store; /* base and options only */
  const cairn__ocdbt_child_t *children;
  size_t n;
  cairn__ocdbt_summary_t *out;
};

static struct merge *merge_of(cairn_wait_t *w) {
  cairn__item_store_t *s = cairn_container_of(w, cairn__item_store_t, wait);
  return cairn_container_of(s, struct merge, store);
}

static void on_merge_closed(cairn_wait_t *w) {
  struct merge *m = merge_of(w);
  cairn_wait_result(w, &m->store.err);
  cairn_error_t err = m->store.err;
  cairn_future_t *done = m->store.done;
  free(m);
  cairn_future_resolve(done, &err);
}

static void merge_end(struct merge *m) {
  cairn_future_t *f = m->store.base != NULL
                          ? cairn_kv_close(m->store.base)
                          : cairn_future_done(m->store.rt, NULL);
  cairn_then(f, &m->store.wait, on_merge_closed);
}

static void on_merge_synced(cairn_wait_t *w) {
  struct merge *m = merge_of(w);
  cairn_wait_result(w, &m->store.err);
  merge_end(m);
}

static void on_merged(cairn_wait_t *w) {
  struct merge *m = merge_of(w);
  if (cairn_wait_result(w, &m->store.err) != CAIRN_OK || !m->store.sync) {
    merge_end(m);
    return;
  }
  cairn_then(cairn_kv_sync(m->store.base, cairn_bytes(NULL, 0)), &m->store.wait,
             on_merge_synced);
}

static void on_merge_base(cairn_wait_t *w) {
  struct merge *m = merge_of(w);
  if (cairn_wait_result(w, &m->store.err) != CAIRN_OK) {
    merge_end(m);
    return;
  }
  cairn_then(cairn__ocdbt_merge(m->store.base, &m->store.opts, m->children,
                                m->n, m->out),
             &m->store.wait, on_merged);
}

cairn_future_t *cairn__item_store_merge(cairn_runtime_t *rt,
                                        const cairn__item_place_t *place,
                                        const cairn__ocdbt_child_t *children,
                                        size_t n, cairn__ocdbt_summary_t *out) {
  cairn_error_t err = {0};
  char *base = NULL;
  cairn_future_t *done;
  struct merge *m = calloc(1, sizeof(*m));
  if (m == NULL) {
    cairn_fail(&err, CAIRN_NO_MEMORY, "merge");
    return failed(rt, &err);
  }
  m->store.rt = rt;
  m->store.sync = !place->not_durable;
  if (ask(place, CAIRN_PURPOSE_MERGED, true, &base, &m->store.opts, &err) !=
      CAIRN_OK) {
    free(m);
    return failed(rt, &err);
  }
  if (!cairn__promise(rt, &done)) {
    free(m);
    free(base);
    return done;
  }
  m->store.opts.defer_sync = true;
  set_mark(&m->store.opts, place);
  m->store.opts.sync_data = m->store.sync;
  m->store.done = done;
  m->children = children;
  m->n = n;
  m->out = out;
  cairn_then(cairn_kv_open(rt, base, &m->store.base), &m->store.wait,
             on_merge_base);
  free(base);
  return done;
}
