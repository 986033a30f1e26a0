/* One vote, from cairn__agree to fn, at one rank (the messages: lane.h).
 *
 *   gather    each child's UP; combined into sum and verdict as they come
 *   collect   memory for the payloads, GO or DROP to the children, the payloads
 *   report    UP to the parent; the root decides instead:
 *   decide    on_root looks at what was gathered
 *   offer     if it has bytes for all: has everyone memory for them?
 *   settle    the verdict gets its origin and becomes the outcome
 *   spread    the outcome, and the root's bytes, down to the children
 *   finish    fn
 *
 * A parent may answer at any time (it gave up on us): its FINAL ends the vote
 * in every phase. Once a lane is dead, messages of its last vote may stay in
 * flight for good; whatever they use is freed when the lane is closed. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "comm/lane.h"

static void acked(cairn__lane_t *lane);

static bool is_root(const cairn__lane_t *lane) {
  return lane->parent.rank < 0;
}

static void add_own(cairn__lane_t *lane, cairn__weight_t weight,
                    const cairn_error_t *err) {
  cairn__verdict_add(&lane->verdict, weight, lane->comm->rank, err);
}

static void kill_lane(cairn__lane_t *lane, const cairn_error_t *why) {
  lane->dead = true;
  cairn_error_copy(&lane->why, why);
}

/* A frame of this kind to be sent. Each kind is sent once in a vote, so its
 * memory is free by the next one. */
static cairn__frame_t *frame_for(cairn__lane_t *lane,
                                 cairn__frame_kind_t kind) {
  cairn__frame_t *f = &lane->frames[kind];
  *f = lane->sum;
  f->kind = kind;
  f->payload = 0;
  return f;
}

static void send_frame(cairn__edge_t *e, const cairn__frame_t *f) {
  cairn__edge_send(e, f, sizeof *f);
}

static void await(cairn__edge_t *kid) {
  kid->waiting = true;
  kid->noted = false;
  kid->lane->awaited++;
}

static void arrived(cairn__edge_t *kid) {
  if (!kid->waiting) return;
  kid->waiting = false;
  kid->lane->awaited--;
}

/* finish --------------------------------------------------------------------*/

static void finish(cairn__lane_t *lane) {
  cairn__vote_t *v = lane->vote;
  const cairn__frame_t *outcome = &lane->sum;
  uint8_t *up = lane->up, *down = lane->down;
  cairn__deadline_stop(lane);
  v->all_bits = outcome->all_bits;
  v->any_bits = outcome->any_bits;
  v->max_value = outcome->max_value;
  if (outcome->payload > 0)
    v->received = cairn_bytes(down, (size_t)outcome->payload);
  if (lane->verdict.weight != CAIRN__W_NONE) *v->err = lane->verdict.err;
  v->unheard = lane->verdict.weight == CAIRN__W_LATE;
  lane->vote = NULL;
  lane->phase = CAIRN__IDLE;
  if (lane->dead) { /* messages may still use them */
    v->fn(v);
    return;
  }
  lane->up = lane->down = NULL;
  v->fn(v); /* may begin the next vote, or free v */
  free(up);
  free(down);
}

static void try_finish(cairn__lane_t *lane) {
  if (lane->phase != CAIRN__SPREAD || lane->receiving) return;
  if (!lane->dead) {
    if (!cairn__edge_flushed(&lane->parent)) return;
    for (int i = 0; i < lane->n_kids; i++)
      if (!cairn__edge_flushed(&lane->kids[i])) return;
  }
  finish(lane);
}

static void finish_task(cairn_task_t *t) {
  cairn__lane_t *lane = cairn_container_of(t, cairn__lane_t, task);
  try_finish(lane);
}

/* spread --------------------------------------------------------------------*/

static void pass_down(cairn__lane_t *lane) {
  for (int i = 0; i < lane->n_kids; i++)
    cairn__edge_send(&lane->kids[i], lane->down, lane->down_n);
}

/* The outcome is known here: frame, tail, and (at the root) the bytes. */
static void spread(cairn__lane_t *lane, const cairn__frame_t *outcome,
                   const uint8_t *tail) {
  size_t n = 0;
  bool sane = cairn__tail_length(lane, outcome, &n);
  assert(sane);
  (void)sane;
  lane->phase = CAIRN__SPREAD;
  lane->sum = *outcome;
  if ((outcome->flags & CAIRN__F_ENDS) != 0) {
    lane->dead = true;
    lane->why = lane->verdict.err;
  }
  for (int i = 0; i < lane->n_kids; i++) {
    send_frame(&lane->kids[i], outcome);
    if (n > 0) cairn__edge_send(&lane->kids[i], tail, n);
  }
  if (outcome->payload == 0) return;
  if (is_root(lane)) {
    pass_down(lane);
  } else {
    lane->receiving = true;
    cairn__edge_expect_body(&lane->parent, lane->down, lane->down_n);
  }
}

/* Composes the outcome here, at the root or at a rank that has lost it. */
static void settle(cairn__lane_t *lane) {
  cairn__verdict_seal(lane);
  if (lane->dead) lane->sum.flags |= CAIRN__F_ENDS;
  cairn__frame_t *f = frame_for(lane, CAIRN__FINAL);
  cairn__tail_write(lane, f, lane->tail_down);
  if (lane->verdict.weight == CAIRN__W_NONE) f->payload = lane->down_n;
  spread(lane, f, lane->tail_down);
  try_finish(lane);
}

static void on_final(cairn__lane_t *lane) {
  cairn__edge_t *up = &lane->parent;
  cairn__frame_t *f = &lane->frames[CAIRN__FINAL];
  *f = up->frame;
  f->sender = lane->comm->rank;
  cairn__verdict_clear(&lane->verdict);
  cairn__verdict_read(&lane->verdict, f, up->tail);
  /* The parent did not wait for us: our own messages are out of step. */
  if (lane->phase != CAIRN__REPORTED) f->flags |= CAIRN__F_ENDS;
  spread(lane, f, up->tail);
  try_finish(lane);
}

/* offer ---------------------------------------------------------------------*/

static void offer(cairn__lane_t *lane) {
  cairn__frame_t *f = frame_for(lane, CAIRN__OFFER);
  f->payload = lane->down_n;
  lane->phase = CAIRN__OFFERED;
  for (int i = 0; i < lane->n_kids; i++) {
    send_frame(&lane->kids[i], f);
    await(&lane->kids[i]);
    cairn__edge_expect(&lane->kids[i]);
  }
  if (lane->awaited == 0) acked(lane);
}

static bool make_down(cairn__lane_t *lane, uint64_t n) {
  cairn_error_t err = {0};
  lane->down = n <= PTRDIFF_MAX ? lane->alloc((size_t)n) : NULL;
  lane->down_n = (size_t)n;
  if (lane->down != NULL) return true;
  cairn_fail(&err, CAIRN_NO_MEMORY, "%" PRIu64 " bytes of the vote's answer",
             n);
  add_own(lane, CAIRN__W_VOTE, &err);
  return false;
}

static void on_offer(cairn__lane_t *lane) {
  make_down(lane, lane->parent.frame.payload);
  offer(lane);
}

static void acked(cairn__lane_t *lane) {
  if (is_root(lane)) {
    settle(lane);
    return;
  }
  cairn__frame_t *f = frame_for(lane, CAIRN__ACK);
  size_t n = cairn__tail_write(lane, f, lane->tail_up);
  lane->phase = CAIRN__REPORTED;
  send_frame(&lane->parent, f);
  if (n > 0) cairn__edge_send(&lane->parent, lane->tail_up, n);
}

/* decide --------------------------------------------------------------------*/

/* Finds each rank's payload in what came up. */
static cairn_code_t demultiplex(cairn__lane_t *lane, cairn_error_t *err) {
  cairn_cur_t c = cairn_cur(cairn_bytes(lane->up, lane->up_n));
  uint64_t size = (uint64_t)lane->comm->size;
  memset(lane->gathered, 0, size * sizeof *lane->gathered);
  while (cairn_cur_left(&c) > 0) {
    cairn__entry_t entry;
    cairn_bytes_t head;
    if (!cairn_cur_take(&c, sizeof entry, &head)) goto malformed;
    memcpy(&entry, head.p, sizeof entry);
    if (entry.rank >= size ||
        !cairn_cur_take(&c, (size_t)entry.n, &lane->gathered[entry.rank]))
      goto malformed;
  }
  return CAIRN_OK;
malformed:
  return cairn_fail(err, CAIRN_INTERNAL,
                    "gathered payloads are malformed at byte %zu",
                    cairn_cur_pos(&c));
}

/* The owner's say at the root, if all brought ok. */
static void ask_root(cairn__lane_t *lane) {
  cairn__vote_t *v = lane->vote;
  cairn_error_t err = {0};
  if (demultiplex(lane, &err) != CAIRN_OK) {
    add_own(lane, CAIRN__W_VOTE, &err);
    return;
  }
  v->all_bits = lane->sum.all_bits;
  v->any_bits = lane->sum.any_bits;
  v->max_value = lane->sum.max_value;
  v->gathered = lane->gathered;
  if (v->on_root != NULL) v->on_root(v, &err);
  lane->sum.all_bits = v->all_bits;
  lane->sum.any_bits = v->any_bits;
  lane->sum.max_value = v->max_value;
  if (err.code != CAIRN_OK)
    add_own(lane, err.rank < 0 ? CAIRN__W_BROUGHT : CAIRN__W_AGREED, &err);
}

static void decide(cairn__lane_t *lane) {
  cairn__vote_t *v = lane->vote;
  if (lane->verdict.weight == CAIRN__W_NONE) ask_root(lane);
  /* A copy: if a rank stops taking it, the deadline still ends the vote and
   * with it the loan of v->down. */
  if (lane->verdict.weight == CAIRN__W_NONE && v->down.n > 0 &&
      make_down(lane, v->down.n)) {
    memcpy(lane->down, v->down.p, v->down.n);
    offer(lane);
    return;
  }
  settle(lane);
}

static void report(cairn__lane_t *lane) {
  if (is_root(lane)) {
    decide(lane);
    return;
  }
  if (lane->dead) lane->sum.flags |= CAIRN__F_ENDS;
  cairn__frame_t *f = frame_for(lane, CAIRN__UP);
  size_t n = cairn__tail_write(lane, f, lane->tail_up);
  if (lane->verdict.weight == CAIRN__W_NONE) f->payload = lane->up_n;
  lane->phase = CAIRN__REPORTED;
  send_frame(&lane->parent, f);
  if (n > 0) cairn__edge_send(&lane->parent, lane->tail_up, n);
}

/* collect -------------------------------------------------------------------*/

/* Length of all payloads of the subtree with their headers; 0: there are none.
 * False if it does not fit. */
static bool total_length(const cairn__lane_t *lane, uint64_t *total) {
  size_t own = lane->vote->up.n;
  *total = own > 0 ? (uint64_t)own + sizeof(cairn__entry_t) : 0;
  for (int i = 0; i < lane->n_kids; i++)
    if (__builtin_add_overflow(*total, lane->kids[i].frame.payload, total))
      return false;
  return *total <= PTRDIFF_MAX;
}

/* Memory for the payloads. False: there are none, or they are not wanted since
 * something failed. */
static bool make_up(cairn__lane_t *lane) {
  cairn_error_t err = {0};
  uint64_t total;
  bool fits = total_length(lane, &total);
  if (lane->verdict.weight != CAIRN__W_NONE || (fits && total == 0))
    return false;
  lane->up = fits ? lane->alloc((size_t)total) : NULL;
  lane->up_n = lane->up != NULL ? (size_t)total : 0;
  if (lane->up != NULL) return true;
  cairn_fail(&err, CAIRN_NO_MEMORY, "%" PRIu64 " bytes of payloads of a vote",
             total);
  add_own(lane, CAIRN__W_VOTE, &err);
  return false;
}

static uint8_t *put_own(cairn__lane_t *lane) {
  cairn_bytes_t own = lane->vote->up;
  cairn__entry_t entry = {(uint64_t)lane->comm->rank, own.n};
  if (own.n == 0) return lane->up;
  memcpy(lane->up, &entry, sizeof entry);
  memcpy(lane->up + sizeof entry, own.p, own.n);
  return lane->up + sizeof entry + own.n;
}

/* All children have been heard, or given up. */
static void collect(cairn__lane_t *lane) {
  bool wanted = make_up(lane);
  uint8_t *at = wanted ? put_own(lane) : NULL;
  cairn__frame_t *credit = frame_for(lane, wanted ? CAIRN__GO : CAIRN__DROP);
  lane->phase = CAIRN__COLLECT;
  for (int i = 0; i < lane->n_kids; i++) {
    cairn__edge_t *kid = &lane->kids[i];
    if (kid->frame.payload == 0) continue;
    send_frame(kid, credit);
    if (!wanted) continue;
    await(kid);
    cairn__edge_expect_body(kid, at, (size_t)kid->frame.payload);
    at += kid->frame.payload;
  }
  if (lane->awaited == 0) report(lane);
}

/* gather --------------------------------------------------------------------*/

static void step_on(cairn__lane_t *lane) {
  if (lane->awaited > 0) return;
  if (lane->phase == CAIRN__GATHER)
    collect(lane);
  else if (lane->phase == CAIRN__COLLECT)
    report(lane);
  else if (lane->phase == CAIRN__OFFERED)
    acked(lane);
}

static void begin_task(cairn_task_t *t) {
  step_on(cairn_container_of(t, cairn__lane_t, task));
}

static void reset(cairn__lane_t *lane) {
  cairn__vote_t *v = lane->vote;
  lane->seq++;
  lane->awaited = 0;
  lane->receiving = false;
  lane->up_n = lane->down_n = 0;
  cairn__verdict_clear(&lane->verdict);
  lane->any_missing = false;
  memset(lane->missing, 0, lane->bitmap_n);
  cairn__frame_of_vote(lane, v, &lane->sum);
  if (v->err->code != CAIRN_OK)
    add_own(lane, v->err->rank < 0 ? CAIRN__W_BROUGHT : CAIRN__W_AGREED,
            v->err);
}

static void begin(cairn__lane_t *lane) {
  reset(lane);
  lane->phase = CAIRN__GATHER;
  cairn__deadline_start(lane);
  if (!is_root(lane)) cairn__edge_expect(&lane->parent);
  for (int i = 0; i < lane->n_kids; i++) {
    lane->kids[i].frame.payload = 0;
    await(&lane->kids[i]);
    cairn__edge_expect(&lane->kids[i]);
  }
  if (lane->n_kids > 0) return;
  if (is_root(lane)) /* alone: the outcome comes on a later turn all the same */
    cairn_post(lane->comm->rt, &lane->task, begin_task);
  else
    step_on(lane);
}

/* The vote of a lane that has ended before: at once, without messages. */
static void refuse(cairn__lane_t *lane) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_CLOSED, "closed since an earlier vote ended with: %s",
             lane->why.message);
  reset(lane);
  if (lane->verdict.weight == CAIRN__W_NONE) add_own(lane, CAIRN__W_VOTE, &err);
  lane->phase = CAIRN__SPREAD;
  cairn_post(lane->comm->rt, &lane->task, finish_task);
}

void cairn__agree(cairn__lane_t *lane, cairn__vote_t *v, cairn_error_t *err,
                  cairn__vote_fn fn) {
  assert(lane->vote == NULL && err != NULL);
  v->err = err;
  v->fn = fn;
  v->lane = lane;
  v->gathered = NULL;
  v->received = cairn_bytes(NULL, 0);
  v->unheard = false;
  v->down = cairn_bytes(NULL, 0);
  lane->vote = v;
  if (lane->dead)
    refuse(lane);
  else
    begin(lane);
}

/* What edges bring
 * ------------------------------------------------------------*/

static void out_of_turn(cairn__edge_t *e) {
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_INTERNAL, "message of kind %u out of turn",
             e->frame.kind);
  cairn__vote_broken(e, &err);
}

static void from_kid(cairn__edge_t *kid) {
  cairn__lane_t *lane = kid->lane;
  const cairn__frame_t *f = &kid->frame;
  if (!kid->waiting) return; /* it came after we gave it up */
  if (f->kind == CAIRN__NOTE &&
      (lane->phase == CAIRN__GATHER || lane->phase == CAIRN__OFFERED)) {
    cairn__take_note(kid);
    cairn__edge_expect(kid);
    return;
  }
  if (lane->phase == CAIRN__GATHER && f->kind == CAIRN__UP) {
    cairn__frame_combine(lane, f);
  } else if (lane->phase == CAIRN__OFFERED && f->kind == CAIRN__ACK) {
    lane->sum.flags |= f->flags & CAIRN__F_ENDS;
  } else {
    out_of_turn(kid);
    return;
  }
  cairn__tail_read(lane, f, kid->tail);
  arrived(kid);
  step_on(lane);
}

/* GO, OFFER and a FINAL with bytes answer what we sent. */
static bool in_turn(const cairn__lane_t *lane, const cairn__frame_t *f) {
  bool reported = lane->phase == CAIRN__REPORTED;
  if (f->seq != lane->seq) return false;
  switch (f->kind) {
    case CAIRN__GO:
      return reported && lane->up_n > 0;
    case CAIRN__OFFER:
      return reported && lane->down == NULL && f->payload > 0;
    case CAIRN__FINAL:
      return f->payload == 0 ||
             (reported && lane->down != NULL && f->payload == lane->down_n);
    case CAIRN__DROP: /* the payloads stay until the end of the vote */
    case CAIRN__HURRY:
    case CAIRN__ASK:
      return true;
    default:
      return false;
  }
}

static void from_parent(cairn__lane_t *lane) {
  cairn__edge_t *parent = &lane->parent;
  const cairn__frame_t *f = &parent->frame;
  if (!in_turn(lane, f)) {
    out_of_turn(parent);
    return;
  }
  if (f->kind == CAIRN__FINAL) { /* nothing follows but its bytes */
    on_final(lane);
    return;
  }
  if (f->kind == CAIRN__GO)
    cairn__edge_send(parent, lane->up, lane->up_n);
  else if (f->kind == CAIRN__OFFER)
    on_offer(lane);
  else if (f->kind == CAIRN__ASK)
    cairn__deadline_asked(lane, f->max_value);
  else if (f->kind == CAIRN__HURRY)
    cairn__deadline_hurry(lane, f->max_value);
  cairn__edge_expect(parent);
}

void cairn__vote_frame(cairn__edge_t *e) {
  if (e->lane->vote == NULL || e->lane->phase == CAIRN__SPREAD) return;
  if (e == &e->lane->parent)
    from_parent(e->lane);
  else
    from_kid(e);
}

void cairn__vote_body(cairn__edge_t *e) {
  cairn__lane_t *lane = e->lane;
  if (lane->vote == NULL) return;
  if (e != &lane->parent) {
    arrived(e);
    step_on(lane);
  } else if (lane->receiving) {
    lane->receiving = false;
    pass_down(lane);
    try_finish(lane);
  }
}

void cairn__vote_flushed(cairn__lane_t *lane) {
  try_finish(lane);
}

/* When it does not work out
 * -----------------------------------------------------*/

/* A message to or from a peer failed: the lane cannot be used after this vote,
 * which goes on with the others. */
void cairn__vote_broken(cairn__edge_t *e, const cairn_error_t *cause) {
  cairn__lane_t *lane = e->lane;
  cairn_error_t err = *cause;
  cairn_within(&err, "connection to rank %d (%s)", e->rank,
               lane->comm->hosts[e->rank]);
  kill_lane(lane, &err);
  if (lane->vote == NULL) return;
  if (lane->phase == CAIRN__SPREAD) {
    if (e == &lane->parent && lane->receiving) {
      lane->receiving = false;
      lane->sum.payload = 0;
      add_own(lane, CAIRN__W_VOTE, &err);
    }
    try_finish(lane);
  } else if (e == &lane->parent) {
    cairn__vote_abandon(lane, &err);
  } else {
    add_own(lane, CAIRN__W_VOTE, &err);
    if (e->waiting) e->frame.payload = 0;
    arrived(e);
    step_on(lane);
  }
}

void cairn__vote_give_up(cairn__lane_t *lane) {
  cairn_error_t err = {0};
  for (int i = 0; i < lane->n_kids; i++) {
    cairn__edge_t *kid = &lane->kids[i];
    if (!kid->waiting) continue;
    cairn__set_add(lane->missing, kid->rank);
    arrived(kid);
  }
  lane->any_missing = true;
  lane->dead = true; /* why: the outcome will say */
  cairn_fail(&err, CAIRN_TIMED_OUT, "ranks below rank %d did not come in time",
             lane->comm->rank);
  add_own(lane, CAIRN__W_LATE, &err);
  step_on(lane);
}

void cairn__vote_abandon(cairn__lane_t *lane, const cairn_error_t *err) {
  kill_lane(lane, err);
  for (int i = 0; i < lane->n_kids; i++) arrived(&lane->kids[i]);
  lane->any_missing = false;
  if (lane->verdict.weight <= CAIRN__W_LATE) {
    cairn__verdict_clear(&lane->verdict);
    add_own(lane, CAIRN__W_LATE, err);
  } else {
    cairn__verdict_seal(lane);
    cairn__verdict_also(&lane->verdict, err->message);
  }
  settle(lane);
}

void cairn__vote_leave(cairn__lane_t *lane, const cairn_error_t *why) {
  kill_lane(lane, why);
  if (lane->receiving) {
    lane->receiving = false;
    lane->sum.payload = 0;
    add_own(lane, CAIRN__W_LATE, why);
  }
  try_finish(lane);
}
