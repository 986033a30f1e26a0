#include "checkpoint/marks.h"

#include <stdio.h>
#include <stdlib.h>

#include "kv/kv.h"

struct check {
  cairn_kv_t *step;
  const cairn__binding_t *b;
  size_t at;
  char want[64], got[64];
  cairn_value_t value;
  cairn_error_t err;
  cairn_future_t *done;
  cairn_wait_t wait;
};

void cairn__mark_of(const char *save_id, char *out, size_t cap) {
  snprintf(out, cap, "cairn save %s\n", save_id);
}

static void next(struct check *c);

static void end(struct check *c) {
  cairn_error_t err = c->err;
  cairn_future_t *done = c->done;
  free(c);
  cairn_future_resolve(done, &err);
}

static void on_read(cairn_wait_t *w) {
  struct check *c = cairn_container_of(w, struct check, wait);
  const char *name = c->b->files[c->at++].name;
  size_t n = strlen(c->want);
  cairn_code_t rc = cairn_wait_result(w, &c->err);
  bool same = rc == CAIRN_OK && c->value.found && c->value.data.n == n &&
              memcmp(c->value.data.p, c->want, n) == 0;
  cairn_value_reset(&c->value);
  if (rc == CAIRN_OK && !same)
    cairn_fail(&c->err, CAIRN_CORRUPT, "%s is not a file of this save", name);
  if (same)
    next(c);
  else
    end(c);
}

/* d/<32 hex digits>, as the writer names them. */
static bool is_data_file(const cairn__bound_file_t *f, size_t mark) {
  const char *slash = strrchr(f->name, '/');
  return slash != NULL && strlen(slash + 1) == 32 && slash > f->name &&
         slash[-1] == 'd' && (slash - f->name == 1 || slash[-2] == '/') &&
         f->length >= mark;
}

static void next(struct check *c) {
  size_t n = strlen(c->want);
  while (c->at < c->b->num_files && !is_data_file(&c->b->files[c->at], n))
    c->at++;
  if (c->at == c->b->num_files) {
    end(c);
    return;
  }
  cairn_read_opts_t o = {.size = sizeof(o),
                         .what = CAIRN_READ_RANGE,
                         .max = (int64_t)n,
                         .dst = c->got,
                         .cap = sizeof(c->got)};
  cairn_then(cairn_kv_read(c->step, cairn_bytes_str(c->b->files[c->at].name),
                           &o, &c->value),
             &c->wait, on_read);
}

cairn_future_t *cairn__marks_check(cairn_kv_t *step,
                                   const cairn__binding_t *b) {
  cairn_runtime_t *rt = cairn_kv_runtime(step);
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) return done;
  struct check *c = calloc(1, sizeof(*c));
  if (c == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "looking at data files");
    cairn_future_resolve(done, &err);
    return done;
  }
  c->step = step;
  c->b = b;
  c->done = done;
  cairn__mark_of(b->save_id, c->want, sizeof(c->want));
  next(c);
  return done;
}
