#include "expect.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "gather.h"

#define ROOT CAIRN_FIXTURES "/orbax"

/* Not by strndup: the sanitizer's looks one byte beyond the n that it may. */
char *expect_str(const cairn_json_t *v) {
  return v != NULL && v->kind == CAIRN_JSON_STRING ? cairn__bytes_dup(v->str)
                                                   : NULL;
}

static char *read_all(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t cap = 0;
  if (f == NULL) return NULL;
  ssize_t got = getdelim(&text, &cap, EOF, f);
  fclose(f);
  *n = got > 0 ? (size_t)got : 0;
  return text;
}

char *expect_file(const expect_item_t *item, const char *name, size_t *n) {
  char path[1400];
  snprintf(path, sizeof path, "%s/%s", item->url, name);
  return read_all(path, n);
}

/* Items ---------------------------------------------------------------------
 */

static void each_item(const char *fixture, const char *dir,
                      const cairn_json_t *items,
                      void (*fn)(const expect_item_t *)) {
  for (const cairn_json_t *v = items->child; v != NULL; v = v->next) {
    expect_item_t item = {.json = v};
    char *type = expect_str(cairn_json_get(v, "type"));
    snprintf(item.fixture, sizeof item.fixture, "%s", fixture);
    snprintf(item.label, sizeof item.label, "%s %s %.*s", fixture, dir,
             (int)v->key.n, (const char *)v->key.p);
    snprintf(item.url, sizeof item.url, ROOT "/%s/%s/%.*s", fixture, dir,
             (int)v->key.n, (const char *)v->key.p);
    item.type = type;
    fn(&item);
    free(type);
  }
}

static void each_of(const char *file, void (*fn)(const expect_item_t *)) {
  char path[1200], fixture[80];
  size_t n = 0;
  cairn_json_doc_t doc;
  cairn_error_t err = {0};
  snprintf(path, sizeof path, ROOT "/%s", file);
  snprintf(fixture, sizeof fixture, "%.*s",
           (int)(strlen(file) - strlen(".expect.json")), file);
  char *text = read_all(path, &n);
  cr_assert_eq(cairn_json_parse(cairn_bytes(text, n), NULL, &doc, &err),
               CAIRN_OK, "%s: %s", path, err.message);
  const cairn_json_t *items = cairn_json_get(doc.root, "items");
  const cairn_json_t *steps = cairn_json_get(doc.root, "steps");
  if (items != NULL) each_item(fixture, ".", items, fn);
  for (const cairn_json_t *s = steps ? steps->child : NULL; s; s = s->next) {
    char *dir = expect_str(cairn_json_get(s, "dir"));
    each_item(fixture, dir, cairn_json_get(s, "items"), fn);
    free(dir);
  }
  cairn_json_free(&doc);
  free(text);
}

static int is_expect(const struct dirent *e) {
  const char *end = strstr(e->d_name, ".expect.json");
  return end != NULL && end[strlen(".expect.json")] == 0;
}

bool expect_each(const char *fixture, void (*fn)(const expect_item_t *item)) {
  struct dirent **list;
  if (access(ROOT, R_OK) != 0) return false;
  int n = scandir(ROOT, &list, is_expect, alphasort);
  for (int i = 0; i < n; i++) {
    size_t len = strlen(list[i]->d_name) - strlen(".expect.json");
    if (fixture == NULL ||
        (strlen(fixture) == len && strncmp(list[i]->d_name, fixture, len) == 0))
      each_of(list[i]->d_name, fn);
    free(list[i]);
  }
  free(list);
  return true;
}

/* Trees ---------------------------------------------------------------------
 */

static size_t get_path(const cairn_json_t *leaf, cairn_key_t *path) {
  size_t n = 0;
  for (const cairn_json_t *k = cairn_json_get(leaf, "path")->child; k;
       k = k->next, n++) {
    const cairn_json_t *type = cairn_json_get(k, "type");
    path[n] = (cairn_key_t){.name = cairn_json_get(k, "key")->str};
    path[n].type = cairn_json_is_str(type, "seq")        ? CAIRN_KEY_SEQ
                   : cairn_json_is_str(type, "dict:int") ? CAIRN_KEY_INT
                   : cairn_json_is_str(type, "attr")     ? CAIRN_KEY_ATTR
                                                         : CAIRN_KEY_DICT;
    if (path[n].type == CAIRN_KEY_SEQ || path[n].type == CAIRN_KEY_INT) {
      char *digits = expect_str(cairn_json_get(k, "key"));
      path[n].index = strtoll(digits, NULL, 10);
      free(digits);
    }
  }
  return n;
}

static int get_numbers(const cairn_json_t *v, int64_t *out) {
  int n = 0;
  for (const cairn_json_t *e = v ? v->child : NULL; e; e = e->next)
    out[n++] = e->i;
  return n;
}

/* Placement of one array over its mesh, for the tree and for its boxes. */
struct layout {
  cairn_sharding_t s;
  int64_t mesh_shape[8], ids[256];
  const char *axes[8], *spec[CAIRN_MAX_RANK];
  char text[CAIRN_MAX_RANK + 8][64];
};

static const char *copy_text(struct layout *l, int i, cairn_bytes_t b) {
  snprintf(l->text[i], sizeof l->text[i], "%.*s", (int)b.n, (const char *)b.p);
  return l->text[i];
}

static const char *join_axes(struct layout *l, int i, const cairn_json_t *v) {
  if (v->kind == CAIRN_JSON_NULL) return NULL;
  if (v->kind == CAIRN_JSON_STRING) return copy_text(l, i, v->str);
  char *p = l->text[i];
  *p = 0;
  for (const cairn_json_t *a = v->child; a; a = a->next)
    p += sprintf(p, "%s%.*s", a != v->child ? "," : "", (int)a->str.n,
                 (const char *)a->str.p);
  return l->text[i];
}

static bool get_layout(const cairn_json_t *leaf, struct layout *l) {
  const cairn_json_t *s = cairn_json_get(leaf, "sharding");
  const cairn_json_t *spec = cairn_json_get(s, "spec");
  if (!cairn_json_is_str(cairn_json_get(s, "type"), "NamedSharding"))
    return false;
  memset(l, 0, sizeof *l);
  l->s.mesh_rank = get_numbers(cairn_json_get(s, "mesh_shape"), l->mesh_shape);
  get_numbers(cairn_json_get(s, "device_ids"), l->ids);
  int i = 0;
  for (const cairn_json_t *a = cairn_json_get(s, "axis_names")->child; a;
       a = a->next, i++)
    l->axes[i] = copy_text(l, CAIRN_MAX_RANK + i, a->str);
  for (const cairn_json_t *e = spec->child; e; e = e->next, l->s.spec_rank++)
    l->spec[l->s.spec_rank] = join_axes(l, l->s.spec_rank, e);
  l->s.mesh_shape = l->mesh_shape;
  l->s.axis_names = l->axes;
  l->s.device_ids = l->ids;
  l->s.spec = l->spec;
  return true;
}

/* Into how many parts a dimension is cut. */
static int64_t parts_of(const struct layout *l, int dim) {
  int64_t parts = 1;
  if (dim >= l->s.spec_rank || l->spec[dim] == NULL) return 1;
  char text[64], *rest = text, *name;
  snprintf(text, sizeof text, "%s", l->spec[dim]);
  while ((name = strsep(&rest, ",")) != NULL)
    for (int i = 0; i < l->s.mesh_rank; i++)
      if (strcmp(name, l->axes[i]) == 0) parts *= l->mesh_shape[i];
  return parts;
}

static size_t make_boxes(const struct layout *l, const cairn_array_t *a,
                         cairn_box_t *out) {
  int64_t parts[CAIRN_MAX_RANK], at[CAIRN_MAX_RANK] = {0};
  int64_t strides[CAIRN_MAX_RANK];
  size_t n = 0, item = cairn_dtype_size(a->dtype);
  cairn__dense_strides(a->rank, a->shape, item, strides);
  for (int d = 0; d < a->rank; d++) parts[d] = parts_of(l, d);
  for (int d = 0; d >= 0; n++) {
    cairn_box_t *b = &out[n];
    char *data = a->data;
    *b = (cairn_box_t){0};
    for (d = 0; d < a->rank; d++) {
      b->extent[d] = a->shape[d] / parts[d];
      b->origin[d] = at[d] * b->extent[d];
      b->strides[d] = strides[d];
      data += b->origin[d] * strides[d];
    }
    b->data = data;
    for (d = a->rank - 1; d >= 0 && ++at[d] == parts[d]; d--) at[d] = 0;
  }
  return n;
}

static void put_array(cairn_tree_t *t, const cairn_key_t *path, size_t n,
                      const cairn_json_t *leaf, bool sharded) {
  static struct layout l;
  static cairn_box_t boxes[64];
  cairn_error_t err = {0};
  cairn_array_t a = {
      .dtype = cairn_dtype_from_name(cairn_json_get(leaf, "dtype")->str)};
  size_t bytes;
  a.rank = get_numbers(cairn_json_get(leaf, "shape"), a.shape);
  cr_assert(
      cairn__box_bytes(a.rank, a.shape, cairn_dtype_size(a.dtype), &bytes));
  a.data = cairn_tree_alloc(t, bytes != 0 ? bytes : 1);
  memset(a.data, 0x5a, bytes);
  cairn_leaf_t kind = {.kind = CAIRN_LEAF_ARRAY};
  if (sharded && get_layout(leaf, &l)) {
    a.sharding = &l.s;
    a.num_boxes = make_boxes(&l, &a, boxes);
    a.boxes = boxes;
  }
  cr_assert_eq(cairn_tree_put(t, path, n, &kind, &a, &err), CAIRN_OK, "%s",
               err.message);
}

static cairn_leaf_kind_t kind_of(const cairn_json_t *leaf) {
  /* What is stored: an empty named tuple may be None there. */
  const cairn_json_t *disk = cairn_json_get(leaf, "disk");
  const cairn_json_t *v =
      disk ? cairn_json_get(disk, "value_type") : cairn_json_get(leaf, "kind");
  if (cairn_json_is_str(v, "scalar")) return CAIRN_LEAF_SCALAR;
  if (cairn_json_is_str(v, "string")) return CAIRN_LEAF_STRING;
  if (cairn_json_is_str(v, "None")) return CAIRN_LEAF_NONE;
  if (cairn_json_is_str(v, "Dict")) return CAIRN_LEAF_EMPTY_DICT;
  if (cairn_json_is_str(v, "List")) return CAIRN_LEAF_EMPTY_LIST;
  if (cairn_json_is_str(v, "Tuple") || cairn_json_is_str(v, "NamedTuple"))
    return CAIRN_LEAF_EMPTY_TUPLE;
  return CAIRN_LEAF_ARRAY;
}

static void put_leaf(cairn_tree_t *t, const cairn_json_t *json, bool sharded) {
  cairn_key_t path[32];
  size_t n = get_path(json, path);
  cairn_error_t err = {0};
  cairn_leaf_t leaf = {.kind = kind_of(json)};
  if (leaf.kind == CAIRN_LEAF_ARRAY) {
    put_array(t, path, n, json, sharded);
    return;
  }
  if (leaf.kind == CAIRN_LEAF_SCALAR) {
    leaf.dtype = cairn_dtype_from_name(cairn_json_get(json, "dtype")->str);
    leaf.data = cairn_tree_alloc(t, 16);
  }
  if (leaf.kind == CAIRN_LEAF_STRING) {
    leaf.capacity = cairn_json_get(json, "value")->str.n + 1;
    leaf.data = cairn_tree_alloc(t, leaf.capacity);
  }
  cr_assert_eq(cairn_tree_put(t, path, n, &leaf, NULL, &err), CAIRN_OK, "%s",
               err.message);
}

cairn_tree_t *expect_tree(const expect_item_t *item, bool sharded) {
  cairn_tree_t *t;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(&t, &err), CAIRN_OK, "%s", err.message);
  const cairn_json_t *v = cairn_json_get(item->json, "leaves")->child;
  for (; v != NULL; v = v->next) put_leaf(t, v, sharded);
  return t;
}

/* Comparing -----------------------------------------------------------------
 */

static bool same_sum(const cairn_json_t *json, const void *p, size_t n) {
  unsigned char sum[SHA256_DIGEST_LENGTH];
  char hex[2 * SHA256_DIGEST_LENGTH + 1];
  SHA256(p, n, sum);
  for (size_t i = 0; i < sizeof sum; i++) sprintf(hex + 2 * i, "%02x", sum[i]);
  return cairn_json_is_str(cairn_json_get(json, "sha256"), hex);
}

/* The fixtures hash int2 and int4 with the bits above the value zero; in memory
 * they are sign-extended. */
static bool same_array(const cairn_json_t *json, cairn_dtype_t t, uint8_t *p,
                       size_t n) {
  uint8_t mask = t == CAIRN_I2 ? 3 : 15;
  if (t != CAIRN_I2 && t != CAIRN_I4) return same_sum(json, p, n);
  uint8_t *low = malloc(n + 1);
  for (size_t i = 0; i < n; i++) low[i] = p[i] & mask;
  bool same = same_sum(json, low, n);
  free(low);
  return same;
}

/* The first box begins where the array's memory does. */
static bool same_value(const cairn_json_t *json, const cairn_leaf_t *leaf) {
  size_t bytes;
  if (leaf->kind == CAIRN_LEAF_SCALAR)
    return same_sum(json, leaf->data, cairn_dtype_size(leaf->dtype));
  if (leaf->kind == CAIRN_LEAF_STRING)
    return cairn_json_is_str(cairn_json_get(json, "value"), leaf->data);
  if (leaf->kind != CAIRN_LEAF_ARRAY) return true;
  return cairn__box_bytes(leaf->rank, leaf->shape,
                          cairn_dtype_size(leaf->dtype), &bytes) &&
         same_array(json, leaf->dtype, leaf->boxes[0].data, bytes);
}

int expect_differences(const expect_item_t *item, const cairn_tree_t *tree) {
  int n = 0;
  const cairn_json_t *v = cairn_json_get(item->json, "leaves")->child;
  for (; v != NULL; v = v->next) {
    const cairn_json_t *name = cairn_json_get(v, "name");
    const cairn_leaf_t *leaf = cairn_tree_find(tree, name->str);
    if (leaf != NULL && same_value(v, leaf)) continue;
    if (n++ < 5)
      cr_log_error("%s: leaf %.*s differs", item->label, (int)name->str.n,
                   (const char *)name->str.p);
  }
  return n;
}
