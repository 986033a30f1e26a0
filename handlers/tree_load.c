/* Reading the small files of a tree item, and packing them. */
#include <stdlib.h>

#include "flow.h"
#include "tree_stored.h"

#define VERSION 1

typedef struct load {
  cairn_item_ctx_t *ctx;
  cairn_buf_t *out;
  cairn_value_t meta, strings, manifest;
  cairn_wait_t wait;
  cairn_future_t *done;
} load_t;

static void put_file(cairn_buf_t *out, const cairn_value_t *v) {
  cairn_buf_put_varint(out, v->data.n);
  cairn_buf_put(out, v->data.p, v->data.n);
}

static cairn_code_t pack(const load_t *l, cairn_error_t *err) {
  if (!l->meta.found)
    return cairn_fail(err, CAIRN_NOT_FOUND,
                      "_METADATA is not there: not a tree, or incomplete");
  cairn_buf_put_u8(l->out, VERSION);
  cairn_buf_put_u8(l->out, l->manifest.found);
  cairn_buf_put_u8(l->out, l->strings.found);
  put_file(l->out, &l->meta);
  put_file(l->out, &l->strings);
  if (l->out->failed)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for _METADATA");
  return CAIRN_OK;
}

static void on_read(cairn_wait_t *w) {
  load_t *l = cairn_container_of(w, load_t, wait);
  cairn_future_t *done = l->done;
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK) pack(l, &err);
  cairn_value_reset(&l->meta);
  cairn_value_reset(&l->strings);
  cairn_value_reset(&l->manifest);
  free(l);
  cairn_future_resolve(done, &err);
}

static cairn_future_t *read_file(load_t *l, const char *name,
                                 const cairn_read_opts_t *o,
                                 cairn_value_t *out) {
  return cairn_kv_read(l->ctx->dir, cairn_bytes_str(name), o, out);
}

cairn_future_t *cairn__tree_load(cairn_item_ctx_t *ctx, cairn_buf_t *out) {
  static const cairn_read_opts_t stat = {.size = sizeof stat,
                                         .what = CAIRN_READ_STAT};
  cairn_future_t *done;
  load_t *l = cairn__flow_new(ctx->rt, sizeof *l, &done);
  if (l == NULL) return done;
  l->ctx = ctx;
  l->out = out;
  l->done = done;
  cairn_future_t *all[] = {
      read_file(l, "_METADATA", CAIRN_WHOLE, &l->meta),
      read_file(l, "_strings.json", CAIRN_WHOLE, &l->strings),
      read_file(l, "manifest.ocdbt", &stat, &l->manifest),
  };
  cairn_then(cairn_all_take(ctx->rt, all, 3), &l->wait, on_read);
  return done;
}

/* Unpacking -----------------------------------------------------------------
 */

static bool get_file(cairn_cur_t *c, cairn_bytes_t *out) {
  uint64_t n;
  return cairn_cur_varint64(c, &n) && n <= cairn_cur_left(c) &&
         cairn_cur_take(c, (size_t)n, out);
}

/* Old files do not say whether there is a database; then the manifest does. */
static cairn_code_t unpack(cairn_bytes_t packed, cairn__tree_stored_t *s,
                           cairn_error_t *err) {
  cairn_cur_t c = cairn_cur(packed);
  uint8_t version, manifest, strings;
  cairn_bytes_t meta, text;
  if (!cairn_cur_u8(&c, &version) || version != VERSION ||
      !cairn_cur_u8(&c, &manifest) || !cairn_cur_u8(&c, &strings) ||
      !get_file(&c, &meta) || !get_file(&c, &text))
    return cairn_fail(err, CAIRN_INTERNAL, "the metadata sent to all is cut");
  if (cairn__tree_meta_parse(meta, &s->meta, err) != CAIRN_OK) return err->code;
  s->ocdbt = s->meta.use_ocdbt == CAIRN__OCDBT_ABSENT
                 ? manifest != 0
                 : s->meta.use_ocdbt == CAIRN__OCDBT_YES;
  s->has_strings = strings != 0;
  if (!s->has_strings) return CAIRN_OK;
  if (cairn_json_parse(text, NULL, &s->strings, err) != CAIRN_OK)
    return cairn_within(err, "_strings.json");
  if (s->strings.root->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "_strings.json: not an object");
  return CAIRN_OK;
}

cairn_code_t cairn__tree_unpack(cairn_bytes_t packed, cairn__tree_stored_t *out,
                                cairn_error_t *err) {
  cairn_error_t local = {0};
  *out = (cairn__tree_stored_t){0};
  if (unpack(packed, out, &local) == CAIRN_OK) return CAIRN_OK;
  cairn__tree_stored_free(out);
  return cairn_error_copy(err, &local);
}

void cairn__tree_stored_free(cairn__tree_stored_t *s) {
  cairn__tree_meta_free(&s->meta);
  cairn_json_free(&s->strings);
  free(s->sorted);
  *s = (cairn__tree_stored_t){0};
}
