/* Strings: members of `_strings.json`, the primary's. */
#include "cairn/json.h"
#include "leaf.h"

/* The name is a JSON pointer to Orbax: there '/' would nest and '~' begins an
 * escape, and neither can be escaped so that Orbax finds it again. */
static cairn_code_t measure(const cairn_leaf_t *leaf, cairn__take_t *t,
                            cairn_error_t *err) {
  (void)t;
  for (size_t i = 0; i < leaf->name.n; i++)
    if (leaf->name.p[i] == '/' || leaf->name.p[i] == '~')
      return cairn_fail(err, CAIRN_INVALID,
                        "a string's name cannot hold '%c' in this format",
                        leaf->name.p[i]);
  return CAIRN_OK;
}

static void take(const cairn_leaf_t *leaf, cairn__take_t *t) {
  size_t n = strnlen(leaf->data, leaf->capacity);
  if (!t->ctx->primary) return;
  cairn_buf_put_varint(&t->texts, n);
  cairn_buf_put(&t->texts, leaf->data, n);
}

static cairn_code_t side(const cairn__desc_t *d, cairn__sides_t *sides,
                         cairn_error_t *err) {
  cairn_bytes_t text;
  cairn_buf_t *values = &sides->strings.values;
  if (!cairn__desc_text(&sides->texts, &text)) return cairn__desc_bad(err);
  sides->name.n = sides->key.n = 0;
  cairn__keypath_name(cairn__desc_path(d), &sides->name);
  cairn__members_add(&sides->strings, cairn_buf_bytes(&sides->name));
  cairn_json_emit_str(text, CAIRN_JSON_COMPACT, &sides->key);
  if (sides->name.failed || sides->key.failed)
    values->failed = true;
  else
    cairn_buf_put(values, sides->key.p + 1, sides->key.n - 2);
  return CAIRN_OK;
}

const cairn__leaf_ops_t cairn__leaf_string = {
    .measure = measure,
    .take = take,
    .side = side,
};
