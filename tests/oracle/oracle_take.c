#include <inttypes.h>
#include <stdlib.h>

#include "oracle_box.h"
#include "oracle_state.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

/* The box poisoned again, all of its memory must be as it was before. */
static cairn_code_t check_gaps(const cairn_leaf_t *leaf, const cairn_box_t *box,
                               cairn_error_t *err) {
  int64_t item = (int64_t)cairn_dtype_size(leaf->dtype);
  int64_t none[CAIRN_MAX_RANK] = {0}, room[CAIRN_MAX_RANK];
  uint8_t poison[16], *p = box->data;
  memset(poison, BOX_POISON, sizeof poison);
  box_copy_t c = {leaf->rank, box->extent, box->strides, none, (size_t)item};
  box_copy(&c, p, poison);
  for (int i = 0; i < leaf->rank; i++) room[i] = box->extent[i] + 1;
  int64_t n = box_volume(leaf->rank, room) * item;
  for (int64_t i = 0; i < n; i++)
    if (p[i] != BOX_POISON)
      return cairn_fail(err, CAIRN_INTERNAL,
                        "byte %" PRId64 " outside the box was written", i);
  return CAIRN_OK;
}

static cairn_code_t take_box(const cairn_leaf_t *leaf, const cairn_box_t *box,
                             bool strided, cairn_buf_t *out,
                             cairn_error_t *err) {
  int64_t item = (int64_t)cairn_dtype_size(leaf->dtype), dense[CAIRN_MAX_RANK];
  size_t n = (size_t)(box_volume(leaf->rank, box->extent) * item);
  box_dense(leaf->rank, box->extent, item, dense);
  if (!cairn_buf_reserve(out, n)) return no_memory(err);
  box_copy_t c = {leaf->rank, box->extent, dense, box->strides, (size_t)item};
  box_copy(&c, out->p + out->n, box->data);
  out->n += n;
  return strided ? check_gaps(leaf, box, err) : CAIRN_OK;
}

static void add_text(cairn_buf_t *texts, const void *p, size_t n) {
  if (texts->n != 0) cairn_buf_put_str(texts, ", ");
  cairn_json_emit_str(cairn_bytes(p, n), CAIRN_JSON_PYTHON, texts);
}

static cairn_code_t take_leaf(const cairn_json_t *v, const cairn_leaf_t *leaf,
                              cairn_buf_t *bytes, cairn_buf_t *texts,
                              cairn_error_t *err) {
  if (leaf->kind == CAIRN_LEAF_STRING)
    add_text(texts, leaf->data, strnlen(leaf->data, leaf->capacity));
  if (leaf->kind == CAIRN_LEAF_SCALAR)
    cairn_buf_put(bytes, leaf->data, cairn_dtype_size(leaf->dtype));
  for (size_t i = 0; i < leaf->num_boxes && leaf->kind == CAIRN_LEAF_ARRAY; i++)
    if (take_box(leaf, &leaf->boxes[i], state_flag(v, "strided"), bytes, err) !=
        CAIRN_OK)
      return err->code;
  return CAIRN_OK;
}

/* The joined name is how a leaf of the document is found in the tree. */
static const cairn_leaf_t *find_leaf(const cairn_tree_t *tree,
                                     const cairn_json_t *v) {
  const cairn_json_t *name = cairn_json_get(v, "name");
  return name != NULL ? cairn_tree_find(tree, name->str) : NULL;
}

static cairn_code_t take_tree(const cairn_json_t *item,
                              const cairn_tree_t *tree, cairn_buf_t *bytes,
                              cairn_buf_t *texts, cairn_error_t *err) {
  const cairn_json_t *leaves = cairn_json_get(item, "leaves");
  for (const cairn_json_t *v = leaves ? leaves->child : NULL; v; v = v->next) {
    const cairn_leaf_t *leaf = find_leaf(tree, v);
    if (leaf == NULL)
      return cairn_fail(err, CAIRN_INVALID, "a leaf is not in its tree");
    if (take_leaf(v, leaf, bytes, texts, err) != CAIRN_OK)
      return cairn_within(err, "leaf %.*s", (int)leaf->name.n, leaf->name.p);
  }
  return CAIRN_OK;
}

/* Bytes as hexadecimal text: a blob need not be UTF-8. */
static void take_blob(const cairn_blob_t *blob, cairn_buf_t *texts) {
  cairn_buf_t hex = {0};
  for (size_t i = 0; i < blob->out_n; i++)
    cairn_buf_printf(&hex, "%02x", ((const uint8_t *)blob->out)[i]);
  add_text(texts, hex.p, hex.n);
  cairn_buf_reset(&hex);
}

cairn_code_t state_take(const cairn_json_t *items, const state_t *s,
                        cairn_buf_t *bytes, cairn_buf_t *texts,
                        cairn_error_t *err) {
  const cairn_json_t *v = items->child;
  for (size_t i = 0; i < s->n; i++, v = v->next) {
    if (!state_is_tree(&s->items[i]))
      take_blob(&s->blobs[i], texts);
    else if (take_tree(v, s->items[i].value, bytes, texts, err) != CAIRN_OK)
      return cairn_within(err, "item '%s'", s->items[i].name);
  }
  return bytes->failed || texts->failed ? no_memory(err) : CAIRN_OK;
}
