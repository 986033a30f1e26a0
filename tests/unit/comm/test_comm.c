/* Opening, closing, and the tree. */
#include "job.h"

Test(comm, self_is_rank_0_of_1_and_votes) {
  struct job j = {.n = 1};
  cr_assert_eq(cairn_runtime_open(NULL, &j.rts[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(j.rts[0], &j.comms[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_rank(j.comms[0]), 0);
  cr_assert_eq(cairn_comm_size(j.comms[0]), 1);
  cr_assert_neq(cairn_comm_host(j.comms[0], 0)[0], '\0');
  cr_assert_str_eq(cairn_comm_host(j.comms[0], 1), "");
  cr_assert_eq(cairn__lane_open(j.comms[0], 0, &j.lanes[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn__lane_parent(j.lanes[0]), -1);
  job_prepare(&j);
  cairn_fail(&j.ballots[0].err, CAIRN_IO, "disk");
  job_vote(&j);
  cr_assert_str_eq(j.ballots[0].err.message, "disk");
  cr_assert_eq(j.ballots[0].err.rank, 0);
  cairn__lane_close(j.lanes[0]);
  cr_assert_eq(cairn_comm_close(j.comms[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(j.rts[0], NULL), CAIRN_OK);
}

Test(comm, self_votes_in_poll_mode) {
  cairn_runtime_opts_t opts = {.poll = true};
  struct job j = {.n = 1};
  cr_assert_eq(cairn_runtime_open(&opts, &j.rts[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(j.rts[0], &j.comms[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn__lane_open(j.comms[0], 100, &j.lanes[0], NULL), CAIRN_OK);
  job_prepare(&j);
  job_vote(&j);
  cr_assert_eq(j.ballots[0].err.code, CAIRN_OK);
  cairn__lane_close(j.lanes[0]);
  cr_assert_eq(cairn_comm_close(j.comms[0], NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(j.rts[0], NULL), CAIRN_OK);
}

Test(comm, close_is_refused_while_a_lane_is_open) {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn__lane_t *lane;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_self_open(rt, &comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn__lane_open(comm, 0, &lane, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_close(comm, &err), CAIRN_BUSY);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_BUSY);
  cairn__lane_close(lane);
  cr_assert_eq(cairn_comm_close(comm, NULL), CAIRN_OK);
  cr_assert_eq(cairn_comm_close(NULL, NULL), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_OK);
}

Test(comm, local_of_no_ranks_is_invalid) {
  cairn_comm_t *out[1];
  cairn_error_t err = {0};
  cr_assert_eq(cairn_comm_local_open(NULL, 0, out, &err), CAIRN_INVALID);
}

static void build(const char *const *names, int n, int *parents, int *heights) {
  char hosts[128][CAIRN__HOST_BYTES] = {0};
  for (int r = 0; r < n; r++) strcpy(hosts[r], names[r]);
  cr_assert_eq(cairn__tree_build(hosts, n, parents, heights, NULL), CAIRN_OK);
}

Test(tree, ranks_of_a_host_are_below_its_lowest_rank) {
  const char *names[7] = {"b", "a", "b", "c", "a", "c", "a"};
  static const int want[7] = {-1, 0, 0, 0, 1, 3, 1};
  int parents[7], heights[7];
  build(names, 7, parents, heights);
  for (int r = 0; r < 7; r++) cr_assert_eq(parents[r], want[r]);
  cr_assert_eq(heights[0], 2);
  cr_assert_eq(heights[1], 1);
  cr_assert_eq(heights[6], 0);
}

Test(tree, more_than_16_below_one_go_a_level_down) {
  const char *names[128];
  char space[128][8];
  int parents[128], heights[128];
  for (int r = 0; r < 128; r++) names[r] = "x";
  build(names, 128, parents, heights);
  cr_assert_eq(parents[16], 0);
  cr_assert_eq(parents[17], 1);
  cr_assert_eq(parents[32], 1);
  cr_assert_eq(parents[33], 2);
  cr_assert_eq(heights[0], 2);
  for (int r = 0; r < 128; r++) {
    snprintf(space[r], sizeof space[r], "h%d", r); /* h10 sorts before h2 */
    names[r] = space[r];
  }
  build(names, 128, parents, heights);
  cr_assert_eq(parents[16], 0);
  cr_assert_eq(parents[17], 1);
  cr_assert_eq(parents[127], 7);
}
