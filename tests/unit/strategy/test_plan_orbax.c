/* Orbax's layouts: the chunk vectors of the reference, arrays.md B4, slices of
 * replicas (B7.2, C7), host arrays (B7.1). */
#include "plan_case.h"
#include "strategy/plan.h"

struct vector {
  int rank;
  int64_t shape[4], write_shape[4], item, target;
  int cut[2];
  size_t num_cut;
  int64_t chunk[4];
};

#define MIB ((int64_t)1 << 20)

/* The table of B4, row by row. */
static const struct vector vectors[] = {
    {3, {10, 100, 200}, {10, 100, 200}, 4, 4, {0}, 0, {1, 1, 1}},
    {3, {10, 100, 200}, {10, 100, 200}, 4, 500, {0}, 0, {5, 5, 5}},
    {3, {10, 100, 200}, {10, 100, 200}, 4, 2503, {0}, 0, {5, 10, 10}},
    {3, {10, 500, 200}, {10, 100, 200}, 4, 40000, {0}, 0, {10, 5, 200}},
    {3, {10, 500, 200}, {10, 100, 200}, 4, 4000, {0}, 0, {10, 1, 100}},
    {3, {10, 100, 200}, {10, 100, 100}, 4, 100000, {0}, 0, {10, 100, 25}},
    {3, {10, 100, 200}, {5, 50, 200}, 4, 0, {0}, 0, {5, 50, 200}},
    {3, {10, 100, 200}, {5, 50, 200}, 4, 0, {1, 2}, 2, {5, 1, 1}},
    {3, {10, 0, 200}, {5, 0, 200}, 4, 0, {0}, 0, {5, 1, 200}},
    {3, {10, 0, 200}, {5, 0, 200}, 4, 400, {0}, 0, {1, 1, 100}},
    {4, {4, 90, 6, 128}, {4, 90, 6, 128}, 4, 23040, {0, 2}, 2, {1, 90, 1, 64}},
    {4, {4, 90, 6, 128}, {4, 90, 6, 128}, 4, 11520, {0, 2}, 2, {1, 45, 1, 64}},
    {2, {4, 6}, {2, 6}, 4, 24, {0}, 0, {1, 6}},
    {2, {7, 13}, {7, 13}, 8, 100, {0}, 0, {7, 1}},
    {0, {0}, {0}, 4, 4, {0}, 0, {0}},
    {3,
     {8192, 2048, 4096},
     {2048, 1024, 2048},
     4,
     2048 * MIB,
     {0},
     0,
     {512, 1024, 1024}},
    {3,
     {8192, 2048, 4096},
     {2048, 1024, 2048},
     4,
     400 * MIB,
     {0},
     0,
     {256, 512, 512}},
    {2, {32768, 32768}, {32768, 32768}, 4, 2048 * MIB, {0}, 0, {16384, 32768}},
};

Test(orbax_chunk, golden_vectors_of_the_reference) {
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    const struct vector *v = &vectors[i];
    int64_t chunk[4] = {0};
    cairn_error_t err = {0};
    cairn_code_t rc =
        cairn__plan_orbax_chunk(v->rank, v->shape, v->write_shape, v->item,
                                v->target, v->cut, v->num_cut, chunk, &err);
    cr_assert_eq(rc, CAIRN_OK, "row %zu: %s", i, err.message);
    for (int a = 0; a < v->rank; a++)
      cr_expect_eq(chunk[a], v->chunk[a], "row %zu, axis %d: %lld", i, a,
                   (long long)chunk[a]);
  }
}

/* E-SP-05 and E-SP-06 of the reference. */
Test(orbax_chunk, bad_axis_and_target_below_an_element_are_refused) {
  int64_t chunk[2];
  cairn_error_t err = {0};
  cr_expect_eq(cairn__plan_orbax_chunk(2, INTS(4, 6), INTS(4, 6), 4, 0,
                                       (int[]){2}, 1, chunk, &err),
               CAIRN_INVALID);
  cr_expect_eq(cairn__plan_orbax_chunk(2, INTS(4, 6), INTS(4, 6), 4, 0,
                                       (int[]){-1}, 1, chunk, NULL),
               CAIRN_INVALID);
  cr_expect_eq(cairn__plan_orbax_chunk(2, INTS(4, 6), INTS(4, 6), 4, 3, NULL, 0,
                                       chunk, NULL),
               CAIRN_INVALID);
}

Test(divisors, all_of_a_number_ascending) {
  cairn__divisors_t d;
  cr_assert(cairn__divisors(360, &d));
  cr_assert_eq(d.n, 24);
  expect_ints(d.v,
              INTS(1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18, 20, 24, 30, 36, 40,
                   45, 60, 72, 90, 120, 180, 360),
              24);
  cr_expect_eq(cairn__divisors_fit(&d, 17), 15);
  cr_expect_eq(cairn__divisors_fit(&d, 1), 1);
  cr_expect_eq(cairn__divisors_fit(&d, 1000), 360);
  cairn__divisors_reset(&d);
}

Test(divisors, of_one_of_a_large_prime_and_of_the_largest_number) {
  cairn__divisors_t d;
  cr_assert(cairn__divisors(1, &d));
  cr_expect_eq(d.n, 1);
  cairn__divisors_reset(&d);
  cr_assert(cairn__divisors(2147483647, &d)); /* 2^31 - 1 */
  cr_expect_eq(d.n, 2);
  cairn__divisors_reset(&d);
  /* 2^63 - 1 = 7^2 73 127 337 92737 649657 */
  cr_assert(cairn__divisors(INT64_MAX, &d));
  cr_expect_eq(d.n, 3 * 32);
  cr_expect_eq(d.v[d.n - 1], INT64_MAX);
  cr_expect_eq(d.v[d.n - 2], INT64_MAX / 7);
  cairn__divisors_reset(&d);
}

static cairn_plan_t planned(struct plan_case *c) {
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_plan_array(&c->in, &p, &err), CAIRN_OK, "%s", err.message);
  return p;
}

static void refused(struct plan_case *c, cairn_code_t code, const char *part) {
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_expect_eq(cairn_plan_array(&c->in, &p, &err), code);
  cr_expect(strstr(err.message, part) != NULL, "'%s' in '%s'", part,
            err.message);
  cr_expect_null(p.pieces);
}

/* C7: float32 [8] on two processes. */
Test(orbax, replicas_split_the_first_divisible_axis) {
  struct plan_case c;
  CASE(&c, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  for (int r = 0; r < 2; r++) case_add(&c, r, INTS(0), INTS(8));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 2);
  expect_ints(p.write_shape, INTS(4), 1);
  expect_ints(p.chunk, INTS(4), 1);
  expect_piece(&p, 0, 0, 1, INTS(0), INTS(4));
  expect_piece(&p, 1, 1, 1, INTS(4), INTS(4));
  cr_expect_eq(p.meta_owner, 0);
  cairn_plan_free(&p);
  case_end(&c);
}

/* [6, 8] in two column shards of three replicas: 6 is divisible by 3. Ranks 0
 * to 2 hold the left one, 3 to 5 the right one. */
Test(orbax, each_shard_is_sliced_among_its_replicas) {
  struct plan_case c;
  CASE(&c, 6, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  c.in.num_ranks = 6;
  for (int r = 0; r < 6; r++)
    case_add(&c, r, INTS(0, r < 3 ? 0 : 4), INTS(6, 4));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 6);
  expect_ints(p.write_shape, INTS(2, 4), 2);
  for (int r = 0; r < 6; r++)
    expect_piece(&p, (size_t)r, r, 2, INTS(r % 3 * 2, r < 3 ? 0 : 4),
                 INTS(2, 4));
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(orbax, axis_that_replicas_do_not_divide_is_passed_over) {
  struct plan_case c;
  CASE(&c, 5, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  for (int r = 0; r < 4; r++) case_add(&c, r, INTS(0, 0), INTS(5, 8));
  cairn_plan_t p = planned(&c);
  expect_ints(p.write_shape, INTS(5, 2), 2);
  expect_piece(&p, 3, 3, 2, INTS(0, 6), INTS(5, 2));
  cairn_plan_free(&p);
  case_end(&c);
}

Test(orbax, first_replica_writes_all_if_no_axis_divides) {
  struct plan_case c;
  CASE(&c, 5, 7);
  c.in.rule = CAIRN_PLAN_ORBAX;
  for (int r = 3; r >= 1; r--) case_add(&c, r, INTS(0, 0), INTS(5, 7));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 1);
  expect_piece(&p, 0, 1, 2, INTS(0, 0), INTS(5, 7));
  expect_ints(p.write_shape, INTS(5, 7), 2);
  cr_expect_eq(p.meta_owner, 0);
  cairn_plan_free(&p);
  case_end(&c);
}

/* Two processes of two devices each, listed once: four replicas. */
Test(orbax, more_replicas_than_boxes_go_round_the_holders) {
  struct plan_case c;
  CASE(&c, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  c.in.replicas = 4;
  for (int r = 0; r < 2; r++) case_add(&c, r, INTS(0), INTS(8));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 4);
  expect_ints(p.write_shape, INTS(2), 1);
  for (int k = 0; k < 4; k++)
    expect_piece(&p, (size_t)k, k % 2, 1, INTS(2 * k), INTS(2));
  cairn_plan_free(&p);
  case_end(&c);
}

/* The last row of B4: a write shape of 4 GiB is cut without being asked. */
Test(orbax, chunk_stays_within_the_target_file_size) {
  struct plan_case c;
  CASE(&c, 32768, 32768);
  c.in.rule = CAIRN_PLAN_ORBAX;
  case_add(&c, 0, INTS(0, 0), INTS(32768, 32768));
  cairn_plan_t p = planned(&c);
  expect_ints(p.write_shape, INTS(32768, 32768), 2);
  expect_ints(p.chunk, INTS(16384, 32768), 2);
  cr_expect_eq(p.n, 1);
  cairn_plan_free(&p);
  /* The fourth row, the shards being [10, 100, 200] of [10, 500, 200]. */
  case_end(&c);
  CASE(&c, 10, 500, 200);
  c.in.rule = CAIRN_PLAN_ORBAX;
  c.in.num_ranks = 5;
  c.in.chunk_bytes = 40000;
  for (int r = 0; r < 5; r++)
    case_add(&c, r, INTS(0, 100 * r, 0), INTS(10, 100, 200));
  p = planned(&c);
  expect_ints(p.chunk, INTS(10, 5, 200), 3);
  cr_expect_eq(p.n, 5);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(orbax, unequal_shards_and_uneven_replicas_are_refused_with_the_reason) {
  struct plan_case c;
  CASE(&c, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  case_add(&c, 0, INTS(0), INTS(5));
  case_add(&c, 1, INTS(5), INTS(3));
  refused(&c, CAIRN_UNSUPPORTED, "rank 0 holds [0:5] and rank 1 [5:8]");
  case_end(&c);
  CASE(&c, 8);
  c.in.rule = CAIRN_PLAN_ORBAX;
  case_add(&c, 0, INTS(0), INTS(4));
  case_add(&c, 1, INTS(4), INTS(4));
  case_add(&c, 2, INTS(4), INTS(4));
  refused(&c, CAIRN_UNSUPPORTED, "[0:4] is held 1 times and [4:8] 2");
  case_end(&c);
}

Test(primary, lowest_holder_of_all_writes_one_chunk) {
  struct plan_case c;
  int64_t load[4] = {0};
  CASE(&c, 6, 7);
  c.in.rule = CAIRN_PLAN_PRIMARY;
  c.in.load = load;
  case_add(&c, 3, INTS(0, 0), INTS(6, 7));
  case_add(&c, 1, INTS(0, 0), INTS(6, 7));
  case_add(&c, 2, INTS(0, 0), INTS(0, 0));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 1);
  expect_piece(&p, 0, 1, 2, INTS(0, 0), INTS(6, 7));
  cr_expect_eq(p.pieces[0].box, 1);
  expect_ints(p.chunk, INTS(6, 7), 2);
  expect_ints(p.write_shape, INTS(6, 7), 2);
  expect_ints(load, INTS(0, 168, 0, 0), 4);
  cr_expect_eq(p.meta_owner, 0);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(primary, shards_are_refused) {
  struct plan_case c;
  CASE(&c, 8);
  c.in.rule = CAIRN_PLAN_PRIMARY;
  case_add(&c, 0, INTS(0), INTS(4));
  case_add(&c, 1, INTS(4), INTS(4));
  refused(&c, CAIRN_INVALID, "no rank holds all of it");
  case_end(&c);
}
