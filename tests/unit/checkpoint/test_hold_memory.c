/* How much memory a save takes beside the state, by its high-water mark. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "snapshot/snapshot.h"
#include "support/ranks.h"

#define MIB ((int64_t)1 << 20)
#define ARRAYS 12
#define ARRAY_BYTES (16 * MIB)
#define STATE_BYTES (ARRAYS * ARRAY_BYTES)
#define BUDGET (16 * MIB) /* of the runtime, for encoding */

/* A sanitizer's memory counts too. */
static void need_plain_memory(void) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  cr_skip_test("a sanitizer takes memory of its own");
#endif
}

/* From here on the mark counts anew. */
static void reset_mark(void) {
  int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, "5", 1) != 1)
    cr_skip_test("the kernel does not let the high-water mark be reset");
  close(fd);
}

static int64_t status_bytes(const char *field) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  long long kib = -1;
  size_t n = strlen(field);
  cr_assert_not_null(f);
  while (fgets(line, sizeof line, f) != NULL)
    if (strncmp(line, field, n) == 0) sscanf(line + n, ": %lld", &kib);
  fclose(f);
  cr_assert_geq(kib, 0);
  return kib * 1024;
}

struct job {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_t *ck;
  cairn_tree_t *tree;
  uint32_t *data[ARRAYS];
  char *dir;
};

static void fill(uint32_t *p, uint32_t seed) {
  for (int64_t k = 0; k < ARRAY_BYTES / 4; k++)
    p[k] = (seed + (uint32_t)k) * 2654435761u;
}

static void setup(struct job *j, const cairn_checkpointer_opts_t *o) {
  cairn_runtime_opts_t r = {.memory_budget = BUDGET};
  cairn_error_t err = {0};
  j->dir = temp_dir();
  cr_assert_eq(cairn_runtime_open(&r, &j->rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(j->rt, &j->comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_checkpointer_open(j->rt, j->comm, o, &j->ck, &err),
               CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_tree_new(&j->tree, NULL), CAIRN_OK);
  for (int i = 0; i < ARRAYS; i++) {
    char name[16];
    j->data[i] = cairn_alloc(ARRAY_BYTES);
    fill(j->data[i], (uint32_t)i);
    snprintf(name, sizeof name, "w%d", i);
    cairn_array_t a = {.dtype = CAIRN_U32,
                       .rank = 1,
                       .shape = {ARRAY_BYTES / 4},
                       .data = j->data[i]};
    cr_assert_eq(cairn_tree_put_array(j->tree, name, &a, &err), CAIRN_OK);
  }
}

static void teardown(struct job *j) {
  cr_assert_eq(cairn_checkpointer_close(j->ck, -1, NULL), CAIRN_OK);
  cairn_comm_close(j->comm, NULL);
  cr_assert_eq(cairn_runtime_close(j->rt, NULL), CAIRN_OK);
  cairn_tree_free(j->tree);
  for (int i = 0; i < ARRAYS; i++) cairn_free(j->data[i]);
  temp_dir_remove(j->dir);
}

/* What a save with `dirty` arrays written to right after it takes at most. */
static int64_t extra_bytes(const cairn_checkpointer_opts_t *o, int dirty) {
  struct job j;
  char path[4096];
  cairn_error_t err = {0};
  setup(&j, o);
  cairn_item_t item = cairn_item("", "tree", j.tree);
  snprintf(path, sizeof path, "%s/s", j.dir);
  reset_mark();
  int64_t before = status_bytes("VmRSS");
  cr_assert_eq(cairn_checkpointer_save(j.ck, path, &item, 1, NULL, &err),
               CAIRN_OK, "%s", err.message);
  for (int i = 0; i < dirty; i++) fill(j.data[i], 99);
  cr_assert_eq(cairn_checkpointer_wait(j.ck, -1, &err), CAIRN_OK, "%s",
               err.message);
  int64_t extra = status_bytes("VmHWM") - before;
  teardown(&j);
  return extra;
}

Test(hold_memory, copy_takes_the_state_once) {
  need_plain_memory();
  cairn_checkpointer_opts_t o = {.snapshot = CAIRN_SNAPSHOT_COPY};
  int64_t extra = extra_bytes(&o, ARRAYS);
  cr_assert_geq(extra, STATE_BYTES);
  cr_assert_leq(extra, STATE_BYTES / 50 * 51 + 32 * MIB);
}

Test(hold_memory, copy_within_a_limit_takes_no_more) {
  need_plain_memory();
  cairn_checkpointer_opts_t o = {.snapshot = CAIRN_SNAPSHOT_COPY,
                                 .staging_limit = 64 * MIB};
  cr_assert_leq(extra_bytes(&o, ARRAYS), (64 + 32) * MIB);
}

Test(hold_memory, cow_takes_what_is_written_to) {
  need_plain_memory();
  cairn_error_t err = {0};
  if (cairn__cow_available(&err) != CAIRN_OK)
    cr_skip_test("%.200s", err.message);
  cairn_checkpointer_opts_t o = {.snapshot = CAIRN_SNAPSHOT_COW};
  cr_assert_leq(extra_bytes(&o, 0), 64 * MIB);
  cr_assert_leq(extra_bytes(&o, 3), 3 * ARRAY_BYTES + 64 * MIB);
}
