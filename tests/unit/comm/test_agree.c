/* Votes without payload: outcomes, errors and combined values. */
#include <errno.h>
#include <malloc.h>

#include "job.h"

Test(agree, ok_of_all_is_ok) {
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
    job_close(j);
  }
}

Test(agree, failing_rank_is_named_with_its_host_on_all_ranks) {
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    for (int bad = 0; bad < n; bad++) {
      char want[64];
      job_prepare(j);
      cairn_fail_errno(&j->ballots[bad].err, ENOSPC, "write d/9f");
      job_vote(j);
      const cairn_error_t *e = job_same_error(j);
      cr_assert_eq(e->code, CAIRN_NO_SPACE);
      cr_assert_eq(e->sys_errno, ENOSPC);
      cr_assert_eq(e->rank, bad);
      snprintf(want, sizeof want, " (rank %d, host n%d)", bad, bad * hosts / n);
      if (n > 1)
        cr_assert_str_eq(e->message + strlen(e->message) - strlen(want), want);
      else
        cr_assert_str_eq(e->message, "write d/9f: No space left on device");
    }
    job_close(j);
  }
}

Test(agree, of_several_errors_the_lowest_ranks_stays) {
  struct job *j = job_open(17, 4, 60000);
  for (int low = 0; low < 16; low += 5) {
    job_prepare(j);
    for (int r = low; r < 17; r += 3)
      cairn_fail(&j->ballots[r].err, CAIRN_IO, "disk %d", r);
    job_vote(j);
    cr_assert_eq(job_same_error(j)->rank, low);
  }
  job_close(j);
}

Test(agree, later_vote_keeps_the_origin_of_an_agreed_error) {
  struct job *j = job_open(3, 3, 60000);
  cairn_fail(&j->ballots[2].err, CAIRN_IO, "first");
  job_vote(j);
  cairn_error_t agreed = *job_same_error(j);
  cr_assert_str_eq(agreed.message, "first (rank 2, host n2)");
  for (int later = 0; later < 3; later++) {
    job_prepare(j);
    for (int r = 0; r < 3; r++) j->ballots[r].err = agreed;
    j->ballots[later].err = (cairn_error_t){0}; /* lost it on the way */
    cairn_fail(&j->ballots[later].err, CAIRN_CORRUPT, "second");
    job_vote(j);
    cr_assert_str_eq(job_same_error(j)->message, "first (rank 2, host n2)");
    cr_assert_eq(job_same_error(j)->rank, 2);
  }
  job_close(j);
}

Test(agree, an_error_does_not_stick_to_the_lane) {
  struct job *j = job_open(5, 2, 60000);
  cairn_fail(&j->ballots[3].err, CAIRN_IO, "disk");
  job_vote(j);
  job_prepare(j);
  job_vote(j);
  cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  job_prepare(j);
  cairn_fail(&j->ballots[4].err, CAIRN_IO, "disk");
  job_vote(j);
  cr_assert_eq(job_same_error(j)->rank, 4);
  job_close(j);
}

Test(agree, long_message_is_cut_and_keeps_the_origin) {
  struct job *j = job_open(2, 2, 60000);
  cairn_fail(&j->ballots[1].err, CAIRN_IO, "%0950d", 7);
  job_vote(j);
  const char *m = job_same_error(j)->message;
  const char *end = "000... (rank 1, host n1)";
  cr_assert_eq(strlen(m), CAIRN_MESSAGE_BYTES - 1);
  cr_assert_str_eq(m + strlen(m) - strlen(end), end);
  job_close(j);
}

Test(agree, bits_and_maximum_are_combined) {
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    for (int r = 0; r < n; r++) {
      j->ballots[r].vote.all_bits = ~(UINT64_C(1) << r);
      j->ballots[r].vote.any_bits = UINT64_C(1) << r;
      j->ballots[r].vote.max_value = r == n / 2 ? -3 : -1000 - r;
    }
    job_vote(j);
    uint64_t all = (UINT64_C(1) << n) - 1;
    for (int r = 0; r < n; r++) {
      cr_assert_eq(j->ballots[r].vote.any_bits, all);
      cr_assert_eq(j->ballots[r].vote.all_bits, ~all);
      cr_assert_eq(j->ballots[r].vote.max_value, -3);
    }
    job_close(j);
  }
}

Test(agree, lanes_do_not_cross) {
  struct job *j = job_open(5, 2, 60000);
  cairn__lane_t *second[JOB_MAX];
  struct ballot others[JOB_MAX];
  for (int r = 0; r < 5; r++)
    cr_assert_eq(cairn__lane_open(j->comms[r], 0, &second[r], NULL), CAIRN_OK);
  for (int round = 0; round < 50; round++) {
    job_prepare(j);
    memcpy(others, j->ballots, sizeof others);
    for (int r = 0; r < 5; r++) {
      struct ballot *a = &j->ballots[r], *b = &others[r];
      b->vote.user = b;
      b->vote.op = OP_REST;
      a->vote.any_bits = 1u << r;
      b->vote.any_bits = 32u << r;
      bool swap = (r + round) % 2 != 0; /* ranks begin them in either order */
      ballot_start(swap ? b : a, swap ? second[r] : j->lanes[r]);
      ballot_start(swap ? a : b, swap ? j->lanes[r] : second[r]);
    }
    for (int r = 0; r < 5; r++) {
      ballot_finish(&j->ballots[r]);
      ballot_finish(&others[r]);
      cr_assert_eq(others[r].err.code, CAIRN_OK, "%s", others[r].err.message);
      cr_assert_eq(j->ballots[r].vote.any_bits, 31);
      cr_assert_eq(others[r].vote.any_bits, 31 * 32);
    }
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  }
  for (int r = 0; r < 5; r++) cairn__lane_close(second[r]);
  job_close(j);
}

/* A rank that goes from vote to vote by itself, as fast as it can. */
struct runner {
  struct ballot ballot;
  int left;
  int errors;
};

static void on_round(cairn__vote_t *v) {
  struct ballot *b = v->user;
  struct runner *s = cairn_container_of(b, struct runner, ballot);
  if (b->err.code != CAIRN_OK || v->max_value != 7) s->errors++;
  v->max_value = 7;
  if (--s->left > 0)
    cairn__agree(b->lane, v, &b->err, on_round);
  else
    cairn_future_resolve(b->done, NULL);
}

static void run_start(cairn_task_t *t) {
  struct ballot *b = cairn_container_of(t, struct ballot, task);
  cairn__agree(b->lane, &b->vote, &b->err, on_round);
}

static void run_many(struct job *j, int votes) {
  struct runner runners[JOB_MAX] = {0};
  job_prepare(j);
  for (int r = 0; r < j->n; r++) {
    struct runner *s = &runners[r];
    s->ballot = j->ballots[r];
    s->ballot.vote.user = &s->ballot;
    s->ballot.vote.max_value = 7;
    s->ballot.lane = j->lanes[r];
    s->ballot.done = cairn_future_new(j->rts[r]);
    s->left = votes;
    cairn_post(j->rts[r], &s->ballot.task, run_start);
  }
  for (int r = 0; r < j->n; r++) {
    ballot_finish(&runners[r].ballot);
    cr_assert_eq(runners[r].errors, 0);
  }
}

/* A vote that carries nothing allocates nothing: what is in use after many is
 * what was in use after a few. The bound leaves room for what other threads of
 * the test hold at that moment; one byte a vote and rank would be 50,000. */
Test(agree, ten_thousand_votes_use_no_memory) {
  struct job *j = job_open(5, 2, 60000);
  run_many(j, 100);
  size_t before = mallinfo2().uordblks;
  run_many(j, 10000);
  size_t after = mallinfo2().uordblks;
  cr_assert_lt(after, before + 50000);
  job_close(j);
}
