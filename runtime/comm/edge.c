/* One connection of the tree: frames with their tails and payloads in pieces,
 * one message in flight in each direction. */
#include <assert.h>

#include "comm/lane.h"

static const cairn__transport_ops_t *ops_of(const cairn__edge_t *e) {
  return e->lane->comm->ops;
}

static void start_read(cairn__edge_t *e, void *p, size_t n) {
  e->in.peer = e->rank;
  e->in.buf = p;
  e->in.n = n;
  ops_of(e)->recv(e->lane->channel, &e->in);
}

void cairn__edge_expect(cairn__edge_t *e) {
  assert(e->reading == CAIRN__IN_NONE);
  e->reading = CAIRN__IN_FRAME;
  start_read(e, &e->frame, sizeof e->frame);
}

/* Both ends cut a payload the same way. Frames and tails are never cut. */
static size_t piece(const cairn__edge_t *e, size_t left) {
  return left < e->lane->piece ? left : e->lane->piece;
}

void cairn__edge_expect_body(cairn__edge_t *e, uint8_t *p, size_t n) {
  assert(e->reading == CAIRN__IN_NONE);
  e->reading = CAIRN__IN_BODY;
  e->body = p;
  e->body_n = n;
  e->body_at = 0;
  start_read(e, p, piece(e, n));
}

static void got_frame(cairn__edge_t *e) {
  cairn_error_t err = {0};
  size_t n;
  if (!cairn__tail_length(e->lane, &e->frame, &n)) {
    cairn_fail(&err, CAIRN_MISMATCH,
               "frame %08x of another protocol or version", e->frame.magic);
    cairn__vote_broken(e, &err);
  } else if (n > 0) {
    e->reading = CAIRN__IN_TAIL;
    start_read(e, e->tail, n);
  } else {
    cairn__vote_frame(e);
  }
}

static void on_in(cairn__msg_t *m, const cairn_error_t *err) {
  cairn__edge_t *e = cairn_container_of(m, cairn__edge_t, in);
  int was = e->reading;
  e->reading = CAIRN__IN_NONE;
  if (err != NULL && err->code != CAIRN_OK) {
    cairn__vote_broken(e, err);
  } else if (was == CAIRN__IN_FRAME) {
    got_frame(e);
  } else if (was == CAIRN__IN_TAIL) {
    cairn__vote_frame(e);
  } else if ((e->body_at += m->n) < e->body_n) {
    e->reading = CAIRN__IN_BODY;
    start_read(e, e->body + e->body_at, piece(e, e->body_n - e->body_at));
  } else {
    cairn__vote_body(e);
  }
}

static void send_piece(cairn__edge_t *e) {
  e->out.peer = e->rank;
  e->out.buf = (uint8_t *)e->segments[e->head].p + e->sent;
  e->out.n = piece(e, e->segments[e->head].n - e->sent);
  ops_of(e)->send(e->lane->channel, &e->out);
}

void cairn__edge_send(cairn__edge_t *e, const void *p, size_t n) {
  assert(n > 0 && e->queued < CAIRN__SEGMENTS);
  int at = (e->head + e->queued) % CAIRN__SEGMENTS;
  e->segments[at].p = p;
  e->segments[at].n = n;
  if (e->queued++ == 0) send_piece(e);
}

static void on_out(cairn__msg_t *m, const cairn_error_t *err) {
  cairn__edge_t *e = cairn_container_of(m, cairn__edge_t, out);
  e->sent += m->n;
  if (err != NULL && err->code != CAIRN_OK) {
    e->queued = 0; /* what follows would not be understood */
    e->sent = 0;
    cairn__vote_broken(e, err);
    return;
  }
  if (e->sent == e->segments[e->head].n) {
    e->sent = 0;
    e->head = (e->head + 1) % CAIRN__SEGMENTS;
    e->queued--;
  }
  if (e->queued > 0)
    send_piece(e);
  else
    cairn__vote_flushed(e->lane);
}

void cairn__edge_init(cairn__lane_t *lane, cairn__edge_t *e, int rank) {
  e->lane = lane;
  e->rank = rank;
  e->in.done = on_in;
  e->out.done = on_out;
}

bool cairn__edge_cancel(cairn__edge_t *e) {
  void *channel = e->lane->channel;
  bool in = !e->in.pending || ops_of(e)->cancel(channel, &e->in);
  bool out = !e->out.pending || ops_of(e)->cancel(channel, &e->out);
  return in && out;
}
