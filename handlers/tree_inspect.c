/* What a tree item holds, for tools: _METADATA, the metadata of every array in
 * one batch, and one listing of the store for the stored sizes. */
#include <stdlib.h>

#include "flow.h"
#include "handlers.h"
#include "tree_names.h"
#include "tree_stored.h"

enum phase { LOAD, UNPACK, READER, OPEN, SIZES, FILL, DONE };

typedef struct inspect {
  cairn_item_ctx_t *ctx;
  cairn_item_info_t *out;
  cairn_buf_t packed;
  cairn__tree_stored_t stored;
  cairn__names_t names;
  cairn_bytes_t *array_names;
  cairn_zarr_t **zarrs; /* of entries with arrays, in the order of names */
  int64_t *sizes;       /* of each entry */
  cairn_kv_t *reader;
  int phase;
  cairn_error_t err;
  cairn_wait_t wait;
  cairn_future_t *done;
} inspect_t;

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

static cairn_code_t unpack(void *job, cairn_error_t *err) {
  inspect_t *x = job;
  if (cairn__tree_unpack(cairn_buf_bytes(&x->packed), &x->stored, err) !=
      CAIRN_OK)
    return err->code;
  cairn_buf_reset(&x->packed);
  if (!cairn__names_init(&x->names, &x->stored.meta)) return no_memory(err);
  x->array_names = calloc(x->names.n + 1, sizeof *x->array_names);
  x->zarrs = calloc(x->names.n + 1, sizeof *x->zarrs);
  x->sizes = calloc(x->stored.meta.n + 1, sizeof *x->sizes);
  if (x->array_names == NULL || x->zarrs == NULL || x->sizes == NULL)
    return no_memory(err);
  for (size_t i = 0; i < x->names.n; i++)
    x->array_names[i] = x->stored.meta.entries[x->names.sorted[i]].name;
  return CAIRN_OK;
}

static bool add_size(void *arg, cairn_bytes_t key, int64_t size) {
  inspect_t *x = arg;
  size_t i = cairn__names_of_key(&x->names, key);
  if (i != SIZE_MAX && size > 0) x->sizes[i] += size;
  return true;
}

/* Filling in ----------------------------------------------------------------
 */

static void *copy(inspect_t *x, const void *p, size_t n) {
  void *out = cairn_item_info_alloc(x->out, n + 1);
  if (out != NULL && n != 0) memcpy(out, p, n);
  return out;
}

static bool copy_bytes(inspect_t *x, cairn_bytes_t in, cairn_bytes_t *out) {
  *out = cairn_bytes(copy(x, in.p, in.n), in.n);
  return out->p != NULL;
}

static bool copy_path(inspect_t *x, const cairn__meta_entry_t *e,
                      cairn_leaf_info_t *out) {
  cairn_key_t *path = cairn_item_info_alloc(x->out, e->path.n * sizeof *path);
  if (path == NULL && e->path.n != 0) return false;
  out->path = path;
  out->path_n = e->path.n;
  for (size_t i = 0; i < e->path.n; i++) {
    path[i] = e->path.keys[i];
    if (!copy_bytes(x, e->path.keys[i].name, &path[i].name)) return false;
  }
  return copy_bytes(x, e->name, &out->name);
}

static bool fill_leaf(inspect_t *x, size_t i) {
  const cairn__meta_entry_t *e = &x->stored.meta.entries[i];
  cairn_leaf_info_t *out = &x->out->leaves[i];
  out->kind = copy(x, e->value_type.p, e->value_type.n);
  out->stored_bytes = x->sizes[i];
  return out->kind != NULL && copy_path(x, e, out);
}

static bool fill_array(inspect_t *x, size_t i, const cairn_zarr_t *z) {
  cairn_leaf_info_t *out = &x->out->leaves[i];
  char codecs[256];
  cairn_bytes_t text = cairn_zarr_text(z);
  size_t n = (size_t)cairn_zarr_rank(z) * sizeof(int64_t);
  cairn_zarr_codecs(z, codecs, sizeof codecs);
  out->has_data = true;
  out->dtype = cairn_zarr_dtype(z);
  out->rank = cairn_zarr_rank(z);
  out->bytes = cairn_zarr_bytes(z);
  out->shape = copy(x, cairn_zarr_shape(z), n);
  out->chunk = copy(x, cairn_zarr_chunk(z), n);
  out->codecs = copy(x, codecs, strlen(codecs));
  out->zarr_text = copy(x, text.p, text.n);
  return out->shape != NULL && out->chunk != NULL && out->codecs != NULL &&
         out->zarr_text != NULL;
}

static cairn_code_t fill_arrays(inspect_t *x, cairn_error_t *err) {
  for (size_t i = 0; i < x->names.n; i++) {
    size_t entry = x->names.sorted[i];
    if (x->zarrs[i] == NULL)
      return cairn_fail(err, CAIRN_CORRUPT,
                        "leaf %s is in _METADATA and not in the store",
                        cairn__path_show(x->stored.meta.entries[entry].path).s);
    if (!fill_array(x, entry, x->zarrs[i])) return no_memory(err);
  }
  return CAIRN_OK;
}

static cairn_code_t fill_strings(inspect_t *x, cairn_error_t *err) {
  for (size_t i = 0; i < x->stored.meta.n; i++) {
    const cairn__meta_entry_t *e = &x->stored.meta.entries[i];
    cairn_bytes_t text;
    if (e->form != CAIRN__FORM_STRING) continue;
    if (cairn__stored_string(&x->stored, e->name, &text, err) != CAIRN_OK)
      return cairn_within(err, "leaf %s", cairn__path_show(e->path).s);
    if (!copy_bytes(x, text, &x->out->leaves[i].text)) return no_memory(err);
  }
  return CAIRN_OK;
}

static cairn_code_t fill(void *job, cairn_error_t *err) {
  inspect_t *x = job;
  size_t n = x->stored.meta.n;
  x->out->type = "pytree";
  x->out->ocdbt = x->stored.ocdbt;
  x->out->zarr = x->names.n != 0 ? cairn__stored_zarr(&x->stored) : 0;
  x->out->leaves = cairn_item_info_alloc(x->out, n * sizeof *x->out->leaves);
  if (x->out->leaves == NULL && n != 0) return no_memory(err);
  x->out->n = n;
  for (size_t i = 0; i < n; i++)
    if (!fill_leaf(x, i)) return no_memory(err);
  if (fill_arrays(x, err) != CAIRN_OK) return err->code;
  return fill_strings(x, err);
}

/* The flow ------------------------------------------------------------------
 */

static cairn_future_t *start(inspect_t *x) {
  cairn_runtime_t *rt = x->ctx->rt;
  switch ((enum phase)x->phase) {
    case LOAD:
      return cairn__tree_load(x->ctx, &x->packed);
    case UNPACK:
      return cairn_work(rt, unpack, x);
    case READER:
      if (x->names.n == 0) return NULL;
      return cairn_item_reader(x->ctx, x->stored.ocdbt, &x->reader);
    case OPEN:
      if (x->names.n == 0) return NULL;
      return cairn_arrays_open(x->reader, cairn__stored_zarr(&x->stored),
                               x->array_names, x->names.n, x->zarrs);
    case SIZES:
      if (x->names.n == 0) return NULL;
      return cairn_kv_list(x->reader, cairn_bytes(NULL, 0), add_size, x);
    case FILL:
      return cairn_work(rt, fill, x);
    case DONE:
      break;
  }
  return NULL;
}

static void finish(inspect_t *x) {
  cairn_future_t *done = x->done;
  cairn_error_t err = x->err;
  for (size_t i = 0; x->zarrs != NULL && i < x->names.n; i++)
    cairn_zarr_unref(x->zarrs[i]);
  if (err.code != CAIRN_OK) cairn_item_info_free(x->out);
  free(x->zarrs);
  free(x->array_names);
  free(x->sizes);
  cairn__names_free(&x->names);
  cairn__tree_stored_free(&x->stored);
  cairn_buf_reset(&x->packed);
  free(x);
  cairn_future_resolve(done, &err);
}

static void advance(inspect_t *x);

static void on_phase(cairn_wait_t *w) {
  inspect_t *x = cairn_container_of(w, inspect_t, wait);
  cairn_wait_result(w, &x->err);
  x->phase++;
  advance(x);
}

static void advance(inspect_t *x) {
  for (; x->err.code == CAIRN_OK && x->phase != DONE; x->phase++) {
    cairn_future_t *next = start(x);
    if (next == NULL) continue;
    cairn_then(next, &x->wait, on_phase);
    return;
  }
  finish(x);
}

cairn_future_t *cairn__tree_inspect(cairn_item_ctx_t *ctx,
                                    cairn_item_info_t *out) {
  cairn_future_t *done;
  inspect_t *x = cairn__flow_new(ctx->rt, sizeof *x, &done);
  *out = (cairn_item_info_t){0};
  if (x == NULL) return done;
  x->ctx = ctx;
  x->out = out;
  x->done = done;
  advance(x);
  return done;
}
