/* Ranks agreeing. A lane is one stream of votes with its own tag space (MPI:
 * its own duplicated communicator) and its own memory, so that nothing on the
 * way to a vote can fail. Loop thread, except lane open and close.
 *
 * A vote goes up a k-ary tree (k = 16) of point-to-point messages and down
 * again. Every rank brings its error and leaves with the same one: the worst by
 * "first set, lowest rank", its origin (rank, host) set where it is unset and
 * then kept. A rank that failed still votes. A vote also carries (operation,
 * phase, step, hash): ranks that disagree on these all leave with
 * CAIRN_MISMATCH saying which rank said what.
 *
 *   cairn__vote_t *v = &op->vote;
 *   v->phase = PHASE_WRITTEN; v->step = step; ...
 *   cairn__agree(op->lane, v, &op->err, on_vote);
 *
 * Deadlines: vote.deadline_ms (0: the lane's default). When it passes, the vote
 * ends with CAIRN_TIMED_OUT naming the ranks (and hosts) not heard from, and
 * the phase; the lane is then closed to further use and its memory kept. */
#ifndef CAIRN_COMM_COMM_H_
#define CAIRN_COMM_COMM_H_

#include "base/buf.h"
#include "cairn/comm.h"
#include "cairn/plugin.h"

typedef struct cairn__lane cairn__lane_t;

/* Collective and blocking, on the caller's thread, at open only. Lanes must be
 * opened in the same order on all ranks. */
CAIRN_MUST_CHECK cairn_code_t cairn__lane_open(cairn_comm_t *comm,
                                               int64_t deadline_ms,
                                               cairn__lane_t **out,
                                               cairn_error_t *err);
/* Local (not collective in effect: no waiting for others); caller's thread. A
 * lane with a vote that timed out keeps its memory until the runtime ends. */
void cairn__lane_close(cairn__lane_t *lane);
cairn_comm_t *cairn__lane_comm(cairn__lane_t *lane);
cairn_runtime_t *cairn__comm_runtime(cairn_comm_t *comm);
/* This rank's place in the vote tree, for tests and messages. */
int cairn__lane_parent(const cairn__lane_t *lane); /* -1 at the root */

typedef struct cairn__vote cairn__vote_t;
typedef void (*cairn__vote_fn)(cairn__vote_t *v);

struct cairn__vote {
  /* in: must be equal on all ranks, else MISMATCH */
  uint32_t op; /* which call this is: save, restore, open ... (four letters) */
  uint32_t phase;         /* of it */
  const char *phase_name; /* static; for messages */
  int64_t step;           /* -1 where there is none */
  uint64_t hash;          /* of options or plan; 0: not compared */
  int64_t deadline_ms;

  /* in/out, combined over ranks */
  uint64_t all_bits; /* AND over ranks */
  uint64_t any_bits; /* OR over ranks */
  int64_t max_value; /* MAX over ranks */

  /* Payloads. up: this rank's bytes, to the root (borrowed until fn). down: at
   * the root, bytes for everyone (set by on_root, borrowed until fn). */
  cairn_bytes_t up;
  /* Called at the root when all ranks' frames and payloads are there and before
   * anything goes down; may set *err (which then goes to all) and v->down. May
   * be NULL. Loop thread; must not block. */
  void (*on_root)(cairn__vote_t *v, cairn_error_t *err);
  cairn_bytes_t down;

  /* out. gathered[r]: rank r's payload, at the root only, from on_root until fn
   * returns. received: the root's `down`, on every rank, until fn returns. */
  cairn_bytes_t *gathered;
  cairn_bytes_t received;

  /* the room's own */
  cairn_error_t *err;
  cairn__vote_fn fn;
  cairn__lane_t *lane;
  void *user; /* the caller's */
};

/* Starts the vote. One at a time per lane. err: in, what this rank brings; out,
 * what all ranks agreed on. fn is called once, on a later turn. Cannot fail. */
void cairn__agree(cairn__lane_t *lane, cairn__vote_t *v, cairn_error_t *err,
                  cairn__vote_fn fn);

#endif
