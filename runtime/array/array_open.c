/* Opening a batch of arrays: their metadata read and parsed in groups. Arrays
 * of one checkpoint often have the same text; neighbours that do share one
 * cairn_zarr_t. */
#include <stdlib.h>

#include "array/io.h"
#include "base/base.h"
#include "kv/kv.h"

#define MAX_GROUPS 4

struct opening {
  cairn_kv_t *kv;
  cairn_runtime_t *rt;
  int version, groups;
  const cairn_bytes_t *names;
  size_t n, next;
  cairn_zarr_t **out;
  cairn_buf_t key;
  cairn_error_t err;
  cairn_future_t *done;
};

struct entry {
  struct group *group;
  cairn_value_t value;
  cairn_wait_t wait;
};

struct group {
  struct opening *op;
  size_t first, n, left;
  cairn_wait_t wait;
  struct entry entries[];
};

static void pump(struct opening *op);

static void within(const struct opening *op, size_t i, cairn_error_t *err) {
  cairn_bytes_t name = op->names[i];
  cairn_within(err, "array %.*s, %s", (int)(name.n < 300 ? name.n : 300),
               name.n != 0 ? (const char *)name.p : "",
               cairn_zarr_meta_key(op->version));
}

/* On a CPU thread. */
static cairn_code_t parse(void *arg, cairn_error_t *err) {
  struct group *g = arg;
  struct opening *op = g->op;
  cairn_zarr_t *last = NULL;
  for (size_t i = 0; i < g->n; i++) {
    const cairn_value_t *v = &g->entries[i].value;
    cairn_zarr_t **out = &op->out[g->first + i];
    if (!v->found) continue;
    if (last != NULL && cairn__bytes_eq(cairn_zarr_text(last), v->data)) {
      *out = cairn_zarr_ref(last);
    } else if (cairn_zarr_parse(op->version, v->data, out, err) != CAIRN_OK) {
      within(op, g->first + i, err);
      return err->code;
    }
    last = *out;
  }
  return CAIRN_OK;
}

static void group_end(struct group *g) {
  struct opening *op = g->op;
  for (size_t i = 0; i < g->n; i++) cairn_value_reset(&g->entries[i].value);
  free(g);
  op->groups--;
  pump(op);
}

static void on_parsed(cairn_wait_t *w) {
  struct group *g = cairn_container_of(w, struct group, wait);
  cairn_wait_result(w, &g->op->err);
  group_end(g);
}

static void on_read(cairn_wait_t *w) {
  struct entry *e = cairn_container_of(w, struct entry, wait);
  struct group *g = e->group;
  struct opening *op = g->op;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    within(op, g->first + (size_t)(e - g->entries), &err);
    cairn_error_copy(&op->err, &err);
  }
  if (--g->left > 0) return;
  if (op->err.code != CAIRN_OK)
    group_end(g);
  else
    cairn_then(cairn_work(op->rt, parse, g), &g->wait, on_parsed);
}

static cairn_future_t *read_entry(struct opening *op, size_t i,
                                  struct entry *e) {
  if (cairn__io_key(&op->key, op->names[i], cairn_zarr_meta_key(op->version)))
    return cairn_kv_read(op->kv, cairn_buf_bytes(&op->key), CAIRN_WHOLE,
                         &e->value);
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory");
  return cairn_future_done(op->rt, &err);
}

static void start_group(struct opening *op) {
  size_t n = op->n - op->next;
  if (n > CAIRN__GROUP_CHUNKS) n = CAIRN__GROUP_CHUNKS;
  struct group *g = calloc(1, sizeof *g + n * sizeof *g->entries);
  if (g == NULL) {
    cairn_fail(&op->err, CAIRN_NO_MEMORY, "open arrays");
    return;
  }
  g->op = op;
  g->first = op->next;
  g->n = g->left = n;
  op->next += n;
  op->groups++;
  for (size_t i = 0; i < n; i++) {
    g->entries[i].group = g;
    cairn_then(read_entry(op, g->first + i, &g->entries[i]),
               &g->entries[i].wait, on_read);
  }
}

static void finish(struct opening *op) {
  cairn_future_t *done = op->done;
  cairn_error_t err = op->err;
  for (size_t i = 0; err.code != CAIRN_OK && i < op->n; i++) {
    cairn_zarr_unref(op->out[i]);
    op->out[i] = NULL;
  }
  cairn_buf_reset(&op->key);
  free(op);
  cairn_future_resolve(done, &err);
}

static void pump(struct opening *op) {
  if (op->err.code == CAIRN_OK && cairn_future_cancelled(op->done))
    cairn_fail(&op->err, CAIRN_CANCELLED, "open arrays");
  while (op->err.code == CAIRN_OK && op->groups < MAX_GROUPS &&
         op->next < op->n)
    start_group(op);
  if (op->groups == 0) finish(op);
}

cairn_future_t *cairn_arrays_open(cairn_kv_t *kv, int version,
                                  const cairn_bytes_t *names, size_t n,
                                  cairn_zarr_t **out) {
  cairn_runtime_t *rt = cairn_kv_runtime(kv);
  cairn_error_t err = {0};
  struct opening *op = NULL;
  for (size_t i = 0; i < n; i++) out[i] = NULL;
  if (version != 2 && version != 3)
    cairn_fail(&err, CAIRN_INVALID, "zarr version %d, want 2 or 3", version);
  else if ((op = calloc(1, sizeof *op)) == NULL)
    cairn_fail(&err, CAIRN_NO_MEMORY, "open arrays");
  if (op == NULL) return cairn_future_done(rt, &err);
  *op = (struct opening){.kv = kv,
                         .rt = rt,
                         .version = version,
                         .names = names,
                         .n = n,
                         .out = out};
  cairn_future_t *done;
  if (!cairn__promise(rt, &done)) { /* nothing was begun */
    free(op);
    return done;
  }
  op->done = done;
  pump(op);
  return done;
}
