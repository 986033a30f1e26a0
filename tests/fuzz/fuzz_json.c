/* Any bytes as JSON: no crash; and what parses comes back equal from each
 * dialect that can say it. */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok) {
  if (!ok) abort();
}

static bool same_value(const cairn_json_t *a, const cairn_json_t *b) {
  if (a->kind != b->kind || a->n != b->n) return false;
  if (a->kind == CAIRN_JSON_REAL)
    return isnan(a->r) ? isnan(b->r)
                       : a->r == b->r && signbit(a->r) == signbit(b->r);
  return a->b == b->b && a->i == b->i && cairn__bytes_eq(a->str, b->str) &&
         cairn__bytes_eq(a->key, b->key);
}

/* Both in the same order. */
static bool same(const cairn_json_t *a, const cairn_json_t *b) {
  if (!same_value(a, b)) return false;
  const cairn_json_t *x = a->child, *y = b->child;
  for (; x != NULL && y != NULL; x = x->next, y = y->next)
    if (!same(x, y)) return false;
  return x == NULL && y == NULL;
}

static cairn_buf_t emitted(const cairn_json_doc_t *doc,
                           cairn_json_dialect_t d) {
  cairn_buf_t out = {0};
  cairn_json_emit(doc->root, d, &out);
  require(!out.failed && cairn__utf8_ok(cairn_buf_bytes(&out)));
  return out;
}

static cairn_json_doc_t parsed(const cairn_buf_t *text) {
  cairn_json_doc_t doc;
  require(cairn_json_parse(cairn_buf_bytes(text), NULL, &doc, NULL) ==
          CAIRN_OK);
  return doc;
}

static void check_same_back(const cairn_json_doc_t *doc,
                            cairn_json_dialect_t d) {
  cairn_buf_t text = emitted(doc, d);
  cairn_json_doc_t back = parsed(&text);
  require(same(doc->root, back.root));
  cairn_json_free(&back);
  cairn_buf_reset(&text);
}

/* COMPACT sorts, and writes null for what is not finite: not the same tree, but
 * the text of what it reads is the same text. */
static void check_compact(const cairn_json_doc_t *doc) {
  cairn_buf_t text = emitted(doc, CAIRN_JSON_COMPACT);
  cairn_json_doc_t back = parsed(&text);
  cairn_buf_t again = emitted(&back, CAIRN_JSON_COMPACT);
  require(cairn__bytes_eq(cairn_buf_bytes(&text), cairn_buf_bytes(&again)));
  cairn_json_free(&back);
  cairn_buf_reset(&text);
  cairn_buf_reset(&again);
}

static void check_repr(const uint8_t *data, size_t size) {
  cairn_buf_t out = {0};
  cairn_py_repr(cairn_bytes(data, size), &out);
  require(!out.failed && out.n >= size + 2 &&
          cairn__utf8_ok(cairn_buf_bytes(&out)));
  cairn_buf_reset(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cairn_json_doc_t doc;
  cairn_error_t err = {0};
  check_repr(data, size);
  if (cairn_json_parse(cairn_bytes(data, size), NULL, &doc, &err) != CAIRN_OK) {
    require(err.code == CAIRN_CORRUPT && err.message[0] != '\0');
    return 0;
  }
  check_same_back(&doc, CAIRN_JSON_PYTHON);
  check_same_back(&doc, CAIRN_JSON_INDENT);
  check_compact(&doc);
  cairn_json_free(&doc);
  return 0;
}
