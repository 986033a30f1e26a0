/* The soft limit: a warning that names exactly who is not there, on the rank
 * that waits for them and at the root; and none without cause. */
#include <stdio.h>
#include <stdlib.h>

#include "job.h"

/* 40 ranks on one host: 0 has 1-16 below it, 1 has 17-32, 2 has 33-39. */
static void warned(const int *absent, const char *ranks) {
  struct job *j = job_open(40, 1, 4000);
  char want[96];
  for (; *absent > 0; absent++) j->ballots[*absent].absent = true;
  for (int r = 0; r < 40; r++) j->ballots[r].vote.soft_limit_ms = 400;
  job_vote(j);
  cr_assert_eq(j->ballots[0].err.code, CAIRN_TIMED_OUT);
  snprintf(want, sizeof want, "save (written, step 5): waiting for %s (n0) for",
           ranks);
  cr_assert_contains(j->logs[0], want);
  job_close(j);
}

Test(soft, leaf_below_an_inner_rank_is_named_at_the_root) {
  warned((int[]){20, 0}, "rank 20");
}

Test(soft, inner_rank_that_is_not_there_is_named_itself) {
  warned((int[]){2, 0}, "rank 2");
}

Test(soft, leaves_and_inner_ranks_are_named_together) {
  warned((int[]){2, 9, 20, 32, 0}, "ranks 2, 9, 20, 32");
}

/* Hosts of two ranks each: four levels from the root to the last rank. */
Test(soft, rank_three_levels_down_is_named_at_the_root) {
  struct job *j = job_open(40, 20, 8000);
  cr_assert_eq(cairn__lane_parent(j->lanes[39]), 38);
  cr_assert_eq(cairn__lane_parent(j->lanes[38]), 2);
  cr_assert_eq(cairn__lane_parent(j->lanes[2]), 0);
  j->ballots[39].absent = true;
  for (int r = 0; r < 40; r++) j->ballots[r].vote.soft_limit_ms = 400;
  job_vote(j);
  cr_assert_contains(j->logs[0], "waiting for rank 39 (n19) for");
  job_close(j);
}

Test(soft, ten_thousand_votes_raise_no_false_alarm) {
  struct job *j = job_open(5, 2, 60000);
  for (int i = 0; i < 10000; i++) {
    job_prepare(j);
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  }
  for (int r = 0; r < 5; r++) cr_assert_str_eq(j->logs[r], "");
  job_close(j);
}
