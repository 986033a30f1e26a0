/* The inside of a lane: what vote.c, edge.c, deadline.c and frame.c share.
 *
 * The protocol on one edge of the tree, between a rank (below) and its parent:
 *
 *   UP     up    call, bits, worst error of the subtree, length of its payloads
 *   GO     down  there is memory: send the payloads     (only if there are any)
 *   DROP   down  do not: something failed               (only if there are any)
 *   ASK    down  whom do you wait for?              (only after a soft limit)
 *   NOTE   up    these ranks                            (only if asked)
 *   HURRY  down  time is short: say what you have       (only near a deadline)
 *   OFFER  down  the root has bytes for all, this many  (only if it has)
 *   ACK    up    there is memory for them in the subtree, or not
 *   FINAL  down  the outcome; ends the vote
 *
 * UP, ACK, NOTE and FINAL are followed by a tail (error text, then a bitmap of
 * ranks not heard from) if they announce one; GO is answered, and FINAL
 * followed, by the payload in pieces. So a vote that goes well and carries
 * nothing is two messages of 128 bytes an edge. Memory for payloads is asked
 * for before an outcome is decided, so that its lack is part of the outcome. */
#ifndef CAIRN_COMM_LANE_H_
#define CAIRN_COMM_LANE_H_

#include <uv.h>

#include "comm/transport.h"

/* Of this layout and protocol; ranks compare it when they open. */
#define CAIRN__FRAME_MAGIC 0x326e7243u

typedef enum cairn__frame_kind {
  CAIRN__UP,
  CAIRN__GO,
  CAIRN__DROP,
  CAIRN__HURRY,
  CAIRN__ASK,
  CAIRN__NOTE,
  CAIRN__OFFER,
  CAIRN__ACK,
  CAIRN__FINAL,
  CAIRN__FRAME_KINDS
} cairn__frame_kind_t;

/* What outweighs what when ranks bring different errors; equal weights go to
 * the lowest rank. Errors that the vote itself finds are secondary to those
 * that were brought, except that different calls make all else meaningless. */
typedef enum cairn__weight {
  CAIRN__W_NONE,
  CAIRN__W_LATE,    /* some rank was not heard from */
  CAIRN__W_VOTE,    /* the vote's own: no memory, plans differ, a lost peer */
  CAIRN__W_BROUGHT, /* by a rank */
  CAIRN__W_AGREED,  /* by a rank, from an earlier vote: its origin is set */
  CAIRN__W_CALLS    /* ranks are in different calls */
} cairn__weight_t;

#define CAIRN__F_MISSING 1 /* a bitmap of ranks follows the text */
#define CAIRN__F_ENDS 2    /* the lane is closed to further votes */

/* Native byte order: ranks of one job run on one kind of machine, and the magic
 * number says so if they do not. */
typedef struct cairn__frame {
  uint32_t magic, kind;
  uint64_t seq; /* votes on this lane so far */
  int64_t step;
  uint64_t hash;
  uint32_t op, phase;
  uint64_t all_bits, any_bits;
  int64_t max_value; /* HURRY, ASK: the grace per level, in ms */
  uint64_t payload;
  int32_t code, sys_errno, origin,
      from;      /* the worst error, and who brought it */
  uint16_t text; /* its length */
  uint8_t weight, flags;
  int32_t sender, hash_rank; /* who said hash */
  char phase_name[28];
} cairn__frame_t;
_Static_assert(sizeof(cairn__frame_t) == 128, "frames are 128 bytes");

/* Before each payload on its way up. */
typedef struct cairn__entry {
  uint64_t rank, n;
} cairn__entry_t;

/* The worst error so far. */
typedef struct cairn__verdict {
  cairn__weight_t weight;
  int from;
  cairn_error_t err;
} cairn__verdict_t;

/* A connection to the parent or to a child. At most one message in flight in
 * each direction; what is to be sent waits in a short queue. */
#define CAIRN__SEGMENTS 8
typedef struct cairn__edge {
  cairn__lane_t *lane;
  int rank;
  bool waiting;  /* a child: something is due from it in this phase */
  bool noted;    /* it is there, and waits for those in note */
  uint8_t *note; /* a set of ranks; NULL: it has no children */

  cairn__msg_t in;
  enum {
    CAIRN__IN_NONE,
    CAIRN__IN_FRAME,
    CAIRN__IN_TAIL,
    CAIRN__IN_BODY
  } reading;
  cairn__frame_t frame; /* the last one received, and its tail */
  uint8_t *tail;
  uint8_t *body;
  size_t body_n, body_at;

  cairn__msg_t out;
  struct {
    const uint8_t *p;
    size_t n;
  } segments[CAIRN__SEGMENTS];
  int head, queued;
  size_t sent; /* of the segment at head */
} cairn__edge_t;

typedef enum cairn__lane_phase {
  CAIRN__IDLE,
  CAIRN__GATHER,   /* children's UP frames are due */
  CAIRN__COLLECT,  /* children's payloads are due */
  CAIRN__REPORTED, /* the parent's answer is due */
  CAIRN__OFFERED,  /* children's ACKs are due */
  CAIRN__SPREAD    /* the outcome is known, and being passed on */
} cairn__lane_phase_t;

struct cairn__lane {
  cairn_comm_t *comm;
  void *channel;
  int64_t default_deadline_ms;
  cairn__edge_t parent; /* rank -1 at the root */
  cairn__edge_t *kids;
  int n_kids;
  size_t bitmap_n; /* bytes of a set of ranks */

  /* Of payloads; tests make the one fail and the other small, on all ranks. */
  void *(*alloc)(size_t n);
  size_t piece; /* longest message: 1 GiB */

  cairn__vote_t *vote; /* the one under way, or NULL */
  cairn__lane_phase_t phase;
  uint64_t seq;
  int awaited;    /* children with `waiting` */
  bool receiving; /* SPREAD: the root's bytes are still coming */
  cairn_task_t task;

  cairn__frame_t sum; /* own call and values, combined with the subtree's */
  cairn__verdict_t verdict;
  uint8_t *missing;            /* ranks not heard from */
  uint8_t *awaited_set, *note; /* ask.c: space for sets of ranks */
  bool any_missing;
  cairn__frame_t frames[CAIRN__FRAME_KINDS]; /* being sent */
  uint8_t *tail_up, *tail_down;
  uint8_t *up; /* payloads of the subtree, each with its header */
  size_t up_n;
  uint8_t *down; /* the root's bytes */
  size_t down_n;
  cairn_bytes_t *gathered; /* root only */

  /* Closed to further votes; `why` says since when. Buffers that messages may
   * still use are kept until the lane is closed. */
  bool dead;
  cairn_error_t why;

  /* deadline.c; times are the loop's, in ms */
  uv_timer_t timer;
  bool timer_made, hurried;
  uint64_t started, soft_at, warn_at, note_at, hurry_at, late_at, answer_at;
  int64_t deadline_ms, grace_ms, ask_grace_ms;

  cairn_future_t *closed; /* made at open, so that closing cannot fail */
  bool kept; /* a message could not be taken back: nothing is freed */
};

/* frame.c -------------------------------------------------------------------*/

/* "save (written, step 5)". */
#define CAIRN__CALL_TEXT 96
const char *cairn__call_text(const cairn__frame_t *f,
                             char out[CAIRN__CALL_TEXT]);
/* A set of ranks as text: "ranks 3, 5-7 (hosts n1, n2)". */
#define CAIRN__RANKS_TEXT 400
const char *cairn__ranks_text(const cairn_comm_t *comm, const uint8_t *set,
                              char out[CAIRN__RANKS_TEXT]);
static inline bool cairn__set_has(const uint8_t *set, int rank) {
  return (set[rank >> 3] >> (rank & 7) & 1) != 0;
}
static inline void cairn__set_add(uint8_t *set, int rank) {
  set[rank >> 3] |= (uint8_t)(1u << (rank & 7));
}

/* This rank's call and values as a frame. */
void cairn__frame_of_vote(const cairn__lane_t *lane, const cairn__vote_t *v,
                          cairn__frame_t *out);
/* Combines a child's frame into lane->sum; a call that differs from ours goes
 * into the verdict. */
void cairn__frame_combine(cairn__lane_t *lane, const cairn__frame_t *f);

/* Keeps the weightier error, of equal ones that of the lower rank. */
void cairn__verdict_add(cairn__verdict_t *v, cairn__weight_t weight, int from,
                        const cairn_error_t *err);
void cairn__verdict_clear(cairn__verdict_t *v);
/* Adds the error that came with a frame. */
void cairn__verdict_read(cairn__verdict_t *v, const cairn__frame_t *f,
                         const uint8_t *tail);
/* Length of the tail that f announces; false if it cannot be right. */
bool cairn__tail_length(const cairn__lane_t *lane, const cairn__frame_t *f,
                        size_t *n);
/* The verdict and the missing ranks into f and its tail, and out of them. */
size_t cairn__tail_write(const cairn__lane_t *lane, cairn__frame_t *f,
                         uint8_t *tail);
void cairn__tail_read(cairn__lane_t *lane, const cairn__frame_t *f,
                      const uint8_t *tail);
/* A second misfortune, after the message. */
void cairn__verdict_also(cairn__verdict_t *v, const char *text);
/* The verdict as all ranks will read it: origin set, missing ranks named. */
void cairn__verdict_seal(cairn__lane_t *lane);

/* edge.c --------------------------------------------------------------------*/

void cairn__edge_init(cairn__lane_t *lane, cairn__edge_t *e, int rank);
void cairn__edge_expect(cairn__edge_t *e); /* a frame, with its tail */
void cairn__edge_expect_body(cairn__edge_t *e, uint8_t *p, size_t n);
void cairn__edge_send(cairn__edge_t *e, const void *p, size_t n);
static inline bool cairn__edge_flushed(const cairn__edge_t *e) {
  return e->queued == 0;
}
/* False if a message could not be taken back. */
bool cairn__edge_cancel(cairn__edge_t *e);

/* vote.c, called by edge.c and deadline.c
 * -------------------------------------*/

void cairn__vote_frame(cairn__edge_t *e);
void cairn__vote_body(cairn__edge_t *e);
void cairn__vote_flushed(cairn__lane_t *lane);
void cairn__vote_broken(cairn__edge_t *e, const cairn_error_t *err);
/* Goes on without the children that are still awaited; they are named. */
void cairn__vote_give_up(cairn__lane_t *lane);
/* Ends the vote here with *err, and tells the children. */
void cairn__vote_abandon(cairn__lane_t *lane, const cairn_error_t *err);
/* The outcome stands, but could not be passed on in time. */
void cairn__vote_leave(cairn__lane_t *lane, const cairn_error_t *why);

/* ask.c ---------------------------------------------------------------------*/

/* Asks the children that are awaited and may be waiting themselves. False:
 * there are none. */
bool cairn__ask(cairn__lane_t *lane, int64_t grace_ms);
/* Whom this rank waits for, as far as it knows: a set of ranks. */
const uint8_t *cairn__awaited(cairn__lane_t *lane);
void cairn__answer(cairn__lane_t *lane); /* to the parent that asked */
void cairn__take_note(cairn__edge_t *kid);

/* deadline.c
 * ------------------------------------------------------------------*/

void cairn__deadline_start(cairn__lane_t *lane);
void cairn__deadline_stop(cairn__lane_t *lane);
void cairn__deadline_due(cairn__lane_t *lane); /* from a clock */
/* The parent wants to know whom we wait for. */
void cairn__deadline_asked(cairn__lane_t *lane, int64_t grace_ms);
/* The parent's time is running out. */
void cairn__deadline_hurry(cairn__lane_t *lane, int64_t grace_ms);

#endif
