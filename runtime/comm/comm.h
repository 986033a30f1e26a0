/* Ranks agreeing. A lane is one stream of votes with its own tag space (MPI:
 * its own duplicated communicator) and its own memory, so that nothing on the
 * way to a vote can fail. Loop thread, except lane open and close.
 *
 * A vote goes up a k-ary tree (k = 16) of point-to-point messages and down
 * again. Every rank brings its error and leaves with the same one: the worst by
 * "first set, lowest rank", its origin (rank, host) set where it is unset and
 * then kept. A rank that failed still votes. A vote also carries (operation,
 * phase, step, hash): ranks that disagree on these all leave with
 * CAIRN_MISMATCH saying which rank said what. If the calls or phases differ,
 * the lane is closed to further votes too: how many more each call would make
 * is not known.
 *
 *   cairn__vote_t *v = &op->vote;
 *   v->phase = PHASE_WRITTEN; v->step = step; ...
 *   cairn__agree(op->lane, v, &op->err, on_vote);
 *
 * Limits: at vote.soft_limit_ms (0: a quarter of the deadline, at most 30 s) a
 * rank that waits says so in the log, and for whom; nothing else happens. When
 * vote.deadline_ms (0: the lane's default) has passed, the vote
 * ends with CAIRN_TIMED_OUT naming the ranks (and hosts) not heard from, and
 * the phase; the lane is then closed to further use: votes on it end with
 * CAIRN_CLOSED at once. An error that a rank brought stays the error even then.
 * Without a deadline (neither is positive) a vote waits for ever. */
#ifndef CAIRN_COMM_COMM_H_
#define CAIRN_COMM_COMM_H_

#include "cairn/buf.h"
#include "cairn/comm.h"
#include "cairn/plugin.h"

typedef struct cairn__lane cairn__lane_t;

/* Collective and blocking, on the caller's thread, at open only. Lanes must be
 * opened in the same order on all ranks. */
CAIRN_MUST_CHECK cairn_code_t cairn__lane_open(cairn_comm_t *comm,
                                               int64_t deadline_ms,
                                               cairn__lane_t **out,
                                               cairn_error_t *err);
/* Local (not collective in effect: no waiting for others); caller's thread; no
 * vote may be under way. If a transport cannot take back a message of a vote
 * that timed out, the lane's memory is kept for good. NULL is fine. */
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
  int64_t deadline_ms, soft_limit_ms;
  int64_t elapsed_ms; /* of the deadline, before the vote was entered */

  /* in/out, combined over ranks */
  uint64_t all_bits; /* AND over ranks */
  uint64_t any_bits; /* OR over ranks */
  int64_t max_value; /* MAX over ranks */

  /* Payloads. up: this rank's bytes, to the root (borrowed until fn; they
   * travel only if no rank brought an error). down: at the root, bytes for
   * everyone (set by on_root, borrowed until fn); every rank has memory for
   * them before the outcome is decided, or the outcome is CAIRN_NO_MEMORY. */
  cairn_bytes_t up;
  /* Called at the root when all ranks' frames and payloads are there, none
   * brought an error, and nothing has gone down yet; may set *err (which then
   * goes to all), v->down and the combined values. May be NULL. Loop thread;
   * must not block. */
  void (*on_root)(cairn__vote_t *v, cairn_error_t *err);
  cairn_bytes_t down;

  /* out. gathered[r]: rank r's payload, at the root only, from on_root until fn
   * returns. received: the root's `down`, on every rank, until fn returns. */
  cairn_bytes_t *gathered;
  cairn_bytes_t received;
  bool unheard; /* the error is the vote's own: some were not heard from */

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
