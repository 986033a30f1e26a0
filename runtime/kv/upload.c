/* Uploads: a value sent in parts. The front keeps the driver's life simple and
 * the caller's safe: commit and abort wait until no part is in flight; a commit
 * after a failed part, or with a hole between the parts, aborts instead and
 * says so. Everything that ending needs is allocated at begin, so that cleaning
 * up after "out of memory" cannot run out of memory. */
#include <stdlib.h>

#include "kv/kv.h"

struct cairn_upload {
  cairn_kv_t *kv;
  cairn_bytes_t key; /* full */
  void *handle;      /* the driver's */
  cairn_upload_t **out;
  cairn_write_opts_t opts;
  cairn_gen_t gen;
  cairn_future_t *begun, *ended;
  cairn_wait_t wait;

  size_t in_flight;
  uint64_t bytes, end; /* sum of the parts; end of the last one */
  cairn_error_t err;   /* of the first part that failed */
  enum { UPLOAD_OPEN, UPLOAD_COMMIT, UPLOAD_ABORT } ending;
};

struct part {
  cairn_upload_t *upload;
  cairn_future_t *done;
  cairn_wait_t wait;
  struct iovec iov[];
};

static void name_error(cairn_upload_t *u, cairn_error_t *err) {
  char name[512];
  cairn__kv_describe_full(u->kv, u->key, name, sizeof name);
  cairn_within(err, "upload %s", name);
}

/* --- begin --- */

static void on_begun(cairn_wait_t *w) {
  cairn_upload_t *u = cairn_container_of(w, cairn_upload_t, wait);
  cairn_future_t *begun = u->begun;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) {
    *u->out = u;
  } else {
    cairn_kv_t *kv = u->kv;
    name_error(u, &err);
    cairn__promise_drop(u->ended);
    free(u);
    cairn__kv_leave(kv);
  }
  cairn_future_resolve(begun, &err);
}

static bool make_futures(cairn_upload_t *u) {
  if (cairn__promise(u->kv->rt, &u->begun)) {
    if (cairn__promise(u->kv->rt, &u->ended)) return true;
    cairn_future_unref(u->ended);
    cairn__promise_drop(u->begun);
  } else {
    cairn_future_unref(u->begun);
  }
  return false;
}

/* if_equal: commit has no out-parameter that could say "not met", so only
 * create makes sense, and its failure is CAIRN_EXISTS. */
static cairn_code_t may_begin(cairn_kv_t *kv, const cairn_write_opts_t *o,
                              cairn_error_t *err) {
  cairn_code_t rc = cairn__kv_may(kv, true, err);
  if (rc != CAIRN_OK) return rc;
  if (cairn__gen_conditional(o) &&
      !cairn__gen_eq(o->if_equal, &CAIRN_GEN_ABSENT))
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "an upload may only be conditional on absence");
  return CAIRN_OK;
}

static cairn_future_t *begin(cairn_upload_t *u) {
  cairn_kv_t *kv = u->kv;
  if (kv->ops.upload_begin == NULL)
    return cairn__kv_generic_upload_begin(kv, u->key, &u->opts, &u->handle);
  return kv->ops.upload_begin(kv->rt, kv->self, u->key, &u->opts, &u->handle);
}

cairn_future_t *cairn_kv_upload(cairn_kv_t *kv, cairn_bytes_t key,
                                const cairn_write_opts_t *o,
                                cairn_upload_t **out) {
  cairn_error_t err = {0};
  cairn_gen_t gen;
  cairn_bytes_t full;
  cairn_upload_t *u = NULL;
  cairn_write_opts_t opts = cairn__kv_write_opts(o, &gen);
  *out = NULL;
  if (may_begin(kv, &opts, &err) == CAIRN_OK) {
    u = cairn__kv_alloc_key(kv, sizeof *u, key, &full);
    if (u != NULL) *u = (cairn_upload_t){.kv = kv, .key = full, .out = out};
    if (u == NULL || !make_futures(u)) {
      free(u);
      u = NULL;
      cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for the upload");
    }
  }
  if (u == NULL) {
    char name[512];
    cairn_kv_describe(kv, key, name, sizeof name);
    cairn_within(&err, "upload %s", name);
    return cairn_future_done(kv->rt, &err);
  }
  u->opts = cairn__kv_write_opts(o, &u->gen);
  cairn_future_t *begun = u->begun;
  cairn__kv_enter(kv);
  cairn_then(begin(u), &u->wait, on_begun);
  return begun;
}

/* --- end --- */

static void on_ended(cairn_wait_t *w) {
  cairn_upload_t *u = cairn_container_of(w, cairn_upload_t, wait);
  cairn_kv_t *kv = u->kv;
  cairn_future_t *ended = u->ended;
  cairn_error_t err = {0};
  if (u->ending == UPLOAD_COMMIT) cairn_error_copy(&err, &u->err);
  if (cairn_wait_result(w, &err) != CAIRN_OK || err.code != CAIRN_OK)
    name_error(u, &err);
  free(u);
  cairn__kv_leave(kv);
  cairn_future_resolve(ended, &err);
}

static cairn_future_t *commit(cairn_upload_t *u) {
  cairn_kv_t *kv = u->kv;
  if (kv->ops.upload_begin == NULL)
    return cairn__kv_generic_upload_commit(kv->rt, u->handle);
  return kv->ops.upload_commit(kv->rt, u->handle);
}

static cairn_future_t *abandon(cairn_upload_t *u) {
  cairn_kv_t *kv = u->kv;
  if (kv->ops.upload_begin == NULL)
    return cairn__kv_generic_upload_abort(kv->rt, u->handle);
  return kv->ops.upload_abort(kv->rt, u->handle);
}

static void end_if_idle(cairn_upload_t *u) {
  if (u->ending == UPLOAD_OPEN || u->in_flight > 0) return;
  if (u->bytes != u->end)
    cairn_fail(&u->err, CAIRN_INVALID,
               "parts of %llu bytes in all, but the last ends at %llu",
               (unsigned long long)u->bytes, (unsigned long long)u->end);
  bool keep = u->ending == UPLOAD_COMMIT && u->err.code == CAIRN_OK;
  cairn_then(keep ? commit(u) : abandon(u), &u->wait, on_ended);
}

cairn_future_t *cairn_upload_commit(cairn_upload_t *u) {
  cairn_future_t *ended = u->ended;
  u->ending = UPLOAD_COMMIT;
  end_if_idle(u);
  return ended;
}

cairn_future_t *cairn_upload_abort(cairn_upload_t *u) {
  cairn_future_t *ended = u->ended;
  u->ending = UPLOAD_ABORT;
  end_if_idle(u);
  return ended;
}

/* --- parts --- */

static void on_part(cairn_wait_t *w) {
  struct part *p = cairn_container_of(w, struct part, wait);
  cairn_upload_t *u = p->upload;
  cairn_future_t *done = p->done;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    cairn_error_copy(&u->err, &err);
    name_error(u, &err);
  }
  free(p);
  u->in_flight--;
  end_if_idle(u);
  cairn_future_resolve(done, &err);
}

static cairn_code_t measure(cairn_upload_t *u, uint64_t offset,
                            const struct iovec *iov, int niov, uint64_t *n,
                            cairn_error_t *err) {
  if (u->ending != UPLOAD_OPEN)
    return cairn_fail(err, CAIRN_CLOSED, "a part after commit or abort");
  cairn_code_t rc = cairn__iov_total(iov, niov, n, err);
  if (rc != CAIRN_OK) return rc;
  if (offset > INT64_MAX || *n > INT64_MAX - offset)
    return cairn_fail(err, CAIRN_INVALID, "a part beyond 2^63 - 1 bytes");
  return CAIRN_OK;
}

/* A part that cannot begin counts as failed: a commit must not leave it out. */
static cairn_future_t *part_fail(cairn_upload_t *u, cairn_error_t *err) {
  cairn_error_copy(&u->err, err);
  name_error(u, err);
  return cairn_future_done(u->kv->rt, err);
}

cairn_future_t *cairn_upload_part(cairn_upload_t *u, uint64_t offset,
                                  const struct iovec *iov, int niov) {
  cairn_kv_t *kv = u->kv;
  cairn_error_t err = {0};
  uint64_t n;
  if (measure(u, offset, iov, niov, &n, &err) != CAIRN_OK)
    return part_fail(u, &err);
  cairn_future_t *done;
  struct part *p = malloc(sizeof *p + (size_t)niov * sizeof *iov);
  bool promised = cairn__promise(kv->rt, &done);
  if (p == NULL || !promised) {
    if (promised) cairn_future_resolve(done, NULL);
    cairn_future_unref(done);
    free(p);
    cairn_fail(&err, CAIRN_NO_MEMORY, "no memory for a part");
    return part_fail(u, &err);
  }
  p->upload = u;
  p->done = done;
  if (niov > 0) memcpy(p->iov, iov, (size_t)niov * sizeof *iov);
  u->in_flight++;
  u->bytes += n;
  if (offset + n > u->end) u->end = offset + n;
  cairn_then(kv->ops.upload_begin == NULL
                 ? cairn__kv_generic_upload_part(kv->rt, u->handle, offset,
                                                 p->iov, niov)
                 : kv->ops.upload_part(kv->rt, u->handle, offset, p->iov, niov),
             &p->wait, on_part);
  return done;
}
