/* _CHECKPOINT_METADATA: written as Orbax 0.12.8 does, read in every form that
 * any release wrote. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"
#include "checkpoint/side_files.h"

static void put_str(cairn_buf_t *out, const char *s) {
  cairn_json_emit_str(cairn_bytes_str(s), CAIRN_JSON_PYTHON, out);
}

/* One bare string where there is no item level. */
static void emit_handlers(const cairn__item_type_t *items, size_t n,
                          cairn_buf_t *out) {
  if (n == 1 && items[0].item[0] == 0) {
    put_str(out, items[0].typestr);
    return;
  }
  cairn_buf_put_str(out, "{");
  for (size_t i = 0; i < n; i++) {
    if (i > 0) cairn_buf_put_str(out, ", ");
    put_str(out, items[i].item);
    cairn_buf_put_str(out, ": ");
    put_str(out, items[i].typestr);
  }
  cairn_buf_put_str(out, "}");
}

void cairn__checkpoint_metadata_emit(const cairn__item_type_t *items, size_t n,
                                     int64_t init_ns, int64_t commit_ns,
                                     cairn_buf_t *out) {
  cairn_buf_put_str(out, "{\"item_handlers\": ");
  emit_handlers(items, n, out);
  cairn_buf_printf(out,
                   ", \"metrics\": {}, \"performance_metrics\": {}, "
                   "\"init_timestamp_nsecs\": %" PRId64
                   ", \"commit_timestamp_nsecs\": %" PRId64
                   ", \"custom_metadata\": {}}",
                   init_ns, commit_ns);
}

/* --- reading --- */

static size_t count_handlers(const cairn_json_t *v) {
  if (v == NULL) return 0;
  if (v->kind == CAIRN_JSON_STRING) return 1;
  return v->kind == CAIRN_JSON_OBJECT ? v->n : 0;
}

/* Names and strings are copied into one block behind the array. */
static cairn_code_t read_handlers(const cairn_json_t *v,
                                  cairn__checkpoint_metadata_t *out,
                                  cairn_error_t *err) {
  size_t n = count_handlers(v), bytes = n * sizeof(cairn__item_type_t);
  if (n == 0) return CAIRN_OK;
  const cairn_json_t *first = v->kind == CAIRN_JSON_STRING ? v : v->child;
  for (const cairn_json_t *c = first; c != NULL; c = c->next)
    bytes += c->key.n + c->str.n + 2;
  out->items = out->mem = calloc(1, bytes);
  if (out->mem == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "item_handlers");
  char *at = (char *)(out->items + n);
  for (const cairn_json_t *c = first; c != NULL && out->n < n; c = c->next) {
    if (c->kind != CAIRN_JSON_STRING) continue; /* null until it is known */
    cairn__item_type_t *item = &out->items[out->n++];
    item->item = at;
    if (c != v) { /* a bare string has no name */
      if (c->key.n != 0) memcpy(at, c->key.p, c->key.n);
      at += c->key.n;
    }
    at++;
    item->typestr = at;
    if (c->str.n != 0) memcpy(at, c->str.p, c->str.n);
    at += c->str.n + 1;
  }
  return CAIRN_OK;
}

static int64_t time_of(const cairn_json_t *doc, const char *key) {
  int64_t t = 0;
  return cairn_json_int(cairn_json_get(doc, key), &t) ? t : 0;
}

cairn_code_t cairn__checkpoint_metadata_parse(cairn_bytes_t text,
                                              cairn__checkpoint_metadata_t *out,
                                              cairn_error_t *err) {
  cairn_json_doc_t doc = {0};
  *out = (cairn__checkpoint_metadata_t){0};
  cairn_code_t rc = cairn_json_parse(text, NULL, &doc, err);
  if (rc == CAIRN_OK && doc.root->kind != CAIRN_JSON_OBJECT)
    rc = cairn_fail(err, CAIRN_CORRUPT, "not a JSON object");
  if (rc == CAIRN_OK) {
    out->init_ns = time_of(doc.root, "init_timestamp_nsecs");
    out->commit_ns = time_of(doc.root, "commit_timestamp_nsecs");
    rc = read_handlers(cairn_json_get(doc.root, "item_handlers"), out, err);
  }
  cairn_json_free(&doc);
  return rc;
}

void cairn__checkpoint_metadata_free(cairn__checkpoint_metadata_t *m) {
  free(m->mem);
  *m = (cairn__checkpoint_metadata_t){0};
}
