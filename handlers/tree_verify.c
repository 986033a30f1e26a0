/* Looks at every byte of a tree item: its files, the arrays that _METADATA
 * lists, and that the store holds these arrays and no others.
 *
 * Damage is reported and the look goes on; only what keeps us from looking
 * (no memory, a store that cannot be read) is a failure. */
#include <stdlib.h>

#include "flow.h"
#include "handlers.h"
#include "tree_names.h"
#include "tree_stored.h"

enum phase { LOAD, UNPACK, STRINGS, READER, OPEN, EACH, LIST, CHUNKS, DONE };

typedef struct verify {
  cairn_item_ctx_t *ctx;
  cairn_damage_fn fn;
  void *arg;
  cairn_buf_t packed;
  cairn__tree_stored_t stored;
  cairn__names_t names;
  cairn_bytes_t *array_names;
  cairn_zarr_t **zarrs;
  bool *opened; /* metadata is there, whether or not it can be read */
  cairn_array_io_t *io;
  size_t num_io;
  size_t next; /* of EACH */
  cairn_kv_t *reader;
  int phase;
  bool over; /* nothing more can be looked at */
  cairn_error_t err;
  cairn_wait_t wait;
  cairn_future_t *done;
} verify_t;

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

static void report(verify_t *v, cairn_bytes_t key, const cairn_error_t *what) {
  v->fn(v->arg, key, what);
}

static bool is_damage(const cairn_error_t *err) {
  return err->code == CAIRN_CORRUPT || err->code == CAIRN_NOT_FOUND ||
         err->code == CAIRN_UNSUPPORTED;
}

/* Turns an error that is damage into a report. */
static bool absorb(verify_t *v, cairn_bytes_t key) {
  if (!is_damage(&v->err)) return false;
  report(v, key, &v->err);
  v->err = (cairn_error_t){0};
  return true;
}

static cairn_code_t unpack(void *job, cairn_error_t *err) {
  verify_t *v = job;
  if (cairn__tree_unpack(cairn_buf_bytes(&v->packed), &v->stored, err) !=
      CAIRN_OK)
    return err->code;
  if (!cairn__names_init(&v->names, &v->stored.meta)) return no_memory(err);
  size_t n = v->names.n + 1;
  v->array_names = calloc(n, sizeof *v->array_names);
  v->zarrs = calloc(n, sizeof *v->zarrs);
  v->opened = calloc(n, sizeof *v->opened);
  v->io = calloc(n, sizeof *v->io);
  if (v->array_names == NULL || v->zarrs == NULL || v->opened == NULL ||
      v->io == NULL)
    return no_memory(err);
  for (size_t i = 0; i < v->names.n; i++)
    v->array_names[i] = v->stored.meta.entries[v->names.sorted[i]].name;
  return CAIRN_OK;
}

static void check_strings(verify_t *v) {
  for (size_t i = 0; i < v->stored.meta.n; i++) {
    const cairn__meta_entry_t *e = &v->stored.meta.entries[i];
    cairn_error_t err = {0};
    cairn_bytes_t text;
    if (e->form != CAIRN__FORM_STRING ||
        cairn__stored_string(&v->stored, e->name, &text, &err) == CAIRN_OK)
      continue;
    cairn_within(&err, "leaf %s", cairn__path_show(e->path).s);
    report(v, cairn_bytes_str("_strings.json"), &err);
  }
}

/* Arrays --------------------------------------------------------------------
 */

static void report_absent(verify_t *v, size_t i) {
  cairn_error_t err = {0};
  cairn_fail(
      &err, CAIRN_CORRUPT, "leaf %s is in _METADATA and not in the store",
      cairn__path_show(v->stored.meta.entries[v->names.sorted[i]].path).s);
  report(v, v->array_names[i], &err);
}

/* A key of an array that _METADATA does not list. */
static bool look_at_key(void *arg, cairn_bytes_t key, int64_t size) {
  verify_t *v = arg;
  cairn_bytes_t name;
  (void)size;
  if (!cairn__names_meta_key(key, cairn__stored_zarr(&v->stored), &name) ||
      cairn__names_of_key(&v->names, key) != SIZE_MAX)
    return true;
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_CORRUPT,
             "array '%.*s' is in the store and not in _METADATA",
             name.n < 200 ? (int)name.n : 200, (const char *)name.p);
  report(v, key, &err);
  return true;
}

static void list_chunks(verify_t *v) {
  for (size_t i = 0; i < v->names.n; i++) {
    if (v->zarrs[i] == NULL) {
      if (!v->opened[i]) report_absent(v, i);
      continue;
    }
    v->io[v->num_io++] =
        (cairn_array_io_t){.name = v->array_names[i],
                           .zarr = v->zarrs[i],
                           .fill_missing = !v->stored.meta.stores_fill};
  }
}

/* The batch fails at the first metadata that cannot be read; then they are
 * opened one by one, so that each such is reported and the others are read. */
static cairn_future_t *open_next(verify_t *v) {
  if (v->next == v->names.n) return NULL;
  return cairn_arrays_open(v->reader, cairn__stored_zarr(&v->stored),
                           &v->array_names[v->next], 1, &v->zarrs[v->next]);
}

/* The flow ------------------------------------------------------------------
 */

static cairn_future_t *start(verify_t *v) {
  cairn_runtime_t *rt = v->ctx->rt;
  switch ((enum phase)v->phase) {
    case LOAD:
      return cairn__tree_load(v->ctx, &v->packed);
    case UNPACK:
      return cairn_work(rt, unpack, v);
    case STRINGS:
      check_strings(v);
      return NULL;
    case READER:
      return cairn_item_reader(v->ctx, v->stored.ocdbt, &v->reader);
    case OPEN:
      v->next = v->names.n;
      if (v->names.n == 0) return NULL;
      return cairn_arrays_open(v->reader, cairn__stored_zarr(&v->stored),
                               v->array_names, v->names.n, v->zarrs);
    case EACH:
      return open_next(v);
    case LIST:
      return cairn_kv_list(v->reader, cairn_bytes(NULL, 0), look_at_key, v);
    case CHUNKS:
      list_chunks(v);
      if (v->num_io == 0) return NULL;
      return cairn_arrays_verify(v->reader, v->io, v->num_io, v->fn, v->arg);
    case DONE:
      break;
  }
  return NULL;
}

static void finish(verify_t *v) {
  cairn_future_t *done = v->done;
  cairn_error_t err = v->err;
  for (size_t i = 0; i < v->num_io; i++) v->ctx->bytes += v->io[i].bytes;
  for (size_t i = 0; v->zarrs != NULL && i < v->names.n; i++)
    cairn_zarr_unref(v->zarrs[i]);
  free(v->zarrs);
  free(v->opened);
  free(v->array_names);
  free(v->io);
  cairn__names_free(&v->names);
  cairn__tree_stored_free(&v->stored);
  cairn_buf_reset(&v->packed);
  free(v);
  cairn_future_resolve(done, &err);
}

/* What an error of a phase means for those after it. */
static void judge(verify_t *v) {
  switch ((enum phase)v->phase) {
    case LOAD:
    case UNPACK:
      v->over = absorb(v, cairn_bytes_str("_METADATA"));
      break;
    case READER: /* Orbax makes no database for a tree without arrays */
      if (v->names.n == 0 && v->err.code == CAIRN_NOT_FOUND) {
        v->err = (cairn_error_t){0};
        v->over = true;
        break;
      }
      v->over = absorb(v, cairn_bytes_str("manifest.ocdbt"));
      break;
    case LIST:
      v->over = absorb(v, cairn_bytes_str("manifest.ocdbt"));
      break;
    case OPEN:
      if (!is_damage(&v->err)) break;
      v->err = (cairn_error_t){0};
      v->next = 0;
      break;
    case EACH:
      v->opened[v->next] = absorb(v, v->array_names[v->next]);
      break;
    default:
      break;
  }
}

static void advance(verify_t *v);

static void on_phase(cairn_wait_t *w) {
  verify_t *v = cairn_container_of(w, verify_t, wait);
  if (cairn_wait_result(w, &v->err) != CAIRN_OK) judge(v);
  if (v->phase != EACH || v->err.code != CAIRN_OK || ++v->next == v->names.n)
    v->phase++;
  advance(v);
}

static void advance(verify_t *v) {
  for (; v->err.code == CAIRN_OK && !v->over && v->phase != DONE; v->phase++) {
    cairn_future_t *next = start(v);
    if (next == NULL) continue;
    cairn_then(next, &v->wait, on_phase);
    return;
  }
  finish(v);
}

cairn_future_t *cairn__tree_verify(cairn_item_ctx_t *ctx, cairn_damage_fn fn,
                                   void *arg) {
  cairn_future_t *done;
  verify_t *v = cairn__flow_new(ctx->rt, sizeof *v, &done);
  if (v == NULL) return done;
  v->ctx = ctx;
  v->fn = fn;
  v->arg = arg;
  v->done = done;
  advance(v);
  return done;
}
