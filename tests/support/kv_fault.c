/* See kv_fault.h. Built on the public interface of stores only: the inner store
 * is opened with cairn_kv_open, and its futures are passed on or waited for
 * here. */
#include "support/kv_fault.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"

#define MAX_RUNTIMES 64

struct held;

struct kv_fault {
  kv_fault_t *next; /* in `all` */
  cairn_runtime_t *rts[MAX_RUNTIMES];
  int n_rts;

  pthread_mutex_t lock; /* all below */
  pthread_cond_t changed;
  kv_fault_rule_t rule;
  int counts[KV_FAULT_KINDS];
  int matched; /* calls that the rule counts */
  bool hit;
  struct held *held; /* done inside, kept from being ready */
  int n_held;
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static kv_fault_t *all;

/* --- control --- */

kv_fault_t *kv_fault_new(void) {
  kv_fault_t *f = calloc(1, sizeof *f);
  if (f == NULL) abort();
  pthread_mutex_init(&f->lock, NULL);
  pthread_cond_init(&f->changed, NULL);
  pthread_mutex_lock(&all_lock);
  f->next = all;
  all = f;
  pthread_mutex_unlock(&all_lock);
  return f;
}

void kv_fault_free(kv_fault_t *f) {
  pthread_mutex_lock(&all_lock);
  for (kv_fault_t **p = &all; *p != NULL; p = &(*p)->next) {
    if (*p != f) continue;
    *p = f->next;
    break;
  }
  pthread_mutex_unlock(&all_lock);
  pthread_cond_destroy(&f->changed);
  pthread_mutex_destroy(&f->lock);
  free(f);
}

static kv_fault_t *fault_of(const cairn_runtime_t *rt) {
  kv_fault_t *found = NULL;
  pthread_mutex_lock(&all_lock);
  for (kv_fault_t *f = all; f != NULL; f = f->next)
    for (int i = 0; i < f->n_rts; i++)
      if (f->rts[i] == rt) found = f;
  pthread_mutex_unlock(&all_lock);
  return found;
}

void kv_fault_set(kv_fault_t *f, const kv_fault_rule_t *rule) {
  pthread_mutex_lock(&f->lock);
  f->rule = rule != NULL ? *rule : (kv_fault_rule_t){0};
  memset(f->counts, 0, sizeof f->counts);
  f->matched = 0;
  f->hit = false;
  pthread_mutex_unlock(&f->lock);
}

int kv_fault_count(kv_fault_t *f, kv_fault_kind_t kind) {
  pthread_mutex_lock(&f->lock);
  int n = f->counts[kind];
  pthread_mutex_unlock(&f->lock);
  return n;
}

bool kv_fault_hit(kv_fault_t *f) {
  pthread_mutex_lock(&f->lock);
  bool hit = f->hit;
  pthread_mutex_unlock(&f->lock);
  return hit;
}

/* Counts a call; true if the rule is for it, and then how. */
static bool meets(kv_fault_t *f, kv_fault_kind_t kind, cairn_bytes_t key,
                  kv_fault_rule_t *rule) {
  pthread_mutex_lock(&f->lock);
  *rule = f->rule;
  f->counts[KV_FAULT_ANY]++;
  f->counts[kind]++;
  bool mine = (rule->kind == KV_FAULT_ANY || rule->kind == kind) &&
              (rule->key_part == NULL ||
               (key.n > 0 && memmem(key.p, key.n, rule->key_part,
                                    strlen(rule->key_part)) != NULL));
  if (mine) f->matched++;
  mine = mine && rule->at != 0 &&
         (f->matched == rule->at || (rule->sticky && f->matched > rule->at));
  f->hit = f->hit || mine;
  pthread_mutex_unlock(&f->lock);
  return mine;
}

static cairn_error_t rule_error(const kv_fault_rule_t *rule) {
  cairn_error_t err = {0};
  cairn_fail(&err, rule->code != CAIRN_OK ? rule->code : CAIRN_IO,
             "injected fault");
  return err;
}

/* --- calls that are not passed on as they are --- */

struct held {
  kv_fault_t *f;
  cairn_runtime_t *rt;
  bool hold;
  int slow_ms;
  cairn_error_t err; /* what to answer; the inner error if it is none */
  cairn_future_t *done;
  cairn_wait_t wait;
  cairn_task_t task;
  struct held *next;
};

static void answer(struct held *h) {
  cairn_future_t *done = h->done;
  cairn_error_t err = h->err;
  free(h);
  cairn_future_resolve(done, &err);
}

static void on_task(cairn_task_t *t) {
  answer(cairn_container_of(t, struct held, task));
}

static void on_slow(cairn_wait_t *w) {
  cairn_wait_result(w, NULL);
  answer(cairn_container_of(w, struct held, wait));
}

static void on_inner(cairn_wait_t *w) {
  struct held *h = cairn_container_of(w, struct held, wait);
  kv_fault_t *f = h->f;
  cairn_wait_result(w, &h->err);
  if (h->slow_ms > 0) {
    cairn_then(cairn_after(h->rt, h->slow_ms), &h->wait, on_slow);
    return;
  }
  if (!h->hold) {
    answer(h);
    return;
  }
  pthread_mutex_lock(&f->lock);
  h->next = f->held;
  f->held = h;
  f->n_held++;
  pthread_cond_broadcast(&f->changed);
  pthread_mutex_unlock(&f->lock);
}

void kv_fault_await_held(kv_fault_t *f, int n) {
  pthread_mutex_lock(&f->lock);
  while (f->n_held < n) pthread_cond_wait(&f->changed, &f->lock);
  pthread_mutex_unlock(&f->lock);
}

void kv_fault_release(kv_fault_t *f) {
  pthread_mutex_lock(&f->lock);
  struct held *h = f->held;
  f->held = NULL;
  f->n_held = 0;
  pthread_mutex_unlock(&f->lock);
  while (h != NULL) {
    struct held *next = h->next;
    cairn_post(h->rt, &h->task, on_task);
    h = next;
  }
}

static cairn_future_t *spoil(cairn_runtime_t *rt, kv_fault_t *f,
                             const kv_fault_rule_t *rule,
                             cairn_future_t *inner) {
  struct held *h = calloc(1, sizeof *h);
  if (h == NULL) abort();
  h->f = f;
  h->rt = rt;
  h->hold = rule->how == KV_FAULT_HOLD;
  h->slow_ms = rule->how == KV_FAULT_SLOW ? rule->ms : 0;
  if (!h->hold && h->slow_ms == 0) h->err = rule_error(rule);
  cairn_future_t *done = h->done = cairn_future_new(rt);
  cairn_then(inner, &h->wait, on_inner);
  return done;
}

/* --- the driver --- */

struct store {
  kv_fault_t *f;
  cairn_kv_t *inner;
  cairn_future_t *opened, *closed;
  void **self;
  cairn_wait_t wait;
};

struct upload {
  struct store *s;
  cairn_upload_t *inner;
  char *key;
  void **out;
  cairn_future_t *begun;
  cairn_wait_t wait;
};

/* Calls the inner store unless the rule says otherwise. */
#define FORWARD(rt, s, kind, key, call)                                       \
  do {                                                                        \
    kv_fault_rule_t rule_;                                                    \
    if (!meets((s)->f, kind, key, &rule_)) return (call);                     \
    if (rule_.how != KV_FAULT_FAIL) return spoil(rt, (s)->f, &rule_, (call)); \
    cairn_error_t err_ = rule_error(&rule_);                                  \
    return cairn_future_done(rt, &err_);                                      \
  } while (0)

static void on_open(cairn_wait_t *w) {
  struct store *s = cairn_container_of(w, struct store, wait);
  cairn_future_t *opened = s->opened;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK)
    *s->self = s;
  else
    free(s);
  cairn_future_resolve(opened, &err);
}

/* The inner store's URL or spec, as its own text. */
static void base_text(const cairn_json_t *spec, cairn_buf_t *out) {
  const cairn_json_t *base = cairn_json_get(spec, "base");
  const cairn_json_t *path = cairn_json_get(spec, "path");
  if (base != NULL && base->kind == CAIRN_JSON_STRING) {
    cairn_buf_put(out, base->str.p, base->str.n);
  } else if (base != NULL) {
    cairn_json_emit(base, CAIRN_JSON_COMPACT, out);
  } else if (path != NULL) {
    if (path->str.n > 0 && path->str.p[0] != '/')
      cairn_buf_put_str(out, "memory://");
    cairn_buf_put(out, path->str.p, path->str.n);
  }
  cairn_buf_put_u8(out, '\0');
}

static cairn_future_t *fault_open(cairn_runtime_t *rt, cairn_bytes_t spec,
                                  void **self) {
  cairn_json_doc_t doc = {0};
  cairn_buf_t url = {0};
  cairn_error_t err = {0};
  if (cairn_json_parse(spec, NULL, &doc, &err) != CAIRN_OK)
    return cairn_future_done(rt, &err);
  base_text(doc.root, &url);
  cairn_json_free(&doc);
  struct store *s = calloc(1, sizeof *s);
  if (s == NULL) abort();
  s->f = fault_of(rt);
  s->self = self;
  cairn_future_t *opened = s->opened = cairn_future_new(rt);
  cairn_then(cairn_kv_open(rt, (char *)url.p, &s->inner), &s->wait, on_open);
  cairn_buf_reset(&url);
  return opened;
}

static void on_close(cairn_wait_t *w) {
  struct store *s = cairn_container_of(w, struct store, wait);
  cairn_future_t *closed = s->closed;
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  free(s);
  cairn_future_resolve(closed, &err);
}

static cairn_future_t *fault_close(cairn_runtime_t *rt, void *self) {
  struct store *s = self;
  cairn_future_t *closed = s->closed = cairn_future_new(rt);
  cairn_then(cairn_kv_close(s->inner), &s->wait, on_close);
  return closed;
}

static uint32_t fault_caps(void *self) {
  return cairn_kv_caps(((struct store *)self)->inner);
}

static void fault_describe(void *self, cairn_bytes_t key, char *out,
                           size_t cap) {
  cairn_kv_describe(((struct store *)self)->inner, key, out, cap);
}

static cairn_future_t *fault_read(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t key, const cairn_read_opts_t *o,
                                  cairn_value_t *out) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_READ, key, cairn_kv_read(s->inner, key, o, out));
}

static cairn_future_t *fault_write(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key, const struct iovec *iov,
                                   int niov, const cairn_write_opts_t *o,
                                   cairn_written_t *out) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_WRITE, key,
          cairn_kv_write(s->inner, key, iov, niov, o, out));
}

static cairn_future_t *fault_remove(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t key,
                                    const cairn_write_opts_t *o,
                                    cairn_written_t *out) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_REMOVE, key, cairn_kv_remove(s->inner, key, o, out));
}

static cairn_future_t *fault_list(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                  void *arg) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_LIST, prefix,
          cairn_kv_list(s->inner, prefix, fn, arg));
}

static cairn_future_t *fault_list_dir(cairn_runtime_t *rt, void *self,
                                      cairn_bytes_t prefix, cairn_kv_key_fn fn,
                                      void *arg) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_LIST, prefix,
          cairn_kv_list_dir(s->inner, prefix, fn, arg));
}

static cairn_future_t *fault_rename(cairn_runtime_t *rt, void *self,
                                    cairn_bytes_t from, cairn_bytes_t to) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_RENAME, from,
          cairn_kv_rename_prefix(s->inner, from, to));
}

static cairn_future_t *fault_remove_prefix(cairn_runtime_t *rt, void *self,
                                           cairn_bytes_t prefix) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_REMOVE_PREFIX, prefix,
          cairn_kv_remove_prefix(s->inner, prefix));
}

static cairn_future_t *fault_sync(cairn_runtime_t *rt, void *self,
                                  cairn_bytes_t prefix) {
  struct store *s = self;
  FORWARD(rt, s, KV_FAULT_SYNC, prefix, cairn_kv_sync(s->inner, prefix));
}

/* --- uploads --- */

static void upload_free(struct upload *u) {
  free(u->key);
  free(u);
}

static void on_begun(cairn_wait_t *w) {
  struct upload *u = cairn_container_of(w, struct upload, wait);
  cairn_future_t *begun = u->begun;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK)
    *u->out = u;
  else
    upload_free(u);
  cairn_future_resolve(begun, &err);
}

/* A begin that fails has begun nothing, so AFTER is the same as FAIL. */
static cairn_future_t *fault_upload_begin(cairn_runtime_t *rt, void *self,
                                          cairn_bytes_t key,
                                          const cairn_write_opts_t *o,
                                          void **upload) {
  struct store *s = self;
  kv_fault_rule_t rule;
  bool mine = meets(s->f, KV_FAULT_UPLOAD, key, &rule);
  if (mine && (rule.how == KV_FAULT_FAIL || rule.how == KV_FAULT_AFTER)) {
    cairn_error_t err = rule_error(&rule);
    return cairn_future_done(rt, &err);
  }
  struct upload *u = calloc(1, sizeof *u);
  if (u == NULL) abort();
  u->s = s;
  u->out = upload;
  u->key = cairn__bytes_dup(key);
  cairn_future_t *begun = u->begun = cairn_future_new(rt);
  cairn_then(cairn_kv_upload(s->inner, key, o, &u->inner), &u->wait, on_begun);
  return mine ? spoil(rt, s->f, &rule, begun) : begun;
}

static cairn_future_t *fault_upload_part(cairn_runtime_t *rt, void *upload,
                                         uint64_t offset,
                                         const struct iovec *iov, int niov) {
  struct upload *u = upload;
  FORWARD(rt, u->s, KV_FAULT_PART, cairn_bytes_str(u->key),
          cairn_upload_part(u->inner, offset, iov, niov));
}

/* Either way the upload is gone: a commit that fails aborts. */
static cairn_future_t *upload_end(cairn_runtime_t *rt, struct upload *u,
                                  kv_fault_kind_t kind) {
  kv_fault_rule_t rule;
  kv_fault_t *f = u->s->f;
  bool mine = meets(f, kind, cairn_bytes_str(u->key), &rule);
  bool keep = kind == KV_FAULT_COMMIT && !(mine && rule.how == KV_FAULT_FAIL);
  cairn_future_t *inner =
      keep ? cairn_upload_commit(u->inner) : cairn_upload_abort(u->inner);
  upload_free(u);
  return mine ? spoil(rt, f, &rule, inner) : inner;
}

static cairn_future_t *fault_upload_commit(cairn_runtime_t *rt, void *upload) {
  return upload_end(rt, upload, KV_FAULT_COMMIT);
}

static cairn_future_t *fault_upload_abort(cairn_runtime_t *rt, void *upload) {
  return upload_end(rt, upload, KV_FAULT_ABORT);
}

static const cairn_kv_ops_t fault_ops = {
    .abi_major = CAIRN_KV_ABI_MAJOR,
    .abi_minor = CAIRN_KV_ABI_MINOR,
    .size = sizeof(cairn_kv_ops_t),
    .scheme = "fault",
    .open = fault_open,
    .close = fault_close,
    .caps = fault_caps,
    .read = fault_read,
    .write = fault_write,
    .remove = fault_remove,
    .list = fault_list,
    .upload_begin = fault_upload_begin,
    .upload_part = fault_upload_part,
    .upload_commit = fault_upload_commit,
    .upload_abort = fault_upload_abort,
    .rename_prefix = fault_rename,
    .remove_prefix = fault_remove_prefix,
    .sync = fault_sync,
    .list_dir = fault_list_dir,
    .describe = fault_describe,
};

cairn_code_t kv_fault_register(cairn_runtime_t *rt, kv_fault_t *f,
                               cairn_error_t *err) {
  if (f->n_rts == MAX_RUNTIMES)
    return cairn_fail(err, CAIRN_INVALID, "too many runtimes for one kv_fault");
  pthread_mutex_lock(&all_lock);
  f->rts[f->n_rts++] = rt;
  pthread_mutex_unlock(&all_lock);
  return cairn_kv_register(rt, &fault_ops, err);
}
