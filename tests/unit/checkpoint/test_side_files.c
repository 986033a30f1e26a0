/* _CHECKPOINT_METADATA against the texts of orbax.md 1.4, and cairn.json. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/base.h"
#include "checkpoint/side_files.h"

#define STD                                                     \
  "orbax.checkpoint._src.handlers.standard_checkpoint_handler." \
  "StandardCheckpointHandler"
#define PYTREE                                                \
  "orbax.checkpoint._src.handlers.pytree_checkpoint_handler." \
  "PyTreeCheckpointHandler"

static void assert_text(const cairn_buf_t *b, const char *want) {
  cr_assert_not(b->failed);
  cr_assert_eq(b->n, strlen(want), "%.*s", (int)b->n, (const char *)b->p);
  cr_assert_arr_eq(b->p, want, b->n);
}

/* The text that a public repository's step holds (orbax.md 1.4, "seen"). */
Test(checkpoint_metadata, of_a_step_without_items_is_orbax_text) {
  cairn__item_type_t item = {"", PYTREE};
  cairn_buf_t b = {0};
  cairn__checkpoint_metadata_emit(&item, 1, INT64_C(1772965356258801287),
                                  INT64_C(1772965361013661176), &b);
  assert_text(&b, "{\"item_handlers\": \"" PYTREE
                  "\", \"metrics\": {}, \"performance_metrics\": {}, "
                  "\"init_timestamp_nsecs\": 1772965356258801287, "
                  "\"commit_timestamp_nsecs\": 1772965361013661176, "
                  "\"custom_metadata\": {}}");
  cairn_buf_reset(&b);
}

Test(checkpoint_metadata, names_each_items_handler) {
  cairn__item_type_t items[] = {{"default", STD}, {"p\xc3\xa9", PYTREE}};
  cairn_buf_t b = {0};
  cairn__checkpoint_metadata_emit(items, 2, 1, 2, &b);
  assert_text(&b, "{\"item_handlers\": {\"default\": \"" STD
                  "\", \"p\\u00e9\": \"" PYTREE
                  "\"}, \"metrics\": {}, \"performance_metrics\": {}, "
                  "\"init_timestamp_nsecs\": 1, "
                  "\"commit_timestamp_nsecs\": 2, \"custom_metadata\": {}}");
  cairn_buf_reset(&b);
}

static cairn_code_t parse(const char *text, cairn__checkpoint_metadata_t *m) {
  cairn_error_t err = {0};
  return cairn__checkpoint_metadata_parse(cairn_bytes_str(text), m, &err);
}

Test(checkpoint_metadata, of_every_release_is_read) {
  cairn__checkpoint_metadata_t m;
  cr_assert_eq(parse("{\"init_timestamp_nsecs\": 5, "
                     "\"commit_timestamp_nsecs\": 6}",
                     &m),
               CAIRN_OK);
  cr_assert_eq(m.n, 0);
  cr_assert_eq(m.commit_ns, 6);
  cairn__checkpoint_metadata_free(&m);

  cr_assert_eq(parse("{\"item_handlers\": null, \"custom\": {}, "
                     "\"commit_timestamp_nsecs\": null}",
                     &m),
               CAIRN_OK);
  cr_assert_eq(m.n, 0);
  cr_assert_eq(m.commit_ns, 0);
  cairn__checkpoint_metadata_free(&m);

  cr_assert_eq(
      parse("{\"item_handlers\": {\"b\": \"" STD "\", \"a\": \"x\"}}", &m),
      CAIRN_OK);
  cr_assert_eq(m.n, 2);
  cr_assert_str_eq(m.items[0].item, "b");
  cr_assert_str_eq(m.items[0].typestr, STD);
  cr_assert_str_eq(m.items[1].item, "a");
  cr_assert_str_eq(m.items[1].typestr, "x");
  cairn__checkpoint_metadata_free(&m);

  cr_assert_eq(parse("{\"item_handlers\": \"" STD "\"}", &m), CAIRN_OK);
  cr_assert_eq(m.n, 1);
  cr_assert_str_eq(m.items[0].item, "");
  cairn__checkpoint_metadata_free(&m);
}

Test(checkpoint_metadata, that_cannot_be_read_is_corrupt) {
  static const char *const bad[] = {"", "[]", "{", "{\"a\":1}x", "null"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    cairn__checkpoint_metadata_t m;
    cr_assert_eq(parse(bad[i], &m), CAIRN_CORRUPT, "%s", bad[i]);
    cairn__checkpoint_metadata_free(&m);
  }
}

/* --- cairn.json --- */

static void example(cairn__binding_t *b) {
  *b = (cairn__binding_t){.step = 7, .ranks = 2};
  strcpy(b->save_id, "000102030405060708090a0b0c0d0e0f");
  cr_assert(cairn__binding_add_item(b, "default", "tree"));
  cr_assert(cairn__binding_add_file(b, "default", cairn_bytes_str("_METADATA"),
                                    12, 0xe3069283));
  cr_assert(cairn__binding_add_file(b, "", cairn_bytes_str("a"), 0, 0));
}

/* The seal is the CRC-32C of the text before it, taken here by hand. */
Test(binding, lists_files_in_order_and_seals_them) {
  static const char body[] =
      "{\"cairn\":1,\"version\":\"0.1.0\",\"step\":7,\"save_id\":"
      "\"000102030405060708090a0b0c0d0e0f\",\"ranks\":2,\"profile\":\"cairn\","
      "\"items\":{\"default\":{\"handler\":\"tree\"}},\"files\":{"
      "\"a\":{\"bytes\":0,\"xxh3\":\"0000000000000000\"},"
      "\"default/_METADATA\":{\"bytes\":12,\"xxh3\":\"00000000e3069283\"}}";
  cairn__binding_t b;
  cairn_buf_t text = {0};
  char want[1024];
  example(&b);
  cairn__binding_emit(&b, &text);
  snprintf(want, sizeof(want), "%s,\"crc32c\":\"%08x\"}", body,
           cairn__crc32c(0, body, strlen(body)));
  assert_text(&text, want);
  cairn_buf_reset(&text);
  cairn__binding_free(&b);
}

Test(binding, comes_back_whole) {
  cairn__binding_t b, back;
  cairn_buf_t text = {0};
  cairn_error_t err = {0};
  example(&b);
  cairn__binding_emit(&b, &text);
  cr_assert_eq(cairn__binding_parse(cairn_buf_bytes(&text), &back, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(back.step, 7);
  cr_assert_eq(back.ranks, 2);
  cr_assert_str_eq(back.save_id, b.save_id);
  cr_assert_eq(back.num_items, 1);
  cr_assert_str_eq(back.items[0].type, "tree");
  cr_assert_eq(back.num_files, 2);
  cr_assert_str_eq(back.files[1].name, "default/_METADATA");
  cr_assert_eq(back.files[1].length, 12);
  cr_assert_eq(back.files[1].sum, 0xe3069283);
  cairn__binding_free(&back);
  cairn_buf_reset(&text);
  cairn__binding_free(&b);
}

Test(binding, with_any_flipped_bit_is_refused) {
  cairn__binding_t b, back;
  cairn_buf_t text = {0};
  example(&b);
  cairn__binding_emit(&b, &text);
  for (size_t bit = 0; bit < text.n * 8; bit++) {
    cairn_error_t err = {0};
    text.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
    cr_assert_neq(cairn__binding_parse(cairn_buf_bytes(&text), &back, &err),
                  CAIRN_OK, "bit %zu", bit);
    text.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
  }
  cairn_buf_reset(&text);
  cairn__binding_free(&b);
}

Test(binding, cut_anywhere_is_refused) {
  cairn__binding_t b, back;
  cairn_buf_t text = {0};
  example(&b);
  cairn__binding_emit(&b, &text);
  for (size_t n = 0; n < text.n; n++) {
    cairn_error_t err = {0};
    cr_assert_neq(cairn__binding_parse(cairn_bytes(text.p, n), &back, &err),
                  CAIRN_OK);
  }
  cairn_buf_reset(&text);
  cairn__binding_free(&b);
}
