/* Ranks that do not come are named, by all others, and only the lane ends.
 * Nothing here looks at how long anything took; but that a waiting rank hears
 * the root's answer needs the root's thread to run within a second. */
#include <stdlib.h>

#include "job.h"

static cairn__lane_t *second[JOB_MAX];

static void open_second(struct job *j) {
  for (int r = 0; r < j->n; r++)
    cr_assert_eq(cairn__lane_open(j->comms[r], 60000, &second[r], NULL),
                 CAIRN_OK);
}

static void close_second(struct job *j) {
  for (int r = 0; r < j->n; r++) cairn__lane_close(second[r]);
}

/* The lane has ended on all ranks that voted; another lane goes on. */
static void check_only_the_lane_ended(struct job *j) {
  for (int r = 0; r < j->n; r++) {
    struct ballot *b = &j->ballots[r];
    if (b->absent) continue;
    b->err = (cairn_error_t){0};
  }
  job_vote(j);
  cr_assert_eq(job_same_error(j)->code, CAIRN_CLOSED);
  job_prepare(j);
  job_vote_on(j, second);
  cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
}

static void absent_rank(int n, int hosts, int absent) {
  struct job *j = job_open(n, hosts, 200);
  char want[64];
  open_second(j);
  j->ballots[absent].absent = true;
  job_vote(j);
  snprintf(want, sizeof want, "no word from rank %d (n%d)", absent,
           absent * hosts / n);
  const cairn_error_t *e = job_same_error(j);
  cr_assert_eq(e->code, CAIRN_TIMED_OUT);
  cr_assert_eq(e->rank, absent);
  cr_assert_contains(e->message, want);
  cr_assert_contains(e->message, "save (written, step 5)");
  check_only_the_lane_ended(j);
  close_second(j);
  job_close(j);
}

Test(deadline, rank_that_never_votes_is_named_on_all_others) {
  absent_rank(2, 2, 1);
  absent_rank(3, 1, 2);
  absent_rank(5, 5, 3);
  absent_rank(17, 1, 16);
}

/* 40 ranks on one host: 0 has 1-16 below it, 1 has 17-32, 2 has 33-39. */
Test(deadline, leaf_below_an_inner_rank_is_named_exactly) {
  struct job *j = job_open(40, 1, 3000);
  open_second(j);
  cr_assert_eq(cairn__lane_parent(j->lanes[20]), 1);
  j->ballots[20].absent = j->ballots[35].absent = j->ballots[9].absent = true;
  job_vote(j);
  const cairn_error_t *e = job_same_error(j);
  cr_assert_contains(e->message, "no word from ranks 9, 20, 35 (n0) within");
  cr_assert_eq(e->rank, 9);
  check_only_the_lane_ended(j);
  close_second(j);
  job_close(j);
}

/* Ranks below one that does not come are not accused. */
Test(deadline, ranks_behind_a_missing_inner_rank_are_told_apart) {
  struct job *j = job_open(40, 1, 3000);
  j->ballots[2].absent = true;
  for (int r = 0; r < 40; r++)
    if (r != 2) ballot_start(&j->ballots[r], j->lanes[r]);
  for (int r = 0; r < 40; r++) {
    const cairn_error_t *e = &j->ballots[r].err;
    if (r == 2) continue;
    ballot_finish(&j->ballots[r]);
    cr_assert_eq(e->code, CAIRN_TIMED_OUT);
    if (r < 33)
      cr_assert_contains(e->message,
                         "no word from rank 2 (n0); behind, perhaps "
                         "well: 33-39 within 3000 ms");
    else
      cr_assert_contains(e->message,
                         "waiting through rank 2 (n0): rank 0 (n0, "
                         "the root) has not answered rank 3");
  }
  job_close(j);
}

Test(deadline, root_that_never_votes_is_named_by_all_others) {
  struct job *j = job_open(17, 4, 200);
  j->ballots[0].absent = true;
  for (int r = 1; r < 17; r++) ballot_start(&j->ballots[r], j->lanes[r]);
  for (int r = 1; r < 17; r++) {
    const cairn_error_t *e = &j->ballots[r].err;
    ballot_finish(&j->ballots[r]);
    cr_assert_eq(e->code, CAIRN_TIMED_OUT);
    cr_assert_contains(e->message, "rank 0 (n0, the root) has not answered");
    cr_assert_eq(e->rank, 0);
  }
  job_close(j);
}

Test(deadline, late_rank_hears_the_outcome_and_its_part_in_it) {
  struct job *j = job_open(5, 5, 200);
  j->ballots[3].absent = true;
  job_vote(j);
  j->ballots[3].absent = false;
  ballot_start(&j->ballots[3], j->lanes[3]);
  ballot_finish(&j->ballots[3]);
  cr_assert_contains(job_same_error(j)->message, "no word from rank 3 (n3)");
  job_close(j);
}

Test(deadline, brought_error_stays_the_error) {
  struct job *j = job_open(3, 3, 200);
  open_second(j);
  j->ballots[2].absent = true;
  cairn_fail(&j->ballots[1].err, CAIRN_IO, "disk");
  job_vote(j);
  const cairn_error_t *e = job_same_error(j);
  cr_assert_eq(e->code, CAIRN_IO);
  cr_assert_str_eq(e->message,
                   "disk (rank 1, host n1); also, no word from rank 2 (n2)");
  check_only_the_lane_ended(j);
  close_second(j);
  job_close(j);
}

Test(deadline, of_the_vote_goes_before_the_lanes) {
  struct job *j = job_open(2, 2, 600000);
  j->ballots[0].vote.deadline_ms = 100;
  j->ballots[1].absent = true;
  job_vote(j);
  cr_assert_contains(job_same_error(j)->message, "within 100 ms");
  job_close(j);
}

/* Payloads on their way when a rank falls silent: the vote ends, and the lane
 * gives all memory back (judged by the address sanitizer). */
Test(deadline, rank_that_stops_in_the_middle_is_named) {
  struct job *j = job_open(5, 5, 300);
  static uint8_t bytes[100000];
  for (int r = 0; r < 5; r++)
    j->ballots[r].vote.up = cairn_bytes(bytes, sizeof bytes);
  /* Rank 4's frame promises bytes that its edge never sends. */
  j->ballots[4].absent = true;
  struct impostor imp;
  impostor_make(&imp, j, 4, 5000);
  impostor_send(&imp);
  job_vote(j);
  const cairn_error_t *e = job_same_error(j);
  cr_assert_eq(e->code, CAIRN_TIMED_OUT, "%s", e->message);
  cr_assert_contains(e->message, "no word from rank 4 (n4)");
  job_close(j);
}

static char warning[512];

static void keep_warning(void *arg, cairn_log_level_t level, const char *text) {
  (void)arg;
  if (level == CAIRN_LOG_WARN) snprintf(warning, sizeof warning, "%s", text);
}

Test(deadline, soft_limit_logs_who_is_awaited) {
  cairn_runtime_opts_t opts = {.log = keep_warning};
  cairn_runtime_t *rts[2];
  cairn_comm_t *comms[2];
  const char *hosts[2] = {"a", "b"};
  struct job j = {.n = 2};
  for (int r = 0; r < 2; r++)
    cr_assert_eq(cairn_runtime_open(r == 0 ? &opts : NULL, &rts[r], NULL),
                 CAIRN_OK);
  cr_assert_eq(cairn__comm_local_open(rts, 2, hosts, comms, NULL), CAIRN_OK);
  for (int r = 0; r < 2; r++)
    cr_assert_eq(cairn__lane_open(comms[r], 200, &j.lanes[r], NULL), CAIRN_OK);
  job_prepare(&j);
  j.ballots[1].absent = true;
  job_vote(&j);
  cr_assert_contains(warning,
                     "save (written, step 5): waiting for rank 1 (b) for");
  for (int r = 0; r < 2; r++) {
    cairn__lane_close(j.lanes[r]);
    cr_assert_eq(cairn_comm_close(comms[r], NULL), CAIRN_OK);
  }
  for (int r = 0; r < 2; r++)
    cr_assert_eq(cairn_runtime_close(rts[r], NULL), CAIRN_OK);
}
