/* Removing what killed saves of Cairn left in a root. Only what carries our own
 * mark goes: trash by its name, temporaries by an owner file whose owner is
 * dead, half-made ones by the dead process in their name. Everything else may
 * be someone's. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "kv/kv.h"

struct sweep {
  cairn_kv_t *root;
  cairn_runtime_t *rt;
  cairn_future_t *done;
  cairn_wait_t wait;
  cairn_error_t err;
  char **names; /* of directories, with '/' */
  size_t n, at;
  cairn_value_t owner;
};

static bool starts(cairn_bytes_t name, const char *prefix) {
  return cairn__bytes_starts(name, cairn_bytes_str(prefix));
}

static bool on_name(void *arg, cairn_bytes_t key, int64_t size) {
  struct sweep *s = arg;
  (void)size;
  if (key.n < 2 || key.p[key.n - 1] != '/') return true;
  if (!starts(key, CAIRN__TRASH_PREFIX) && !cairn__name_is_temporary(key) &&
      !starts(key, CAIRN__PROBE_PREFIX))
    return true;
  char **p = realloc(s->names, (s->n + 1) * sizeof(char *));
  if (p == NULL) return false;
  s->names = p;
  p[s->n] = cairn__bytes_dup(key);
  if (p[s->n] != NULL) s->n++;
  return true;
}

static void step(struct sweep *s);

static void on_removed(cairn_wait_t *w) {
  struct sweep *s = cairn_container_of(w, struct sweep, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    cairn_log(s->rt, CAIRN_LOG_WARN, "leftover stays: %s", err.message);
  s->at++;
  step(s);
}

static void say_removing(struct sweep *s) {
  cairn_log(s->rt, CAIRN_LOG_INFO, "removing leftover %s", s->names[s->at]);
}

static void remove_trash(struct sweep *s) {
  say_removing(s);
  cairn_then(cairn_kv_remove_prefix(s->root, cairn_bytes_str(s->names[s->at])),
             &s->wait, on_removed);
}

static void discard(struct sweep *s, const char *id) {
  char *name = s->names[s->at];
  say_removing(s);
  name[strlen(name) - 1] = 0; /* the '/' */
  cairn_then(cairn__owner_discard(s->root, name, id), &s->wait, on_removed);
}

static void on_owner(cairn_wait_t *w) {
  struct sweep *s = cairn_container_of(w, struct sweep, wait);
  cairn_error_t err = {0};
  cairn__owner_t owner = {0};
  cairn_code_t rc = cairn_wait_result(w, &err);
  bool dead = false;
  if (rc == CAIRN_OK && s->owner.found)
    dead = cairn__owner_parse(s->owner.data, &owner) &&
           !cairn__owner_alive(&owner);
  else if (rc == CAIRN_OK)
    dead = cairn__owner_staging_is_dead(cairn_bytes_str(s->names[s->at]));
  cairn_value_reset(&s->owner);
  if (dead) {
    discard(s, owner.id);
  } else {
    s->at++;
    step(s);
  }
}

static void finish(struct sweep *s) {
  cairn_future_t *done = s->done;
  for (size_t i = 0; i < s->n; i++) free(s->names[i]);
  free(s->names);
  free(s);
  cairn_future_resolve(done, NULL);
}

static void step(struct sweep *s) {
  if (s->at == s->n) {
    finish(s);
    return;
  }
  if (starts(cairn_bytes_str(s->names[s->at]), CAIRN__TRASH_PREFIX)) {
    remove_trash(s);
    return;
  }
  char key[512];
  snprintf(key, sizeof(key), "%s" CAIRN__OWNER_FILE, s->names[s->at]);
  cairn_then(
      cairn_kv_read(s->root, cairn_bytes_str(key), CAIRN_WHOLE, &s->owner),
      &s->wait, on_owner);
}

static void on_listed(cairn_wait_t *w) {
  struct sweep *s = cairn_container_of(w, struct sweep, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK)
    cairn_log(s->rt, CAIRN_LOG_WARN, "looking for leftovers: %s", err.message);
  step(s);
}

cairn_future_t *cairn__owner_sweep(cairn_kv_t *root) {
  cairn_runtime_t *rt = cairn_kv_runtime(root);
  struct sweep *s = calloc(1, sizeof(*s));
  cairn_future_t *done;
  if (s == NULL) return cairn_future_done(rt, NULL);
  if (!cairn__promise(rt, &done)) {
    free(s);
    return done;
  }
  s->root = root;
  s->rt = rt;
  s->done = done;
  cairn_then(cairn_kv_list_dir(root, cairn_bytes(NULL, 0), on_name, s),
             &s->wait, on_listed);
  return done;
}
