#include "oracle_state.h"

#include <stdlib.h>

#include "oracle_box.h"

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
}

/* Reading the document */

bool state_flag(const cairn_json_t *v, const char *key) {
  const cairn_json_t *f = cairn_json_get(v, key);
  return f != NULL && f->kind == CAIRN_JSON_BOOL && f->b;
}

static int64_t number(const cairn_json_t *v, const char *key) {
  int64_t n = 0;
  (void)cairn_json_int(cairn_json_get(v, key), &n);
  return n;
}

static int numbers(const cairn_json_t *list, int64_t *out, int cap) {
  int n = 0;
  for (const cairn_json_t *c = list != NULL ? list->child : NULL;
       c != NULL && n < cap; c = c->next)
    if (!cairn_json_int(c, &out[n++])) return -1;
  return n;
}

static char *text_of(cairn_tree_t *tree, const cairn_json_t *v) {
  if (v == NULL || v->kind != CAIRN_JSON_STRING) return NULL;
  char *s = cairn_tree_alloc(tree, v->str.n + 1);
  if (s != NULL && v->str.n != 0) memcpy(s, v->str.p, v->str.n);
  return s;
}

static bool key_of(const cairn_json_t *v, cairn_key_t *out) {
  static const char *const types[] = {"dict", "seq", "int", "attr"};
  const cairn_json_t *type = cairn_json_at(v, 0), *key = cairn_json_at(v, 1);
  *out = (cairn_key_t){0};
  for (int i = 0; i < 4; i++)
    if (cairn_json_is_str(type, types[i])) out->type = (cairn_key_type_t)i;
  if (key == NULL) return false;
  if (key->kind == CAIRN_JSON_STRING) out->name = key->str;
  return key->kind == CAIRN_JSON_STRING || cairn_json_int(key, &out->index);
}

/* The list of boxes of this rank, or NULL: all of the array. */
static const cairn_json_t *boxes_of(const cairn_json_t *leaf, int rank) {
  return cairn_json_at(cairn_json_get(leaf, "boxes"), (size_t)rank);
}

/* Arrays */

struct maker {
  cairn_tree_t *tree;
  source_t data;
  int rank;
  bool target;
};

static uint8_t *poisoned(cairn_tree_t *tree, size_t n) {
  uint8_t *p = cairn_tree_alloc(tree, n + 1);
  if (p != NULL) memset(p, BOX_POISON, n);
  return p;
}

/* Target memory with a gap after every row, plane, ... */
static bool make_target(const struct maker *m, const cairn_array_t *a,
                        bool strided, cairn_box_t *box) {
  int64_t item = (int64_t)cairn_dtype_size(a->dtype), room[CAIRN_MAX_RANK];
  for (int i = 0; i < a->rank; i++) room[i] = box->extent[i] + strided;
  box_dense(a->rank, room, item, box->strides);
  box->data = poisoned(m->tree, (size_t)(box_volume(a->rank, room) * item));
  return box->data != NULL;
}

/* Strided, the box is where it is in the global array. */
static bool make_source(const struct maker *m, const cairn_array_t *a,
                        const uint8_t *global, bool strided, cairn_box_t *box) {
  int64_t item = (int64_t)cairn_dtype_size(a->dtype), all[CAIRN_MAX_RANK];
  box_dense(a->rank, a->shape, item, all);
  for (int i = 0; i < a->rank; i++) global += box->origin[i] * all[i];
  if (strided) {
    memcpy(box->strides, all, sizeof all);
    box->data = (void *)(uintptr_t)global;
    return true;
  }
  box_dense(a->rank, box->extent, item, box->strides);
  box_copy_t c = {a->rank, box->extent, box->strides, all, (size_t)item};
  box->data = cairn_tree_alloc(
      m->tree, (size_t)(box_volume(a->rank, box->extent) * item));
  if (box->data != NULL) box_copy(&c, box->data, global);
  return box->data != NULL;
}

static cairn_code_t make_box(const struct maker *m, const cairn_json_t *leaf,
                             const cairn_array_t *a, const cairn_json_t *v,
                             cairn_box_t *box, cairn_error_t *err) {
  int64_t bytes =
      box_volume(a->rank, a->shape) * (int64_t)cairn_dtype_size(a->dtype);
  int64_t at = number(leaf, "at");
  *box = (cairn_box_t){0};
  if (v == NULL)
    memcpy(box->extent, a->shape, sizeof a->shape);
  else if (numbers(cairn_json_at(v, 0), box->origin, CAIRN_MAX_RANK) !=
               a->rank ||
           numbers(cairn_json_at(v, 1), box->extent, CAIRN_MAX_RANK) != a->rank)
    return cairn_fail(err, CAIRN_INVALID, "a box of another rank");
  bool strided = state_flag(leaf, "strided"), ok;
  if (m->target)
    ok = make_target(m, a, strided, box);
  else if (at < 0 || (uint64_t)(at + bytes) > m->data.n)
    return cairn_fail(err, CAIRN_INVALID, "data beyond the end of its file");
  else
    ok = make_source(m, a, m->data.p + at, strided, box);
  return ok ? CAIRN_OK : no_memory(err);
}

static cairn_code_t make_boxes(const struct maker *m, const cairn_json_t *leaf,
                               cairn_array_t *a, cairn_error_t *err) {
  const cairn_json_t *list = boxes_of(leaf, m->rank);
  size_t n = list != NULL ? list->n : 1, i = 0;
  cairn_box_t *boxes = cairn_tree_alloc(m->tree, (n + 1) * sizeof *boxes);
  if (boxes == NULL) return no_memory(err);
  const cairn_json_t *v = list != NULL ? list->child : NULL;
  for (; i < n; i++, v = v != NULL ? v->next : NULL)
    if (make_box(m, leaf, a, v, &boxes[i], err) != CAIRN_OK) return err->code;
  a->boxes = boxes;
  a->num_boxes = n;
  a->empty = n == 0;
  return CAIRN_OK;
}

static const char **names_of(cairn_tree_t *tree, const cairn_json_t *list) {
  size_t n = list != NULL ? list->n : 0, i = 0;
  const char **out = cairn_tree_alloc(tree, (n + 1) * sizeof *out);
  if (out == NULL) return NULL;
  for (const cairn_json_t *c = n != 0 ? list->child : NULL; c; c = c->next)
    out[i++] = text_of(tree, c);
  return out;
}

static cairn_code_t make_sharding(const struct maker *m, const cairn_json_t *v,
                                  cairn_array_t *a, cairn_error_t *err) {
  const cairn_json_t *mesh = cairn_json_get(v, "mesh_shape"),
                     *ids = cairn_json_get(v, "device_ids"),
                     *spec = cairn_json_get(v, "spec");
  if (v == NULL) return CAIRN_OK;
  cairn_sharding_t *s = cairn_tree_alloc(m->tree, sizeof *s);
  int64_t *shape = cairn_tree_alloc(m->tree, 8 * (mesh->n + 1));
  int64_t *devices = cairn_tree_alloc(m->tree, 8 * (ids->n + 1));
  if (s == NULL || shape == NULL || devices == NULL) return no_memory(err);
  *s = (cairn_sharding_t){
      .mesh_rank = numbers(mesh, shape, (int)mesh->n),
      .mesh_shape = shape,
      .axis_names = names_of(m->tree, cairn_json_get(v, "axis_names")),
      .device_ids = devices,
      .spec_rank = (int)spec->n,
      .spec = names_of(m->tree, spec),
  };
  numbers(ids, devices, (int)ids->n);
  a->sharding = s;
  return CAIRN_OK;
}

static cairn_code_t make_array(const struct maker *m, const cairn_json_t *v,
                               cairn_array_t *a, cairn_error_t *err) {
  const cairn_json_t *dtype = cairn_json_get(v, "dtype");
  if (dtype != NULL) a->dtype = cairn_dtype_from_name(dtype->str);
  a->rank = numbers(cairn_json_get(v, "shape"), a->shape, CAIRN_MAX_RANK);
  a->snapshot =
      state_flag(v, "borrow") ? CAIRN_SNAPSHOT_BORROW : CAIRN_SNAPSHOT_DEFAULT;
  if (make_boxes(m, v, a, err) != CAIRN_OK) return err->code;
  return make_sharding(m, cairn_json_get(v, "sharding"), a, err);
}

/* Leaves and items */

static cairn_leaf_kind_t kind_of(const cairn_json_t *v) {
  static const char *const kinds[] = {"array", "scalar",     "string",
                                      "none",  "dict",       "list",
                                      "tuple", "placeholder"};
  const cairn_json_t *kind = cairn_json_get(v, "kind");
  for (int i = 0; i < 8; i++)
    if (cairn_json_is_str(kind, kinds[i])) return (cairn_leaf_kind_t)i;
  return CAIRN_LEAF_ARRAY;
}

static cairn_code_t make_scalar(const struct maker *m, const cairn_json_t *v,
                                cairn_leaf_t *leaf, cairn_error_t *err) {
  cairn_array_t a = {0}; /* of rank 0, for its memory */
  if (make_array(m, v, &a, err) != CAIRN_OK) return err->code;
  leaf->dtype = a.dtype;
  leaf->data = a.boxes[0].data;
  return CAIRN_OK;
}

static cairn_code_t make_string(const struct maker *m, const cairn_json_t *v,
                                cairn_leaf_t *leaf, cairn_error_t *err) {
  const cairn_json_t *text = cairn_json_get(v, "text");
  leaf->capacity = m->target ? (size_t)number(v, "capacity")
                             : (text != NULL ? text->str.n + 1 : 0);
  leaf->data = m->target ? (char *)poisoned(m->tree, leaf->capacity)
                         : text_of(m->tree, text);
  return leaf->data != NULL ? CAIRN_OK : no_memory(err);
}

static cairn_code_t make_leaf(const struct maker *m, const cairn_json_t *v,
                              cairn_error_t *err) {
  cairn_key_t path[64];
  size_t n = 0;
  const cairn_json_t *keys = cairn_json_get(v, "path");
  for (const cairn_json_t *k = keys ? keys->child : NULL; k && n < 64;
       k = k->next)
    if (!key_of(k, &path[n++])) return cairn_fail(err, CAIRN_INVALID, "a key");
  cairn_leaf_t leaf = {.kind = kind_of(v)};
  cairn_array_t a = {0};
  cairn_code_t rc = CAIRN_OK;
  if (leaf.kind == CAIRN_LEAF_ARRAY) rc = make_array(m, v, &a, err);
  if (leaf.kind == CAIRN_LEAF_SCALAR) rc = make_scalar(m, v, &leaf, err);
  if (leaf.kind == CAIRN_LEAF_STRING) rc = make_string(m, v, &leaf, err);
  if (rc != CAIRN_OK) return rc;
  return cairn_tree_put(m->tree, path, n, &leaf,
                        leaf.kind == CAIRN_LEAF_ARRAY ? &a : NULL, err);
}

static cairn_code_t make_tree(struct maker *m, const cairn_json_t *v,
                              cairn_item_t *item, cairn_error_t *err) {
  const cairn_json_t *leaves = cairn_json_get(v, "leaves");
  if (cairn_tree_new(&m->tree, err) != CAIRN_OK) return err->code;
  item->value = m->tree;
  for (const cairn_json_t *l = leaves ? leaves->child : NULL; l; l = l->next)
    if (make_leaf(m, l, err) != CAIRN_OK) return err->code;
  return CAIRN_OK;
}

static void make_blob(const struct maker *m, const cairn_json_t *v,
                      cairn_blob_t *blob) {
  const cairn_json_t *list = cairn_json_get(v, "blobs");
  const cairn_json_t *mine = cairn_json_at(list, (size_t)m->rank);
  int64_t place[2] = {0, 0};
  numbers(mine != NULL ? mine : cairn_json_at(list, 0), place, 2);
  blob->any_rank = state_flag(v, "any_rank");
  blob->missing_ok = state_flag(v, "missing_ok");
  if (m->target) return;
  blob->data = m->data.p + place[0];
  blob->n = (size_t)place[1];
}

cairn_code_t state_make(const cairn_json_t *items, source_t data, int rank,
                        bool target, state_t *out, cairn_error_t *err) {
  struct maker m = {.data = data, .rank = rank, .target = target};
  size_t n = items != NULL ? items->n : 0;
  *out = (state_t){.items = calloc(n + 1, sizeof *out->items),
                   .blobs = calloc(n + 1, sizeof *out->blobs),
                   .target = target};
  if (out->items == NULL || out->blobs == NULL) return no_memory(err);
  for (const cairn_json_t *v = n ? items->child : NULL; v; v = v->next) {
    cairn_item_t *item = &out->items[out->n];
    const cairn_json_t *name = cairn_json_get(v, "name");
    /* Parsed text has no NUL behind it; a name is short. */
    item->name =
        strndup(name ? (const char *)name->str.p : "", name ? name->str.n : 0);
    item->type = cairn_json_is_str(cairn_json_get(v, "type"), "json") ? "json"
                 : cairn_json_is_str(cairn_json_get(v, "type"), "bytes")
                     ? "bytes"
                 : cairn_json_is_str(cairn_json_get(v, "type"), "rank_bytes")
                     ? "rank_bytes"
                     : "tree";
    cairn_blob_t *blob = &out->blobs[out->n++];
    item->value = blob;
    if (strcmp(item->type, "tree") != 0)
      make_blob(&m, v, blob);
    else if (make_tree(&m, v, item, err) != CAIRN_OK)
      return cairn_within(err, "item '%s'", item->name);
  }
  return CAIRN_OK;
}

bool state_is_tree(const cairn_item_t *item) {
  return strcmp(item->type, "tree") == 0;
}

void state_free(state_t *s) {
  for (size_t i = 0; i < s->n; i++) {
    if (state_is_tree(&s->items[i])) cairn_tree_free(s->items[i].value);
    free(s->blobs[i].out);
    free((char *)(uintptr_t)s->items[i].name);
  }
  free(s->items);
  free(s->blobs);
  *s = (state_t){0};
}
