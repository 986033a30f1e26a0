/* Parsing, looking up and building documents. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "cairn/json.h"

static cairn_json_doc_t parsed(const char *text) {
  cairn_json_doc_t doc;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_json_parse(cairn_bytes_str(text), NULL, &doc, &err),
               CAIRN_OK, "%s: %s", text, err.message);
  return doc;
}

static void expect_corrupt(cairn_bytes_t text, const cairn_json_limits_t *lim,
                           const char *message) {
  cairn_json_doc_t doc;
  cairn_error_t err = {0};
  /* An exact copy, so that a sanitizer sees one byte read too many. */
  uint8_t *copy = malloc(text.n + (text.n == 0));
  cr_assert(copy != NULL);
  if (text.n != 0) memcpy(copy, text.p, text.n);
  cr_expect_eq(cairn_json_parse(cairn_bytes(copy, text.n), lim, &doc, &err),
               CAIRN_CORRUPT, "accepted: %.*s", (int)text.n,
               (const char *)text.p);
  free(copy);
  cr_expect_null(doc.root);
  cr_expect_null(doc.blocks);
  if (message != NULL) cr_expect_str_eq(err.message, message);
}

static void expect_corrupt_str(const char *text, const char *message) {
  expect_corrupt(cairn_bytes_str(text), NULL, message);
}

Test(json, values_have_their_kinds) {
  cairn_json_doc_t d = parsed(
      " \r\n\t[null, true, false, -12, 9223372036854775808, 2.5, \"s\", [], "
      "{}]\n");
  static const cairn_json_kind_t want[] = {
      CAIRN_JSON_NULL,   CAIRN_JSON_BOOL,   CAIRN_JSON_BOOL,
      CAIRN_JSON_INT,    CAIRN_JSON_BIGINT, CAIRN_JSON_REAL,
      CAIRN_JSON_STRING, CAIRN_JSON_ARRAY,  CAIRN_JSON_OBJECT};
  cr_assert_eq(d.root->n, 9u);
  for (size_t i = 0; i < 9; i++)
    cr_expect_eq(cairn_json_at(d.root, i)->kind, want[i], "element %zu", i);
  cr_expect(cairn_json_at(d.root, 1)->b);
  cr_expect_not(cairn_json_at(d.root, 2)->b);
  cr_expect_eq(cairn_json_at(d.root, 3)->i, -12);
  cr_expect(cairn__bytes_eq(cairn_json_at(d.root, 4)->str,
                            cairn_bytes_str("9223372036854775808")));
  cr_expect_eq(cairn_json_at(d.root, 5)->r, 2.5);
  cr_expect(cairn_json_is_str(cairn_json_at(d.root, 6), "s"));
  cr_expect_null(cairn_json_at(d.root, 9));
  cairn_json_free(&d);
  cr_expect_null(d.root);
}

Test(json, int64_bounds_are_integers_and_beyond_is_text) {
  cairn_json_doc_t d = parsed(
      "[9223372036854775807,-9223372036854775808,-9223372036854775809,-0]");
  cr_expect_eq(cairn_json_at(d.root, 0)->i, INT64_MAX);
  cr_expect_eq(cairn_json_at(d.root, 1)->i, INT64_MIN);
  cr_expect_eq(cairn_json_at(d.root, 1)->kind, CAIRN_JSON_INT);
  cr_expect_eq(cairn_json_at(d.root, 2)->kind, CAIRN_JSON_BIGINT);
  cr_expect_eq(cairn_json_at(d.root, 3)->kind, CAIRN_JSON_INT);
  cr_expect_eq(cairn_json_at(d.root, 3)->i, 0);
  cairn_json_free(&d);
}

Test(json, too_large_a_real_is_infinite_as_in_python) {
  cairn_json_doc_t d = parsed("[1e999,-1e999,1e-999,NaN]");
  cr_expect_eq(cairn_json_at(d.root, 0)->r, INFINITY);
  cr_expect_eq(cairn_json_at(d.root, 1)->r, -INFINITY);
  cr_expect_eq(cairn_json_at(d.root, 2)->r, 0.0);
  cr_expect(isnan(cairn_json_at(d.root, 3)->r));
  cairn_json_free(&d);
}

Test(json, very_long_reals_are_read) {
  cairn_buf_t text = {0};
  cairn_buf_put_str(&text, "0.");
  for (int i = 0; i < 1000; i++) cairn_buf_put_u8(&text, '0');
  cairn_buf_put_str(&text, "25e1000");
  cairn_buf_put_u8(&text, '\0');
  cairn_json_doc_t d = parsed((char *)text.p);
  cr_expect_eq(d.root->r, 0.25);
  cairn_json_free(&d);
  cairn_buf_reset(&text);
}

Test(json, strict_refuses_what_only_python_writes) {
  cairn_json_limits_t strict = {.strict = true};
  static const char *const bad[] = {"NaN", "Infinity", "-Infinity", "[1,NaN]"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_corrupt(cairn_bytes_str(bad[i]), &strict, NULL);
}

Test(json, comma_locale_changes_nothing) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; i < 3 && !found; i++)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) cr_skip("no locale with a decimal comma is installed");
  cairn_json_doc_t d = parsed("[1.5]");
  cairn_buf_t out = {0};
  cr_expect_eq(cairn_json_at(d.root, 0)->r, 1.5);
  cairn_json_emit(d.root, CAIRN_JSON_PYTHON, &out);
  cr_expect(cairn__bytes_eq(cairn_buf_bytes(&out), cairn_bytes_str("[1.5]")));
  cairn_buf_reset(&out);
  cairn_json_free(&d);
}

Test(json, strings_keep_nul_and_decode_escapes) {
  cairn_json_doc_t d = parsed("{\"a\\u0000b\":\"\\ud83d\\ude00\\u00e9\\/\"}");
  const cairn_json_t *v = cairn_json_get_bytes(d.root, cairn_bytes("a\0b", 3));
  cr_assert_not_null(v);
  cr_expect(cairn_json_is_str(v, "\xf0\x9f\x98\x80\xc3\xa9/"));
  cr_expect_null(cairn_json_get(d.root, "a"));
  cairn_json_free(&d);
}

Test(json, repeated_key_keeps_last_value_at_first_place) {
  cairn_json_doc_t d = parsed("{\"a\":1,\"b\":[2],\"a\":3,\"b\":4}");
  cr_expect_eq(d.root->n, 2u);
  cr_expect_eq(cairn_json_get(d.root, "a")->i, 3);
  cr_expect_eq(d.root->child->i, 3);
  cr_expect_eq(d.root->last->i, 4);
  cr_expect_null(d.root->last->next);
  cairn_json_free(&d);
}

/* More members than a checkpoint of 1,100,000 leaves has, each key twice. */
Test(json, large_object_with_repeated_keys) {
  enum { N = 1100000 };
  cairn_buf_t text = {0};
  for (int i = 0; i < 2 * N; i++)
    cairn_buf_printf(&text, "%c\"key %d\":%d", i == 0 ? '{' : ',', i % N, i);
  cairn_buf_put_str(&text, "}");
  cr_assert_not(text.failed);
  cairn_json_doc_t d;
  cr_assert_eq(cairn_json_parse(cairn_buf_bytes(&text), NULL, &d, NULL),
               CAIRN_OK);
  cr_assert_eq(d.root->n, (size_t)N);
  int64_t want = N;
  for (const cairn_json_t *v = d.root->child; v != NULL; v = v->next)
    cr_assert_eq(v->i, want++);
  cr_expect_eq(want, 2 * N);
  cairn_json_free(&d);
  cairn_buf_reset(&text);
}

Test(json, errors_say_where_and_what) {
  expect_corrupt_str("", "json: byte 0: want a value");
  expect_corrupt_str("  ", "json: byte 2: want a value");
  expect_corrupt_str("[1 2]", "json: byte 3: want ',' or ']'");
  expect_corrupt_str("{\"a\" 1}", "json: byte 5: want ':'");
  expect_corrupt_str("{1:2}", "json: byte 1: want a key");
  expect_corrupt_str("1 x", "json: byte 2: want nothing after the value");
  expect_corrupt_str("\"\\ud800\"", "json: byte 1: want a valid escape");
}

Test(json, malformed_texts_are_corrupt) {
  static const char *const bad[] = {"nul",
                                    "nulll",
                                    "True",
                                    "tru",
                                    "nan",
                                    "-",
                                    "+1",
                                    "-NaN",
                                    "--1",
                                    "01",
                                    "-01",
                                    "1.",
                                    ".5",
                                    "1.e5",
                                    "1e",
                                    "1e+",
                                    "0x10",
                                    "1_000",
                                    "- 1",
                                    "inf",
                                    "[",
                                    "]",
                                    "[1",
                                    "[1,",
                                    "[1,]",
                                    "[,1]",
                                    "[,]",
                                    "[1}",
                                    "{",
                                    "}",
                                    "{]",
                                    "{\"a\"",
                                    "{\"a\":",
                                    "{\"a\":1",
                                    "{\"a\":1,",
                                    "{\"a\":1,}",
                                    "{,}",
                                    "{\"a\":}",
                                    "{\"a\",1}",
                                    "{a:1}",
                                    "{'a':1}",
                                    "{null:1}",
                                    "[1]]",
                                    "{}{}",
                                    "// c\n1",
                                    "/* c */1",
                                    "1 2",
                                    "\"",
                                    "\"a",
                                    "\"\\",
                                    "\"\\\"",
                                    "\"\\x\"",
                                    "\"\\u\"",
                                    "\"\\u12\"",
                                    "\"\\u12g4\"",
                                    "\"\\u123",
                                    "\"\t\"",
                                    "\"\n\"",
                                    "\"\x01\"",
                                    "\"\x1f\"",
                                    "\xef\xbb\xbf"
                                    "1",
                                    "\"\\ud800\"",
                                    "\"\\ud83d\"",
                                    "\"\\udc00\"",
                                    "\"\\ud800x\"",
                                    "\"\\ud800\\n\"",
                                    "\"\\ud800\\ud800\"",
                                    "\"\\ud800\\u0041\"",
                                    "\"\\udc00\\ud800\"",
                                    "\"\\ud83d\\ude0\"",
                                    "\"\x80\"",
                                    "\"\xbf\"",
                                    "\"\xc0\x80\"",
                                    "\"\xc1\xbf\"",
                                    "\"\xc3\"",
                                    "\"\xc3(\"",
                                    "\"\xe0\x80\x80\"",
                                    "\"\xe0\x9f\xbf\"",
                                    "\"\xe2\x82\"",
                                    "\"\xed\xa0\x80\"",
                                    "\"\xed\xbf\xbf\"",
                                    "\"\xf0\x80\x80\x80\"",
                                    "\"\xf0\x8f\xbf\xbf\"",
                                    "\"\xf4\x90\x80\x80\"",
                                    "\"\xf8\x88\x80\x80\x80\"",
                                    "\"\xff\"",
                                    "{\"\xff\":1}",
                                    "\xc3\xa9",
                                    "\f1",
                                    "\v1",
                                    "\xc2\xa0"
                                    "1"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_corrupt_str(bad[i], NULL);
  expect_corrupt(cairn_bytes("1\0", 2), NULL, NULL);
  expect_corrupt(cairn_bytes("\0", 1), NULL, NULL);
  expect_corrupt(cairn_bytes("\"\0\"", 3), NULL, NULL);
}

Test(json, every_truncation_is_corrupt) {
  static const char text[] =
      "{\"key\\u00e9\\ud83d\\ude00\":[null,true,false,-1.5e+10,\"\xe2\x82\xac\""
      ",{\"nested\":{}},123456789012345678901],\"n\":NaN,\"i\":-Infinity}";
  cairn_json_doc_t whole = parsed(text);
  cairn_json_free(&whole);
  for (size_t n = 0; n < sizeof text - 1; n++)
    expect_corrupt(cairn_bytes(text, n), NULL, NULL);
}

static char *nested(size_t levels, char open, char close) {
  char *s = malloc(2 * levels + 1);
  cr_assert(s != NULL);
  memset(s, open, levels);
  memset(s + levels, close, levels);
  s[2 * levels] = '\0';
  return s;
}

Test(json, depth_is_limited) {
  char *deep = nested(100000, '[', ']'), *most = nested(512, '[', ']'),
       *more = nested(513, '[', ']'), *few = nested(3, '[', ']');
  cairn_json_limits_t two = {.max_depth = 2}, all = {.max_depth = 1 << 30};
  expect_corrupt_str(deep, "json: byte 513: want fewer levels");
  expect_corrupt(cairn_bytes_str(deep), &all,
                 "json: byte 2001: want fewer "
                 "levels");
  expect_corrupt_str(more, NULL);
  expect_corrupt(cairn_bytes_str(few), &two, NULL);
  cairn_json_doc_t d = parsed(most);
  cairn_json_free(&d);
  free(deep);
  free(most);
  free(more);
  free(few);
}

Test(json, size_is_limited) {
  cairn_json_limits_t lim = {.max_bytes = 3};
  cairn_json_doc_t d;
  expect_corrupt(cairn_bytes_str("[12]"), &lim,
                 "json: 4 bytes, want at most 3");
  cr_expect_eq(cairn_json_parse(cairn_bytes_str("[1]"), &lim, &d, NULL),
               CAIRN_OK);
  cairn_json_free(&d);
}

Test(json, integral_reals_count_as_integers) {
  cairn_json_doc_t d = parsed(
      "[2,2.0,-3e2,2.5,9223372036854775808.0,-9223372036854775808.0,\"2\","
      "true,NaN,1e999,9223372036854775808]");
  static const struct {
    bool ok;
    int64_t v;
  } want[] = {{true, 2},  {true, 2},         {true, -300}, {false, 0},
              {false, 0}, {true, INT64_MIN}, {false, 0},   {false, 0},
              {false, 0}, {false, 0},        {false, 0}};
  for (size_t i = 0; i < d.root->n; i++) {
    int64_t v = 0;
    cr_expect_eq(cairn_json_int(cairn_json_at(d.root, i), &v), want[i].ok,
                 "element %zu", i);
    cr_expect_eq(v, want[i].v, "element %zu", i);
  }
  int64_t none;
  cr_expect_not(cairn_json_int(NULL, &none));
  cairn_json_free(&d);
}

Test(json, lookups_in_the_wrong_kind_find_nothing) {
  cairn_json_doc_t d = parsed("[{\"a\":1},\"a\"]");
  cr_expect_null(cairn_json_get(d.root, "a"));
  cr_expect_null(cairn_json_at(d.root->child, 0));
  cr_expect_null(cairn_json_get(NULL, "a"));
  cr_expect_null(cairn_json_at(NULL, 0));
  cr_expect_not(cairn_json_is_str(NULL, "a"));
  cr_expect_not(cairn_json_is_str(d.root->child, "a"));
  cairn_json_free(&d);
}

Test(json, built_documents_come_out_in_order) {
  cairn_json_doc_t d = {0};
  cairn_bytes_t none = {0};
  cairn_json_t *root = cairn_json_add(&d, NULL, none, CAIRN_JSON_OBJECT);
  cr_assert_eq(d.root, root);
  char key[] = "z";
  cairn_json_add_int(&d, root, cairn_bytes_str(key), -5);
  key[0] = '!'; /* the key was copied */
  cairn_json_t *arr =
      cairn_json_add(&d, root, cairn_bytes_str("a"), CAIRN_JSON_ARRAY);
  cairn_json_add_str(&d, arr, cairn_bytes_str("unused"),
                     cairn_bytes_str("x\n"));
  cairn_json_add(&d, arr, none, CAIRN_JSON_BOOL)->b = true;
  cairn_json_add(&d, arr, none, CAIRN_JSON_REAL)->r = 1e-5;
  cairn_buf_t out = {0};
  cairn_json_emit(d.root, CAIRN_JSON_PYTHON, &out);
  cr_expect(cairn__bytes_eq(
      cairn_buf_bytes(&out),
      cairn_bytes_str("{\"z\": -5, \"a\": [\"x\\n\", true, 1e-05]}")));
  cr_expect_null(cairn_json_add(&d, NULL, none, CAIRN_JSON_NULL),
                 "a second root");
  cairn_buf_reset(&out);
  cairn_json_free(&d);
}

Test(json, copies_outlive_their_source_and_may_hang_in_it) {
  cairn_json_doc_t from = parsed("{\"a\":[1,{\"b\":\"s\"}],\"c\":1.5}"),
                   to = {0};
  cairn_bytes_t none = {0};
  cr_assert_not_null(cairn_json_copy(&to, NULL, none, from.root));
  cairn_json_free(&from);
  cr_assert_not_null(
      cairn_json_copy(&to, to.root, cairn_bytes_str("d"), to.root));
  cairn_buf_t out = {0};
  cairn_json_emit(to.root, CAIRN_JSON_COMPACT, &out);
  cr_expect(cairn__bytes_eq(
      cairn_buf_bytes(&out),
      cairn_bytes_str("{\"a\":[1,{\"b\":\"s\"}],\"c\":1.5,"
                      "\"d\":{\"a\":[1,{\"b\":\"s\"}],\"c\":1.5}}")));
  cairn_buf_reset(&out);
  cairn_json_free(&to);
}
