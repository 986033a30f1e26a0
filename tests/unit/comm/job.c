#include "job.h"

#include <stdlib.h>

#include "base/base.h"

static void keep_warning(void *arg, cairn_log_level_t level, const char *text) {
  char *log = arg;
  size_t n = strlen(log), cap = sizeof((struct job *)0)->logs[0];
  if (level <= CAIRN_LOG_WARN) snprintf(log + n, cap - n, "%s\n", text);
}

static void open_runtimes(struct job *j) {
  cairn_error_t err = {0};
  for (int r = 0; r < j->n; r++) {
    cairn_runtime_opts_t o = {.log = keep_warning, .log_arg = j->logs[r]};
    cr_assert_eq(cairn_runtime_open(&o, &j->rts[r], &err), CAIRN_OK, "%s",
                 err.message);
  }
}

struct job *job_open(int n, int hosts, int64_t deadline_ms) {
  struct job *j = calloc(1, sizeof *j);
  const char *names[JOB_MAX];
  char space[JOB_MAX][8];
  cairn_error_t err = {0};
  j->n = n;
  open_runtimes(j);
  for (int r = 0; r < n; r++) {
    snprintf(space[r], sizeof space[r], "n%d", r * hosts / n);
    names[r] = space[r];
  }
  cr_assert_eq(cairn__comm_local_open(j->rts, n, names, j->comms, &err),
               CAIRN_OK, "%s", err.message);
  for (int r = 0; r < n; r++)
    cr_assert_eq(cairn__lane_open(j->comms[r], deadline_ms, &j->lanes[r], &err),
                 CAIRN_OK, "%s", err.message);
  job_prepare(j);
  return j;
}

void job_close(struct job *j) {
  cairn_error_t err = {0};
  for (int r = 0; r < j->n; r++) cairn__lane_close(j->lanes[r]);
  for (int r = 0; r < j->n; r++)
    cr_assert_eq(cairn_comm_close(j->comms[r], &err), CAIRN_OK, "%s",
                 err.message);
  for (int r = 0; r < j->n; r++)
    cr_assert_eq(cairn_runtime_close(j->rts[r], &err), CAIRN_OK, "%s",
                 err.message);
  free(j);
}

void job_prepare(struct job *j) {
  for (int r = 0; r < j->n; r++) {
    struct ballot *b = &j->ballots[r];
    *b = (struct ballot){0};
    b->vote.op = OP_SAVE;
    b->vote.phase = 1;
    b->vote.phase_name = "written";
    b->vote.step = 5;
    b->vote.all_bits = UINT64_MAX;
    b->vote.user = b;
  }
}

static void on_vote(cairn__vote_t *v) {
  struct ballot *b = v->user;
  cairn_future_resolve(b->done, NULL);
}

static void on_loop(cairn_task_t *t) {
  struct ballot *b = cairn_container_of(t, struct ballot, task);
  cairn__agree(b->lane, &b->vote, &b->err, on_vote);
}

void ballot_start(struct ballot *b, cairn__lane_t *lane) {
  cairn_runtime_t *rt = cairn__comm_runtime(cairn__lane_comm(lane));
  b->lane = lane;
  b->done = cairn_future_new(rt);
  cairn_post(rt, &b->task, on_loop);
}

void ballot_finish(struct ballot *b) {
  cr_assert_eq(cairn_future_finish(b->done, NULL), CAIRN_OK);
}

void job_vote_on(struct job *j, cairn__lane_t **lanes) {
  for (int r = j->n - 1; r >= 0; r--)
    if (!j->ballots[r].absent) ballot_start(&j->ballots[r], lanes[r]);
  for (int r = 0; r < j->n; r++)
    if (!j->ballots[r].absent) ballot_finish(&j->ballots[r]);
}

void job_vote(struct job *j) {
  job_vote_on(j, j->lanes);
}

void impostor_make(struct impostor *imp, struct job *j, int rank,
                   uint64_t payload) {
  cairn__lane_t *lane = j->lanes[rank];
  *imp = (struct impostor){.frame = {.magic = CAIRN__FRAME_MAGIC,
                                     .kind = CAIRN__UP,
                                     .seq = 1,
                                     .step = 5,
                                     .op = OP_SAVE,
                                     .phase = 1,
                                     .origin = -1,
                                     .payload = payload,
                                     .sender = rank,
                                     .hash_rank = rank}};
  cairn__edge_init(lane, &imp->edge, lane->parent.rank);
}

void impostor_send(struct impostor *imp) {
  cairn__edge_send(&imp->edge, &imp->frame, sizeof imp->frame);
}

const cairn_error_t *job_same_error(struct job *j) {
  const cairn_error_t *first = NULL;
  for (int r = 0; r < j->n; r++) {
    const cairn_error_t *e = &j->ballots[r].err;
    if (j->ballots[r].absent) continue;
    if (first == NULL) first = e;
    cr_assert_eq(e->code, first->code, "rank %d: %s", r, e->message);
    cr_assert_eq(e->rank, first->rank);
    cr_assert_eq(e->sys_errno, first->sys_errno);
    cr_assert_str_eq(e->message, first->message);
  }
  return first;
}
