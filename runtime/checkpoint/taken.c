#include "checkpoint/taken.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/layout.h"
#include "kv/kv.h"

struct check {
  cairn_kv_t *root, *step;
  char *name;
  bool taken;
  cairn__step_look_t look;
  cairn_error_t err, late;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void end(struct check *c) {
  cairn_error_t err = c->err;
  cairn_future_t *done = c->done;
  cairn__step_look_free(&c->look);
  free(c->name);
  free(c);
  cairn_future_resolve(done, &err);
}

static void on_closed(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_wait_result(w, &c->late);
  end(c);
}

/* A look that fails tells nothing; that the name is taken is known anyway. */
static void on_looked(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  cairn_error_t none = {0};
  bool looked = cairn_wait_result(w, &none) == CAIRN_OK;
  char where[512];
  cairn_kv_describe(c->root, cairn_bytes_str(c->name), where, sizeof(where));
  if (looked && c->look.state != CAIRN_STEP_COMPLETE)
    cairn_fail(&c->err, CAIRN_EXISTS,
               "%s is there but incomplete (%s): move it away or delete it",
               where, c->look.why);
  else
    cairn_fail(&c->err, CAIRN_EXISTS, "%s exists already", where);
  cairn_then(cairn_kv_close(c->step), &c->wait, on_closed);
}

/* One name below is enough to know. */
static bool on_name(void *arg, cairn_bytes_t key, int64_t size) {
  struct check *c = arg;
  (void)key;
  (void)size;
  c->taken = true;
  return false;
}

static void on_listed(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  char prefix[256];
  if (cairn_wait_result(w, &c->err) != CAIRN_OK || !c->taken) {
    end(c);
    return;
  }
  snprintf(prefix, sizeof(prefix), "%s/", c->name);
  c->step = cairn_kv_prefix(c->root, cairn_bytes_str(prefix));
  if (c->step == NULL) {
    cairn_fail(&c->err, CAIRN_EXISTS, "%s exists already", c->name);
    end(c);
    return;
  }
  cairn_then(cairn__step_look(c->step, &c->look), &c->wait, on_looked);
}

cairn_future_t *cairn__check_free(cairn_kv_t *root, const char *name) {
  cairn_runtime_t *rt = cairn_kv_runtime(root);
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) return done;
  struct check *c = calloc(1, sizeof(*c));
  if (c != NULL) c->name = cairn__printf("%s", name);
  if (c == NULL || c->name == NULL) {
    cairn_error_t err = {0};
    free(c);
    cairn_fail(&err, CAIRN_NO_MEMORY, "looking for %s", name);
    cairn_future_resolve(done, &err);
    return done;
  }
  c->root = root;
  c->done = done;
  char prefix[256];
  snprintf(prefix, sizeof(prefix), "%s/", name);
  cairn_then(cairn_kv_list_dir(root, cairn_bytes_str(prefix), on_name, c),
             &c->wait, on_listed);
  return done;
}
