/* The sign of life of a save: its owner file is written again every 20 s, for
 * hosts that cannot see the process. Stopping waits for a write under way,
 * since one that came late would put the file into the finished step. */
#include <stdio.h>
#include <stdlib.h>

#include "checkpoint/checkpoint.h"
#include "checkpoint/owner.h"
#include "kv/kv.h"

struct cairn__beat {
  cairn_kv_t *root;
  cairn_runtime_t *rt;
  char tmp[256];
  char id[33];
  cairn_future_t *timer; /* NULL while a write is under way */
  cairn_wait_t wait;
  bool stopping;
  cairn_future_t *ended;
};

static void wait_more(struct cairn__beat *b);

static void beat_end(struct cairn__beat *b) {
  cairn_future_t *ended = b->ended;
  free(b);
  cairn_future_resolve(ended, NULL);
}

static void on_beat(cairn_wait_t *w) {
  struct cairn__beat *b = cairn_container_of(w, struct cairn__beat, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    cairn_log(b->rt, CAIRN_LOG_WARN, "sign of life: %s", err.message);
  if (b->stopping)
    beat_end(b);
  else
    wait_more(b);
}

static void on_timer(cairn_wait_t *w) {
  struct cairn__beat *b = cairn_container_of(w, struct cairn__beat, wait);
  cairn_wait_result(w, NULL);
  cairn_future_unref(b->timer);
  b->timer = NULL;
  if (b->stopping)
    beat_end(b);
  else
    cairn_then(cairn__owner_beat(b->root, b->tmp, b->id), &b->wait, on_beat);
}

static void wait_more(struct cairn__beat *b) {
  b->timer = cairn_after(b->rt, CAIRN__OWNER_BEAT_MS);
  cairn_then(cairn_future_ref(b->timer), &b->wait, on_timer);
}

struct cairn__beat *cairn__beat_start(cairn_kv_t *root, const char *tmp,
                                      const char *id) {
  struct cairn__beat *b = calloc(1, sizeof(*b));
  if (b == NULL) return NULL;
  b->root = root;
  b->rt = cairn_kv_runtime(root);
  snprintf(b->tmp, sizeof(b->tmp), "%s", tmp);
  snprintf(b->id, sizeof(b->id), "%s", id);
  if (!cairn__promise(b->rt, &b->ended)) {
    cairn_future_unref(b->ended);
    free(b);
    return NULL;
  }
  wait_more(b);
  return b;
}

cairn_future_t *cairn__beat_stop(struct cairn__beat *b) {
  cairn_future_t *ended = b->ended;
  b->stopping = true;
  if (b->timer != NULL) cairn_future_cancel(b->timer);
  return ended;
}
