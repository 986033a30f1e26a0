/* CAIRN_PLAN_CAIRN: chunk shapes, shares of replicas, small arrays, corners. */
#include "plan_case.h"

#define MIB ((int64_t)1 << 20)

static cairn_plan_t planned(struct plan_case *c) {
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_plan_array(&c->in, &p, &err), CAIRN_OK, "%s", err.message);
  return p;
}

static void replicate(struct plan_case *c, int ranks) {
  static const int64_t zero[CAIRN_MAX_RANK];
  c->in.num_ranks = ranks;
  for (int r = 0; r < ranks; r++) case_add(c, r, zero, c->shape);
}

/* Largest share to mean in 1/1000, rounded down, and that all is shared. */
static int64_t unfairness(const cairn_plan_in_t *in, const cairn_plan_t *p,
                          int ranks) {
  int64_t bytes[64] = {0}, largest = 0, sum = 0;
  for (size_t i = 0; i < p->n; i++)
    bytes[p->pieces[i].owner] += volume_of(in->rank, p->pieces[i].extent);
  for (int r = 0; r < ranks; r++) {
    sum += bytes[r];
    if (bytes[r] > largest) largest = bytes[r];
  }
  cr_assert_eq(sum, volume_of(in->rank, in->shape));
  return (int64_t)((__int128)largest * 1000 * ranks / sum);
}

/* The example of the public header: rows of four ranks, each 2048 of them. */
Test(plan, each_rank_writes_its_own_rows) {
  struct plan_case c;
  CASE(&c, 8192, 1024);
  for (int r = 0; r < 4; r++)
    case_add(&c, r, INTS(2048 * r, 0), INTS(2048, 1024));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 4);
  for (int r = 0; r < 4; r++)
    expect_piece(&p, (size_t)r, r, 2, INTS(2048 * r, 0), INTS(2048, 1024));
  expect_ints(p.chunk, INTS(2048, 1024), 2); /* 8 MiB: below 16 */
  cairn_plan_free(&p);
  case_end(&c);
}

Test(plan, chunks_divide_what_the_boxes_have_in_common) {
  struct plan_case c;
  CASE(&c, 17, 4); /* edges 6 and 12; the last box is cut by the array's edge */
  case_add(&c, 0, INTS(0, 0), INTS(6, 4));
  case_add(&c, 1, INTS(6, 0), INTS(6, 4));
  case_add(&c, 2, INTS(12, 0), INTS(5, 4));
  cairn_plan_t p = planned(&c);
  expect_ints(p.chunk, INTS(6, 4), 2);
  cr_expect_eq(p.n, 3);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
  CASE(&c, 10, 4); /* as an even split of 10 rows over 4: edges 3, 6, 8 */
  case_add(&c, 0, INTS(0, 0), INTS(3, 4));
  case_add(&c, 1, INTS(3, 0), INTS(3, 4));
  case_add(&c, 2, INTS(6, 0), INTS(2, 4));
  case_add(&c, 3, INTS(8, 0), INTS(2, 4));
  p = planned(&c);
  expect_ints(p.chunk, INTS(1, 4), 2);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

static int64_t chunk_bytes(const cairn_plan_in_t *in, const cairn_plan_t *p) {
  return volume_of(in->rank, p->chunk) * 4;
}

Test(plan, large_arrays_are_cut_along_outer_axes) {
  struct plan_case c;
  CASE(&c, 1000, 300, 4096); /* rows of 4.7 MiB */
  replicate(&c, 1);
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.chunk[1], 300);
  cr_expect_eq(p.chunk[2], 4096);
  cr_expect(chunk_bytes(&c.in, &p) <= 16 * MIB);
  cr_expect(chunk_bytes(&c.in, &p) >= 4 * MIB);
  cr_expect_eq(p.n, 1); /* one box of many chunks */
  cairn_plan_free(&p);
  c.in.chunk_bytes = 64 * MIB;
  p = planned(&c);
  cr_expect(chunk_bytes(&c.in, &p) > 32 * MIB);
  cr_expect(chunk_bytes(&c.in, &p) <= 64 * MIB);
  cairn_plan_free(&p);
  case_end(&c);
}

/* Shards of 8191 rows, a prime: one row is 16 KiB, all of them 128 MiB. */
Test(plan, prime_number_of_rows_is_cut_along_the_columns) {
  struct plan_case c;
  CASE(&c, 2 * 8191, 4096);
  for (int r = 0; r < 2; r++)
    case_add(&c, r, INTS(8191 * r, 0), INTS(8191, 4096));
  cairn_plan_t p = planned(&c);
  cr_expect(chunk_bytes(&c.in, &p) <= 16 * MIB);
  cr_expect(chunk_bytes(&c.in, &p) >= 4 * MIB);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

/* With one axis there is nothing else to cut: 400 MiB beat 4 bytes. */
Test(plan, prime_shard_of_one_axis_stays_whole) {
  struct plan_case c;
  int64_t prime = 100000007;
  CASE(&c, 2 * prime);
  for (int r = 0; r < 2; r++) case_add(&c, r, INTS(prime * r), INTS(prime));
  cairn_plan_t p = planned(&c);
  expect_ints(p.chunk, INTS(prime), 1);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(plan, more_single_element_chunks_than_can_be_meant_are_refused) {
  struct plan_case c;
  CASE(&c, 100000001); /* in halves that differ by one, and one element more */
  case_add(&c, 0, INTS(0), INTS(50000000));
  case_add(&c, 1, INTS(50000000), INTS(49999999));
  case_add(&c, 2, INTS(99999999), INTS(2));
  cairn_plan_t p;
  cairn_error_t err = {0};
  cr_expect_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_UNSUPPORTED);
  cr_expect(strstr(err.message, "100000001 chunks of 4 bytes"), "%s",
            err.message);
  case_end(&c);
}

/* Shapes of real models: embeddings, attention, odd vocabularies. */
Test(plan, replicas_share_large_arrays_within_two_percent) {
  static const int64_t shapes[][4] = {
      {50257, 768, 1, 1},   {8192, 8192, 1, 1},  {32000, 4096, 1, 1},
      {12, 4096, 16, 128},  {151936, 896, 1, 1}, {4096, 11008, 1, 1},
      {100, 1000, 1000, 1}, {16 << 20, 1, 1, 1}, {1, 1, 1, 30000001},
      {3, 3, 2048, 2048},
  };
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (int ranks = 1; ranks <= 16; ranks++) {
      struct plan_case c;
      case_begin(&c, 4, shapes[s]);
      replicate(&c, ranks);
      cairn_plan_t p = planned(&c);
      int64_t u = unfairness(&c.in, &p, ranks);
      cr_expect_leq(u, 1020, "shape %zu over %d ranks: %lld", s, ranks,
                    (long long)u);
      cr_expect(chunk_bytes(&c.in, &p) <= 16 * MIB);
      cr_expect(chunk_bytes(&c.in, &p) >= MIB / 4, "shape %zu, %d: %lld", s,
                ranks, (long long)chunk_bytes(&c.in, &p));
      expect_sound(&c.in, &p);
      cairn_plan_free(&p);
      case_end(&c);
    }
}

Test(plan, shards_with_replicas_are_shared_in_each_shard) {
  struct plan_case c;
  int64_t load[12] = {0};
  CASE(&c, 4, 6 * 1024, 1024); /* four shards of 24 MiB, three replicas */
  c.in.num_ranks = 12;
  c.in.load = load;
  for (int r = 0; r < 12; r++)
    case_add(&c, r, INTS(r % 4, 0, 0), INTS(1, 6 * 1024, 1024));
  cairn_plan_t p = planned(&c);
  for (int r = 0; r < 12; r++) cr_expect_eq(load[r], 8 * MIB);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(plan, small_arrays_go_whole_to_the_least_loaded_holder) {
  struct plan_case c;
  int64_t load[4] = {500, 300, 400, 300};
  CASE(&c, 10, 10);
  c.in.load = load;
  case_add(&c, 0, INTS(0, 0), INTS(10, 10));
  case_add(&c, 2, INTS(0, 0), INTS(10, 10));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 1);
  cr_expect_eq(p.pieces[0].owner, 2);
  cr_expect_eq(p.meta_owner, 2);
  expect_ints(load, INTS(500, 300, 800, 300), 4);
  cairn_plan_free(&p);
  case_end(&c);
}

/* Without loads the name decides, so that biases do not pile up on rank 0. */
Test(plan, small_arrays_spread_by_name) {
  int count[4] = {0};
  for (int i = 0; i < 400; i++) {
    struct plan_case c;
    char name[32];
    snprintf(name, sizeof name, "layers.%d.bias", i);
    CASE(&c, 100);
    c.in.name = cairn_bytes_str(name);
    replicate(&c, 4);
    cairn_plan_t p = planned(&c);
    cr_assert_eq(p.n, 1);
    count[p.pieces[0].owner]++;
    cairn_plan_free(&p);
    case_end(&c);
  }
  for (int r = 0; r < 4; r++) cr_expect(count[r] > 50, "%d", count[r]);
}

/* A whole model: what one array leaves uneven the others even out. */
Test(plan, loads_of_many_arrays_stay_even) {
  int64_t load[7] = {0}, sum = 0, largest = 0;
  for (int i = 0; i < 300; i++) {
    struct plan_case c;
    char name[32];
    snprintf(name, sizeof name, "layer%d.w", i);
    CASE(&c, 37 + 13 * (i % 50), 1000 + i);
    c.in.name = cairn_bytes_str(name);
    c.in.load = load;
    replicate(&c, 7);
    cairn_plan_t p = planned(&c);
    expect_sound(&c.in, &p);
    cairn_plan_free(&p);
    case_end(&c);
  }
  for (int r = 0; r < 7; r++) {
    sum += load[r];
    if (load[r] > largest) largest = load[r];
  }
  cr_expect_leq(largest * 7 * 100, sum * 102);
}

/* Several devices of a process list one box several times: it is one holder. */
Test(plan, boxes_of_one_owner_count_once) {
  struct plan_case c;
  int64_t load[2] = {0};
  CASE(&c, 64, MIB / 4); /* 64 MiB */
  c.in.num_ranks = 2;
  c.in.load = load;
  for (int k = 0; k < 4; k++)
    case_add(&c, k == 3, INTS(0, 0), INTS(64, MIB / 4));
  cairn_plan_t p = planned(&c);
  expect_ints(load, INTS(32 * MIB, 32 * MIB), 2);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(plan, rank_zero_and_rank_32) {
  struct plan_case c;
  case_begin(&c, 0, NULL);
  replicate(&c, 3);
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 1);
  cr_expect_not_null(p.pieces[0].origin);
  cairn_plan_free(&p);
  case_end(&c);

  int64_t shape[32];
  for (int a = 0; a < 32; a++) shape[a] = a < 20 ? 1 : 3; /* 3^12 elements */
  shape[5] = 40;
  case_begin(&c, 32, shape);
  replicate(&c, 4);
  p = planned(&c);
  cr_expect_leq(unfairness(&c.in, &p, 4), 1020);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
}

Test(plan, zero_size_arrays_have_metadata_and_no_pieces) {
  static const cairn_plan_rule_t rules[] = {CAIRN_PLAN_CAIRN, CAIRN_PLAN_ORBAX,
                                            CAIRN_PLAN_PRIMARY};
  for (size_t i = 0; i < 3; i++) {
    struct plan_case c;
    CASE(&c, 1000, 0, 5);
    c.in.rule = rules[i];
    case_add(&c, 3, INTS(0, 0, 0), INTS(1000, 0, 5));
    case_add(&c, 2, INTS(0, 0, 0), INTS(1000, 0, 5));
    cairn_plan_t p = planned(&c);
    cr_expect_eq(p.n, 0);
    expect_ints(p.chunk, INTS(1000, 1, 5), 3);
    cr_expect_eq(p.meta_owner, rules[i] == CAIRN_PLAN_CAIRN ? 2 : 0);
    cairn_plan_free(&p);
    case_end(&c);
  }
}

/* 2^60 bytes: only arithmetic, so it costs nothing. */
Test(plan, huge_extents) {
  struct plan_case c;
  CASE(&c, (int64_t)1 << 40, (int64_t)1 << 18);
  for (int r = 0; r < 4; r++)
    case_add(&c, r, INTS(((int64_t)1 << 38) * r, 0),
             INTS((int64_t)1 << 38, (int64_t)1 << 18));
  cairn_plan_t p = planned(&c);
  cr_expect_eq(p.n, 4);
  cr_expect_eq(chunk_bytes(&c.in, &p), 16 * MIB);
  expect_sound(&c.in, &p);
  cairn_plan_free(&p);
  case_end(&c);
  CASE(&c, (int64_t)1 << 40, (int64_t)1 << 18);
  replicate(&c, 13);
  p = planned(&c);
  cr_expect_leq(unfairness(&c.in, &p, 13), 1020);
  cairn_plan_free(&p);
  case_end(&c);
}
