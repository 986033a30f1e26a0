/* make_step ROOT STEP [orbax|orbax_v1] [small|patterns]: saves one step with
 * Cairn as a job of one rank would, for tests that look at it with the tool.
 * With `small` only the tree is saved, with `patterns` a tree of all bit
 * patterns of the floats of 8 bits and less; otherwise also a JSON item and one
 * of bytes.
 *
 * What is in it is known to tests/cli/test_written.py. */
#include <stdio.h>
#include <stdlib.h>

#include "cairn/cairn.h"

#define ROWS 96
#define COLUMNS 64

static float w[ROWS * COLUMNS];
static uint16_t half[4] = {0x3f80, 0xc000, 0x7f80, 0x0000}; /* bfloat16 */
static int64_t count = -7;
static double rate = 0.001;
static bool flag = true;
static char name[] = "a \"name\"\n";

static int fail(const cairn_error_t *err) {
  fprintf(stderr, "make_step: %s\n", err->message);
  return 1;
}

/* w[r][c] = r - c / 64: exact in a float. */
static void fill(void) {
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      w[r * COLUMNS + c] = (float)r - (float)c / 64;
}

static void put_list(cairn_tree_t *t, cairn_error_t *err) {
  static int32_t item[2][3] = {{1, 2, 3}, {4, 5, 6}};
  cairn_leaf_t none = {.kind = CAIRN_LEAF_NONE};
  cairn_leaf_t array = {.kind = CAIRN_LEAF_ARRAY};
  cairn_array_t a = {.dtype = CAIRN_I32, .rank = 1, .shape = {3}};
  for (int i = 0; i < 2; i++) {
    cairn_key_t path[] = {cairn_key("list"), cairn_key_seq(i)};
    a.data = item[i];
    cairn_tree_put(t, path, 2, &array, &a, err);
  }
  cairn_key_t path[] = {cairn_key("nothing")};
  cairn_tree_put(t, path, 1, &none, NULL, err);
}

static void put_patterns(cairn_tree_t *t, cairn_error_t *err) {
  static uint8_t all[256];
  for (int i = 0; i < 256; i++) all[i] = (uint8_t)i;
  for (int d = CAIRN_F4_E2M1FN; d <= CAIRN_F8_E8M0FNU; d++)
    cairn_tree_put_array(
        t, cairn_dtype_name((cairn_dtype_t)d),
        &(cairn_array_t){.dtype = (cairn_dtype_t)d,
                         .rank = 1,
                         .shape = {d == CAIRN_F4_E2M1FN ? 16 : 256},
                         .data = all},
        err);
}

static void put_leaves(cairn_tree_t *t, cairn_error_t *err) {
  fill();
  cairn_tree_put_array(
      t, "params/w",
      &(cairn_array_t){
          .dtype = CAIRN_F32, .rank = 2, .shape = {ROWS, COLUMNS}, .data = w},
      err);
  cairn_tree_put_array(
      t, "params/half",
      &(cairn_array_t){
          .dtype = CAIRN_BF16, .rank = 2, .shape = {2, 2}, .data = half},
      err);
  cairn_tree_put_int64(t, "count", &count, err);
  cairn_tree_put_double(t, "rate", &rate, err);
  cairn_tree_put_bool(t, "flag", &flag, err);
  cairn_tree_put_string(t, "name", name, sizeof name, err);
  put_list(t, err);
}

static cairn_code_t save(cairn_manager_t *m, int64_t step, cairn_tree_t *tree,
                         bool small, cairn_error_t *err) {
  static const char metrics[] = "{\"loss\": 0.25, \"steps\": [1, 2]}";
  cairn_blob_t json = {.data = metrics, .n = sizeof metrics - 1};
  cairn_blob_t bytes = {.data = "\0\1\2bytes", .n = 8};
  cairn_item_t items[] = {cairn_item("default", "tree", tree),
                          cairn_item("metrics", "json", &json),
                          cairn_item("rng", "bytes", &bytes)};
  if (small) return cairn_manager_save(m, step, tree, NULL, err);
  return cairn_manager_save_items(m, step, items, 3, NULL, err);
}

struct choice {
  cairn_profile_t profile;
  bool small, patterns;
};

static cairn_code_t run(cairn_runtime_t *rt, const char *root, int64_t step,
                        const struct choice *c, cairn_error_t *err) {
  cairn_manager_opts_t o = {.size = sizeof o};
  cairn_manager_t *m = NULL;
  cairn_comm_t *comm = NULL;
  cairn_tree_t *tree = NULL;
  o.checkpointer.profile = c->profile;
  o.checkpointer.chunk_bytes = 4096; /* several chunks of params/w */
  cairn_code_t rc = cairn_comm_self_open(rt, &comm, err);
  if (rc == CAIRN_OK) rc = cairn_tree_new(&tree, err);
  if (rc == CAIRN_OK) {
    (c->patterns ? put_patterns : put_leaves)(tree, err);
    rc = err->code;
  }
  if (rc == CAIRN_OK) rc = cairn_manager_open(rt, comm, root, &o, &m, err);
  if (rc == CAIRN_OK) rc = save(m, step, tree, c->small || c->patterns, err);
  cairn_tree_free(tree);
  if (m != NULL) cairn_manager_close(m, -1, err);
  if (comm != NULL) cairn_comm_close(comm, err);
  return rc == CAIRN_OK ? err->code : rc;
}

int main(int argc, char **argv) {
  struct choice c = {0};
  cairn_error_t err = {0};
  cairn_runtime_t *rt;
  if (argc < 3) return 2;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "orbax") == 0) c.profile = CAIRN_PROFILE_ORBAX;
    if (strcmp(argv[i], "orbax_v1") == 0) c.profile = CAIRN_PROFILE_ORBAX_V1;
    if (strcmp(argv[i], "small") == 0) c.small = true;
    if (strcmp(argv[i], "patterns") == 0) c.patterns = true;
  }
  if (cairn_runtime_open(NULL, &rt, &err) != CAIRN_OK) return fail(&err);
  run(rt, argv[1], atoll(argv[2]), &c, &err);
  cairn_runtime_close(rt, &err);
  return err.code == CAIRN_OK ? 0 : fail(&err);
}
