#include "sim.h"

#include <stdlib.h>

struct sim_event {
  uint64_t at_ns, order;
  enum { ENTER, ARRIVE, ALARM } kind;
  int rank;          /* ENTER, ALARM: whose; ARRIVE: who handles it */
  uint64_t alarm_at; /* ALARM: the wish that it stands for */
  cairn__msg_t *from, *to;
};

static struct sim *current; /* the transport's functions have no other way */

static struct sim_rank *rank_of(void *channel) {
  return channel;
}

static int index_of(const struct sim_rank *r) {
  return r->comm.rank;
}

uint64_t sim_random(struct sim *s, uint64_t below) {
  s->seed = s->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (s->seed >> 33) % below;
}

/* Events, a heap by time, then by order
 * --------------------------------------------------------------*/

static bool before(const struct sim_event *a, const struct sim_event *b) {
  return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void swap(struct sim_event *a, struct sim_event *b) {
  struct sim_event t = *a;
  *a = *b;
  *b = t;
}

static void push(struct sim *s, struct sim_event e) {
  if (s->n_events == s->cap) {
    s->cap = s->cap * 2 + 1024;
    s->heap = realloc(s->heap, s->cap * sizeof *s->heap);
    cr_assert_not_null(s->heap);
  }
  size_t i = s->n_events++;
  e.order = s->order++;
  s->heap[i] = e;
  for (; i > 0 && before(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static struct sim_event pop(struct sim *s) {
  struct sim_event first = s->heap[0];
  s->heap[0] = s->heap[--s->n_events];
  for (size_t i = 0, k; (k = 2 * i + 1) < s->n_events; i = k) {
    if (k + 1 < s->n_events && before(&s->heap[k + 1], &s->heap[k])) k++;
    if (!before(&s->heap[k], &s->heap[i])) break;
    swap(&s->heap[i], &s->heap[k]);
  }
  return first;
}

/* The transport
 * --------------------------------------------------------------*/

static uint64_t max(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* When a message sent now will be there. */
static uint64_t departs(struct sim *s, struct sim_rank *from, size_t n) {
  from->out_busy = max(s->now_ns, from->out_busy) + s->cpu_ns;
  uint64_t at = from->out_busy + s->hop_ns + n;
  if (s->straggle > 0 && sim_random(s, s->straggle) == 0) at += s->straggle_ns;
  return at;
}

static void meet(struct sim *s, cairn__msg_t *a, cairn__msg_t *b,
                 uint64_t at_ns) {
  cairn__msg_t *from = a->sending ? a : b, *to = a->sending ? b : a;
  struct sim_rank *receiver = rank_of(to->channel);
  cr_assert(from->sending && !to->sending);
  receiver->in_busy = max(max(at_ns, s->now_ns), receiver->in_busy) + s->cpu_ns;
  push(s, (struct sim_event){.at_ns = receiver->in_busy,
                             .kind = ARRIVE,
                             .rank = index_of(receiver),
                             .from = from,
                             .to = to});
}

static void post(struct sim_rank *me, cairn__msg_t *m, bool sending) {
  struct sim *s = current;
  bool to_parent = m->peer == me->comm.parents[me->comm.rank];
  struct sim_rank *below = to_parent ? me : &s->ranks[m->peer];
  bool up = to_parent == sending;
  cairn__msg_t **half = up ? &below->up : &below->down;
  uint64_t *ns = up ? &below->up_ns : &below->down_ns;
  m->channel = me;
  m->sending = sending;
  m->pending = true;
  if (sending) {
    me->sent++;
    me->sent_bytes += m->n;
    if (to_parent) me->sent_up += m->n;
    *ns = departs(s, me, m->n);
  }
  if (*half == NULL) {
    *half = m;
    return;
  }
  cairn__msg_t *other = *half;
  *half = NULL;
  meet(s, other, m, *ns);
}

static void sim_send(void *channel, cairn__msg_t *m) {
  post(channel, m, true);
}

static void sim_recv(void *channel, cairn__msg_t *m) {
  post(channel, m, false);
}

static bool sim_cancel(void *channel, cairn__msg_t *m) {
  (void)channel;
  m->pending = false;
  return true;
}

static cairn_code_t sim_channel_open(cairn_comm_t *comm, int max_msgs,
                                     void **channel, cairn_error_t *err) {
  (void)max_msgs;
  *channel = cairn_container_of(comm, struct sim_rank, comm);
  return err->code;
}

static void sim_channel_close(cairn_comm_t *comm, void *channel, bool kept) {
  (void)comm, (void)channel, (void)kept;
}

static uint64_t sim_now(cairn_comm_t *comm) {
  (void)comm;
  return current->now_ns / SIM_MS;
}

static void sim_alarm(cairn__lane_t *lane, uint64_t at) {
  struct sim_rank *r = rank_of(lane->channel);
  if (r->alarm_at == at) return;
  r->alarm_at = at;
  if (at != CAIRN__NEVER)
    push(current, (struct sim_event){.at_ns = max(at * SIM_MS, current->now_ns),
                                     .kind = ALARM,
                                     .rank = index_of(r),
                                     .alarm_at = at});
}

static const cairn__transport_ops_t sim_ops = {
    .name = "sim",
    .channel_open = sim_channel_open,
    .channel_close = sim_channel_close,
    .send = sim_send,
    .recv = sim_recv,
    .cancel = sim_cancel,
    .now = sim_now,
    .alarm = sim_alarm,
};

/* Open and close
 * --------------------------------------------------------------*/

static void count_warning(void *arg, cairn_log_level_t level,
                          const char *text) {
  struct sim *s = arg;
  (void)text;
  if (level <= CAIRN_LOG_WARN) s->warnings++;
}

/* The table of hosts and the tree are the same for all, and kept once. */
struct sim *sim_open(int n, int per_host, int64_t deadline_ms) {
  struct sim *s = current = calloc(1, sizeof *s);
  size_t size = (size_t)n;
  *s = (struct sim){.n = n,
                    .ranks = calloc(size, sizeof *s->ranks),
                    .hop_ns = 20000,
                    .cpu_ns = 1000,
                    .seed = 1};
  cairn_runtime_opts_t o = {.poll = true, .log = count_warning, .log_arg = s};
  cr_assert_eq(cairn_runtime_open(&o, &s->rt, NULL), CAIRN_OK);
  cairn_comm_t all = {.ops = &sim_ops,
                      .rt = s->rt,
                      .size = n,
                      .hosts = calloc(size, sizeof *all.hosts),
                      .parents = calloc(size, sizeof *all.parents),
                      .heights = calloc(size, sizeof *all.heights)};
  for (int r = 0; r < n; r++)
    snprintf(all.hosts[r], sizeof all.hosts[r], "n%d", r / per_host);
  cr_assert_eq(cairn__tree_build(all.hosts, n, all.parents, all.heights, NULL),
               CAIRN_OK);
  for (int r = 0; r < n; r++) {
    s->ranks[r].comm = all;
    s->ranks[r].comm.rank = r;
    cr_assert_eq(cairn__lane_open(&s->ranks[r].comm, deadline_ms,
                                  &s->ranks[r].lane, NULL),
                 CAIRN_OK);
  }
  return s;
}

void sim_close(struct sim *s) {
  const cairn_comm_t *all = &s->ranks[0].comm;
  for (int r = 0; r < s->n; r++) cairn__lane_close(s->ranks[r].lane);
  free(all->hosts);
  free(all->parents);
  free(all->heights);
  cr_assert_eq(cairn_runtime_close(s->rt, NULL), CAIRN_OK);
  free(s->heap);
  free(s->ranks);
  free(s);
}

/* Running
 * ---------------------------------------------------------------------*/

void sim_prepare(struct sim *s) {
  for (int r = 0; r < s->n; r++) {
    struct sim_rank *k = &s->ranks[r];
    k->vote = (cairn__vote_t){.op = 0x73617665u,
                              .phase = 1,
                              .phase_name = "written",
                              .step = 5,
                              .all_bits = UINT64_MAX,
                              .user = k};
    k->err = (cairn_error_t){0};
    k->enter_ns = s->now_ns;
    k->done = false;
    k->sent = k->received = 0;
    k->sent_up = k->sent_bytes = 0;
  }
}

static void on_vote(cairn__vote_t *v) {
  struct sim_rank *k = v->user;
  cr_assert_not(k->done);
  k->done = true;
  k->done_ns = current->now_ns;
}

static void arrive(struct sim *s, const struct sim_event *e) {
  cairn_error_t ok = {0};
  cr_assert_eq(e->from->n, e->to->n);
  memcpy(e->to->buf, e->from->buf, e->to->n);
  s->ranks[e->rank].received++;
  e->from->pending = e->to->pending = false;
  e->from->done(e->from, &ok);
  e->to->done(e->to, &ok);
}

static void happen(struct sim *s, const struct sim_event *e) {
  struct sim_rank *k = &s->ranks[e->rank];
  s->now_ns = e->at_ns;
  if (e->kind == ENTER) {
    cairn__agree(k->lane, &k->vote, &k->err, on_vote);
  } else if (e->kind == ARRIVE) {
    arrive(s, e);
  } else if (k->alarm_at == e->alarm_at) {
    k->alarm_at = CAIRN__NEVER;
    cairn__deadline_due(k->lane);
  }
}

uint64_t sim_run(struct sim *s) {
  uint64_t last_in = 0, last_out = 0;
  for (int r = 0; r < s->n; r++) {
    uint64_t at = s->ranks[r].enter_ns;
    if (at == UINT64_MAX) continue;
    last_in = max(last_in, at);
    push(s, (struct sim_event){.at_ns = at, .kind = ENTER, .rank = r});
  }
  while (s->n_events > 0) {
    struct sim_event e = pop(s);
    happen(s, &e);
  }
  for (int r = 0; r < s->n; r++)
    if (s->ranks[r].done) last_out = max(last_out, s->ranks[r].done_ns);
  return last_out - last_in;
}
