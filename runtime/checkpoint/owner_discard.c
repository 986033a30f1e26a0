/* Removing a directory whose owner is dead, or that is our own.
 *
 *   RENAME   to a trash name: a removal that is cut short, with the owner file
 *            gone before the rest, leaves what every later sweep knows again
 *   LOOK     at the owner file once more: someone quicker may have taken the
 *            name since it was judged
 *   REMOVE   or put back what is another's
 *
 * What is gone already is done. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "kv/kv.h"

struct discard {
  cairn_kv_t *root;
  cairn_future_t *done;
  cairn_wait_t wait;
  cairn_error_t err;
  char id[33];
  char from[400], trash[512]; /* with '/' */
  cairn_value_t value;
};

static struct discard *discard_of(cairn_wait_t *w) {
  return cairn_container_of(w, struct discard, wait);
}

static void discard_end(struct discard *d) {
  cairn_error_t err = d->err;
  cairn_future_t *done = d->done;
  cairn_value_reset(&d->value);
  free(d);
  cairn_future_resolve(done, &err);
}

static void on_last(cairn_wait_t *w) {
  struct discard *d = discard_of(w);
  cairn_wait_result(w, &d->err);
  discard_end(d);
}

static bool is_another(const struct discard *d) {
  cairn__owner_t found;
  return d->value.found && cairn__owner_parse(d->value.data, &found) &&
         strcmp(found.id, d->id) != 0;
}

static void on_looked(cairn_wait_t *w) {
  struct discard *d = discard_of(w);
  cairn_wait_result(w, NULL);
  cairn_bytes_t trash = cairn_bytes_str(d->trash);
  cairn_then(is_another(d) ? cairn_kv_rename_prefix(d->root, trash,
                                                    cairn_bytes_str(d->from))
                           : cairn_kv_remove_prefix(d->root, trash),
             &d->wait, on_last);
}

static void on_renamed(cairn_wait_t *w) {
  struct discard *d = discard_of(w);
  cairn_error_t err = {0};
  char key[600];
  if (cairn_wait_result(w, &err) == CAIRN_NOT_FOUND) {
    discard_end(d);
    return;
  }
  cairn_error_copy(&d->err, &err); /* it may have been renamed all the same */
  snprintf(key, sizeof(key), "%s" CAIRN__OWNER_FILE, d->trash);
  cairn_then(
      cairn_kv_read(d->root, cairn_bytes_str(key), CAIRN_WHOLE, &d->value),
      &d->wait, on_looked);
}

cairn_future_t *cairn__owner_discard(cairn_kv_t *root, const char *name,
                                     const char *id) {
  cairn_runtime_t *rt = cairn_kv_runtime(root);
  struct discard *d = calloc(1, sizeof(*d));
  if (d == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "removing %s", name);
    return cairn_future_done(rt, &err);
  }
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) {
    free(d);
    return done;
  }
  uint64_t once;
  cairn__random(&once, sizeof(once));
  d->root = root;
  snprintf(d->id, sizeof(d->id), "%s", id);
  snprintf(d->from, sizeof(d->from), "%s/", name);
  snprintf(d->trash, sizeof(d->trash), CAIRN__TRASH_PREFIX "%016" PRIx64 "/",
           once);
  d->done = done;
  cairn_then(cairn_kv_rename_prefix(root, cairn_bytes_str(d->from),
                                    cairn_bytes_str(d->trash)),
             &d->wait, on_renamed);
  return done;
}
