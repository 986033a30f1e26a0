/* The end of a save on the primary: the temporary directory becomes the step,
 * or goes. As in save_primary.c each function is one phase. */
#include <stdio.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner.h"

static cairn_future_t *stop_beat(cairn_save_t *s) {
  struct cairn__beat *beat = s->beat;
  s->beat = NULL;
  return beat != NULL ? cairn__beat_stop(beat) : cairn_future_done(s->rt, NULL);
}

/* --- publish --- */

cairn_future_t *cairn__save_publish(cairn_save_t *s) {
  char from[CAIRN__OWNER_NAME + 1], to[300];
  switch (s->at++) {
    case 0:
      return stop_beat(s);
    case 1:
      return cairn__owner_drop(s->root, s->tmp, s->id);
    case 2:
      s->publishing = true;
      snprintf(from, sizeof(from), "%s/", s->tmp);
      snprintf(to, sizeof(to), "%s/", s->name);
      return cairn_kv_rename_prefix(s->root, cairn_bytes_str(from),
                                    cairn_bytes_str(to));
    default:
      s->published = true;
      return NULL;
  }
}

/* --- clean --- */

static cairn_future_t *read_binding(cairn_save_t *s) {
  char key[300];
  if (!s->publishing) return cairn_future_done(s->rt, NULL);
  snprintf(key, sizeof(key), "%s/" CAIRN__BINDING_FILE, s->name);
  return cairn_kv_read(s->root, cairn_bytes_str(key), CAIRN_WHOLE, &s->value);
}

/* A step may have its name and yet have failed: the rename was done, but not
 * made durable, or its answer was lost. All ranks are told that it failed, so
 * it goes. It is ours if its cairn.json is what we wrote last. */
static cairn_future_t *withdraw(cairn_save_t *s) {
  bool there = s->value.found &&
               cairn__bytes_eq(s->value.data, cairn_buf_bytes(&s->text));
  cairn_value_reset(&s->value);
  return there ? cairn__owner_discard(s->root, s->name, s->id)
               : cairn_future_done(s->rt, NULL);
}

/* If it cannot be looked for, or does not go, they are told that instead. */
static void say_if_unsure(cairn_save_t *s) {
  if (s->late.code != CAIRN_OK)
    cairn_within(&s->err, "not confirmed (the step may be there)");
  s->late = (cairn_error_t){0};
}

/* The temporary directory goes unless it has become someone else's: its name
 * was ours from the claim on, so what lies there without an owner file are our
 * own late writes. */
cairn_future_t *cairn__save_clean(cairn_save_t *s) {
  switch (s->at++) {
    case 0:
      return stop_beat(s);
    case 1:
      return read_binding(s);
    case 2:
      say_if_unsure(s);
      return withdraw(s);
    case 3:
      say_if_unsure(s);
      return cairn__owner_check(s->root, s->tmp, s->id, false);
    case 4:
      if (s->late.code == CAIRN_BUSY) return NULL;
      s->late = (cairn_error_t){0};
      return cairn__owner_discard(s->root, s->tmp, s->id);
    default:
      return NULL;
  }
}
