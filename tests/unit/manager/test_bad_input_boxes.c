/* Boxes that do not make up an array, and those that do in odd ways: refused by
 * name on every rank with nothing left behind, or restored bit for bit. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lone.h"
#include "support/ranks.h"

#define MOST 4096

/* What a rank holds of the one array "w"; several boxes: by fill_boxes. */
typedef void (*hold_fn)(rank_env_t *env, cairn_array_t *a);

struct job {
  char *root;
  hold_fn hold, take; /* at the save, at the restore */
  const char *word;   /* of the error; NULL: it works */
  cairn_profile_t profile;
  cairn_code_t code;
};

static cairn_tree_t *tree_with(const cairn_array_t *a, cairn_error_t *err) {
  cairn_tree_t *t = tree_of_nothing();
  cairn_tree_put_array(t, "w", a, err);
  return t;
}

static cairn_manager_t *open_manager(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_opts_t o = {.checkpointer = {.profile = job->profile}};
  cairn_manager_t *m;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_manager_open(env->rt, env->comm, job->root, &o, &m, &err),
               CAIRN_OK, "%s", err.message);
  return m;
}

/* --- refused --- */

static void save_refused(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  cairn_array_t a = {.dtype = CAIRN_F32};
  job->hold(env, &a);
  cairn_tree_t *t = tree_with(&a, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  cairn_code_t rc = cairn_manager_save(m, 1, t, NULL, &err);
  cairn_tree_free(t);
  if (rc == CAIRN_OK) rc = cairn_manager_wait(m, -1, &err);
  cr_assert_eq(rc, job->code, "rank %d: %s", env->rank, err.message);
  cr_assert_not_null(strstr(err.message, job->word), "%s", err.message);
  cr_assert_not_null(strstr(err.message, "w"), "%s", err.message);
  cr_assert_eq(cairn_manager_latest(m), -1);
  cr_assert_eq(cairn_manager_close(m, -1, NULL), CAIRN_OK);
}

static void refused(int ranks, hold_fn hold, cairn_code_t code,
                    const char *word) {
  struct job job = {
      .root = temp_dir(), .hold = hold, .word = word, .code = code};
  ranks_run(ranks, save_refused, &job);
  cr_assert_eq(entries_in(job.root), 0);
  temp_dir_remove(job.root);
}

static float memory[RANKS_MAX][MOST];

static void rows(rank_env_t *env, cairn_array_t *a, int64_t from, int64_t n) {
  a->rank = 2;
  a->shape[0] = 8;
  a->shape[1] = 4;
  a->origin[0] = from;
  a->extent[0] = n;
  a->extent[1] = 4;
  a->empty = n == 0;
  a->data = memory[env->rank];
}

static void hole(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, env->rank == 2 ? 0 : 2);
}
static void none_at_all(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 0, 0);
}
static void overlap(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, env->rank == 3 ? 5 : 2 * env->rank, env->rank == 3 ? 3 : 2);
}
static void inside_another(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, env->rank == 0 ? 0 : 1, env->rank == 0 ? 8 : 1);
}
static void other_shapes(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 0, 8);
  if (env->rank == 1) a->shape[0] = 9;
}

/* Three boxes on one rank, two of which overlap. */
static void own_overlap(rank_env_t *env, cairn_array_t *a) {
  static const cairn_box_t boxes[] = {
      {.origin = {0, 0}, .extent = {4, 4}, .data = memory[0]},
      {.origin = {4, 0}, .extent = {4, 4}, .data = memory[1]},
      {.origin = {3, 1}, .extent = {2, 2}, .data = memory[2]}};
  rows(env, a, 0, 8);
  a->boxes = boxes;
  a->num_boxes = 3;
}

Test(bad_input_boxes, that_leave_a_hole_or_overlap_are_refused) {
  refused(4, hole, CAIRN_INVALID, "[4:6, 0:4] is held by no rank");
  refused(3, none_at_all, CAIRN_INVALID, "held by no rank");
  refused(4, overlap, CAIRN_INVALID, "overlap");
  refused(2, inside_another, CAIRN_INVALID, "overlap");
  refused(1, own_overlap, CAIRN_INVALID, "overlap");
  refused(2, other_shapes, CAIRN_MISMATCH, "float32[9, 4] on rank 1");
}

/* --- refused when put --- */

static void put_refused(const cairn_array_t *a, const char *word) {
  cairn_error_t err = {0};
  cairn_tree_t *t = tree_with(a, &err);
  cr_assert_eq(err.code, CAIRN_INVALID, "no error, want %s", word);
  cr_assert_not_null(strstr(err.message, word), "%s", err.message);
  cr_assert_eq(cairn_tree_count(t), 0);
  cairn_tree_free(t);
}

#define BIG (INT64_C(1) << 62)

Test(bad_input_boxes, that_cannot_be_are_refused_when_put) {
  cairn_array_t ok = {
      .dtype = CAIRN_F32, .rank = 1, .shape = {8}, .data = memory[0]};
  cairn_array_t a = ok;
  a.rank = 33;
  put_refused(&a, "rank 33");
  a = ok, a.rank = -1;
  put_refused(&a, "rank -1");
  a = ok, a.shape[0] = -1;
  put_refused(&a, "shape -1");
  a = ok, a.extent[0] = -2;
  put_refused(&a, "extent -2");
  a = ok, a.origin[0] = -2, a.extent[0] = 2;
  put_refused(&a, "from -2");
  a = ok, a.origin[0] = 7, a.extent[0] = 2;
  put_refused(&a, "extent 2");
  a = ok, a.origin[0] = INT64_MAX, a.extent[0] = INT64_MAX;
  put_refused(&a, "extent");
  a = ok, a.shape[0] = INT64_MAX;
  put_refused(&a, "bytes");
  a = ok, a.rank = 3, a.shape[0] = a.shape[1] = a.shape[2] = 1 << 21;
  put_refused(&a, "bytes");
  a = ok, a.rank = 3, a.shape[0] = 0, a.shape[1] = a.shape[2] = BIG;
  put_refused(&a, "bytes");
  a = ok, a.data = NULL;
  put_refused(&a, "NULL");
  a = ok, a.dtype = CAIRN_DTYPE_NONE;
  put_refused(&a, "type");
  a = ok, a.dtype = CAIRN_DTYPE_COUNT;
  put_refused(&a, "type");
  a = ok, a.num_boxes = 1;
  put_refused(&a, "NULL");
  a = ok, a.snapshot = 17;
  put_refused(&a, "snapshot");
  a = ok, a.strides[0] = INT64_MAX / 2;
  put_refused(&a, "stride");
  a = ok, a.strides[0] = INT64_MIN;
  put_refused(&a, "stride");
}

/* --- restored --- */

static uint32_t value_at(int64_t i) {
  return (uint32_t)i * 2654435761u;
}

/* Element i of the array of shape[0] x shape[1] (or fewer axes) is
 * value_at(i). */
static uint32_t *element(const cairn_array_t *a, int64_t i, int64_t k) {
  int64_t stride0 = a->strides[0], stride1 = a->rank > 1 ? a->strides[1] : 0;
  if (stride0 == 0 && stride1 == 0)
    stride0 = 4 * (a->rank > 1 ? a->extent[1] : 1), stride1 = 4;
  return (uint32_t *)((char *)a->data + i * stride0 + k * stride1);
}

static void each(const cairn_array_t *a, bool fill) {
  int64_t n = a->rank > 0 ? a->extent[0] : 1;
  int64_t m = a->rank > 1 ? a->extent[1] : 1;
  int64_t cols = a->rank > 1 ? a->shape[1] : 1;
  for (int64_t i = 0; i < n && !a->empty; i++)
    for (int64_t k = 0; k < m; k++) {
      uint32_t v = value_at((a->origin[0] + i) * cols + a->origin[1] + k);
      void *at = element(a, i, k);
      if (fill)
        memcpy(at, &v, 4);
      else
        cr_assert_eq(memcmp(at, &v, 4), 0, "[%d, %d]", (int)i, (int)k);
    }
}

static void save_and_take(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_manager_t *m = open_manager(env);
  cairn_error_t err = {0};
  cairn_array_t a = {.dtype = CAIRN_U32};
  memset(memory[env->rank], 0, sizeof(memory[0]));
  job->hold(env, &a);
  each(&a, true);
  cairn_tree_t *t = tree_with(&a, &err);
  cr_assert_eq(cairn_manager_save(m, 1, t, NULL, &err), CAIRN_OK, "%s",
               err.message);
  cairn_tree_free(t);
  cr_assert_eq(cairn_manager_wait(m, -1, &err), CAIRN_OK, "%s", err.message);
  memset(memory[env->rank], 0xee, sizeof(memory[0]));
  a = (cairn_array_t){.dtype = CAIRN_U32};
  job->take(env, &a);
  t = tree_with(&a, &err);
  cr_assert_eq(cairn_manager_restore(m, 1, t, NULL, &err), CAIRN_OK, "%s",
               err.message);
  each(&a, false);
  cairn_tree_free(t);
  cr_assert_eq(cairn_manager_close(m, -1, NULL), CAIRN_OK);
}

static void comes_back(int ranks, hold_fn hold, hold_fn take) {
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    struct job job = {.root = temp_dir(),
                      .hold = hold,
                      .take = take,
                      .profile = (cairn_profile_t)p};
    ranks_run(ranks, save_and_take, &job);
    temp_dir_remove(job.root);
  }
}

static void all_rows(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 0, 8);
}
static void two_rows(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, 2);
}
static void columns(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 0, 8);
  a->origin[1] = env->rank;
  a->extent[1] = 1;
}
static void only_the_last(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 0, env->rank == env->size - 1 ? 8 : 0);
}
static void unaligned(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, 2);
  a->data = (char *)memory[env->rank] + 1;
}
static void backwards(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, 2);
  a->strides[0] = -32;
  a->strides[1] = -4;
  a->data = memory[env->rank] + 100;
}
static void transposed(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, 2);
  a->strides[0] = 4;
  a->strides[1] = 8;
}
static void far_apart(rank_env_t *env, cairn_array_t *a) {
  rows(env, a, 2 * env->rank, 2);
  a->strides[0] = 1001;
  a->strides[1] = 4003;
}

Test(bad_input_boxes, odd_layouts_come_back) {
  static const hold_fn holds[] = {all_rows,   two_rows,      columns,
                                  unaligned,  only_the_last, backwards,
                                  transposed, far_apart};
  for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
    comes_back(4, holds[i], all_rows);
    comes_back(4, two_rows, holds[i]);
  }
}

/* --- nothing to hold: cases.md 77 --- */

static void zero_1d(rank_env_t *env, cairn_array_t *a) {
  (void)env;
  a->rank = 1;
}
static void zero_3d(rank_env_t *env, cairn_array_t *a) {
  (void)env;
  a->rank = 3;
  a->shape[0] = 1000;
}
static void zero_rows(rank_env_t *env, cairn_array_t *a) {
  (void)env;
  a->rank = 2;
  a->shape[1] = 5;
  a->extent[1] = 5;
}
static void zero_rows_nobody(rank_env_t *env, cairn_array_t *a) {
  zero_rows(env, a);
  a->empty = true;
}
static void scalar(rank_env_t *env, cairn_array_t *a) {
  a->data = memory[env->rank];
}
static void three_of_four(rank_env_t *env, cairn_array_t *a) {
  a->rank = 1;
  a->shape[0] = 3;
  a->origin[0] = env->rank;
  a->extent[0] = env->rank < 3;
  a->empty = env->rank == 3;
  a->data = memory[env->rank];
}

Test(bad_input_boxes, arrays_without_elements_and_axes_come_back) {
  static const hold_fn holds[] = {zero_1d,          zero_3d, zero_rows,
                                  zero_rows_nobody, scalar,  three_of_four};
  for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
    comes_back(1, holds[i] == three_of_four ? scalar : holds[i],
               holds[i] == three_of_four ? scalar : holds[i]);
    comes_back(4, holds[i], holds[i]);
  }
}

/* --- every type, bit for bit --- */

Test(bad_input_boxes, every_type_comes_back_bit_for_bit) {
  static uint8_t in[CAIRN_DTYPE_COUNT][4096], out[CAIRN_DTYPE_COUNT][4096];
  cairn_error_t err = {0};
  for (int p = CAIRN_PROFILE_CAIRN; p <= CAIRN_PROFILE_ORBAX_V1; p++) {
    char *root = temp_dir();
    cairn_manager_opts_t o = {.checkpointer = {.profile = (cairn_profile_t)p}};
    lone_t l;
    lone_open(&l, root, &o);
    cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
    for (int d = 1; d < CAIRN_DTYPE_COUNT; d++) {
      size_t size = cairn_dtype_size((cairn_dtype_t)d);
      bool bits4 = d == CAIRN_I4 || d == CAIRN_F4_E2M1FN;
      for (size_t i = 0; i < 4096; i++) { /* all bytes: every NaN, -0 */
        uint8_t v = (uint8_t)(i * 251 + i / 256);
        in[d][i] = d == CAIRN_BOOL ? v & 1
                   : d == CAIRN_I2 ? (uint8_t)((v & 3) ^ 2) - 2
                   : d == CAIRN_I4 ? (uint8_t)((v & 15) ^ 8) - 8
                   : bits4         ? v & 15
                                   : v;
      }
      memset(out[d], 0x5a, 4096);
      cairn_array_t a = {.dtype = (cairn_dtype_t)d,
                         .rank = 1,
                         .shape = {(int64_t)(4096 / size)},
                         .data = in[d]};
      cairn_tree_put_array(t, cairn_dtype_name(a.dtype), &a, &err);
      a.data = out[d];
      cairn_tree_put_array(to, cairn_dtype_name(a.dtype), &a, &err);
    }
    cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
    cr_assert_eq(lone_save(&l, 1, t, &err), CAIRN_OK, "%s", err.message);
    cr_assert_eq(cairn_manager_restore(l.m, 1, to, NULL, &err), CAIRN_OK, "%s",
                 err.message);
    for (int d = 1; d < CAIRN_DTYPE_COUNT; d++)
      cr_assert_arr_eq(in[d], out[d], 4096, "%s in profile %d",
                       cairn_dtype_name((cairn_dtype_t)d), p);
    cairn_tree_free(t);
    cairn_tree_free(to);
    cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
    temp_dir_remove(root);
  }
}
