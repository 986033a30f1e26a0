/* A job in one process: n runtimes, their local communicator, one lane on each,
 * and votes on all of them at once. */
#ifndef CAIRN_TESTS_UNIT_COMM_JOB_H_
#define CAIRN_TESTS_UNIT_COMM_JOB_H_

#include <criterion/criterion.h>

#include "comm/lane.h"

#define JOB_MAX 40
#define OP_SAVE 0x73617665u /* "save" */
#define OP_REST 0x72657374u /* "rest" */

/* One rank's part in one vote. */
struct ballot {
  cairn__vote_t vote;
  cairn_error_t err;
  cairn_task_t task;
  cairn_future_t *done;
  cairn__lane_t *lane;
  bool absent; /* this rank does not come */
};

struct job {
  int n;
  cairn_runtime_t *rts[JOB_MAX];
  cairn_comm_t *comms[JOB_MAX];
  cairn__lane_t *lanes[JOB_MAX];
  struct ballot ballots[JOB_MAX];
  char logs[JOB_MAX][1024]; /* warnings of a rank, as far as they fit */
};

/* hosts: how many different ones, n0 ... , dealt to neighbouring ranks. */
struct job *job_open(int n, int hosts, int64_t deadline_ms);
void job_close(struct job *j);

/* Fresh ballots: save, phase 1 "written", step 5, nothing brought. */
void job_prepare(struct job *j);
void job_vote_on(struct job *j, cairn__lane_t **lanes); /* and wait for it */
void job_vote(struct job *j);
/* The two halves, for votes that overlap. */
void ballot_start(struct ballot *b, cairn__lane_t *lane);
void ballot_finish(struct ballot *b);

/* A leaf's frame without the leaf: as a rank would that stops after it. The
 * frame may be spoilt between the two halves. */
struct impostor {
  cairn__edge_t edge;
  cairn__frame_t frame;
};
void impostor_make(struct impostor *imp, struct job *j, int rank,
                   uint64_t payload);
void impostor_send(struct impostor *imp);

/* All ranks that came have the same error; returns it. */
const cairn_error_t *job_same_error(struct job *j);
#define cr_assert_contains(text, part)                                       \
  cr_assert(strstr((text), (part)) != NULL, "\"%s\" is not in \"%s\"", part, \
            text)

/* The same test over jobs of many sizes and host layouts. */
#define FOR_JOBS(n, hosts)                                             \
  static const int sizes[][2] = {{1, 1},  {2, 1},  {3, 2},  {5, 5},    \
                                 {17, 1}, {17, 4}, {40, 3}, {40, 40}}; \
  for (size_t i_ = 0; i_ < sizeof sizes / sizeof *sizes; i_++)         \
    for (int n = sizes[i_][0], hosts = sizes[i_][1]; n > 0; n = 0)

#endif
