/* The emitter of `_METADATA`: python dialect, keys in Orbax's order. */
#include <inttypes.h>

#include "tree_meta.h"

void cairn__put_shape(cairn_buf_t *out, int rank, const int64_t *shape) {
  cairn_buf_put_u8(out, '[');
  for (int i = 0; i < rank; i++)
    cairn_buf_printf(out, "%s%" PRId64, i != 0 ? ", " : "", shape[i]);
  cairn_buf_put_u8(out, ']');
}

void cairn__meta_begin(cairn__meta_writer_t *w, cairn_buf_t *out) {
  *w = (cairn__meta_writer_t){.out = out};
  cairn_buf_put_str(out, "{\"tree_metadata\": {");
}

/* Python's repr of the tuple of the path's texts, as a JSON string. */
static void put_tree_key(cairn__meta_writer_t *w, cairn__keypath_t path) {
  char tmp[CAIRN__KEY_TEXT];
  w->repr.n = 0;
  cairn_buf_put_u8(&w->repr, '(');
  for (size_t i = 0; i < path.n; i++) {
    if (i != 0) cairn_buf_put_str(&w->repr, ", ");
    cairn_py_repr(cairn__key_as_stored(&path.keys[i], tmp), &w->repr);
  }
  cairn_buf_put_str(&w->repr, path.n == 1 ? ",)" : ")");
  cairn_json_emit_str(cairn_buf_bytes(&w->repr), CAIRN_JSON_PYTHON, w->out);
}

static void put_keys(cairn_buf_t *out, cairn__keypath_t path) {
  char tmp[CAIRN__KEY_TEXT];
  cairn_buf_put_str(out, ": {\"key_metadata\": [");
  for (size_t i = 0; i < path.n; i++) {
    bool seq = path.keys[i].type == CAIRN_KEY_SEQ;
    cairn_buf_put_str(out, i != 0 ? ", {\"key\": " : "{\"key\": ");
    cairn_json_emit_str(cairn__key_as_stored(&path.keys[i], tmp),
                        CAIRN_JSON_PYTHON, out);
    cairn_buf_put_str(out, seq ? ", \"key_type\": 1}" : ", \"key_type\": 2}");
  }
  cairn_buf_put_u8(out, ']');
}

void cairn__meta_put(cairn__meta_writer_t *w, cairn__keypath_t path,
                     cairn__form_t form, const int64_t *write_shape, int rank) {
  const cairn__form_info_t *info = cairn__form_info(form);
  cairn_buf_t *out = w->out;
  if (w->any) cairn_buf_put_str(out, ", ");
  w->any = true;
  put_tree_key(w, path);
  put_keys(out, path);
  cairn_buf_put_str(out, ", \"value_metadata\": {\"value_type\": \"");
  cairn_buf_put_str(out, info->value_type);
  cairn_buf_put_str(out, info->skip ? "\", \"skip_deserialize\": true"
                                    : "\", \"skip_deserialize\": false");
  if (write_shape != NULL) {
    cairn_buf_put_str(out, ", \"write_shape\": ");
    cairn__put_shape(out, rank, write_shape);
  }
  cairn_buf_put_str(out, "}}");
}

void cairn__meta_end(cairn__meta_writer_t *w, bool use_zarr3) {
  cairn_buf_put_str(w->out, "}, \"use_ocdbt\": true, \"use_zarr3\": ");
  cairn_buf_put_str(w->out, use_zarr3 ? "true" : "false");
  cairn_buf_put_str(w->out,
                    ", \"store_array_data_equal_to_fill_value\": true, "
                    "\"custom_metadata\": null}");
  if (w->repr.failed) w->out->failed = true;
  cairn_buf_reset(&w->repr);
}
