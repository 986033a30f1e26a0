/* Arrays of a tree: what a process holds, and shardings for Orbax. */
#include <criterion/criterion.h>

#include "cairn/tree.h"

static float memory[1000];

static const cairn_leaf_t *put(cairn_tree_t **t, const cairn_array_t *a) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(t, NULL), CAIRN_OK);
  cr_assert_eq(cairn_tree_put_array(*t, "w", a, &err), CAIRN_OK, "%s",
               err.message);
  return cairn_tree_leaf(*t, 0);
}

static void refuse(const cairn_array_t *a, const char *text) {
  cairn_tree_t *t;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_tree_new(&t, NULL), CAIRN_OK);
  cr_expect_eq(cairn_tree_put_array(t, "w", a, &err), CAIRN_INVALID);
  cr_expect(strstr(err.message, text), "'%s' in '%s'", text, err.message);
  cr_expect_eq(cairn_tree_count(t), 0);
  cairn_tree_free(t);
}

Test(tree_array, all_of_it_unless_something_is_said) {
  cairn_tree_t *t;
  const cairn_leaf_t *l = put(
      &t,
      &(cairn_array_t){
          .dtype = CAIRN_F32, .rank = 3, .shape = {2, 3, 4}, .data = memory});
  cr_assert_eq(l->num_boxes, 1);
  cr_expect_eq(l->boxes[0].extent[0], 2);
  cr_expect_eq(l->boxes[0].extent[2], 4);
  cr_expect_eq(l->boxes[0].strides[0], 48);
  cr_expect_eq(l->boxes[0].strides[1], 16);
  cr_expect_eq(l->boxes[0].strides[2], 4);
  cairn_tree_free(t);
  l = put(&t, &(cairn_array_t){.dtype = CAIRN_F32, .data = memory});
  cr_expect_eq(l->rank, 0);
  cr_expect_eq(l->num_boxes, 1);
  cairn_tree_free(t);
}

/* What "rows * rank, and no rows left" comes to: nothing is held. */
Test(tree_array, a_place_without_an_extent_holds_nothing) {
  cairn_tree_t *t;
  const cairn_leaf_t *l = put(&t, &(cairn_array_t){.dtype = CAIRN_F32,
                                                   .rank = 1,
                                                   .shape = {3},
                                                   .origin = {3},
                                                   .extent = {0},
                                                   .data = memory});
  cr_assert_eq(l->num_boxes, 1);
  cr_expect_eq(l->boxes[0].extent[0], 0);
  cairn_tree_free(t);
}

Test(tree_array, strides_that_are_given_are_kept) {
  cairn_tree_t *t;
  const cairn_leaf_t *l = put(&t, &(cairn_array_t){.dtype = CAIRN_F32,
                                                   .rank = 2,
                                                   .shape = {4, 6},
                                                   .extent = {4, 3},
                                                   .strides = {-4, 40},
                                                   .data = memory + 100});
  cr_expect_eq(l->boxes[0].strides[0], -4);
  cr_expect_eq(l->boxes[0].strides[1], 40);
  cairn_tree_free(t);
}

Test(tree_array, several_boxes_are_copied) {
  cairn_tree_t *t;
  cairn_box_t boxes[2] = {
      {.origin = {0, 0}, .extent = {2, 6}, .data = memory},
      {.origin = {6, 0}, .extent = {2, 6}, .data = memory + 50}};
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 2,
                     .shape = {8, 6},
                     .boxes = boxes,
                     .num_boxes = 2,
                     .snapshot = CAIRN_SNAPSHOT_BORROW};
  const cairn_leaf_t *l = put(&t, &a);
  memset(boxes, 0, sizeof boxes);
  a.shape[0] = 0;
  cr_assert_eq(l->num_boxes, 2);
  cr_expect_eq(l->shape[0], 8);
  cr_expect_eq(l->boxes[1].origin[0], 6);
  cr_expect_eq(l->boxes[1].strides[0], 24);
  cr_expect_eq(l->boxes[1].data, memory + 50);
  cr_expect_eq(l->snapshot, CAIRN_SNAPSHOT_BORROW);
  cairn_tree_free(t);
}

Test(tree_array, nothing_and_zero_size) {
  cairn_tree_t *t;
  const cairn_leaf_t *l =
      put(&t, &(cairn_array_t){
                  .dtype = CAIRN_F32, .rank = 1, .shape = {9}, .empty = true});
  cr_expect_eq(l->num_boxes, 0);
  cairn_tree_free(t);
  l = put(&t,
          &(cairn_array_t){.dtype = CAIRN_F32, .rank = 2, .shape = {1000, 0}});
  cr_expect_eq(l->shape[0], 1000);
  cr_expect_eq(l->shape[1], 0);
  cairn_tree_free(t);
}

Test(tree_array, refusals_say_what_is_wrong) {
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 1,
                     .shape = {8},
                     .data = memory},
                b;
#define BAD(text, ...) \
  do {                 \
    b = a;             \
    __VA_ARGS__;       \
    refuse(&b, text);  \
  } while (0)
  BAD("w: no element type", b.dtype = CAIRN_DTYPE_NONE);
  BAD("rank 33", b.rank = 33);
  BAD("rank -1", b.rank = -1);
  BAD("shape -1 on axis 0", b.shape[0] = -1);
  BAD("more than 2^63 bytes", b.shape[0] = INT64_MAX / 2);
  BAD("data is NULL", b.data = NULL);
  BAD("from 4 of extent 5 on axis 0, where the shape is 8", b.origin[0] = 4,
      b.extent[0] = 5);
  BAD("from -1", b.origin[0] = -1, b.extent[0] = 5);
  BAD("extent -5", b.extent[0] = -5);
  BAD("extent 9223372036854775807", b.origin[0] = 2, b.extent[0] = INT64_MAX);
  BAD("2 boxes at NULL", b.num_boxes = 2);
  BAD("empty, and 1 boxes", b.empty = true, b.num_boxes = 1);
  BAD("no kind of snapshot (9)", b.snapshot = (cairn_snapshot_t)9);
  cairn_box_t boxes[2] = {{.extent = {4}, .data = memory}, {.extent = {4}}};
  BAD("w: box 1: data is NULL", b.boxes = boxes, b.num_boxes = 2);
#undef BAD
}

static const int64_t mesh[] = {2, 2};
static const int64_t ids[] = {0, 1, 2, 3};
static const char *const axes[] = {"data", "model"};
static const char *const spec[] = {"data,model", NULL};

static const cairn_sharding_t good = {.mesh_rank = 2,
                                      .mesh_shape = mesh,
                                      .axis_names = axes,
                                      .device_ids = ids,
                                      .spec_rank = 2,
                                      .spec = spec};

Test(tree_array, sharding_is_copied_deep) {
  cairn_tree_t *t;
  cairn_sharding_t s = good;
  char axis[] = "data";
  const char *names[] = {axis, "model"};
  s.axis_names = names;
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 2,
                     .shape = {8, 4},
                     .data = memory,
                     .sharding = &s};
  const cairn_leaf_t *l = put(&t, &a);
  memset(axis, 'x', 4);
  memset(&s, 0, sizeof s);
  cr_assert_not_null(l->sharding);
  cr_expect_eq(l->sharding->mesh_rank, 2);
  cr_expect_eq(l->sharding->mesh_shape[1], 2);
  cr_expect_str_eq(l->sharding->axis_names[0], "data");
  cr_expect_eq(l->sharding->device_ids[3], 3);
  cr_expect_str_eq(l->sharding->spec[0], "data,model");
  cr_expect_null(l->sharding->spec[1]);
  cairn_tree_free(t);
}

Test(tree_array, shardings_that_make_no_sense_are_refused) {
  cairn_sharding_t s;
  cairn_array_t a = {.dtype = CAIRN_F32,
                     .rank = 2,
                     .shape = {8, 4},
                     .data = memory,
                     .sharding = &s};
#define BAD(text, ...) \
  do {                 \
    s = good;          \
    __VA_ARGS__;       \
    refuse(&a, text);  \
  } while (0)
  BAD("w: sharding: mesh of rank -1", s.mesh_rank = -1);
  BAD("mesh without shape", s.mesh_shape = NULL);
  BAD("no device ids", s.device_ids = NULL);
  BAD("3 entries for 2 dimensions", s.spec_rank = 3);
  BAD("2 entries at NULL", s.spec = NULL);
  const int64_t zero[] = {2, 0}, huge[] = {INT64_MAX, 2};
  BAD("mesh of 0 on axis 1", s.mesh_shape = zero);
  BAD("mesh of 9223372036854775807 on axis 0", s.mesh_shape = huge);
  const char *const twice[] = {"data", "data"}, *const gap[] = {"data", NULL};
  BAD("two mesh axes 'data'", s.axis_names = twice);
  BAD("mesh axis 1 has no name", s.axis_names = gap);
  const char *const other[] = {"data", "pipe"};
  BAD("no mesh axis 'pipe'", s.spec = other);
  BAD("mesh axis 'data' used twice", s.spec = twice);
  const char *const ragged[] = {"data,", NULL};
  BAD("no mesh axis ''", s.spec = ragged);
#undef BAD
}
