/* What we write is what Python 3.11 and TensorStore wrote; see
 * tests/golden/json/generate.py. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/base.h"
#include "base/utf8.h"
#include "cairn/json.h"
#include "unit/base/files.h"

typedef struct lines {
  FILE *f;
  char *line;
  size_t cap;
} lines_t;

static bool next(lines_t *l, bool must, cairn_bytes_t *out) {
  return golden_line(l->f, &l->line, &l->cap, must, out);
}

static void done(lines_t *l) {
  fclose(l->f);
  free(l->line);
}

static void parse(cairn_bytes_t text, cairn_json_doc_t *doc) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_json_parse(text, NULL, doc, &err), CAIRN_OK, "%s: %.*s",
               err.message, (int)text.n, (const char *)text.p);
}

static void expect_bytes(cairn_buf_t *have, cairn_bytes_t want) {
  cr_assert(!have->failed);
  cr_expect(cairn__bytes_eq(cairn_buf_bytes(have), want),
            "have %.*s\nwant %.*s", (int)have->n, (const char *)have->p,
            (int)want.n, (const char *)want.p);
  cairn_buf_reset(have);
}

Test(json_golden, documents_come_out_as_python_writes_them) {
  lines_t l = {.f = golden_open("json/documents.txt")};
  cairn_bytes_t line;
  int n = 0;
  for (; next(&l, false, &line); n++) {
    cairn_json_doc_t doc, indented;
    cairn_buf_t out = {0};
    parse(line, &doc);
    next(&l, true, &line);
    cairn_json_emit(doc.root, CAIRN_JSON_PYTHON, &out);
    expect_bytes(&out, line);
    next(&l, true, &line);
    parse(line, &indented);
    cairn_json_emit(doc.root, CAIRN_JSON_INDENT, &out);
    expect_bytes(&out, indented.root->str);
    cairn_json_free(&doc);
    cairn_json_free(&indented);
  }
  cr_expect_gt(n, 40);
  done(&l);
}

Test(json_golden, reals_come_out_as_python_and_tensorstore_write_them) {
  lines_t l = {.f = golden_open("json/reals.txt")};
  cairn_bytes_t line;
  int n = 0;
  for (; next(&l, false, &line); n++) {
    char hex[64], python[64], tensorstore[64];
    cairn_buf_t out = {0};
    cr_assert_eq(sscanf(l.line, "%63s %63s %63s", hex, python, tensorstore), 3);
    double r = strtod(hex, NULL);
    cairn_json_emit_real(r, CAIRN_JSON_PYTHON, &out);
    expect_bytes(&out, cairn_bytes_str(python));
    cairn_json_emit_real(r, CAIRN_JSON_COMPACT, &out);
    expect_bytes(&out, cairn_bytes_str(tensorstore));
  }
  cr_expect_gt(n, 7000);
  done(&l);
}

Test(json_golden, reprs_of_strings_are_pythons) {
  lines_t l = {.f = golden_open("json/repr.txt")};
  cairn_bytes_t line;
  int n = 0;
  for (; next(&l, false, &line); n++) {
    cairn_json_doc_t string, repr;
    cairn_buf_t out = {0};
    parse(line, &string);
    next(&l, true, &line);
    parse(line, &repr);
    cairn_py_repr(string.root->str, &out);
    expect_bytes(&out, repr.root->str);
    cairn_json_free(&string);
    cairn_json_free(&repr);
  }
  cr_expect_gt(n, 10);
  done(&l);
}

static uint32_t crc32_of_page(uint32_t first) {
  cairn_buf_t text = {0}, out = {0};
  for (uint32_t cp = first; cp < first + 4096; cp++) {
    uint8_t utf8[4];
    if (cp >= 0xd800 && cp < 0xe000) continue;
    cairn_buf_put(&text, utf8, cairn__utf8_encode(cp, utf8));
  }
  cairn_py_repr(cairn_buf_bytes(&text), &out);
  cr_assert(!text.failed && !out.failed);
  uint32_t crc = (uint32_t)crc32(0, out.p, (uInt)out.n);
  cairn_buf_reset(&text);
  cairn_buf_reset(&out);
  return crc;
}

Test(json_golden, repr_of_every_code_point_is_pythons) {
  lines_t l = {.f = golden_open("json/repr_pages.txt")};
  cairn_bytes_t line;
  int pages = 0;
  for (; next(&l, false, &line); pages++) {
    unsigned first, want;
    cr_assert_eq(sscanf(l.line, "%x %x", &first, &want), 2);
    cr_expect_eq(crc32_of_page(first), want, "page %x", first);
  }
  cr_expect_eq(pages, 272);
  done(&l);
}

/* Python shows a byte of a file name that is not UTF-8 (surrogateescape) as
 * repr(b"a\xff".decode("utf-8", "surrogateescape")) == "'a\\udcff'". */
Test(json_golden, repr_of_a_stray_byte_is_its_surrogate) {
  cairn_buf_t out = {0};
  cairn_py_repr(cairn_bytes_str("a\xff"), &out);
  expect_bytes(&out, cairn_bytes_str("'a\\udcff'"));
}

/* arrays.md A1.1; the text with control characters is TensorStore's. */
Test(json_golden, compact_is_sorted_and_raw) {
  static const char text[] =
      "{\"b\" : 1, \"a/\\u007f\\u0001\\u20ac\\ud83d\\ude00\\\"\\\\\\b\\f\\n"
      "\\r\\t\": 9223372036854775808, \"\" : [ -0.0, 2.0, NaN, {\"z\":1,"
      "\"y\":true, \"\\u00ff\":0} ], \"aa\":null}";
  static const char want[] =
      "{\"\":[-0.0,2.0,null,{\"y\":true,\"z\":1,\"\xc3\xbf\":0}],"
      "\"a/\x7f\\u0001\xe2\x82\xac\xf0\x9f\x98\x80\\\"\\\\\\b\\f\\n\\r\\t\":"
      "9223372036854775808,\"aa\":null,\"b\":1}";
  cairn_json_doc_t doc;
  cairn_buf_t out = {0};
  parse(cairn_bytes_str(text), &doc);
  cairn_json_emit(doc.root, CAIRN_JSON_COMPACT, &out);
  expect_bytes(&out, cairn_bytes_str(want));
  cairn_json_free(&doc);
}

Test(json_golden, stray_bytes_in_strings_become_u_fffd) {
  cairn_buf_t out = {0};
  cairn_bytes_t s = cairn_bytes_str("a\xff\xe2\x82z");
  cairn_json_emit_str(s, CAIRN_JSON_PYTHON, &out);
  expect_bytes(&out, cairn_bytes_str("\"a\\ufffd\\ufffd\\ufffdz\""));
  cairn_json_emit_str(s, CAIRN_JSON_COMPACT, &out);
  expect_bytes(&out,
               cairn_bytes_str("\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\""));
}
