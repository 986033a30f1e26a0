/* Stores and views of them: opening, closing, naming. Calls are in call.c.
 *
 * A view is a cairn_kv_t whose `base` is the store and whose prefix stands
 * before every key; a view of a view is one view of the store, so nothing ever
 * goes through more than one level. What is outstanding is counted in the
 * handle it was asked of and in the store, and closing waits for its own count.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv/kv.h"

#define HELD_AS "store"

static cairn_future_t *failed(cairn_runtime_t *rt, const cairn_error_t *err) {
  return cairn_future_done(rt, err);
}

/* --- making and dropping handles --- */

static cairn_kv_t *kv_alloc(cairn_runtime_t *rt, const cairn_kv_ops_t *ops) {
  cairn_kv_t *kv = calloc(1, sizeof *kv);
  if (kv == NULL) return NULL;
  kv->rt = rt;
  kv->driver = ops;
  /* A driver built against an older minor version has fewer members. */
  memcpy(&kv->ops, ops,
         ops->size < sizeof kv->ops ? ops->size : sizeof kv->ops);
  if (cairn__promise(rt, &kv->closed)) return kv;
  cairn_future_unref(kv->closed);
  free(kv);
  return NULL;
}

/* Frees a handle that nobody saw, or whose `closed` was given away. */
static void kv_free(cairn_kv_t *kv) {
  free(kv->prefix);
  free(kv);
}

static void kv_discard(cairn_kv_t *kv) {
  cairn__promise_drop(kv->closed);
  kv_free(kv);
}

cairn_kv_t *cairn__kv_new(cairn_runtime_t *rt, const cairn_kv_ops_t *ops,
                          void *self) {
  cairn_kv_t *kv = kv_alloc(rt, ops);
  if (kv == NULL) return NULL;
  kv->self = self;
  cairn_runtime_hold(rt, HELD_AS);
  return kv;
}

void *cairn__kv_self(cairn_kv_t *kv, const cairn_kv_ops_t *ops) {
  return kv->driver == ops ? kv->self : NULL;
}

/* --- open --- */

struct opening {
  cairn_runtime_t *rt;
  cairn_kv_t *kv, **out;
  cairn_buf_t spec; /* until the driver is done with it */
  char *url;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void opening_free(struct opening *s) {
  cairn_buf_reset(&s->spec);
  free(s->url);
  free(s);
}

static void on_open(cairn_wait_t *w) {
  struct opening *s = cairn_container_of(w, struct opening, wait);
  cairn_error_t err = {0};
  cairn_future_t *done = s->done;
  if (cairn_wait_result(w, &err) == CAIRN_OK) {
    cairn_runtime_hold(s->rt, HELD_AS);
    *s->out = s->kv;
  } else {
    cairn_within(&err, "open %.200s", s->url);
    kv_discard(s->kv);
  }
  opening_free(s);
  cairn_future_resolve(done, &err);
}

static cairn_code_t opening_prepare(struct opening *s, cairn_error_t *err) {
  const cairn_kv_ops_t *ops = NULL;
  cairn_code_t rc = cairn__kv_spec(s->rt, s->url, &ops, &s->spec, err);
  if (rc != CAIRN_OK) {
    cairn_within(err, "open");
    return rc;
  }
  s->kv = kv_alloc(s->rt, ops);
  if (s->kv == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "open store");
  return CAIRN_OK;
}

cairn_future_t *cairn_kv_open(cairn_runtime_t *rt, const char *url,
                              cairn_kv_t **out) {
  cairn_error_t err = {0};
  struct opening *s = calloc(1, sizeof *s);
  *out = NULL;
  if (s != NULL) s->url = strdup(url != NULL ? url : "");
  if (s == NULL || s->url == NULL) {
    free(s);
    cairn_fail(&err, CAIRN_NO_MEMORY, "open store");
    return failed(rt, &err);
  }
  s->rt = rt;
  s->out = out;
  if (opening_prepare(s, &err) != CAIRN_OK) {
    opening_free(s);
    return failed(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) {
    kv_discard(s->kv);
    opening_free(s);
    return done;
  }
  s->done = done;
  cairn_then(s->kv->ops.open(rt, cairn_buf_bytes(&s->spec), &s->kv->self),
             &s->wait, on_open);
  return done;
}

/* --- views --- */

cairn_kv_t *cairn_kv_prefix(cairn_kv_t *kv, cairn_bytes_t prefix) {
  cairn_kv_t *store = kv->base != NULL ? kv->base : kv;
  cairn_kv_t *view = kv_alloc(store->rt, store->driver);
  if (view == NULL) return NULL;
  cairn_bytes_t full;
  view->prefix = cairn__kv_alloc_key(kv, 0, prefix, &full);
  if (view->prefix == NULL) {
    kv_discard(view);
    return NULL;
  }
  view->prefix_n = full.n;
  view->self = store->self;
  view->base = store;
  return view;
}

void *cairn__kv_alloc_key(cairn_kv_t *kv, size_t extra, cairn_bytes_t key,
                          cairn_bytes_t *full) {
  uint8_t *p;
  if (key.n > SIZE_MAX / 4) return NULL;
  p = malloc(extra + kv->prefix_n + key.n + 1);
  if (p == NULL) return NULL;
  if (kv->prefix_n > 0) memcpy(p + extra, kv->prefix, kv->prefix_n);
  if (key.n > 0) memcpy(p + extra + kv->prefix_n, key.p, key.n);
  *full = cairn_bytes(p + extra, kv->prefix_n + key.n);
  return p;
}

/* --- what is outstanding, and close --- */

static void on_driver_closed(cairn_wait_t *w) {
  cairn_kv_t *kv = cairn_container_of(w, cairn_kv_t, wait);
  cairn_error_t err = {0};
  cairn_future_t *closed = kv->closed;
  if (cairn_wait_result(w, &err) != CAIRN_OK) cairn_within(&err, "close store");
  cairn_runtime_drop(kv->rt, HELD_AS);
  kv_free(kv);
  cairn_future_resolve(closed, &err);
}

static void close_if_idle(cairn_kv_t *kv) {
  if (!kv->closing || kv->busy > 0) return;
  if (kv->base == NULL) {
    cairn_then(kv->ops.close(kv->rt, kv->self), &kv->wait, on_driver_closed);
    return;
  }
  cairn_future_t *closed = kv->closed;
  kv_free(kv);
  cairn_future_resolve(closed, NULL);
}

void cairn__kv_enter(cairn_kv_t *kv) {
  kv->busy++;
  if (kv->base != NULL) kv->base->busy++;
}

void cairn__kv_leave(cairn_kv_t *kv) {
  cairn_kv_t *base = kv->base;
  kv->busy--;
  close_if_idle(kv);
  if (base == NULL) return;
  base->busy--;
  close_if_idle(base);
}

cairn_future_t *cairn_kv_close(cairn_kv_t *kv) {
  cairn_future_t *closed = kv->closed;
  kv->closing = true;
  close_if_idle(kv);
  return closed;
}

cairn_code_t cairn__kv_may(cairn_kv_t *kv, bool change, cairn_error_t *err) {
  if (kv->closing || (kv->base != NULL && kv->base->closing))
    return cairn_fail(err, CAIRN_CLOSED, "the store is being closed");
  if (change && (cairn_kv_caps(kv) & CAIRN_KV_READ_ONLY) != 0)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "the store is read-only");
  return CAIRN_OK;
}

/* --- asking --- */

cairn_runtime_t *cairn_kv_runtime(cairn_kv_t *kv) {
  return kv->rt;
}

uint32_t cairn_kv_caps(cairn_kv_t *kv) {
  uint32_t caps = kv->ops.caps(kv->self);
  return kv->ops.rename_prefix != NULL ? caps : caps & ~CAIRN_KV_RENAME_PREFIX;
}

void cairn__kv_describe_full(cairn_kv_t *kv, cairn_bytes_t full, char *out,
                             size_t cap) {
  if (cap == 0) return;
  int n = full.n < 4096 ? (int)full.n : 4096;
  if (kv->ops.describe != NULL)
    kv->ops.describe(kv->self, full, out, cap);
  else
    snprintf(out, cap, "%s://%.*s", kv->ops.scheme, n, (const char *)full.p);
  for (; *out != '\0'; out++) /* one line, whatever the key holds */
    if (iscntrl((unsigned char)*out)) *out = '?';
}

void cairn_kv_describe(cairn_kv_t *kv, cairn_bytes_t key, char *out,
                       size_t cap) {
  cairn_bytes_t full = key;
  void *mem = kv->prefix_n > 0 ? cairn__kv_alloc_key(kv, 0, key, &full) : NULL;
  cairn__kv_describe_full(kv, full, out, cap);
  free(mem);
}
