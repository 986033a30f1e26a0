/* What the planner refuses: boxes that leave a hole, overlap, lie outside, and
 * numbers that overflow; with the ranks and the boxes in the message. */
#include <time.h>

#include "plan_case.h"

uint64_t test_seed(void) {
  const char *s = getenv("CAIRN_SEED");
  uint64_t seed = s != NULL ? strtoull(s, NULL, 10) : (uint64_t)time(NULL);
  fprintf(stderr, "CAIRN_SEED=%llu\n", (unsigned long long)seed);
  return seed;
}

static void refused(struct plan_case *c, cairn_code_t code, const char *text) {
  cairn_plan_t p;
  cairn_error_t err = {0};
  int64_t load[64] = {0};
  for (int i = 0; i < 64; i++) load[i] = 7;
  if (c->in.num_ranks <= 64) c->in.load = load;
  cr_expect_eq(cairn_plan_array(&c->in, &p, &err), code);
  cr_expect(strstr(err.message, text) != NULL, "want '%s', got '%s'", text,
            err.message);
  cr_expect_null(p.pieces);
  for (int i = 0; i < 64; i++) cr_expect_eq(load[i], 7);
  cr_expect_eq(cairn_plan_array(&c->in, &p, NULL), code);
  case_end(c);
}

Test(tiling, missing_rows_are_named) {
  struct plan_case c;
  CASE(&c, 16, 16);
  case_add(&c, 0, INTS(0, 0), INTS(4, 16));
  case_add(&c, 2, INTS(8, 0), INTS(4, 16));
  case_add(&c, 3, INTS(12, 0), INTS(4, 16));
  refused(&c, CAIRN_INVALID, "array params.w: [4:8, 0:16] is held by no rank");
}

Test(tiling, hole_in_the_middle_is_named_exactly) {
  struct plan_case c;
  CASE(&c, 9, 9);
  c.in.num_ranks = 9;
  for (int r = 0; r < 9; r++)
    if (r != 4) case_add(&c, r, INTS(r / 3 * 3, r % 3 * 3), INTS(3, 3));
  refused(&c, CAIRN_INVALID, "[3:6, 3:6] is held by no rank");
}

Test(tiling, nobody_holds_anything) {
  struct plan_case c;
  CASE(&c, 4, 6);
  case_add(&c, 0, INTS(0, 0), INTS(0, 6));
  refused(&c, CAIRN_INVALID, "[0:4, 0:6] is held by no rank");
  case_begin(&c, 0, NULL);
  refused(&c, CAIRN_INVALID, "[] is held by no rank");
}

Test(tiling, overlap_names_both_ranks_and_boxes) {
  struct plan_case c;
  CASE(&c, 8, 8);
  case_add(&c, 1, INTS(0, 0), INTS(5, 8));
  case_add(&c, 3, INTS(4, 0), INTS(4, 8));
  refused(&c, CAIRN_INVALID,
          "rank 1 holds [0:5, 0:8] and rank 3 [4:8, 0:8], which overlap");
}

/* The volumes add up to the array's: adding them up is not enough. */
Test(tiling, overlap_that_makes_up_for_a_hole_is_found) {
  struct plan_case c;
  CASE(&c, 8);
  case_add(&c, 0, INTS(0), INTS(4));
  case_add(&c, 1, INTS(2), INTS(4));
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_expect_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_INVALID);
  bool overlap = strstr(err.message, "rank 0 holds [0:4] and rank 1 [2:6]");
  bool hole = strstr(err.message, "[6:8] is held by no rank");
  cr_expect(overlap || hole, "%s", err.message);
  case_end(&c);
}

Test(tiling, boxes_outside_the_shape_or_of_strangers) {
  struct plan_case c;
  CASE(&c, 8);
  case_add(&c, 2, INTS(4), INTS(5));
  refused(&c, CAIRN_INVALID, "rank 2: a box from 4 of extent 5 on axis 0");
  CASE(&c, 8);
  case_add(&c, 2, INTS(INT64_MAX), INTS(INT64_MAX));
  refused(&c, CAIRN_INVALID, "rank 2: a box from 9223372036854775807");
  CASE(&c, 8);
  case_add(&c, 2, INTS(-1), INTS(4));
  refused(&c, CAIRN_INVALID, "rank 2: a box from -1");
  CASE(&c, 8);
  case_add(&c, 2, INTS(0), INTS(-4));
  refused(&c, CAIRN_INVALID, "extent -4");
  CASE(&c, 8);
  case_add(&c, 4, INTS(0), INTS(8));
  refused(&c, CAIRN_INVALID, "a box of rank 4, of 4 ranks");
  CASE(&c, 8);
  case_add(&c, -1, INTS(0), INTS(8));
  refused(&c, CAIRN_INVALID, "a box of rank -1");
}

Test(tiling, numbers_that_overflow) {
  struct plan_case c;
  CASE(&c, (int64_t)1 << 40, (int64_t)1 << 21); /* 2^61 floats: 2^63 bytes */
  refused(&c, CAIRN_INVALID, "more than 2^63 bytes");
  CASE(&c, INT64_MAX, INT64_MAX, 0);
  refused(&c, CAIRN_INVALID, "more than 2^63 bytes");
  CASE(&c, -3);
  refused(&c, CAIRN_INVALID, "shape -3 on axis 0");
}

Test(tiling, members_without_a_meaning) {
  struct plan_case c;
  CASE(&c, 8);
  c.in.dtype = CAIRN_DTYPE_NONE;
  refused(&c, CAIRN_INVALID, "no element type");
  CASE(&c, 8);
  c.in.rank = 33;
  refused(&c, CAIRN_INVALID, "rank 33");
  CASE(&c, 8);
  c.in.num_ranks = 0;
  refused(&c, CAIRN_INVALID, "a plan for 0 ranks");
  CASE(&c, 8);
  c.in.chunk_bytes = 3;
  refused(&c, CAIRN_INVALID, "chunk_bytes 3");
  CASE(&c, 8);
  c.in.replicas = -1;
  refused(&c, CAIRN_INVALID, "replicas -1");
  CASE(&c, 8);
  case_add(&c, 0, INTS(0), INTS(8));
  c.in.rule = (cairn_plan_rule_t)9;
  refused(&c, CAIRN_INVALID, "no planning rule 9");
}

/* A pinwheel: no cut through the whole leaves all boxes whole. */
Test(tiling, boxes_that_no_straight_cut_separates) {
  struct plan_case c;
  CASE(&c, 6, 6);
  c.in.num_ranks = 5;
  case_add(&c, 0, INTS(0, 0), INTS(2, 4));
  case_add(&c, 1, INTS(0, 4), INTS(4, 2));
  case_add(&c, 2, INTS(4, 2), INTS(2, 4));
  case_add(&c, 3, INTS(2, 0), INTS(4, 2));
  case_add(&c, 4, INTS(2, 2), INTS(2, 2));
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(p.n, 5);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  c.in.n = 4; /* without the heart */
  refused(&c, CAIRN_INVALID, "[2:4, 2:4] is held by no rank");
}

/* 128 x 128 boxes. */
Test(tiling, many_boxes_and_one_missing) {
  struct plan_case c;
  CASE(&c, 1280, 1280);
  c.in.num_ranks = 128 * 128;
  for (int i = 0; i < 128 * 128; i++)
    if (i != 77 * 128 + 5)
      case_add(&c, i, INTS(i / 128 * 10, i % 128 * 10), INTS(10, 10));
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_expect_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_INVALID);
  cr_expect(strstr(err.message, "[770:780, 50:60] is held by no rank"), "%s",
            err.message);
  case_add(&c, 9, INTS(770, 50), INTS(10, 10));
  cr_expect_eq(cairn_plan_array(&c.in, &p, NULL), CAIRN_OK);
  cr_expect_eq(p.n, 128 * 128);
  cairn_plan_free(&p);
  case_end(&c);
}
