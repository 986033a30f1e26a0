/* Votes of thousands of ranks in one thread: a transport whose messages are
 * events on a clock of the model. The vote's code is the real one.
 *
 * The model: a message takes `hop_ns` and 1 ns a byte; each one costs its
 * sender and its receiver `cpu_ns`, one after the other; one in `straggle`
 * messages takes `straggle_ns` more. */
#ifndef CAIRN_TESTS_UNIT_COMM_SIM_H_
#define CAIRN_TESTS_UNIT_COMM_SIM_H_

#include <criterion/criterion.h>

#include "comm/lane.h"

#define SIM_MS UINT64_C(1000000)

struct sim_rank {
  cairn_comm_t comm;
  cairn__lane_t *lane;
  cairn__vote_t vote;
  cairn_error_t err;
  uint64_t enter_ns; /* when it votes; UINT64_MAX: it does not come */
  uint64_t done_ns;  /* when the vote ended here */
  bool done;

  /* What it sent and received in this vote. */
  int sent, received;
  uint64_t sent_up, sent_bytes;

  uint64_t in_busy, out_busy; /* ns */
  uint64_t alarm_at;          /* ms */
  /* One message each way between this rank (below) and its parent: half of it
   * is there, or none. */
  cairn__msg_t *up, *down;
  uint64_t up_ns, down_ns;
};

struct sim {
  int n;
  struct sim_rank *ranks;
  cairn_runtime_t *rt;
  uint64_t now_ns, hop_ns, cpu_ns, straggle_ns;
  unsigned straggle;
  uint64_t seed;
  struct sim_event *heap;
  size_t n_events, cap;
  uint64_t order;
  int warnings;
};

/* per_host: ranks on a host, neighbours. */
struct sim *sim_open(int n, int per_host, int64_t deadline_ms);
void sim_close(struct sim *s);
/* Fresh votes: all enter now, nothing brought. Change them, then run. */
void sim_prepare(struct sim *s);
/* Until nothing happens any more. Model time from the entry of the last rank to
 * the end of the vote on the last one, in ns. */
uint64_t sim_run(struct sim *s);
uint64_t sim_random(struct sim *s, uint64_t below);

#endif
