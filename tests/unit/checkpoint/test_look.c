/* Which directories count as a whole step. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "checkpoint/layout.h"
#include "checkpoint/side_files.h"
#include "loop/loop.h"
#include "support/kv_call.h"

static cairn_runtime_t *rt;
static cairn_kv_t *kv;

static void set_up(void) {
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(kv_call_open(rt, "memory://look/", &kv, NULL), CAIRN_OK);
}

static void tear_down(void) {
  kv_call_close(kv, NULL);
  cairn_runtime_close(rt, NULL);
}

static void put(const char *key, const char *text) {
  cr_assert_eq(kv_call_put(kv, key, text, NULL), CAIRN_OK);
}

static cairn_future_t *start(void *arg) {
  return cairn__step_look(kv, arg);
}

static cairn_code_t look(cairn__step_look_t *out) {
  return cairn__call(rt, start, out, -1, NULL);
}

static void judged(cairn_step_state_t state, const char *why) {
  cairn__step_look_t l;
  cr_assert_eq(look(&l), CAIRN_OK);
  cr_assert_eq(l.state, state, "%s", l.why != NULL ? l.why : "");
  if (why != NULL) {
    cr_assert_not_null(l.why);
    cr_assert_not_null(strstr(l.why, why), "%s", l.why);
  } else {
    cr_assert_null(l.why, "%s", l.why);
  }
  cairn__step_look_free(&l);
}

static void put_ocdbt_item(void) {
  put("default/_METADATA", "{}");
  put("default/manifest.ocdbt", "m");
  put("default/ocdbt.process_0/manifest.ocdbt", "m");
}

TestSuite(look, .init = set_up, .fini = tear_down);

Test(look, a_directory_with_nothing_in_it_is_not_found) {
  cairn__step_look_t l;
  cr_assert_eq(look(&l), CAIRN_NOT_FOUND);
}

Test(look, an_item_with_metadata_and_merged_manifest_is_complete) {
  cairn__step_look_t l;
  put_ocdbt_item();
  put("_CHECKPOINT_METADATA", "{\"commit_timestamp_nsecs\": 99}");
  cr_assert_eq(look(&l), CAIRN_OK);
  cr_assert_eq(l.state, CAIRN_STEP_COMPLETE);
  cr_assert_eq(l.num_items, 1);
  cr_assert_str_eq(l.items[0], "default");
  cr_assert_eq(l.commit_ns, 99);
  cr_assert_eq(l.bytes, 2 + 1 + 1 + 30);
  cr_assert_not(l.bound);
  cairn__step_look_free(&l);
}

Test(look, private_databases_without_a_merged_one_are_broken) {
  put("default/_METADATA", "{}");
  put("default/ocdbt.process_3/manifest.ocdbt", "m");
  judged(CAIRN_STEP_BROKEN, "not merged");
}

Test(look, a_database_without_tree_metadata_is_broken) {
  put("default/manifest.ocdbt", "m");
  judged(CAIRN_STEP_BROKEN, "_METADATA");
}

Test(look, an_item_still_under_a_temporary_name_is_broken) {
  put_ocdbt_item();
  put("params.orbax-checkpoint-tmp/_METADATA", "{}");
  judged(CAIRN_STEP_BROKEN, "never finished");
}

Test(look, files_without_an_item_level_are_one_item) {
  cairn__step_look_t l;
  put("_METADATA", "{}");
  put("manifest.ocdbt", "m");
  put("ocdbt.process_0/manifest.ocdbt", "m");
  put("d/00", "x");
  put("array_metadatas/process_0", "{}");
  cr_assert_eq(look(&l), CAIRN_OK);
  cr_assert_eq(l.state, CAIRN_STEP_COMPLETE, "%s", l.why);
  cr_assert_eq(l.num_items, 1);
  cr_assert_str_eq(l.items[0], "");
  cairn__step_look_free(&l);
}

Test(look, without_marks_a_known_item_makes_a_step) {
  put("notes/readme", "x");
  judged(CAIRN_STEP_BROKEN, "no mark");
  put("random/jax_random_key/key", "x");
  judged(CAIRN_STEP_COMPLETE, NULL);
}

Test(look, whole_steps_below_make_no_step) {
  put("best/_METADATA", "{}");
  put("best/_CHECKPOINT_METADATA", "{}");
  judged(CAIRN_STEP_BROKEN, "no mark");
}

Test(look, mark_makes_a_step_whatever_its_items) {
  put("mine/data", "x");
  put("commit_success.txt", "yes");
  judged(CAIRN_STEP_COMPLETE, NULL);
}

Test(look, only_side_files_are_no_step) {
  put("_CHECKPOINT_METADATA", "{}");
  judged(CAIRN_STEP_BROKEN, "no item");
}

/* Commit-file mode before the commit: started, not finished, not marked. */
Test(look, without_commit_time_and_success_file_it_is_unmarked) {
  put_ocdbt_item();
  put("_CHECKPOINT_METADATA",
      "{\"init_timestamp_nsecs\": 5, \"commit_timestamp_nsecs\": null}");
  judged(CAIRN_STEP_UNMARKED, "commit");
  put("commit_success.txt", "yes");
  judged(CAIRN_STEP_COMPLETE, NULL);
}

/* Orbax was seen to leave it empty after a crash, and carries on. */
Test(look, unreadable_checkpoint_metadata_breaks_nothing) {
  put_ocdbt_item();
  put("_CHECKPOINT_METADATA", "");
  judged(CAIRN_STEP_COMPLETE, NULL);
}

static void put_binding(uint64_t manifest_length, const char *extra) {
  cairn__binding_t b = {.step = 7, .ranks = 1};
  cairn_buf_t text = {0};
  memset(b.save_id, '0', 32);
  cairn__binding_add_file(&b, "default", cairn_bytes_str("_METADATA"), 2, 0);
  cairn__binding_add_file(&b, "default", cairn_bytes_str("manifest.ocdbt"),
                          manifest_length, 0);
  if (extra != NULL)
    cairn__binding_add_file(&b, "", cairn_bytes_str(extra), 3, 0);
  cairn__binding_emit(&b, &text);
  cairn_buf_put_u8(&text, 0);
  put("cairn.json", (const char *)text.p);
  cairn_buf_reset(&text);
  cairn__binding_free(&b);
}

Test(look, files_that_cairn_json_names_must_be_there_at_their_length) {
  put_ocdbt_item();
  put_binding(1, NULL);
  judged(CAIRN_STEP_COMPLETE, NULL);
  put_binding(2, NULL);
  judged(CAIRN_STEP_BROKEN, "default/manifest.ocdbt has 1 bytes, not 2");
  put_binding(1, "default/d/00");
  judged(CAIRN_STEP_BROKEN, "default/d/00 is missing");
}

Test(look, a_damaged_cairn_json_is_broken) {
  put_ocdbt_item();
  put("cairn.json", "{\"cairn\":1}");
  judged(CAIRN_STEP_BROKEN, "cairn.json");
}
