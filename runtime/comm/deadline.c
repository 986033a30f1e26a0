/* The clock of a vote: a soft limit that logs who is awaited, and a deadline
 * that ends the vote and names them.
 *
 * Ranks enter a vote at different times, so a parent may run out of time before
 * a child that entered later and is itself waiting. It then sends HURRY; the
 * child answers with what it has, and so the root's text names the ranks that
 * are missing and not the ones above them. One `grace` per level is kept for
 * that.
 *
 * And a child may run out of time before its parent, that entered later. So who
 * gathers ends a little before the deadline (`reserve`), and who waits for the
 * root's answer a second after it; and operations count from a moment that is
 * the same for all, the end of their vote before (elapsed_ms). */
#include <inttypes.h>

#include "comm/lane.h"
#include "loop/loop.h"

#define SOFT_LIMIT_MS 30000
#define ASK_GRACE_MS 500
#define GRACE_LIMIT_MS 5000
#define RESERVE_MS 10000
#define ANSWER_SLACK_MS 1000 /* a busy machine's root may be that late */
#define LEFT_UNIT_MS 64      /* of a frame's `left` */
#define LEFT_MAX 0xffff

static bool is_gathering(const cairn__lane_t *lane) {
  return lane->phase == CAIRN__GATHER || lane->phase == CAIRN__COLLECT ||
         lane->phase == CAIRN__OFFERED;
}

static uint64_t now_of(const cairn__lane_t *lane) {
  const cairn__transport_ops_t *ops = lane->comm->ops;
  return ops->now != NULL ? ops->now(lane->comm)
                          : uv_now(cairn__loop(lane->comm->rt));
}

static uint64_t earlier(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static void on_timer(uv_timer_t *t);

static void arm(cairn__lane_t *lane) {
  uint64_t now = now_of(lane), at = earlier(lane->soft_at, lane->warn_at);
  at = earlier(at, lane->note_at);
  if (is_gathering(lane)) {
    at = earlier(at, lane->late_at);
    if (!lane->hurried) at = earlier(at, lane->hurry_at);
  } else {
    at = earlier(at, lane->answer_at);
  }
  if (lane->comm->ops->alarm != NULL)
    lane->comm->ops->alarm(lane, at);
  else
    uv_timer_start(&lane->timer, on_timer, at > now ? at - now : 0, 0);
}

/* The soft limit
 * --------------------------------------------------------------*/

static void log_wait(cairn__lane_t *lane, uint64_t now) {
  char ranks[CAIRN__RANKS_TEXT], call[CAIRN__CALL_TEXT];
  uint64_t waited = now - lane->started;
  cairn__call_text(&lane->sum, call);
  lane->soft_at = now + SOFT_LIMIT_MS;
  lane->warn_at = CAIRN__NEVER;
  if (is_gathering(lane)) {
    cairn_log(lane->comm->rt, CAIRN_LOG_WARN,
              "%s: waiting for %s for %" PRIu64 " ms", call,
              cairn__ranks_text(lane->comm, cairn__awaited(lane), ranks),
              waited);
  } else {
    cairn_log(lane->comm->rt, CAIRN_LOG_WARN,
              "%s: rank %d (%s) has no answer from rank 0 (%s) for %" PRIu64
              " ms",
              call, lane->comm->rank, lane->comm->hosts[lane->comm->rank],
              lane->comm->hosts[0], waited);
  }
}

static int levels_below(const cairn__lane_t *lane) {
  return lane->comm->heights[lane->comm->rank] - 1;
}

/* The warning waits for what the children have to say. */
static void on_soft(cairn__lane_t *lane, uint64_t now) {
  int64_t grace = lane->ask_grace_ms;
  if (!is_gathering(lane) || !cairn__ask(lane, grace)) {
    log_wait(lane, now);
    return;
  }
  lane->soft_at = CAIRN__NEVER;
  lane->warn_at = now + (uint64_t)grace * (uint64_t)levels_below(lane);
}

void cairn__deadline_asked(cairn__lane_t *lane, int64_t grace_ms) {
  if (!is_gathering(lane)) return; /* our answer crossed the question */
  int levels = levels_below(lane);
  if (levels <= 0 || !cairn__ask(lane, grace_ms)) {
    cairn__answer(lane);
    return;
  }
  /* Earlier than the parent, who waits for one level more. */
  lane->note_at = now_of(lane) + (uint64_t)(grace_ms * levels - grace_ms / 2);
  arm(lane);
}

static void on_note_due(cairn__lane_t *lane) {
  lane->note_at = CAIRN__NEVER;
  if (is_gathering(lane)) cairn__answer(lane);
}

/* The deadline
 * ------------------------------------------------------------------*/

/* Asks the awaited children that have children themselves. False: there are
 * none, so there is nothing to wait for. */
static bool hurry_kids(cairn__lane_t *lane) {
  cairn__frame_t *f = &lane->frames[CAIRN__HURRY];
  bool any = false;
  lane->hurried = true;
  *f = lane->sum;
  f->kind = CAIRN__HURRY;
  f->max_value = lane->grace_ms;
  for (int i = 0; i < lane->n_kids; i++) {
    cairn__edge_t *kid = &lane->kids[i];
    if (!kid->waiting || lane->comm->heights[kid->rank] == 0) continue;
    cairn__edge_send(kid, f, sizeof *f);
    any = true;
  }
  return any;
}

void cairn__deadline_hurry(cairn__lane_t *lane, int64_t grace_ms) {
  if (!is_gathering(lane)) return; /* our answer crossed the question */
  lane->grace_ms = grace_ms;
  if (!lane->hurried && !hurry_kids(lane)) {
    cairn__vote_give_up(lane);
    return;
  }
  int levels = levels_below(lane);
  lane->late_at = earlier(lane->late_at,
                          now_of(lane) + (uint64_t)grace_ms * (uint64_t)levels);
  arm(lane);
}

static void no_answer(cairn__lane_t *lane) {
  const cairn_comm_t *comm = lane->comm;
  char call[CAIRN__CALL_TEXT];
  cairn_error_t err = {0};
  int parent = lane->parent.rank;
  cairn__call_text(&lane->sum, call);
  if (lane->phase == CAIRN__SPREAD && !lane->receiving) {
    cairn_fail(&err, CAIRN_TIMED_OUT, "%s: the answer could not be passed on",
               call);
    cairn__vote_leave(lane, &err);
    return;
  }
  cairn_fail(&err, CAIRN_TIMED_OUT,
             "rank 0 (%s, the root) has not answered rank %d (%s) within "
             "%" PRId64 " ms in %s",
             comm->hosts[0], comm->rank, comm->hosts[comm->rank],
             lane->deadline_ms, call);
  if (parent != 0)
    cairn_within(&err, "waiting through rank %d (%s)", parent,
                 comm->hosts[parent]);
  err.rank = 0;
  if (lane->phase == CAIRN__SPREAD)
    cairn__vote_leave(lane, &err);
  else
    cairn__vote_abandon(lane, &err);
}

static void on_timer(uv_timer_t *t) {
  cairn__deadline_due(cairn_container_of(t, cairn__lane_t, timer));
}

void cairn__deadline_due(cairn__lane_t *lane) {
  uint64_t now = now_of(lane);
  if (now >= lane->note_at) on_note_due(lane);
  if (now >= lane->warn_at)
    log_wait(lane, now);
  else if (now >= lane->soft_at)
    on_soft(lane, now);
  if (is_gathering(lane) && now >= lane->late_at)
    cairn__vote_give_up(lane);
  else if (is_gathering(lane) && now >= lane->hurry_at && !lane->hurried)
    hurry_kids(lane);
  else if (!is_gathering(lane) && now >= lane->answer_at)
    no_answer(lane);
  if (lane->vote != NULL) arm(lane);
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/* limit is positive. */
static void set_limits(cairn__lane_t *lane, int64_t limit) {
  int64_t levels = levels_below(lane), left = limit - lane->vote->elapsed_ms;
  int64_t reserve = clamp(limit / 8, 0, RESERVE_MS);
  uint64_t now = now_of(lane);
  left = clamp(left, reserve + 1, INT64_MAX / 8);
  lane->late_at = now + (uint64_t)(left - reserve);
  lane->answer_at = now + (uint64_t)left + ANSWER_SLACK_MS;
  if (levels <= 0) return;
  lane->grace_ms = clamp(limit / 8 / levels, 1, GRACE_LIMIT_MS);
  int64_t lead = clamp(lane->grace_ms * levels, 0, left - reserve);
  lane->hurry_at = lane->late_at - (uint64_t)lead;
}

static int64_t soft_limit(const cairn__lane_t *lane, int64_t limit) {
  int64_t asked = lane->vote->soft_limit_ms;
  if (asked > 0) return asked;
  return limit > 0 ? clamp(limit / 4, 1, SOFT_LIMIT_MS) : SOFT_LIMIT_MS;
}

static void set_times(cairn__lane_t *lane) {
  int64_t limit = lane->vote->deadline_ms > 0 ? lane->vote->deadline_ms
                                              : lane->default_deadline_ms;
  int64_t soft = soft_limit(lane, limit);
  lane->started = now_of(lane);
  lane->deadline_ms = limit;
  lane->hurried = false;
  lane->soft_at = lane->started + (uint64_t)soft;
  lane->ask_grace_ms = clamp(soft / 4, 2, ASK_GRACE_MS);
  lane->warn_at = lane->note_at = CAIRN__NEVER;
  lane->hurry_at = lane->late_at = lane->answer_at = CAIRN__NEVER;
  if (limit > 0) set_limits(lane, clamp(limit, 1, INT64_MAX / 8));
}

void cairn__deadline_start(cairn__lane_t *lane) {
  if (lane->comm->ops->alarm == NULL) {
    uv_loop_t *loop = cairn__loop(lane->comm->rt);
    if (!lane->timer_made) uv_timer_init(loop, &lane->timer); /* cannot fail */
    lane->timer_made = true;
    uv_update_time(loop);
  }
  set_times(lane);
  arm(lane);
}

void cairn__deadline_stop(cairn__lane_t *lane) {
  if (lane->comm->ops->alarm != NULL)
    lane->comm->ops->alarm(lane, CAIRN__NEVER);
  else if (lane->timer_made)
    uv_timer_stop(&lane->timer);
}
