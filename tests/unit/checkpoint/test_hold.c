/* The kinds of snapshot, through whole saves: memory is overwritten as soon as
 * the kind allows it, and what comes back is what was there when save was
 * called. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "snapshot/snapshot.h"
#include "support/kv_fault.h"
#include "support/ranks.h"

#define MIB ((size_t)1 << 20)

/* A large array in protectable memory, one below the size of a huge page, a
 * small one, and one with gaps. */
enum { LARGE, MIDDLE, SMALL, GAPS, ARRAYS };
static const struct shape {
  const char *name;
  int64_t rows, cols, pitch; /* floats */
} shapes[ARRAYS] = {{"params/large", 1537, 4096, 4096},
                    {"params/middle", 100, 1000, 1000},
                    {"params/small", 3, 5, 5},
                    {"params/gaps", 300, 500, 1024}};

typedef struct model {
  float *data[ARRAYS];
  cairn_tree_t *tree;
} model_t;

static size_t floats(int i) {
  return (size_t)(shapes[i].rows * shapes[i].pitch);
}

static void put(model_t *m, int i, cairn_snapshot_t mode) {
  const struct shape *x = &shapes[i];
  cairn_error_t err = {0};
  m->data[i] = cairn_alloc(floats(i) * sizeof(float));
  cr_assert_not_null(m->data[i]);
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 2,
                     .shape = {x->rows, x->cols},
                     .extent = {x->rows, x->cols},
                     .strides = {x->pitch * 4, 4},
                     .data = m->data[i],
                     .snapshot = mode};
  cr_assert_eq(cairn_tree_put_array(m->tree, x->name, &a, &err), CAIRN_OK, "%s",
               err.message);
}

static void model_init(model_t *m, cairn_snapshot_t mode) {
  cr_assert_eq(cairn_tree_new(&m->tree, NULL), CAIRN_OK);
  for (int i = 0; i < ARRAYS; i++) put(m, i, mode);
}

static void fill_one(model_t *m, int i, uint32_t seed) {
  for (size_t k = 0; k < floats(i); k++)
    m->data[i][k] = (float)((seed * 7919 + (uint32_t)k * 31) & 0xffffff);
}

static void fill(model_t *m, uint32_t seed) {
  for (int i = 0; i < ARRAYS; i++) fill_one(m, i, seed + (uint32_t)i);
}

static bool is_filled(const model_t *m, uint32_t seed) {
  for (int i = 0; i < ARRAYS; i++)
    for (int64_t r = 0; r < shapes[i].rows; r++)
      for (int64_t c = 0; c < shapes[i].cols; c++) {
        size_t k = (size_t)(r * shapes[i].pitch + c);
        uint32_t want = (seed + (uint32_t)i) * 7919 + (uint32_t)k * 31;
        if (m->data[i][k] != (float)(want & 0xffffff)) return false;
      }
  return true;
}

static void model_free(model_t *m) {
  cairn_tree_free(m->tree);
  for (int i = 0; i < ARRAYS; i++) cairn_free(m->data[i]);
}

/* One rank and a store that can be made to wait or fail. */
typedef struct fixture {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck;
  kv_fault_t *fault;
  char *dir, *root;
  model_t m;
} fixture_t;

static void setup(fixture_t *f, const cairn_checkpointer_opts_t *o,
                  cairn_snapshot_t mode) {
  cairn_error_t err = {0};
  f->fault = kv_fault_new();
  f->dir = temp_dir();
  cr_assert_geq(asprintf(&f->root, "fault://%s", f->dir), 0);
  cr_assert_eq(cairn_runtime_open(NULL, &f->rt, NULL), CAIRN_OK);
  cr_assert_eq(kv_fault_register(f->rt, f->fault, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(f->rt, &f->comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_checkpointer_open(f->rt, f->comm, o, &f->ck, &err),
               CAIRN_OK, "%s", err.message);
  model_init(&f->m, mode);
}

static void teardown(fixture_t *f) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_checkpointer_close(f->ck, -1, &err), CAIRN_OK, "%s",
               err.message);
  cairn_comm_close(f->comm, NULL);
  cr_assert_eq(cairn_runtime_close(f->rt, &err), CAIRN_OK, "%s", err.message);
  kv_fault_free(f->fault);
  model_free(&f->m);
  temp_dir_remove(f->dir);
  free(f->root);
}

static cairn_code_t save(fixture_t *f, const char *name, cairn_save_t **out,
                         cairn_error_t *err) {
  char path[4096];
  cairn_item_t item = cairn_item("", "tree", f->m.tree);
  snprintf(path, sizeof path, "%s/%s", f->root, name);
  return cairn_checkpointer_save(f->ck, path, &item, 1, out, err);
}

static void expect_restored(fixture_t *f, const char *name, uint32_t seed) {
  char path[4096];
  cairn_error_t err = {0};
  model_t m;
  model_init(&m, CAIRN_SNAPSHOT_DEFAULT);
  cairn_item_t item = cairn_item("", "tree", m.tree);
  snprintf(path, sizeof path, "%s/%s", f->root, name);
  cr_assert_eq(cairn_checkpointer_restore(f->ck, path, &item, 1, NULL, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert(is_filled(&m, seed));
  model_free(&m);
}

static void wait_saved(fixture_t *f) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_checkpointer_wait(f->ck, -1, &err), CAIRN_OK, "%s",
               err.message);
}

static void need_cow(void) {
#ifdef __SANITIZE_THREAD__
  cr_skip_test(
      "the thread sanitizer does not see that a write waits for the handler");
#endif
  cairn_error_t err = {0};
  if (cairn__cow_available(&err) != CAIRN_OK)
    cr_skip_test("%.200s", err.message);
}

/* The store's first call is not answered before the memory has changed: nothing
 * depends on who is faster. */
static void hold_store(fixture_t *f) {
  kv_fault_set(
      f->fault,
      &(kv_fault_rule_t){.kind = KV_FAULT_ANY, .at = 1, .how = KV_FAULT_HOLD});
}

static void let_store_go(fixture_t *f) {
  kv_fault_await_held(f->fault, 1);
  kv_fault_release(f->fault);
  kv_fault_set(f->fault, NULL);
}

static void save_and_overwrite(const cairn_checkpointer_opts_t *o,
                               cairn_snapshot_t mode, bool settle) {
  fixture_t f;
  cairn_save_t *s;
  cairn_error_t err = {0};
  setup(&f, o, mode);
  for (uint32_t round = 1; round <= 3; round++) {
    char name[16];
    snprintf(name, sizeof name, "s%u", round);
    fill(&f.m, round * 100);
    hold_store(&f);
    cr_assert_eq(save(&f, name, &s, &err), CAIRN_OK, "%s", err.message);
    if (settle) {
      cr_assert_eq(cairn_save_settle_leaf(s, "params.middle", &err), CAIRN_OK);
      fill_one(&f.m, MIDDLE, 999);
      cr_assert_eq(cairn_save_settle(s, &err), CAIRN_OK, "%s", err.message);
    }
    cr_assert(cairn_save_reached(s, CAIRN_SAVE_STAGED));
    fill(&f.m, 999 + round);
    let_store_go(&f);
    wait_saved(&f);
    cairn_save_unref(s);
    expect_restored(&f, name, round * 100);
  }
  teardown(&f);
}

Test(hold, copy_is_free_when_save_returns) {
  save_and_overwrite(NULL, CAIRN_SNAPSHOT_COPY, false);
}

Test(hold, cow_is_free_when_save_returns) {
  need_cow();
  save_and_overwrite(NULL, CAIRN_SNAPSHOT_COW, false);
}

Test(hold, lazy_is_free_when_settled) {
  save_and_overwrite(NULL, CAIRN_SNAPSHOT_LAZY, true);
}

Test(hold, a_kind_for_all_arrays_is_an_option) {
  cairn_checkpointer_opts_t o = {.snapshot = CAIRN_SNAPSHOT_LAZY};
  save_and_overwrite(&o, CAIRN_SNAPSHOT_DEFAULT, true);
}

Test(hold, auto_needs_no_settling_unless_promised) {
#ifdef __SANITIZE_THREAD__
  cr_skip_test(
      "the thread sanitizer does not see that a write waits for the handler");
#endif
  save_and_overwrite(NULL, CAIRN_SNAPSHOT_AUTO, false);
}

Test(hold, auto_may_be_settled) {
#ifdef __SANITIZE_THREAD__
  cr_skip_test(
      "the thread sanitizer does not see that a write waits for the handler");
#endif
  cairn_checkpointer_opts_t o = {.settles = true};
  save_and_overwrite(&o, CAIRN_SNAPSHOT_AUTO, true);
}

/* 24 MiB of state, of which 4 may be staged at a time. */
Test(hold, a_state_beyond_the_limit_is_saved_as_it_is_written) {
  cairn_checkpointer_opts_t o = {.staging_limit = (int64_t)(4 * MIB)};
  cairn_error_t err = {0};
  fixture_t f;
  setup(&f, &o, CAIRN_SNAPSHOT_COPY);
  for (uint32_t round = 1; round <= 3; round++) {
    char name[16];
    snprintf(name, sizeof name, "s%u", round);
    fill(&f.m, round);
    cr_assert_eq(save(&f, name, NULL, &err), CAIRN_OK, "%s", err.message);
    fill(&f.m, 999);
    wait_saved(&f);
    expect_restored(&f, name, round);
  }
  teardown(&f);
}

Test(hold, a_save_that_fails_lets_the_caller_go) {
  cairn_checkpointer_opts_t o = {.staging_limit = (int64_t)(2 * MIB)};
  cairn_snapshot_t modes[] = {CAIRN_SNAPSHOT_COPY, CAIRN_SNAPSHOT_LAZY};
  for (size_t i = 0; i < 2; i++) {
    fixture_t f;
    cairn_save_t *s;
    cairn_error_t err = {0};
    setup(&f, &o, modes[i]);
    fill(&f.m, 1);
    kv_fault_set(f.fault, &(kv_fault_rule_t){
                              .kind = KV_FAULT_PART, .at = 1, .sticky = true});
    cr_assert_eq(save(&f, "s", &s, &err), CAIRN_OK, "%s", err.message);
    if (modes[i] == CAIRN_SNAPSHOT_LAZY) {
      cairn_code_t rc = cairn_save_settle(s, NULL);
      cr_expect(rc == CAIRN_CANCELLED || rc == CAIRN_OK, "%d", rc);
    }
    fill(&f.m, 999);
    cr_expect_eq(cairn_checkpointer_wait(f.ck, -1, &err), CAIRN_IO);
    cairn_save_unref(s);
    kv_fault_set(f.fault, NULL);
    fill(&f.m, 2);
    err = (cairn_error_t){0};
    cr_assert_eq(save(&f, "s", NULL, &err), CAIRN_OK, "%s", err.message);
    wait_saved(&f);
    expect_restored(&f, "s", 2);
    teardown(&f);
  }
}

Test(hold, written_memory_needs_no_settling) {
  fixture_t f;
  cairn_save_t *s;
  setup(&f, NULL, CAIRN_SNAPSHOT_LAZY);
  fill(&f.m, 5);
  cr_assert_eq(save(&f, "s", &s, NULL), CAIRN_OK);
  cr_assert_eq(cairn_save_wait(s, CAIRN_SAVE_STAGED, -1, NULL), CAIRN_OK);
  cr_assert_eq(cairn_save_settle_leaf(s, "params.large", NULL), CAIRN_OK);
  fill(&f.m, 999);
  wait_saved(&f);
  cr_assert_eq(cairn_save_settle(s, NULL), CAIRN_OK);
  cairn_save_unref(s);
  expect_restored(&f, "s", 5);
  teardown(&f);
}

static void find_early_write(cairn_snapshot_t mode) {
  cairn_checkpointer_opts_t o = {.check_snapshots = true};
  cairn_error_t err = {0};
  fixture_t f;
  setup(&f, &o, mode);
  fill(&f.m, 1);
  hold_store(&f);
  cr_assert_eq(save(&f, "s", NULL, &err), CAIRN_OK, "%s", err.message);
  f.m.data[LARGE][floats(LARGE) - 1] += 1;
  let_store_go(&f);
  cr_expect_eq(cairn_checkpointer_wait(f.ck, -1, &err), CAIRN_MISMATCH);
  cr_expect_not_null(strstr(err.message, "params.large"), "%s", err.message);
  fill(&f.m, 2);
  cr_assert_eq(save(&f, "s", NULL, &err), CAIRN_OK, "%s", err.message);
  wait_saved(&f);
  expect_restored(&f, "s", 2);
  teardown(&f);
}

Test(hold, check_finds_a_write_before_settling) {
  find_early_write(CAIRN_SNAPSHOT_LAZY);
}

Test(hold, check_finds_a_write_to_borrowed_memory) {
  find_early_write(CAIRN_SNAPSHOT_BORROW);
}

Test(hold, check_has_nothing_against_what_is_allowed) {
  cairn_checkpointer_opts_t o = {.check_snapshots = true};
  save_and_overwrite(&o, CAIRN_SNAPSHOT_COPY, false);
  save_and_overwrite(&o, CAIRN_SNAPSHOT_LAZY, true);
}

/* Both hold all of it, and each writes a part. */
static void save_replicated(rank_env_t *env) {
  cairn_checkpointer_t *ck;
  cairn_save_t *s;
  cairn_error_t err = {0};
  model_t m, back;
  model_init(&m, CAIRN_SNAPSHOT_LAZY);
  model_init(&back, CAIRN_SNAPSHOT_DEFAULT);
  fill(&m, 7);
  cairn_item_t item = cairn_item("", "tree", m.tree);
  cairn_item_t target = cairn_item("", "tree", back.tree);
  cr_assert_eq(cairn_checkpointer_open(env->rt, env->comm, NULL, &ck, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_checkpointer_save(ck, env->arg, &item, 1, &s, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_save_settle(s, &err), CAIRN_OK, "%s", err.message);
  fill(&m, 999);
  cr_assert_eq(cairn_checkpointer_wait(ck, -1, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(cairn_checkpointer_restore(ck, env->arg, &target, 1, NULL, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert(is_filled(&back, 7));
  cairn_save_unref(s);
  cr_assert_eq(cairn_checkpointer_close(ck, -1, &err), CAIRN_OK);
  model_free(&m);
  model_free(&back);
}

Test(hold, arrays_that_two_ranks_hold) {
  char *dir = temp_dir(), path[4096];
  snprintf(path, sizeof path, "%s/s", dir);
  ranks_run(2, save_replicated, path);
  temp_dir_remove(dir);
}
