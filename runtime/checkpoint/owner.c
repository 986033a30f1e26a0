#include "checkpoint/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner_record.h"
#include "kv/kv.h"

#define PATIENCE_MS 30000
#define MAX_TRIES 4

/* One operation on the owner of one temporary directory. */
struct owner_op {
  cairn_kv_t *root;
  cairn_runtime_t *rt;
  cairn_future_t *done;
  cairn_wait_t wait;
  cairn_error_t err;
  char tmp[256]; /* the directory, without '/' */
  char id[33];
  char key[CAIRN__OWNER_NAME + 16]; /* of its owner file */
  /* with '/'. claim: where the directory is made; drop: where it goes */
  char staging[CAIRN__OWNER_NAME];
  char *renamed; /* drop: the caller's name of it */
  cairn_buf_t text;
  struct iovec iov;
  cairn_value_t value;
  cairn__owner_t found;
  bool patient;
  int tries;
  int64_t waited_ms, delay_ms;
};

static struct owner_op *op_of(cairn_wait_t *w) {
  return cairn_container_of(w, struct owner_op, wait);
}

static void op_end(struct owner_op *op) {
  cairn_error_t err = op->err;
  cairn_future_t *done = op->done;
  cairn_buf_reset(&op->text);
  cairn_value_reset(&op->value);
  free(op);
  cairn_future_resolve(done, &err);
}

static void on_last(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_wait_result(w, &op->err);
  op_end(op);
}

static struct owner_op *op_new(cairn_kv_t *root, const char *tmp,
                               const char *id) {
  struct owner_op *op = calloc(1, sizeof(*op));
  if (op == NULL) return NULL;
  op->root = root;
  op->rt = cairn_kv_runtime(root);
  snprintf(op->tmp, sizeof(op->tmp), "%s", tmp);
  snprintf(op->id, sizeof(op->id), "%s", id);
  snprintf(op->key, sizeof(op->key), "%s/" CAIRN__OWNER_FILE, op->tmp);
  if (cairn__promise(op->rt, &op->done)) return op;
  cairn_future_unref(op->done);
  free(op);
  return NULL;
}

static cairn_future_t *no_memory(cairn_kv_t *root) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "owner of a step");
  return cairn_future_done(cairn_kv_runtime(root), &err);
}

/* A name of our own for the directory: by it a sweep knows who made it. */
static void name_staging(struct owner_op *op) {
  char suffix[128];
  cairn__owner_staging_suffix(op->id, suffix, sizeof(suffix));
  snprintf(op->staging, sizeof(op->staging), "%s%s/", op->tmp, suffix);
}

static cairn_future_t *write_owner(struct owner_op *op, const char *key) {
  cairn_buf_reset(&op->text);
  cairn__owner_emit(op->id, &op->text);
  if (op->text.failed) return no_memory(op->root);
  op->iov = (struct iovec){op->text.p, op->text.n};
  return cairn_kv_write(op->root, cairn_bytes_str(key), &op->iov, 1, NULL,
                        NULL);
}

static cairn_future_t *read_owner(struct owner_op *op) {
  cairn_value_reset(&op->value);
  return cairn_kv_read(op->root, cairn_bytes_str(op->key), CAIRN_WHOLE,
                       &op->value);
}

/* --- claim: staging directory with owner file, renamed to the real name --- */

static void claim_try(struct owner_op *op);

/* The last rename may have been done, and then failed to become durable. */
static void on_own_looked(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  bool ours = cairn_wait_result(w, NULL) == CAIRN_OK && op->value.found &&
              cairn__owner_parse(op->value.data, &op->found) &&
              strcmp(op->found.id, op->id) == 0;
  if (ours)
    cairn_then(cairn__owner_discard(op->root, op->tmp, op->id), &op->wait,
               on_last);
  else
    op_end(op);
}

static void on_staging_removed(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_wait_result(w, &op->err);
  cairn_then(read_owner(op), &op->wait, on_own_looked);
}

static void claim_give_up(struct owner_op *op) {
  cairn_then(cairn_kv_remove_prefix(op->root, cairn_bytes_str(op->staging)),
             &op->wait, on_staging_removed);
}

static void on_aside_removed(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_error_t ignored = {0};
  if (cairn_wait_result(w, &ignored) != CAIRN_OK)
    cairn_log(op->rt, CAIRN_LOG_WARN, "leftover stays: %s", ignored.message);
  claim_try(op);
}

static void discard_dead(struct owner_op *op) {
  cairn_then(cairn__owner_discard(op->root, op->tmp, op->found.id), &op->wait,
             on_aside_removed);
}

/* Someone else may have been quicker with the same leftover: then it is gone,
 * and the next try decides. */
static void on_moved_aside(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_error_t err = {0};
  cairn_code_t rc = cairn_wait_result(w, &err);
  if (rc != CAIRN_OK && rc != CAIRN_NOT_FOUND) {
    cairn_error_copy(&op->err, &err);
    claim_give_up(op);
    return;
  }
  claim_try(op);
}

static void move_aside(struct owner_op *op) {
  uint64_t once;
  char from[260], aside[400];
  cairn__random(&once, sizeof(once));
  snprintf(aside, sizeof(aside), "%s-stale-%016" PRIx64 "/", op->tmp, once);
  snprintf(from, sizeof(from), "%s/", op->tmp);
  cairn_then(cairn_kv_rename_prefix(op->root, cairn_bytes_str(from),
                                    cairn_bytes_str(aside)),
             &op->wait, on_moved_aside);
}

static void on_rival(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) {
    claim_give_up(op);
    return;
  }
  bool readable =
      op->value.found && cairn__owner_parse(op->value.data, &op->found);
  if (readable && cairn__owner_alive(&op->found)) {
    cairn_fail(&op->err, CAIRN_BUSY,
               "%s is being written by process %" PRId64 " on host %s", op->tmp,
               op->found.process.pid, op->found.process.host);
    claim_give_up(op);
    return;
  }
  if (readable)
    discard_dead(op);
  else
    move_aside(op);
}

static void on_claimed(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_error_t err = {0};
  cairn_code_t rc = cairn_wait_result(w, &err);
  if (rc == CAIRN_OK) {
    op_end(op);
  } else if (rc == CAIRN_EXISTS && op->tries < MAX_TRIES) {
    cairn_then(read_owner(op), &op->wait, on_rival);
  } else {
    cairn_error_copy(&op->err, &err);
    claim_give_up(op);
  }
}

static void claim_try(struct owner_op *op) {
  char to[260];
  op->tries++;
  snprintf(to, sizeof(to), "%s/", op->tmp);
  cairn_then(cairn_kv_rename_prefix(op->root, cairn_bytes_str(op->staging),
                                    cairn_bytes_str(to)),
             &op->wait, on_claimed);
}

static void on_staged(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  if (cairn_wait_result(w, &op->err) != CAIRN_OK)
    claim_give_up(op);
  else
    claim_try(op);
}

cairn_future_t *cairn__owner_claim(cairn_kv_t *root, const char *tmp,
                                   const char *id) {
  struct owner_op *op = op_new(root, tmp, id);
  if (op == NULL) return no_memory(root);
  cairn_future_t *done = op->done;
  char key[512];
  name_staging(op);
  snprintf(key, sizeof(key), "%s" CAIRN__OWNER_FILE, op->staging);
  cairn_then(write_owner(op, key), &op->wait, on_staged);
  return done;
}

/* --- check --- */

static void on_checked(cairn_wait_t *w);

static void on_waited(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  cairn_wait_result(w, &op->err);
  cairn_then(read_owner(op), &op->wait, on_checked);
}

static void check_again(struct owner_op *op) {
  op->waited_ms += op->delay_ms;
  op->delay_ms = op->delay_ms < 1000 ? op->delay_ms * 2 : 1000;
  cairn_then(cairn_after(op->rt, op->delay_ms), &op->wait, on_waited);
}

static void on_checked(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) {
    op_end(op);
    return;
  }
  bool readable =
      op->value.found && cairn__owner_parse(op->value.data, &op->found);
  if (!readable && op->patient && op->waited_ms < PATIENCE_MS) {
    check_again(op);
    return;
  }
  char where[512];
  cairn_kv_describe(op->root, cairn_bytes_str(op->key), where, sizeof(where));
  if (!readable)
    cairn_fail(&op->err, CAIRN_NOT_FOUND,
               "%s is not there: was the directory moved or removed, or is it "
               "not on a file system that all ranks share?",
               where);
  else if (strcmp(op->found.id, op->id) != 0)
    cairn_fail(&op->err, CAIRN_BUSY,
               "%s: the directory belongs to process %" PRId64
               " on host %s now",
               where, op->found.process.pid, op->found.process.host);
  op_end(op);
}

cairn_future_t *cairn__owner_check(cairn_kv_t *root, const char *tmp,
                                   const char *id, bool patient) {
  struct owner_op *op = op_new(root, tmp, id);
  if (op == NULL) return no_memory(root);
  cairn_future_t *done = op->done;
  op->patient = patient;
  op->delay_ms = 10;
  cairn_then(read_owner(op), &op->wait, on_checked);
  return done;
}

/* --- beat, drop --- */

static void on_beat_checked(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  if (cairn_wait_result(w, &op->err) != CAIRN_OK)
    op_end(op);
  else
    cairn_then(write_owner(op, op->key), &op->wait, on_last);
}

/* Never where there is none: writing would make anew a directory that was moved
 * or removed, and a step without what was in it would be taken for ours. */
cairn_future_t *cairn__owner_beat(cairn_kv_t *root, const char *tmp,
                                  const char *id) {
  struct owner_op *op = op_new(root, tmp, id);
  if (op == NULL) return no_memory(root);
  cairn_future_t *done = op->done;
  cairn_then(cairn__owner_check(root, tmp, id, false), &op->wait,
             on_beat_checked);
  return done;
}

static void on_drop_renamed(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) {
    /* It may have been renamed all the same, where nobody looks for it. */
    cairn_then(cairn_kv_remove_prefix(op->root, cairn_bytes_str(op->staging)),
               &op->wait, on_last);
    return;
  }
  size_t n = strlen(op->staging) - 1; /* without the '/' */
  memcpy(op->renamed, op->staging, n);
  op->renamed[n] = 0;
  snprintf(op->key, sizeof(op->key), "%s" CAIRN__OWNER_FILE, op->staging);
  cairn_then(cairn_kv_remove(op->root, cairn_bytes_str(op->key), NULL, NULL),
             &op->wait, on_last);
}

static void on_drop_checked(cairn_wait_t *w) {
  struct owner_op *op = op_of(w);
  char from[260];
  if (cairn_wait_result(w, &op->err) != CAIRN_OK) {
    op_end(op);
    return;
  }
  snprintf(from, sizeof(from), "%s/", op->tmp);
  cairn_then(cairn_kv_rename_prefix(op->root, cairn_bytes_str(from),
                                    cairn_bytes_str(op->staging)),
             &op->wait, on_drop_renamed);
}

cairn_future_t *cairn__owner_drop(cairn_kv_t *root, char *tmp, const char *id) {
  struct owner_op *op = op_new(root, tmp, id);
  if (op == NULL) return no_memory(root);
  cairn_future_t *done = op->done;
  op->renamed = tmp;
  name_staging(op);
  cairn_then(cairn__owner_check(root, tmp, id, false), &op->wait,
             on_drop_checked);
  return done;
}
