#include "show.h"

#include <inttypes.h>
#include <stdlib.h>

void show_string(const show_t *s, const cairn_leaf_info_t *leaf,
                 cairn_buf_t *out) {
  if (s->json)
    json_str(out, leaf->text);
  else
    put_name(out, leaf->text);
}

/* --- for programs --- */

static void put_dims(cairn_buf_t *b, int rank, const int64_t *dims,
                     const char *separator) {
  for (int i = 0; i < rank; i++)
    cairn_buf_printf(b, "%s%" PRId64, i > 0 ? separator : "", dims[i]);
}

static void put_path(cairn_buf_t *b, const cairn_leaf_info_t *leaf) {
  static const char *const types[] = {"dict", "seq", "dict:int", "attr"};
  cairn_buf_put_str(b, "\"path\": [");
  for (size_t i = 0; i < leaf->path_n; i++) {
    const cairn_key_t *k = &leaf->path[i];
    cairn_buf_put_str(b, i > 0 ? ", {\"key\": " : "{\"key\": ");
    if (k->type == CAIRN_KEY_SEQ || k->type == CAIRN_KEY_INT)
      cairn_buf_printf(b, "\"%" PRId64 "\"", k->index);
    else
      json_str(b, k->name);
    cairn_buf_printf(b, ", \"type\": \"%s\"}", types[k->type]);
  }
  cairn_buf_put_str(b, "]");
}

static void put_data(cairn_buf_t *b, const cairn_leaf_info_t *leaf) {
  cairn_buf_printf(b, ", \"dtype\": \"%s\", \"shape\": [",
                   cairn_dtype_name(leaf->dtype));
  put_dims(b, leaf->rank, leaf->shape, ", ");
  cairn_buf_put_str(b, "], \"chunk\": [");
  put_dims(b, leaf->rank, leaf->chunk, ", ");
  cairn_buf_put_str(b, "], \"codecs\": ");
  json_cstr(b, leaf->codecs);
  cairn_buf_printf(b, ", \"bytes\": %" PRId64 ", \"stored_bytes\": %" PRId64,
                   leaf->bytes, leaf->stored_bytes);
}

static void json_leaf(show_t *s, const cairn_leaf_info_t *leaf,
                      const facts_t *f) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, s->any_leaf ? ",\n  {" : "\n  {");
  s->any_leaf = true;
  put_path(&b, leaf);
  cairn_buf_put_str(&b, ", \"name\": ");
  json_str(&b, leaf->name);
  cairn_buf_put_str(&b, ", \"kind\": ");
  json_cstr(&b, leaf->kind);
  if (leaf->has_data) put_data(&b, leaf);
  if (f->hash[0] != 0) cairn_buf_printf(&b, ", \"sha256\": \"%s\"", f->hash);
  if (f->value.n != 0) {
    cairn_buf_put_str(&b, ", \"value\": ");
    cairn_buf_put(&b, f->value.p, f->value.n);
  }
  cairn_buf_put_str(&b, "}");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void json_item(show_t *s, const cairn_item_info_t *info) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, s->any_item ? ",\n " : "\n ");
  s->any_item = true;
  s->any_leaf = false;
  json_cstr(&b, s->item);
  cairn_buf_put_str(&b, ": {\"type\": ");
  json_cstr(&b, info != NULL ? info->type : NULL);
  if (info != NULL && info->zarr != 0)
    cairn_buf_printf(&b, ", \"ocdbt\": %s, \"zarr\": %d",
                     info->ocdbt ? "true" : "false", info->zarr);
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

/* --- for people --- */

static void people_leaf(show_t *s, const cairn_leaf_info_t *leaf,
                        const facts_t *f) {
  cairn_buf_t b = {0};
  put_name(&b, leaf->name);
  table_cell(&s->table, &b);
  table_text(&s->table, leaf->kind);
  table_text(&s->table, leaf->has_data ? cairn_dtype_name(leaf->dtype) : "");
  if (leaf->has_data && leaf->rank > 0) {
    put_dims(&b, leaf->rank, leaf->shape, "x");
    table_cell(&s->table, &b);
    put_dims(&b, leaf->rank, leaf->chunk, "x");
    table_cell(&s->table, &b);
  } else {
    table_text(&s->table, "");
    table_text(&s->table, "");
  }
  table_text(&s->table, leaf->codecs != NULL ? leaf->codecs : "");
  if (leaf->has_data) put_size(&b, leaf->bytes);
  table_cell(&s->table, &b);
  if (leaf->has_data) put_size(&b, leaf->stored_bytes);
  table_cell(&s->table, &b);
  if (s->hashes) table_text(&s->table, f->hash);
  cairn_buf_put(&b, f->value.p, f->value.n);
  table_cell(&s->table, &b);
}

static void people_item(show_t *s, const cairn_item_info_t *info) {
  static const char *const plain[] = {"NAME",  "KIND",   "DTYPE",
                                      "SHAPE", "CHUNK",  "CODECS",
                                      "BYTES", "STORED", "VALUE"};
  static const char *const hashed[] = {"NAME",    "KIND",   "DTYPE", "SHAPE",
                                       "CHUNK",   "CODECS", "BYTES", "STORED",
                                       "SHA-256", "VALUE"};
  if (s->any_item) out_text("\n");
  s->any_item = true;
  if (s->item[0] != 0) {
    out_name(cairn_bytes_str(s->item));
    out_text(": ");
  }
  out_text(info->type);
  if (info->zarr != 0)
    out_printf(", %szarr %d", info->ocdbt ? "ocdbt, " : "", info->zarr);
  if (info->n > 0)
    out_printf(", %zu %s", info->n, info->n == 1 ? "leaf" : "leaves");
  out_text("\n");
  if (info->n > 0)
    table_init(&s->table, s->hashes ? "llllllrrll" : "llllllrrl",
               s->hashes ? hashed : plain);
}

/* --- either --- */

static bool is_document(const cairn_item_info_t *info) {
  return strcmp(info->type, "json") == 0;
}

void show_begin(show_t *s, const char *path) {
  int64_t number = cairn_step_number(s->step);
  cairn_buf_t b = {0};
  if (s->json) {
    cairn_buf_put_str(&b, "{\"cairn\": 1, \"path\": ");
    json_cstr(&b, path);
    if (number >= 0)
      cairn_buf_printf(&b, ", \"step\": %" PRId64 ", \"items\": {", number);
    else
      cairn_buf_put_str(&b, ", \"step\": null, \"items\": {");
  } else {
    put_name(&b, cairn_bytes_str(cairn_step_path(s->step)));
    cairn_buf_put_str(&b, "\n");
  }
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

void show_end(show_t *s) {
  if (s->json) out_text("}}\n");
}

void show_item_begin(show_t *s, const cairn_item_info_t *info) {
  if (!s->json) {
    people_item(s, info);
    return;
  }
  json_item(s, info);
  if (!is_document(info)) out_text(", \"leaves\": [");
}

void show_item_end(show_t *s, const cairn_item_info_t *info) {
  if (s->json)
    out_text(is_document(info) ? "}" : "]}");
  else if (info->n > 0)
    table_print(&s->table, "  ");
}

void show_leaf(show_t *s, const cairn_leaf_info_t *leaf, const facts_t *f) {
  if (s->json)
    json_leaf(s, leaf, f);
  else
    people_leaf(s, leaf, f);
}

cairn_code_t show_document(show_t *s, cairn_bytes_t text, cairn_error_t *err) {
  cairn_json_doc_t doc;
  cairn_buf_t b = {0};
  cairn_code_t rc = cairn_json_parse(text, NULL, &doc, err);
  if (rc != CAIRN_OK) return rc;
  if (s->json) {
    cairn_buf_put_str(&b, ", \"value\": ");
    json_value(&b, doc.root);
  } else {
    cairn_json_emit(doc.root, CAIRN_JSON_INDENT, &b);
    cairn_buf_put_str(&b, "\n");
  }
  cairn_json_free(&doc);
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
  return CAIRN_OK;
}

void show_unknown(show_t *s, const cairn_error_t *why) {
  if (s->json) {
    cairn_buf_t b = {0};
    json_item(s, NULL);
    cairn_buf_put_str(&b, ", \"unsupported\": ");
    json_cstr(&b, why->message);
    cairn_buf_put_str(&b, "}");
    out_bytes(cairn_buf_bytes(&b));
    cairn_buf_reset(&b);
    return;
  }
  out_text(s->any_item ? "\n" : "");
  s->any_item = true;
  out_name(cairn_bytes_str(s->item));
  out_text(": not supported\n");
}
