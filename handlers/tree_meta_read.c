/* The parser of `_METADATA`: a JSON document into entries with paths.
 *
 * Old releases left members out: use_ocdbt (then the directory says), use_zarr3
 * (false), store_array_data_equal_to_fill_value (false). Members that we do not
 * know are passed over. */
#include <stdlib.h>

#include "tree_meta.h"

/* Bytes of a tree key that messages show. */
#define SHOWN 120

static cairn_code_t bad_entry(const cairn_json_t *entry, cairn_code_t code,
                              cairn_error_t *err, const char *what) {
  int n = entry->key.n < SHOWN ? (int)entry->key.n : SHOWN;
  return cairn_fail(err, code, "entry %.*s: %s", n, (const char *)entry->key.p,
                    what);
}

/* Digits without a sign or leading zeros, within int64. */
static bool decimal(cairn_bytes_t text, int64_t *out) {
  int64_t v = 0;
  if (text.n == 0 || (text.n > 1 && text.p[0] == '0')) return false;
  for (size_t i = 0; i < text.n; i++) {
    if (text.p[i] < '0' || text.p[i] > '9') return false;
    if (__builtin_mul_overflow(v, 10, &v) ||
        __builtin_add_overflow(v, text.p[i] - '0', &v))
      return false;
  }
  *out = v;
  return true;
}

/* key_type: 1 is a place in a sequence, 2 anything else. */
static cairn_code_t read_key(const cairn_json_t *entry, const cairn_json_t *in,
                             cairn_key_t *out, cairn_error_t *err) {
  const cairn_json_t *text = cairn_json_get(in, "key");
  int64_t type = 0;
  if (text == NULL || text->kind != CAIRN_JSON_STRING)
    return bad_entry(entry, CAIRN_CORRUPT, err, "key is not a string");
  if (!cairn_json_int(cairn_json_get(in, "key_type"), &type))
    return bad_entry(entry, CAIRN_CORRUPT, err, "key_type is not a number");
  if (type != 1 && type != 2)
    return bad_entry(entry, CAIRN_UNSUPPORTED, err, "key_type is not 1 or 2");
  *out = (cairn_key_t){.type = type == 1 ? CAIRN_KEY_SEQ : CAIRN_KEY_DICT,
                       .name = text->str};
  if (type == 1 && !decimal(text->str, &out->index))
    return bad_entry(entry, CAIRN_CORRUPT, err,
                     "a key of a sequence is not an index");
  return CAIRN_OK;
}

static cairn_code_t read_path(cairn__tree_meta_t *m, const cairn_json_t *entry,
                              cairn__keypath_t *out, cairn_error_t *err) {
  const cairn_json_t *keys = cairn_json_get(entry, "key_metadata");
  if (keys == NULL || keys->kind != CAIRN_JSON_ARRAY)
    return bad_entry(entry, CAIRN_CORRUPT, err, "key_metadata is not an array");
  cairn_key_t *path = cairn__bump_calloc(&m->bump, keys->n, sizeof *path);
  if (path == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  *out = (cairn__keypath_t){path, keys->n};
  for (const cairn_json_t *k = keys->child; k != NULL; k = k->next)
    if (read_key(entry, k, path++, err) != CAIRN_OK) return err->code;
  return CAIRN_OK;
}

static cairn_code_t join_name(cairn__tree_meta_t *m, cairn__meta_entry_t *e,
                              cairn_buf_t *scratch, cairn_error_t *err) {
  scratch->n = 0;
  cairn__keypath_name(e->path, scratch);
  uint8_t *p = cairn__bump_alloc(&m->bump, scratch->n);
  if (p == NULL || scratch->failed)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (scratch->n != 0) memcpy(p, scratch->p, scratch->n);
  e->name = cairn_bytes(p, scratch->n);
  return CAIRN_OK;
}

static cairn_code_t read_value(const cairn_json_t *entry,
                               cairn__meta_entry_t *e, cairn_error_t *err) {
  const cairn_json_t *v = cairn_json_get(entry, "value_metadata");
  const cairn_json_t *type = cairn_json_get(v, "value_type");
  const cairn_json_t *skip = cairn_json_get(v, "skip_deserialize");
  if (type == NULL || type->kind != CAIRN_JSON_STRING)
    return bad_entry(entry, CAIRN_CORRUPT, err, "value_type is not a string");
  if (skip == NULL || skip->kind != CAIRN_JSON_BOOL)
    return bad_entry(entry, CAIRN_CORRUPT, err,
                     "skip_deserialize is not true or false");
  e->value_type = type->str;
  e->form = cairn__form_named(type->str);
  e->skip = skip->b;
  return CAIRN_OK;
}

static cairn_code_t read_entries(cairn__tree_meta_t *m,
                                 const cairn_json_t *tree, cairn_buf_t *scratch,
                                 cairn_error_t *err) {
  m->entries = cairn__bump_calloc(&m->bump, tree->n, sizeof *m->entries);
  if (m->entries == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  for (const cairn_json_t *v = tree->child; v != NULL; v = v->next) {
    cairn__meta_entry_t *e = &m->entries[m->n++];
    if (read_path(m, v, &e->path, err) != CAIRN_OK ||
        join_name(m, e, scratch, err) != CAIRN_OK ||
        read_value(v, e, err) != CAIRN_OK)
      return err->code;
  }
  return CAIRN_OK;
}

static cairn__keypath_t entry_path(const void *arg, size_t i) {
  return ((const cairn__meta_entry_t *)arg)[i].path;
}

static cairn_code_t sort_entries(cairn__tree_meta_t *m, cairn_error_t *err) {
  free(m->order);
  m->order = cairn__keypath_sort(m->n, entry_path, m->entries);
  if (m->order == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  return CAIRN_OK;
}

/* In sorted order a path that is above others comes right before one of them,
 * and an equal one right after its twin. */
static cairn_code_t mark_covered(cairn__tree_meta_t *m, bool *covered,
                                 bool *any, cairn_error_t *err) {
  for (size_t i = 0; i + 1 < m->n; i++) {
    cairn__keypath_t a = m->entries[m->order[i]].path;
    cairn__keypath_t b = m->entries[m->order[i + 1]].path;
    if (!cairn__keypath_starts(b, a)) continue;
    if (a.n == b.n)
      return cairn_fail(err, CAIRN_CORRUPT, "two entries for %s",
                        cairn__path_show(a).s);
    covered[m->order[i]] = *any = true;
  }
  return CAIRN_OK;
}

static cairn_code_t drop_covered(cairn__tree_meta_t *m, cairn_error_t *err) {
  bool any = false;
  bool *covered = cairn__bump_calloc(&m->bump, m->n, sizeof *covered);
  if (covered == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory");
  if (sort_entries(m, err) != CAIRN_OK ||
      mark_covered(m, covered, &any, err) != CAIRN_OK)
    return err->code;
  if (!any) return CAIRN_OK;
  size_t kept = 0;
  for (size_t i = 0; i < m->n; i++)
    if (!covered[i]) m->entries[kept++] = m->entries[i];
  m->n = kept;
  return sort_entries(m, err);
}

/* true, false, or what stands for absent; null is absent. */
static cairn_code_t read_flag(const cairn_json_t *root, const char *name,
                              int absent, int *out, cairn_error_t *err) {
  const cairn_json_t *v = cairn_json_get(root, name);
  *out = absent;
  if (v == NULL || v->kind == CAIRN_JSON_NULL) return CAIRN_OK;
  if (v->kind != CAIRN_JSON_BOOL)
    return cairn_fail(err, CAIRN_CORRUPT, "%s is not true or false", name);
  *out = v->b;
  return CAIRN_OK;
}

static cairn_code_t read_flags(cairn__tree_meta_t *m, const cairn_json_t *root,
                               cairn_error_t *err) {
  int ocdbt, zarr3, fill;
  if (read_flag(root, "use_ocdbt", -1, &ocdbt, err) != CAIRN_OK ||
      read_flag(root, "use_zarr3", 0, &zarr3, err) != CAIRN_OK ||
      read_flag(root, "store_array_data_equal_to_fill_value", 0, &fill, err) !=
          CAIRN_OK)
    return err->code;
  m->use_ocdbt = ocdbt < 0    ? CAIRN__OCDBT_ABSENT
                 : ocdbt != 0 ? CAIRN__OCDBT_YES
                              : CAIRN__OCDBT_NO;
  m->use_zarr3 = zarr3 != 0;
  m->stores_fill = fill != 0;
  return CAIRN_OK;
}

static cairn_code_t parse(cairn_bytes_t text, cairn__tree_meta_t *m,
                          cairn_buf_t *scratch, cairn_error_t *err) {
  if (cairn_json_parse(text, NULL, &m->doc, err) != CAIRN_OK) return err->code;
  const cairn_json_t *root = m->doc.root;
  const cairn_json_t *tree = cairn_json_get(root, "tree_metadata");
  if (root->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "not an object");
  if (tree == NULL || tree->kind != CAIRN_JSON_OBJECT)
    return cairn_fail(err, CAIRN_CORRUPT, "tree_metadata is not an object");
  if (read_flags(m, root, err) != CAIRN_OK ||
      read_entries(m, tree, scratch, err) != CAIRN_OK)
    return err->code;
  return drop_covered(m, err);
}

cairn_code_t cairn__tree_meta_parse(cairn_bytes_t text, cairn__tree_meta_t *out,
                                    cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn_buf_t scratch = {0};
  *out = (cairn__tree_meta_t){0};
  cairn_code_t rc = parse(text, out, &scratch, &local);
  cairn_buf_reset(&scratch);
  if (rc == CAIRN_OK) return CAIRN_OK;
  cairn__tree_meta_free(out);
  cairn_within(&local, "_METADATA");
  return cairn_error_copy(err, &local);
}

void cairn__tree_meta_free(cairn__tree_meta_t *meta) {
  free(meta->order);
  cairn__bump_free(&meta->bump);
  cairn_json_free(&meta->doc);
  *meta = (cairn__tree_meta_t){0};
}
