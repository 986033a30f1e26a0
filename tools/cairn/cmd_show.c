/* cairn show: what a step holds, leaf by leaf.
 *
 * Leaves are printed in groups. Of a group, what is small and wanted (the
 * values of scalars, all arrays if they are to be hashed) is read at once;
 * larger leaves are hashed as a stream, alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "element.h"
#include "hash.h"
#include "leaf.h"
#include "out.h"
#include "tool.h"

struct show {
  cairn_step_t *step;
  const char *item;
  bool json, hashes;
  hash_t *hash;
  bool any_item, any_leaf; /* a comma is due */
  table_t table;
};

/* What was read of a leaf. */
struct facts {
  void *value;   /* of a scalar; NULL: none */
  char hash[65]; /* "": none */
};

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

static void json_leaf(struct show *s, const cairn_leaf_info_t *leaf,
                      const struct facts *f) {
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
  if (leaf_is_string(leaf)) {
    cairn_buf_put_str(&b, ", \"value\": ");
    json_str(&b, leaf->text);
  } else if (f->value != NULL) {
    cairn_buf_put_str(&b, ", \"value\": ");
    json_element(&b, leaf->dtype, f->value);
  }
  cairn_buf_put_str(&b, "}");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static void json_item_begin(struct show *s, const cairn_item_info_t *info) {
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

static void people_leaf(struct show *s, const cairn_leaf_info_t *leaf,
                        const struct facts *f) {
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
  if (leaf_is_string(leaf)) put_name(&b, leaf->text);
  if (f->value != NULL) put_element(&b, leaf->dtype, f->value);
  table_cell(&s->table, &b);
}

static void people_item_begin(struct show *s, const cairn_item_info_t *info) {
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

/* --- reading --- */

struct group {
  const cairn_leaf_info_t *leaves;
  size_t n;
  bool *want; /* read with the others */
  void **data;
  struct facts *facts;
};

static bool hash_piece(void *arg, void *elements, size_t n) {
  struct show *s = ((void **)arg)[0];
  const cairn_leaf_info_t *leaf = ((void **)arg)[1];
  elements_to_stored(leaf->dtype, elements, n);
  hash_put(s->hash, elements, n * cairn_dtype_size(leaf->dtype));
  return true;
}

static cairn_code_t hash_leaf(struct show *s, const struct group *g, size_t i,
                              cairn_error_t *err) {
  const cairn_leaf_info_t *leaf = &g->leaves[i];
  void *arg[] = {s, (void *)leaf};
  cairn_code_t rc = CAIRN_OK;
  if (!s->hashes || !leaf->has_data) return CAIRN_OK;
  if (!g->want[i]) {
    rc = leaf_stream(s->step, s->item, leaf, hash_piece, arg, err);
  } else {
    elements_to_stored(leaf->dtype, g->data[i], (size_t)leaf_elements(leaf));
    hash_put(s->hash, g->data[i], (size_t)leaf->bytes);
  }
  return rc == CAIRN_OK ? hash_take(s->hash, g->facts[i].hash, err) : rc;
}

static cairn_code_t show_group(struct show *s, struct group *g,
                               cairn_error_t *err) {
  cairn_tree_t *tree;
  cairn_code_t rc = leaves_read(s->step, s->item, g->leaves, g->want, g->n,
                                &tree, g->data, err);
  for (size_t i = 0; rc == CAIRN_OK && i < g->n; i++) {
    g->facts[i] = (struct facts){0};
    if (leaf_is_scalar(&g->leaves[i])) g->facts[i].value = g->data[i];
    if (s->json) { /* hashing brings bytes to little-endian: the text first */
      struct facts *f = &g->facts[i];
      rc = hash_leaf(s, g, i, err);
      if (rc == CAIRN_OK) json_leaf(s, &g->leaves[i], f);
    } else {
      rc = hash_leaf(s, g, i, err);
      if (rc == CAIRN_OK) people_leaf(s, &g->leaves[i], &g->facts[i]);
    }
  }
  cairn_tree_free(tree);
  return rc;
}

static bool is_wanted(const struct show *s, const cairn_leaf_info_t *leaf) {
  return leaf_is_scalar(leaf) ||
         (s->hashes && leaf->has_data && leaf->bytes <= LEAF_SMALL);
}

static cairn_code_t show_leaves(struct show *s, const cairn_item_info_t *info,
                                struct group *g, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t at = 0; rc == CAIRN_OK && at < info->n; at += g->n) {
    int64_t bytes = 0;
    g->leaves = info->leaves + at;
    for (g->n = 0; at + g->n < info->n && g->n < LEAVES_TOGETHER_N &&
                   bytes <= LEAVES_TOGETHER;
         g->n++) {
      g->want[g->n] = is_wanted(s, &g->leaves[g->n]);
      if (g->want[g->n]) bytes += g->leaves[g->n].bytes;
    }
    rc = show_group(s, g, err);
  }
  return rc;
}

static cairn_code_t show_tree(struct show *s, const cairn_item_info_t *info,
                              cairn_error_t *err) {
  size_t n = info->n < LEAVES_TOGETHER_N ? info->n : LEAVES_TOGETHER_N;
  struct group g = {.want = calloc(n + 1, sizeof *g.want),
                    .data = calloc(n + 1, sizeof *g.data),
                    .facts = calloc(n + 1, sizeof *g.facts)};
  cairn_code_t rc = CAIRN_OK;
  if (g.want == NULL || g.data == NULL || g.facts == NULL)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (rc == CAIRN_OK) rc = show_leaves(s, info, &g, err);
  free(g.want);
  free(g.data);
  free(g.facts);
  return rc;
}

/* --- items --- */

static cairn_code_t show_document(struct show *s, cairn_bytes_t text,
                                  cairn_error_t *err) {
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

/* An item of a kind that we do not know is shown as such, and the others are
 * shown all the same. */
static void show_unknown(struct show *s, const cairn_error_t *why) {
  if (s->json) {
    cairn_buf_t b = {0};
    json_item_begin(s, NULL);
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

static cairn_code_t show_known(struct show *s, const cairn_item_info_t *info,
                               cairn_error_t *err) {
  bool document = strcmp(info->type, "json") == 0;
  cairn_code_t rc = CAIRN_OK;
  if (s->json) {
    json_item_begin(s, info);
    if (!document) out_text(", \"leaves\": [");
  } else {
    people_item_begin(s, info);
  }
  if (document)
    rc = show_document(s, info->value, err);
  else if (info->n > 0)
    rc = show_tree(s, info, err);
  if (s->json)
    out_text(document ? "}" : "]}");
  else if (info->n > 0)
    table_print(&s->table, "  ");
  return rc;
}

static int show_items(struct show *s) {
  int status = EXIT_FINE;
  for (size_t i = 0; i < cairn_step_num_items(s->step); i++) {
    const cairn_item_info_t *info;
    cairn_error_t err = {0};
    s->item = cairn_step_item(s->step, i);
    cairn_code_t rc = cairn_step_inspect(s->step, s->item, &info, &err);
    if (rc == CAIRN_OK)
      rc = show_known(s, info, &err);
    else if (rc == CAIRN_UNSUPPORTED)
      show_unknown(s, &err);
    if (rc == CAIRN_OK) continue;
    status = tool_failed(&err);
    if (rc != CAIRN_UNSUPPORTED) break;
  }
  return status;
}

static void show_head(struct show *s, const char *path) {
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

static int show(cairn_runtime_t *rt, const char *path, bool json, bool hashes) {
  struct show s = {.json = json, .hashes = hashes};
  cairn_error_t err = {0};
  int status = EXIT_FINE;
  if (hashes && (s.hash = hash_new(&err)) == NULL) return tool_failed(&err);
  if (cairn_step_open(rt, path, &s.step, &err) == CAIRN_OK) {
    show_head(&s, path);
    status = show_items(&s);
    if (json) out_text("}}\n");
  } else {
    status = tool_failed(&err);
  }
  cairn_step_close(s.step);
  hash_free(s.hash);
  return status;
}

static int run(int argc, char **argv) {
  enum { OPT_HASH = OPT_FIRST_OWN };
  static const struct option opts[] = {
      OPTS_COMMON, {"hash", no_argument, NULL, OPT_HASH}, {0}};
  bool json = false, hashes = false;
  int status = EXIT_FINE, o;
  while ((o = tool_option(&cmd_show, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    if (o == OPT_JSON) json = true;
    if (o == OPT_HASH) hashes = true;
  }
  if (argc - optind != 1) return tool_usage(&cmd_show, "one PATH is needed");
  cairn_runtime_t *rt = tool_runtime(0, &status);
  if (rt == NULL) return status;
  status = show(rt, argv[optind], json, hashes);
  cairn_runtime_close(rt, NULL);
  return status;
}

const command_t cmd_show = {
    .name = "show",
    .args = "[--hash] [--json] PATH",
    .summary = "shows what a step holds",
    .help =
        "Shows the leaves of each item: name, kind, type, shape, chunk\n"
        "shape, codecs, bytes and stored bytes, the value of scalars and\n"
        "strings; of a JSON item the document. --hash reads all arrays and\n"
        "adds the SHA-256 of each (C order, little-endian, one byte an\n"
        "element for types below a byte).\n",
    .run = run,
};
