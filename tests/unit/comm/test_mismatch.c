/* Ranks that are in different calls: all of them hear who said what. */
#include "job.h"

static const char *vote_text(struct job *j, cairn_code_t want) {
  job_vote(j);
  const cairn_error_t *e = job_same_error(j);
  cr_assert_eq(e->code, want, "%s", e->message);
  return e->message;
}

Test(mismatch, steps_are_told_on_all_ranks) {
  FOR_JOBS(n, hosts) {
    if (n == 1) continue;
    struct job *j = job_open(n, hosts, 60000);
    char want[64];
    j->ballots[n - 1].vote.step = 6;
    const char *m = vote_text(j, CAIRN_MISMATCH);
    snprintf(want, sizeof want, "rank %d (n%d) in save (written, step 6)",
             n - 1, hosts - 1);
    cr_assert_contains(m, want);
    cr_assert_contains(m, "in save (written, step 5)");
    /* The same call of both: the lane can go on. */
    job_prepare(j);
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
    job_close(j);
  }
}

Test(mismatch, root_in_another_call_is_told) {
  struct job *j = job_open(3, 3, 60000);
  j->ballots[0].vote.op = OP_REST;
  j->ballots[0].vote.phase_name = "read";
  const char *m = vote_text(j, CAIRN_MISMATCH);
  cr_assert_contains(m, "rank 0 (n0) in rest (read, step 5)");
  cr_assert_contains(m, "rank 1 (n1) in save (written, step 5)");
  job_close(j);
}

Test(mismatch, different_calls_close_the_lane) {
  struct job *j = job_open(17, 4, 60000);
  j->ballots[9].vote.op = OP_REST;
  vote_text(j, CAIRN_MISMATCH);
  job_prepare(j);
  const char *m = vote_text(j, CAIRN_CLOSED);
  cr_assert_contains(m, "ranks are in different calls");
  job_close(j);
}

Test(mismatch, phases_are_told_on_all_ranks) {
  struct job *j = job_open(5, 1, 60000);
  j->ballots[2].vote.phase = 3;
  j->ballots[2].vote.phase_name = "visible";
  const char *m = vote_text(j, CAIRN_MISMATCH);
  cr_assert_contains(m, "rank 2 (n0) in save (visible, step 5)");
  cr_assert_contains(m, "in save (written, step 5)");
  job_close(j);
}

Test(mismatch, hashes_are_told_on_all_ranks) {
  struct job *j = job_open(40, 3, 60000);
  for (int r = 0; r < 40; r++) j->ballots[r].vote.hash = r == 31 ? 0xbeef : 1;
  const char *m = vote_text(j, CAIRN_MISMATCH);
  cr_assert_contains(m, "rank 31 (n2) 000000000000beef");
  cr_assert_contains(m, "0000000000000001");
  job_close(j);
}

Test(mismatch, hash_of_zero_and_of_a_failed_rank_is_not_compared) {
  struct job *j = job_open(17, 4, 60000);
  for (int r = 0; r < 17; r++) j->ballots[r].vote.hash = r % 3 == 0 ? 0 : 77;
  job_vote(j);
  cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  job_prepare(j);
  for (int r = 0; r < 17; r++) j->ballots[r].vote.hash = 77;
  j->ballots[5].vote.hash = 78;
  cairn_fail(&j->ballots[5].err, CAIRN_DENIED, "open");
  vote_text(j, CAIRN_DENIED);
  job_close(j);
}

Test(mismatch, brought_error_outweighs_a_difference_of_hashes) {
  struct job *j = job_open(3, 1, 60000);
  j->ballots[1].vote.hash = 1;
  j->ballots[0].vote.hash = 2;
  cairn_fail(&j->ballots[2].err, CAIRN_DENIED, "open");
  vote_text(j, CAIRN_DENIED);
  job_close(j);
}

Test(mismatch, different_calls_outweigh_a_brought_error) {
  struct job *j = job_open(5, 5, 60000);
  cairn_fail(&j->ballots[0].err, CAIRN_DENIED, "open");
  j->ballots[4].vote.op = OP_REST;
  vote_text(j, CAIRN_MISMATCH);
  job_close(j);
}

/* A frame that cannot be one of this vote: told to all, and the lane ends. */
static const char *spoilt(void (*spoil)(cairn__frame_t *f), cairn_code_t want,
                          char out[CAIRN_MESSAGE_BYTES]) {
  struct job *j = job_open(5, 5, 60000);
  struct impostor imp;
  j->ballots[3].absent = true;
  impostor_make(&imp, j, 3, 0);
  spoil(&imp.frame);
  impostor_send(&imp);
  strcpy(out, vote_text(j, want));
  job_prepare(j);
  j->ballots[3].absent = true;
  vote_text(j, CAIRN_CLOSED);
  job_close(j);
  return out;
}

static void spoil_magic(cairn__frame_t *f) {
  f->magic ^= 0x100;
}
static void spoil_seq(cairn__frame_t *f) {
  f->seq = 2;
}
static void spoil_kind(cairn__frame_t *f) {
  f->kind = CAIRN__ACK;
}
static void spoil_text(cairn__frame_t *f) {
  f->text = CAIRN_MESSAGE_BYTES;
}
static void spoil_from(cairn__frame_t *f) {
  f->from = 5;
}

Test(mismatch, impossible_frames_are_errors_and_not_hangs) {
  char m[CAIRN_MESSAGE_BYTES];
  spoilt(spoil_magic, CAIRN_MISMATCH, m);
  cr_assert_contains(m, "connection to rank 3 (n3): frame");
  spoilt(spoil_text, CAIRN_MISMATCH, m);
  spoilt(spoil_from, CAIRN_MISMATCH, m);
  spoilt(spoil_kind, CAIRN_INTERNAL, m);
  cr_assert_contains(m, "out of turn");
  spoilt(spoil_seq, CAIRN_MISMATCH, m);
  cr_assert_contains(m, "vote 1 here, 2 there");
}

/* A later vote of the same operation brings the error that was agreed on; that
 * the steps still differ is no news. */
Test(mismatch, steps_that_differ_are_told_once) {
  struct job *j = job_open(3, 3, 60000);
  char first[CAIRN_MESSAGE_BYTES];
  j->ballots[2].vote.step = 6;
  job_vote(j);
  strcpy(first, job_same_error(j)->message);
  for (int r = 0; r < 3; r++) j->ballots[r].vote.phase_name = "visible";
  job_vote(j);
  cr_assert_str_eq(job_same_error(j)->message, first);
  job_close(j);
}
