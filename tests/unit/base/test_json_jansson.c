/* jansson's opinion on the same texts: good ones, and all their neighbours at
 * one changed byte. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>

#include "base/base.h"
#include "cairn/json.h"

static bool same(const cairn_json_t *a, const json_t *b);

static bool same_array(const cairn_json_t *a, const json_t *b) {
  if (a->n != json_array_size(b)) return false;
  size_t i = 0;
  for (const cairn_json_t *v = a->child; v != NULL; v = v->next)
    if (!same(v, json_array_get(b, i++))) return false;
  return true;
}

static bool same_object(const cairn_json_t *a, json_t *b) {
  if (a->n != json_object_size(b)) return false;
  void *it = json_object_iter(b);
  for (const cairn_json_t *v = a->child; v != NULL; v = v->next) {
    if (!cairn__bytes_eq(v->key, cairn_bytes_str(json_object_iter_key(it))) ||
        !same(v, json_object_iter_value(it)))
      return false;
    it = json_object_iter_next(b, it);
  }
  return true;
}

static bool same(const cairn_json_t *a, const json_t *b) {
  switch (a->kind) {
    case CAIRN_JSON_NULL:
      return json_is_null(b);
    case CAIRN_JSON_BOOL:
      return json_is_boolean(b) && json_is_true(b) == a->b;
    case CAIRN_JSON_INT:
      return json_is_integer(b) && json_integer_value(b) == a->i;
    case CAIRN_JSON_REAL:
      return json_is_real(b) && json_real_value(b) == a->r;
    case CAIRN_JSON_STRING:
      return json_is_string(b) &&
             cairn__bytes_eq(a->str, cairn_bytes(json_string_value(b),
                                                 json_string_length(b)));
    case CAIRN_JSON_ARRAY:
      return json_is_array(b) && same_array(a, b);
    case CAIRN_JSON_OBJECT:
      return json_is_object(b) && same_object(a, (json_t *)b);
    default:
      return false;
  }
}

/* Does it hold what jansson refuses on purpose: integers beyond int64, reals
 * beyond double, NUL in keys? */
static bool beyond_jansson(const cairn_json_t *a) {
  if (a->kind == CAIRN_JSON_BIGINT) return true;
  if (a->kind == CAIRN_JSON_REAL && !isfinite(a->r)) return true;
  if (a->key.n != 0 && memchr(a->key.p, 0, a->key.n) != NULL) return true;
  for (const cairn_json_t *v = a->child; v != NULL; v = v->next)
    if (beyond_jansson(v)) return true;
  return false;
}

static void compare(cairn_bytes_t text) {
  cairn_json_limits_t lim = {.strict = true};
  cairn_json_doc_t ours;
  bool ok = cairn_json_parse(text, &lim, &ours, NULL) == CAIRN_OK;
  json_t *theirs = json_loadb((const char *)text.p, text.n,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
  if (theirs == NULL)
    cr_assert(!ok || beyond_jansson(ours.root), "only we accept %.*s",
              (int)text.n, (const char *)text.p);
  else
    cr_assert(ok && same(ours.root, theirs), "we differ on %.*s", (int)text.n,
              (const char *)text.p);
  json_decref(theirs);
  cairn_json_free(&ours);
}

static const char *const texts[] = {
    "null",
    "[true,false]",
    "-12.5e-3",
    "[0,-0,10,1E5,1.25]",
    "1e400",
    "9223372036854775807",
    "-9223372036854775809",
    "[[],{},[{}]]",
    "\"\\u00e9\\ud83d\\ude00\\n\\/\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
    "{\"a\":1,\"b\":{\"a\":[\"x\",null]},\"a\":2}",
    " [ 1 , 2 ]\n",
    "{\"zarr_format\":2,\"shape\":[8],\"chunks\":[8],\"dtype\":\"<i4\","
    "\"compressor\":{\"id\":\"zstd\",\"level\":1},\"fill_value\":null}",
    "{\"k0\":0,\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,"
    "\"k7\":7,\"k8\":8,\"k1\":[],\"k9\":9}"};

Test(json_jansson, good_texts_mean_the_same) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    compare(cairn_bytes_str(texts[i]));
}

/* Not NUL: jansson 2.14 drops one behind a number. test_json.c has it. */
Test(json_jansson, changed_bytes_are_judged_the_same) {
  static const char others[] =
      " \t\"\\{}[],:+-.eE0129adfnrtu/x\x01\x1f\x7f\x80\xbf\xc0\xc3\xe2\xed\xf0"
      "\xf4\xff";
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    char copy[512];
    size_t n = strlen(texts[i]);
    memcpy(copy, texts[i], n);
    for (size_t at = 0; at < n; at++) {
      for (const char *o = others; *o != '\0'; o++) {
        copy[at] = *o;
        compare(cairn_bytes(copy, n));
      }
      copy[at] = texts[i][at];
    }
  }
}

Test(json_jansson, cut_texts_are_judged_the_same) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (size_t n = 0; n < strlen(texts[i]); n++)
      compare(cairn_bytes(texts[i], n));
}
