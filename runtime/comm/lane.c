/* Lanes: all memory of their votes but payloads, taken at open, given back at
 * close. */
#include "comm/lane.h"

#include <assert.h>
#include <stdlib.h>

static int count_kids(const cairn_comm_t *comm) {
  int n = 0;
  for (int r = 0; r < comm->size; r++) n += comm->parents[r] == comm->rank;
  return n;
}

static bool init_edges(cairn__lane_t *lane) {
  const cairn_comm_t *comm = lane->comm;
  size_t tail = CAIRN_MESSAGE_BYTES + lane->bitmap_n;
  int n = 0;
  cairn__edge_init(lane, &lane->parent, comm->parents[comm->rank]);
  lane->parent.tail = malloc(tail);
  if (lane->parent.tail == NULL) return false;
  for (int r = 0; r < comm->size; r++) {
    if (comm->parents[r] != comm->rank) continue;
    cairn__edge_init(lane, &lane->kids[n], r);
    lane->kids[n].tail = malloc(tail);
    if (lane->kids[n++].tail == NULL) return false;
    if (comm->heights[r] == 0) continue;
    lane->kids[n - 1].note = malloc(lane->bitmap_n);
    if (lane->kids[n - 1].note == NULL) return false;
  }
  return true;
}

static bool init(cairn__lane_t *lane) {
  size_t size = (size_t)lane->comm->size;
  lane->alloc = malloc;
  lane->piece = (size_t)1 << 30;
  lane->bitmap_n = (size + 7) / 8;
  lane->n_kids = count_kids(lane->comm);
  lane->kids = calloc((size_t)lane->n_kids + 1, sizeof *lane->kids);
  lane->missing = calloc(3, lane->bitmap_n);
  lane->tail_up = malloc(CAIRN_MESSAGE_BYTES + lane->bitmap_n);
  lane->tail_down = malloc(CAIRN_MESSAGE_BYTES + lane->bitmap_n);
  if (lane->comm->rank == 0)
    lane->gathered = calloc(size, sizeof *lane->gathered);
  lane->closed = cairn_future_new(lane->comm->rt);
  if (lane->kids == NULL || lane->missing == NULL || lane->tail_up == NULL ||
      lane->tail_down == NULL ||
      (lane->comm->rank == 0 && lane->gathered == NULL) ||
      cairn_future_ready(lane->closed)) /* the one for "no memory" */
    return false;
  lane->awaited_set = lane->missing + lane->bitmap_n;
  lane->note = lane->awaited_set + lane->bitmap_n;
  return init_edges(lane);
}

static void free_lane(cairn__lane_t *lane) {
  if (lane == NULL) return;
  for (int i = 0; lane->kids != NULL && i < lane->n_kids; i++) {
    free(lane->kids[i].tail);
    free(lane->kids[i].note);
  }
  free(lane->parent.tail);
  free(lane->kids);
  free(lane->missing);
  free(lane->tail_up);
  free(lane->tail_down);
  free(lane->gathered);
  free(lane->up);
  free(lane->down);
  free(lane);
}

/* The future's two references when nobody has waited on it yet. */
static void drop_future(cairn_future_t *f) {
  if (f == NULL) return;
  cairn_future_resolve(f, NULL);
  cairn_future_unref(f);
}

cairn_code_t cairn__lane_open(cairn_comm_t *comm, int64_t deadline_ms,
                              cairn__lane_t **out, cairn_error_t *err) {
  cairn_error_t local = {0};
  cairn__lane_t *lane = calloc(1, sizeof *lane);
  void *channel = NULL;
  if (lane != NULL) {
    lane->comm = comm;
    lane->default_deadline_ms = deadline_ms;
  }
  if (lane == NULL || !init(lane))
    cairn_fail(&local, CAIRN_NO_MEMORY, "vote lane");
  /* Also without memory: the others are on their way into it. */
  int max_msgs = 2 * (count_kids(comm) + 1);
  if (comm->ops->channel_open(comm, max_msgs, &channel, &local) != CAIRN_OK) {
    if (lane != NULL) drop_future(lane->closed);
    free_lane(lane);
    cairn_within(&local, "open vote lane");
    return cairn_error_copy(err, &local);
  }
  lane->channel = channel;
  __atomic_add_fetch(&comm->open_lanes, 1, __ATOMIC_ACQ_REL);
  *out = lane;
  return CAIRN_OK;
}

/* Close: cancel on the loop; a turn later no `done` of ours is posted any more;
 * another later the timer is closed.
 * ------------------------------------------*/

static void on_timer_closed(uv_handle_t *h) {
  cairn__lane_t *lane = cairn_container_of(h, cairn__lane_t, timer);
  cairn_future_resolve(lane->closed, NULL);
}

static void close_timer(cairn_task_t *t) {
  cairn__lane_t *lane = cairn_container_of(t, cairn__lane_t, task);
  if (lane->timer_made)
    uv_close((uv_handle_t *)&lane->timer, on_timer_closed);
  else
    cairn_future_resolve(lane->closed, NULL);
}

static void cancel_all(cairn_task_t *t) {
  cairn__lane_t *lane = cairn_container_of(t, cairn__lane_t, task);
  assert(lane->vote == NULL);
  lane->kept = !cairn__edge_cancel(&lane->parent);
  for (int i = 0; i < lane->n_kids; i++)
    lane->kept |= !cairn__edge_cancel(&lane->kids[i]);
  cairn_post(lane->comm->rt, &lane->task, close_timer);
}

void cairn__lane_close(cairn__lane_t *lane) {
  if (lane == NULL) return;
  cairn_comm_t *comm = lane->comm;
  cairn_future_t *closed = lane->closed;
  cairn_post(comm->rt, &lane->task, cancel_all);
  cairn_future_finish(closed, NULL);
  comm->ops->channel_close(comm, lane->channel, lane->kept);
  if (!lane->kept) free_lane(lane);
  __atomic_sub_fetch(&comm->open_lanes, 1, __ATOMIC_ACQ_REL);
}

cairn_comm_t *cairn__lane_comm(cairn__lane_t *lane) {
  return lane->comm;
}

int cairn__lane_parent(const cairn__lane_t *lane) {
  return lane->parent.rank;
}
