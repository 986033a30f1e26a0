/* Ranks in one process, each with its own runtime; messages are copies in
 * memory.
 *
 * A message waits in its receiver's list until its counterpart comes: then the
 * bytes are copied and both ends' `done` posted to their runtimes, all under
 * the world's lock, so that a message found outside the list by cancel has its
 * task posted already. */
#include <stdlib.h>
#include <uv.h>

#include "comm/transport.h"

struct world {
  uv_mutex_t lock;
  int open; /* ranks that are */
  struct {
    cairn__msg_t *first, **last; /* to be received by this rank, in order */
  } waiting[];
};

struct channel {
  struct world *world;
  cairn_runtime_t *rt;
  int rank;
  int lane; /* in order of opening: how ranks know which is which */
};

struct rank {
  struct world *world;
  int lanes;
};

/* Open and close
 * --------------------------------------------------------------*/

static const cairn__transport_ops_t local_ops;

static struct world *world_new(int n) {
  struct world *w = calloc(1, sizeof *w + (size_t)n * sizeof w->waiting[0]);
  if (w == NULL) return NULL;
  if (uv_mutex_init(&w->lock) != 0) {
    free(w);
    return NULL;
  }
  for (int i = 0; i < n; i++) w->waiting[i].last = &w->waiting[i].first;
  return w;
}

static void leave(struct world *w) {
  uv_mutex_lock(&w->lock);
  bool last = --w->open == 0;
  uv_mutex_unlock(&w->lock);
  if (!last) return;
  uv_mutex_destroy(&w->lock);
  free(w);
}

static void local_close(cairn_comm_t *comm) {
  struct rank *r = comm->impl;
  leave(r->world);
  free(r);
}

static void set_hosts(cairn_comm_t *c, const char *const *hosts) {
  char here[CAIRN__HOST_BYTES];
  cairn__host_name(here);
  for (int r = 0; r < c->size; r++) {
    const char *name = hosts != NULL ? hosts[r] : here;
    size_t n = strnlen(name, CAIRN__HOST_BYTES - 1);
    memcpy(c->hosts[r], name, n);
  }
}

static cairn_comm_t *open_rank(struct world *w, cairn_runtime_t *rt, int rank,
                               int n, const char *const *hosts,
                               cairn_error_t *err) {
  struct rank *r = calloc(1, sizeof *r);
  cairn_comm_t *c = r != NULL ? cairn__comm_new(rt, &local_ops, rank, n) : NULL;
  if (c == NULL) {
    free(r);
    cairn_fail(err, CAIRN_NO_MEMORY, "communicator of %d ranks", n);
    return NULL;
  }
  r->world = w;
  c->impl = r;
  set_hosts(c, hosts);
  if (cairn__comm_ready(c, err) == CAIRN_OK) {
    w->open++;
    return c;
  }
  cairn__comm_free(c);
  free(r);
  return NULL;
}

cairn_code_t cairn__comm_local_open(cairn_runtime_t *const *rts, int n,
                                    const char *const *hosts,
                                    cairn_comm_t **out, cairn_error_t *err) {
  if (n < 1)
    return cairn_fail(err, CAIRN_INVALID, "communicator of %d ranks", n);
  struct world *w = world_new(n);
  if (w == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "communicator of %d ranks", n);
  w->open = 1; /* ours, until all ranks are there */
  for (int r = 0; r < n; r++) {
    out[r] = open_rank(w, rts[r], r, n, hosts, err);
    if (out[r] != NULL) continue;
    while (--r >= 0) {
      local_close(out[r]);
      cairn__comm_free(out[r]);
    }
    leave(w);
    cairn_within(err, "open communicator");
    return CAIRN_NO_MEMORY;
  }
  leave(w);
  return CAIRN_OK;
}

cairn_code_t cairn_comm_local_open(cairn_runtime_t *const *rts, int n,
                                   cairn_comm_t **out, cairn_error_t *err) {
  return cairn__comm_local_open(rts, n, NULL, out, err);
}

/* Nobody waits here: the ranks may all be opened by one thread, in turn. */
static cairn_code_t local_channel_open(cairn_comm_t *comm, int max_msgs,
                                       void **channel, cairn_error_t *err) {
  struct rank *r = comm->impl;
  (void)max_msgs;
  int lane = __atomic_fetch_add(&r->lanes, 1, __ATOMIC_ACQ_REL);
  if (err->code != CAIRN_OK) return err->code;
  struct channel *ch = malloc(sizeof *ch);
  if (ch == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "channel of a vote lane");
  *ch = (struct channel){r->world, comm->rt, comm->rank, lane};
  *channel = ch;
  return CAIRN_OK;
}

static void local_channel_close(cairn_comm_t *comm, void *channel, bool kept) {
  (void)comm, (void)kept;
  free(channel);
}

/* Messages
 * --------------------------------------------------------------------*/

static void on_done(cairn_task_t *t) {
  cairn__msg_t *m = cairn_container_of(t, cairn__msg_t, task);
  cairn_error_t err = {0};
  m->pending = false;
  if (m->status != CAIRN_OK)
    cairn_fail(&err, CAIRN_INTERNAL, "message of another length");
  m->done(m, &err);
}

static int sender_of(const cairn__msg_t *m) {
  return m->sending ? ((struct channel *)m->channel)->rank : m->peer;
}

/* The first message in the list that m goes with; taken out of it. */
static cairn__msg_t *take_match(struct world *w, int receiver,
                                const cairn__msg_t *m) {
  int lane = ((struct channel *)m->channel)->lane;
  cairn__msg_t **at = &w->waiting[receiver].first;
  for (; *at != NULL; at = &(*at)->next) {
    cairn__msg_t *o = *at;
    if (o->sending == m->sending || sender_of(o) != sender_of(m) ||
        ((struct channel *)o->channel)->lane != lane)
      continue;
    *at = o->next;
    if (*at == NULL) w->waiting[receiver].last = at;
    return o;
  }
  return NULL;
}

static void deliver(cairn__msg_t *a, cairn__msg_t *b) {
  cairn__msg_t *from = a->sending ? a : b, *to = a->sending ? b : a;
  if (from->n == to->n)
    memcpy(to->buf, from->buf, to->n);
  else
    from->status = to->status = CAIRN_INTERNAL;
  cairn_post(((struct channel *)a->channel)->rt, &a->task, on_done);
  cairn_post(((struct channel *)b->channel)->rt, &b->task, on_done);
}

static void exchange(struct channel *ch, cairn__msg_t *m, int receiver) {
  struct world *w = ch->world;
  m->channel = ch;
  m->pending = true;
  m->status = CAIRN_OK;
  m->next = NULL;
  uv_mutex_lock(&w->lock);
  cairn__msg_t *o = take_match(w, receiver, m);
  if (o != NULL) {
    deliver(m, o);
  } else {
    *w->waiting[receiver].last = m;
    w->waiting[receiver].last = &m->next;
  }
  uv_mutex_unlock(&w->lock);
}

static void local_send(void *channel, cairn__msg_t *m) {
  m->sending = true;
  exchange(channel, m, m->peer);
}

static void local_recv(void *channel, cairn__msg_t *m) {
  struct channel *ch = channel;
  m->sending = false;
  exchange(ch, m, ch->rank);
}

static bool local_cancel(void *channel, cairn__msg_t *m) {
  struct channel *ch = channel;
  struct world *w = ch->world;
  int receiver = m->sending ? m->peer : ch->rank;
  uv_mutex_lock(&w->lock);
  cairn__msg_t **at = &w->waiting[receiver].first;
  while (*at != NULL && *at != m) at = &(*at)->next;
  if (*at != NULL) {
    *at = m->next;
    if (*at == NULL) w->waiting[receiver].last = at;
    m->pending = false;
  }
  uv_mutex_unlock(&w->lock);
  return true;
}

static const cairn__transport_ops_t local_ops = {
    .name = "local",
    .channel_open = local_channel_open,
    .channel_close = local_channel_close,
    .send = local_send,
    .recv = local_recv,
    .cancel = local_cancel,
    .close = local_close,
};
