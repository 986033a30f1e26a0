/* json, bytes and rank_bytes items. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "handlers.h"
#include "support/item_harness.h"
#include "support/kv_call.h"

static cairn_blob_t blobs[HARNESS_MAX_RANKS];
static void *values[HARNESS_MAX_RANKS];
static harness_t h;

static void setup(void) {
  harness_open(&h, 1, NULL);
  for (int r = 0; r < HARNESS_MAX_RANKS; r++) values[r] = &blobs[r];
}

static void teardown(void) {
  for (int r = 0; r < HARNESS_MAX_RANKS; r++) free(blobs[r].out);
  harness_close(&h);
}

static void set(int r, const char *text) {
  blobs[r].data = text;
  blobs[r].n = strlen(text);
}

static cairn_code_t save(const cairn_handler_ops_t *ops, int n,
                         cairn_error_t *err) {
  *err = (cairn_error_t){0};
  h.ranks = n;
  return harness_save(&h, ops, values, err);
}

static cairn_code_t restore(const cairn_handler_ops_t *ops, int n,
                            cairn_error_t *err) {
  *err = (cairn_error_t){0};
  h.ranks = n;
  for (int r = 0; r < HARNESS_MAX_RANKS; r++) {
    free(blobs[r].out);
    blobs[r].out = NULL;
  }
  return harness_restore(&h, ops, values, err);
}

static void must(cairn_code_t code, const cairn_error_t *err) {
  cr_assert_eq(code, CAIRN_OK, "%s", err->message);
}

/* json ------------------------------------------------------------------------
 */

TestSuite(json_item, .init = setup, .fini = teardown);

Test(json_item, is_stored_as_python_writes_it_and_comes_back_on_all_ranks) {
  cairn_error_t err;
  set(0, " {\"b\":[1.50,NaN , 1e-5],\n\"a\":\"caf\xc3\xa9\"}");
  set(1, "not looked at");
  must(save(&cairn__json_handler, 3, &err), &err);
  char *file = kv_call_get(h.dir, "metadata");
  cr_assert_str_eq(file, "{\"b\": [1.5, NaN, 1e-05], \"a\": \"caf\\u00e9\"}");
  must(restore(&cairn__json_handler, 3, &err), &err);
  for (int r = 0; r < 3; r++) {
    cr_assert_str_eq(blobs[r].out, file);
    cr_assert_eq(blobs[r].out_n, strlen(file));
  }
  free(file);
}

Test(json_item, has_the_names_that_orbax_looks_for) {
  cairn_error_t err;
  char *file;
  set(0, "{}");
  h.opts.profile = CAIRN_PROFILE_ORBAX_V1;
  must(save(&cairn__json_handler, 1, &err), &err);
  cr_assert_not_null(file = kv_call_get(h.dir, "data.json"));
  free(file);
  must(restore(&cairn__json_handler, 1, &err), &err);
  h.opts.item = "metrics";
  must(save(&cairn__json_handler, 1, &err), &err);
  cr_assert_not_null(file = kv_call_get(h.dir, "metrics"));
  free(file);
}

Test(json_item, what_is_no_document_is_the_callers_fault) {
  cairn_error_t err;
  set(0, "{\"a\": }");
  cr_assert_eq(save(&cairn__json_handler, 1, &err), CAIRN_INVALID);
  cr_assert(strstr(err.message, "not a JSON document"), "%s", err.message);
  blobs[0] = (cairn_blob_t){0};
  cr_assert_eq(save(&cairn__json_handler, 1, &err), CAIRN_INVALID);
}

Test(json_item, damage_is_found_by_restore_and_verify) {
  cairn_error_t err = {0};
  kv_call_put(h.dir, "metadata", "{\"a\": 1", &err);
  cr_assert_eq(restore(&cairn__json_handler, 1, &err), CAIRN_CORRUPT);
  err = (cairn_error_t){0};
  char *damage = harness_verify(&h, &cairn__json_handler, &err);
  cr_assert_eq(err.code, CAIRN_OK);
  cr_assert_eq(strncmp(damage, "metadata: ", 10), 0, "%s", damage);
  free(damage);
}

Test(json_item, absent_is_not_found) {
  cairn_error_t err;
  cr_assert_eq(restore(&cairn__json_handler, 1, &err), CAIRN_NOT_FOUND);
}

Test(json_item, inspect_gives_the_document) {
  cairn_error_t err;
  cairn_item_info_t info = {0};
  set(0, "[1,2]");
  must(save(&cairn__json_handler, 1, &err), &err);
  must(harness_inspect(&h, &cairn__json_handler, &info, &err), &err);
  cr_assert_str_eq(info.type, "json");
  cr_assert_eq(info.value.n, 6);
  cr_assert_arr_eq(info.value.p, "[1, 2]", 6);
  cairn_item_info_free(&info);
}

/* bytes -----------------------------------------------------------------------
 */

TestSuite(bytes_item, .init = setup, .fini = teardown);

Test(bytes_item, the_primary_s_comes_back_on_every_rank) {
  cairn_error_t err;
  set(0, "primary");
  set(1, "another length");
  must(save(&cairn__bytes_handler, 2, &err), &err);
  must(restore(&cairn__bytes_handler, 4, &err), &err);
  for (int r = 0; r < 4; r++) {
    cr_assert_eq(blobs[r].out_n, 7);
    cr_assert_str_eq(blobs[r].out, "primary");
  }
}

Test(bytes_item, nothing_is_a_blob_too) {
  cairn_error_t err;
  set(0, "");
  must(save(&cairn__bytes_handler, 2, &err), &err);
  must(restore(&cairn__bytes_handler, 1, &err), &err);
  cr_assert_eq(blobs[0].out_n, 0);
  cr_assert_str_eq(blobs[0].out, "");
}

Test(bytes_item, large_ones_in_all_profiles) {
  enum { N = 3000000 };
  cairn_error_t err;
  uint8_t *data = malloc(N);
  for (size_t i = 0; i < N; i++) data[i] = (uint8_t)(i * i >> 7);
  for (cairn_profile_t p = 0; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    harness_close(&h);
    harness_open(&h, 1, NULL);
    h.opts.profile = p;
    blobs[0].data = data;
    blobs[0].n = N;
    must(save(&cairn__bytes_handler, 2, &err), &err);
    must(restore(&cairn__bytes_handler, 2, &err), &err);
    cr_assert_eq(blobs[1].out_n, N);
    cr_assert_eq(memcmp(blobs[1].out, data, N), 0);
  }
  free(data);
}

Test(bytes_item, is_a_tree_to_others) {
  cairn_error_t err;
  cairn_item_info_t info;
  set(0, "xyz");
  must(save(&cairn__bytes_handler, 1, &err), &err);
  must(harness_inspect(&h, &cairn__bytes_handler, &info, &err), &err);
  cr_assert_str_eq(info.type, "bytes");
  cr_assert_eq(info.n, 1);
  cr_assert_eq(info.leaves[0].dtype, CAIRN_U8);
  cr_assert_eq(info.leaves[0].shape[0], 3);
  cr_assert_arr_eq(info.leaves[0].name.p, "data", 4);
  cairn_item_info_free(&info);
}

/* rank_bytes ------------------------------------------------------------------
 */

TestSuite(rank_bytes_item, .init = setup, .fini = teardown);

static char texts[HARNESS_MAX_RANKS][40];

static void save_ranks(int n) {
  cairn_error_t err;
  for (int r = 0; r < n; r++) {
    snprintf(texts[r], sizeof texts[r], "%.*s%d", r * 3, "...................",
             r);
    set(r, texts[r]);
  }
  must(save(&cairn__rank_bytes_handler, n, &err), &err);
}

Test(rank_bytes_item, every_rank_gets_its_own) {
  cairn_error_t err;
  save_ranks(4);
  must(restore(&cairn__rank_bytes_handler, 4, &err), &err);
  for (int r = 0; r < 4; r++) cr_assert_str_eq(blobs[r].out, texts[r]);
}

Test(rank_bytes_item, another_number_of_ranks_is_refused) {
  cairn_error_t err;
  save_ranks(3);
  for (int n = 2; n <= 4; n += 2) {
    cr_assert_eq(restore(&cairn__rank_bytes_handler, n, &err), CAIRN_MISMATCH);
    cr_assert(strstr(err.message, "3 ranks"), "%s", err.message);
  }
}

Test(rank_bytes_item, any_rank_takes_them_in_turn) {
  cairn_error_t err;
  save_ranks(3);
  for (int r = 0; r < 8; r++) blobs[r].any_rank = true;
  must(restore(&cairn__rank_bytes_handler, 8, &err), &err);
  for (int r = 0; r < 8; r++) cr_assert_str_eq(blobs[r].out, texts[r % 3]);
}

Test(rank_bytes_item, missing_ok_leaves_ranks_without) {
  cairn_error_t err;
  save_ranks(2);
  for (int r = 0; r < 4; r++) blobs[r].missing_ok = true;
  must(restore(&cairn__rank_bytes_handler, 4, &err), &err);
  cr_assert_str_eq(blobs[1].out, texts[1]);
  cr_assert_null(blobs[2].out);
  cr_assert_null(blobs[3].out);
  must(restore(&cairn__rank_bytes_handler, 1, &err), &err);
  cr_assert_str_eq(blobs[0].out, texts[0]);
}

Test(rank_bytes_item, a_tree_is_no_item_of_blobs) {
  cairn_error_t err;
  set(0, "xyz");
  must(save(&cairn__bytes_handler, 1, &err), &err);
  cr_assert_eq(restore(&cairn__rank_bytes_handler, 1, &err), CAIRN_MISMATCH);
}

/* The table -------------------------------------------------------------------
 */

Test(builtin, is_registered_once_and_found_by_type_and_string) {
  static const struct {
    const char *string, *type;
  } known[] = {
      {"orbax.checkpoint._src.handlers.standard_checkpoint_handler."
       "StandardCheckpointHandler",
       "tree"},
      {"orbax.checkpoint._src.handlers.pytree_checkpoint_handler."
       "PyTreeCheckpointHandler",
       "tree"},
      {"orbax.checkpoint.experimental.v1._src.handlers.pytree_handler."
       "PyTreeHandler",
       "tree"},
      {"orbax.checkpoint._src.handlers.json_checkpoint_handler."
       "JsonCheckpointHandler",
       "json"},
      {"orbax.checkpoint.experimental.v1._src.handlers.json_handler."
       "JsonHandler",
       "json"},
  };
  cairn_runtime_t *rt;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_open(NULL, &rt, &err), CAIRN_OK);
  must(cairn_handlers_builtin(rt, &err), &err);
  must(cairn_handlers_builtin(rt, &err), &err);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const cairn_handler_ops_t *ops =
        cairn_handler_for(rt, cairn_bytes_str(known[i].string));
    cr_assert_not_null(ops, "%s", known[i].string);
    cr_assert_str_eq(ops->type, known[i].type);
  }
  cr_assert_not_null(cairn_handler_find(rt, "rank_bytes"));
  must(cairn_runtime_close(rt, &err), &err);
}

Test(builtin, recognises_directories) {
  const cairn_bytes_t tree[] = {cairn_bytes_str("d/"),
                                cairn_bytes_str("_METADATA")};
  const cairn_bytes_t json[] = {cairn_bytes_str("metadata")};
  cr_assert(cairn__tree_handler.recognise(tree, 2));
  cr_assert_not(cairn__tree_handler.recognise(json, 1));
  cr_assert(cairn__json_handler.recognise(json, 1));
  cr_assert_not(cairn__json_handler.recognise(tree, 2));
}
