/* Memory that runs out at the n-th allocation, for every n: the call says so,
 * keeps nothing, and what existed before is unharmed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/map.h"
#include "cairn/json.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static long left = -1; /* allocations that still succeed; negative: all */

static bool refuse(void) {
  if (left < 0) return false;
  if (left == 0) return true;
  left--;
  return false;
}

void *__wrap_malloc(size_t n) {
  return refuse() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size) {
  return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n) {
  return refuse() ? NULL : __real_realloc(p, n);
}

static void put_large_document(cairn_buf_t *text) {
  cairn_buf_put_u8(text, '{');
  for (int i = 0; i < 200; i++)
    cairn_buf_printf(text, "\"key %d\":[\"\\u00e9\",%d.5,1%030d],", i % 150, i,
                     i);
  cairn_buf_put_str(text, "\"r\":0.");
  for (int i = 0; i < 100; i++) cairn_buf_put_u8(text, '3');
  cairn_buf_put_u8(text, '}');
}

Test(memory, parsing_says_when_there_is_none) {
  cairn_buf_t text = {0};
  put_large_document(&text);
  cairn_code_t code = CAIRN_NO_MEMORY;
  long n = 0;
  for (; code != CAIRN_OK; n++) {
    cairn_json_doc_t doc;
    cairn_error_t err = {0};
    left = n;
    code = cairn_json_parse(cairn_buf_bytes(&text), NULL, &doc, &err);
    left = -1;
    cr_assert_eq(err.code, code);
    cr_assert(code == CAIRN_OK || code == CAIRN_NO_MEMORY);
    cr_assert_eq(code == CAIRN_OK, doc.root != NULL);
    cairn_json_free(&doc);
  }
  cr_expect_gt(n, 5);
  cairn_buf_reset(&text);
}

Test(memory, emitting_marks_the_buffer) {
  cairn_buf_t text = {0};
  cairn_json_doc_t doc;
  put_large_document(&text);
  cr_assert_eq(cairn_json_parse(cairn_buf_bytes(&text), NULL, &doc, NULL),
               CAIRN_OK);
  bool failed = true;
  long n = 0;
  for (; failed; n++) {
    cairn_buf_t out = {0};
    left = n;
    cairn_json_emit(doc.root, CAIRN_JSON_COMPACT, &out);
    left = -1;
    failed = out.failed;
    cr_assert(failed || out.p[out.n - 1] == '}');
    cairn_buf_reset(&out);
  }
  cr_expect_gt(n, 3);
  cairn_json_free(&doc);
  cairn_buf_reset(&text);
}

Test(memory, building_leaves_the_tree_as_it_was) {
  cairn_json_doc_t doc = {0};
  cairn_json_t *root = NULL;
  cairn_bytes_t none = {0};
  left = 0;
  cr_expect_null(cairn_json_add(&doc, NULL, none, CAIRN_JSON_OBJECT));
  left = -1;
  cr_expect_null(doc.root);
  root = cairn_json_add(&doc, NULL, none, CAIRN_JSON_OBJECT);
  cr_assert_not_null(root);
  char *large = calloc(1, 100000);
  left = 0;
  cr_expect_null(cairn_json_add_str(&doc, root, cairn_bytes_str("k"),
                                    cairn_bytes(large, 100000)));
  left = -1;
  cr_expect_eq(root->n, 0u);
  cr_expect_null(root->child);
  free(large);
  cairn_json_free(&doc);
}

Test(memory, map_is_unchanged_by_a_failed_insert) {
  cairn__map_t m = {0};
  int one = 1;
  char key[16];
  for (int i = 0; i < 200; i++) {
    void *old = &one;
    cairn_bytes_t k = cairn_bytes(key, (size_t)sprintf(key, "%d", i));
    for (long n = 0;; n++) {
      left = n;
      bool ok = cairn__map_set(&m, k, &one, &old);
      left = -1;
      if (ok) break;
      cr_assert_eq(m.n, (size_t)i);
      cr_assert_null(cairn__map_get(&m, k));
    }
    cr_assert_null(old);
  }
  cairn__map_reset(&m, NULL);
}

Test(memory, buffer_stays_failed_and_keeps_what_it_has) {
  cairn_buf_t b = {0};
  cairn_buf_put_str(&b, "kept");
  left = 0;
  for (int i = 0; i < 100; i++) cairn_buf_put_u64le(&b, 1);
  left = -1;
  cr_expect(b.failed);
  size_t n = b.n;
  cairn_buf_put_u8(&b, 1);
  cairn_buf_printf(&b, "%d", 1);
  cr_expect_eq(b.n, n, "nothing is appended after a failure");
  cr_expect_eq(memcmp(b.p, "kept", 4), 0);
  cr_expect_not(cairn_buf_reserve(&b, 1));
  cairn_buf_reset(&b);
  cr_expect_not(b.failed);
}

Test(memory, sizes_that_overflow_fail_without_allocating) {
  cairn_buf_t b = {0};
  cairn_buf_put_u8(&b, 1);
  cr_expect_not(cairn_buf_reserve(&b, SIZE_MAX));
  cr_expect(b.failed);
  cairn_buf_reset(&b);
  cr_expect_null(cairn__bytes_dup(cairn_bytes("", SIZE_MAX)));
}
