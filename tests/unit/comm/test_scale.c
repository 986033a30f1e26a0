/* Up to 16,384 ranks in a model of messages and time (sim.h): what a vote
 * costs, and that ranks which do not come are named exactly. */
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

#define assert_has(text, part)                                               \
  cr_assert(strstr((text), (part)) != NULL, "\"%s\" is not in \"%s\"", part, \
            text)

static const int layouts[][2] = {{64, 1},    {64, 64},   {1024, 8},  {4096, 4},
                                 {16384, 1}, {16384, 8}, {16384, 64}};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

static int fan_in(const struct sim *s, int rank) {
  int n = 0;
  for (int r = 0; r < s->n; r++) n += s->ranks[0].comm.parents[r] == rank;
  return n;
}

static void all_ok(const struct sim *s) {
  for (int r = 0; r < s->n; r++) {
    cr_assert(s->ranks[r].done);
    cr_assert_eq(s->ranks[r].err.code, CAIRN_OK, "%s", s->ranks[r].err.message);
  }
}

/* One frame up from each rank and one down to it. */
static void costs(const struct sim *s) {
  uint64_t bytes = 0;
  int messages = 0;
  for (int r = 0; r < s->n; r++) {
    const struct sim_rank *k = &s->ranks[r];
    cr_assert_leq(fan_in(s, r), 32);
    cr_assert_eq(k->sent, fan_in(s, r) + (r > 0));
    cr_assert_eq(k->received, k->sent);
    cr_assert_leq(k->sent_up, 128);
    messages += k->sent;
    bytes += k->sent_bytes;
  }
  cr_assert_eq(messages, 2 * (s->n - 1));
  cr_assert_leq(bytes, (uint64_t)s->n * 256); /* up and down */
}

/* Ranks come within 2 ms, a few of them 50 ms later; one message in a thousand
 * takes half a millisecond more. */
static void spread_entries(struct sim *s) {
  for (int r = 0; r < s->n; r++)
    s->ranks[r].enter_ns += sim_random(s, 2 * SIM_MS);
  for (int i = 0; i < 5; i++)
    s->ranks[sim_random(s, (uint64_t)s->n)].enter_ns += 50 * SIM_MS;
}

Test(scale, vote_takes_two_messages_a_rank_and_5_ms_at_most) {
  for (size_t i = 0; i < LAYOUTS; i++) {
    struct sim *s = sim_open(layouts[i][0], layouts[i][1], 60000);
    s->straggle = 1000;
    s->straggle_ns = SIM_MS / 2;
    for (int vote = 0; vote < 5; vote++) {
      sim_prepare(s);
      spread_entries(s);
      uint64_t ns = sim_run(s);
      all_ok(s);
      if (s->n <= 1024 || vote == 0) costs(s); /* it is quadratic */
      cr_assert_leq(ns, 5 * SIM_MS, "%d ranks: %lld ns", s->n, (long long)ns);
      if (vote == 0)
        printf("%5d ranks, %2d a host: %.3f ms, root has %d below\n", s->n,
               layouts[i][1], (double)ns / SIM_MS, fan_in(s, 0));
    }
    cr_assert_eq(s->warnings, 0);
    sim_close(s);
  }
}

static void give_plan(cairn__vote_t *v, cairn_error_t *err) {
  static const uint8_t plan[32] = {1, 2, 3};
  (void)err;
  for (int r = 0; r < cairn_comm_size(cairn__lane_comm(v->lane)); r++)
    cr_assert_eq(v->gathered[r].n, sizeof(int));
  v->down = cairn_bytes(plan, sizeof plan);
}

/* A little of each rank up, a little down: four more messages an edge. */
Test(scale, small_payloads_of_16384_ranks_take_5_ms_at_most) {
  struct sim *s = sim_open(16384, 8, 60000);
  sim_prepare(s);
  for (int r = 0; r < s->n; r++) {
    s->ranks[r].vote.up = cairn_bytes((uint8_t *)&s->ranks[r].comm.rank,
                                      sizeof s->ranks[r].comm.rank);
    s->ranks[r].vote.on_root = give_plan;
  }
  uint64_t ns = sim_run(s);
  all_ok(s);
  cr_assert_leq(ns, 5 * SIM_MS, "%lld ns", (long long)ns);
  sim_close(s);
}

/* --- who does not come --- */

static void missing(const int *absent, int n_absent, const char *who) {
  struct sim *s = sim_open(16384, 8, 60000);
  sim_prepare(s);
  spread_entries(s);
  for (int i = 0; i < n_absent; i++) s->ranks[absent[i]].enter_ns = UINT64_MAX;
  uint64_t ns = sim_run(s);
  for (int r = 0; r < s->n; r++) {
    const struct sim_rank *k = &s->ranks[r];
    if (k->enter_ns == UINT64_MAX) continue;
    cr_assert(k->done, "rank %d", r);
    cr_assert_eq(k->err.code, CAIRN_TIMED_OUT);
    cr_assert_leq(k->done_ns - k->enter_ns, 61000 * SIM_MS);
    if (strstr(k->err.message, "waiting through") != NULL) continue;
    assert_has(k->err.message, who);
  }
  cr_assert_gt(ns, 40000 * SIM_MS);
  sim_close(s);
}

Test(scale, leaves_that_do_not_come_are_named_among_16384) {
  missing((int[]){77, 9001, 16383}, 3,
          "no word from ranks 77, 9001, 16383 (n9, n1125, n2047) within");
}

/* Rank 8 leads the second host, and 16 hosts below it. */
Test(scale, leader_that_does_not_come_is_named_among_16384) {
  missing((int[]){8}, 1,
          "no word from rank 8 (n1); behind, perhaps well: 9-15");
}

Test(scale, root_that_does_not_come_is_named_by_16383) {
  missing((int[]){0}, 1, "rank 0 (n0, the root) has not answered");
}

/* The first ranks in a later vote of an operation wait as long as the last, and
 * so the missing one is named to them, and not the root. */
Test(scale, early_ranks_hear_who_is_missing) {
  struct sim *s = sim_open(1024, 8, 60000);
  sim_prepare(s);
  for (int r = 0; r < s->n; r++) {
    int64_t late_ms = r % 7 == 0 ? 0 : 30000;
    s->ranks[r].enter_ns = (uint64_t)late_ms * SIM_MS;
    s->ranks[r].vote.elapsed_ms = late_ms;
  }
  s->ranks[333].enter_ns = UINT64_MAX;
  sim_run(s);
  for (int r = 0; r < s->n; r++) {
    if (r == 333) continue;
    assert_has(s->ranks[r].err.message, "no word from rank 333 (n41) within");
    cr_assert_leq(s->ranks[r].done_ns, 61000 * SIM_MS);
  }
  sim_close(s);
}
