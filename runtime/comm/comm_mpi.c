/* The communicator over MPI; the only file that knows of it.
 *
 * At open, on the caller's thread and collectively: a duplicate of the caller's
 * communicator, agreement on who could open, the hosts, and later one more
 * duplicate for each lane. From then on only Isend, Irecv and Testsome on the
 * lanes' duplicates, from the loop thread: a ticker that runs while messages
 * are in flight.
 *
 * MPI_Finalize may come before close. An attribute of MPI_COMM_SELF is deleted
 * at its beginning; that takes back what is in flight, and no MPI call is made
 * after it. `lock` keeps the two threads apart. */
#include "cairn/comm_mpi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <uv.h>

#include "comm/lane.h"
#include "loop/loop.h"

#define TAG 0
#define FINALIZED (-1) /* a message's status beside MPI's error classes */
#define SHORT (-2)

struct mpi {
  cairn_comm_t *comm;
  MPI_Comm base; /* the caller's, duplicated */
  int keyval;
  cairn__ticker_t ticker;

  uv_mutex_t lock; /* what follows */
  bool finalized;
  int n, cap; /* in flight; room for all that the lanes may have */
  MPI_Request *requests;
  cairn__msg_t **msgs;
  int *indices; /* Testsome's results */
  MPI_Status *statuses;
  cairn__msg_t *failed; /* to be told on the next tick */
};

struct channel {
  struct mpi *mpi;
  MPI_Comm comm;
  int max_msgs;
};

static const cairn__transport_ops_t mpi_ops;

static void mpi_text(int rc, char out[MPI_MAX_ERROR_STRING]) {
  int n = 0;
  if (MPI_Error_string(rc, out, &n) != MPI_SUCCESS) n = 0;
  out[n] = '\0';
}

static cairn_code_t fail_mpi(cairn_error_t *err, int rc, const char *what) {
  char text[MPI_MAX_ERROR_STRING];
  mpi_text(rc, text);
  return cairn_fail(err, CAIRN_IO, "%s: %s", what, text);
}

/* Messages
 * --------------------------------------------------------------------*/

static void remove_at(struct mpi *m, int i) {
  m->n--;
  m->requests[i] = m->requests[m->n];
  m->msgs[i] = m->msgs[m->n];
}

static void add_failed(struct mpi *m, cairn__msg_t *msg, int status) {
  msg->status = status;
  msg->next = m->failed;
  m->failed = msg;
}

/* MPI is not used for the message at i any more. False if MPI may still use the
 * message: it could not be cancelled. Never waits. */
static bool retire(struct mpi *m, int i) {
  int done = 0;
  if (!m->msgs[i]->sending) MPI_Cancel(&m->requests[i]);
  MPI_Test(&m->requests[i], &done, MPI_STATUS_IGNORE);
  if (!done) MPI_Request_free(&m->requests[i]);
  remove_at(m, i);
  return done != 0;
}

static int received_status(const cairn__msg_t *msg, const MPI_Status *s) {
  int n = 0;
  if (msg->sending) return MPI_SUCCESS;
  MPI_Get_count(s, MPI_BYTE, &n);
  return n >= 0 && (size_t)n == msg->n ? MPI_SUCCESS : SHORT;
}

/* Moves what has completed from the arrays to a list; lock held. */
static cairn__msg_t *take_completed(struct mpi *m) {
  int count = 0;
  cairn__msg_t *list = m->failed;
  m->failed = NULL;
  if (m->n == 0 || m->finalized) return list;
  int rc = MPI_Testsome(m->n, m->requests, &count, m->indices, m->statuses);
  if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) count = 0;
  for (int i = 0; i < count; i++) {
    cairn__msg_t *msg = m->msgs[m->indices[i]];
    msg->status = rc == MPI_ERR_IN_STATUS ? m->statuses[i].MPI_ERROR : 0;
    if (msg->status == MPI_SUCCESS)
      msg->status = received_status(msg, &m->statuses[i]);
    msg->next = list;
    list = msg;
  }
  for (int i = m->n - 1; i >= 0; i--)
    if (m->requests[i] == MPI_REQUEST_NULL) remove_at(m, i);
  return list;
}

static void tell(struct mpi *m, cairn__msg_t *msg) {
  cairn_error_t err = {0};
  msg->pending = false;
  uv_mutex_lock(&m->lock);
  if (msg->status == FINALIZED || (m->finalized && msg->status > 0))
    cairn_fail(&err, CAIRN_CLOSED, "MPI was finalized");
  else if (msg->status == SHORT)
    cairn_fail(&err, CAIRN_INTERNAL, "message of another length");
  else if (msg->status != MPI_SUCCESS)
    fail_mpi(&err, msg->status, msg->sending ? "MPI_Isend" : "MPI_Irecv");
  uv_mutex_unlock(&m->lock);
  msg->done(msg, &err);
}

static void stop_if_quiet(struct mpi *m) {
  uv_mutex_lock(&m->lock);
  bool quiet = m->n == 0 && m->failed == NULL;
  uv_mutex_unlock(&m->lock);
  if (quiet) cairn__ticker_stop(m->comm->rt, &m->ticker);
}

static bool tick(cairn__ticker_t *t) {
  struct mpi *m = cairn_container_of(t, struct mpi, ticker);
  uv_mutex_lock(&m->lock);
  cairn__msg_t *list = take_completed(m);
  uv_mutex_unlock(&m->lock);
  bool progress = list != NULL;
  for (cairn__msg_t *next; list != NULL; list = next) {
    next = list->next;
    tell(m, list);
  }
  stop_if_quiet(m);
  return progress;
}

/* Isend and Irecv, to their one difference. Cannot fail here: what went wrong
 * is told by `done`, on a later turn. */
static void start(struct channel *ch, cairn__msg_t *msg, bool sending) {
  struct mpi *m = ch->mpi;
  MPI_Request r = MPI_REQUEST_NULL;
  int rc = FINALIZED, n = (int)msg->n; /* at most 1 GiB */
  msg->channel = ch;
  msg->sending = sending;
  msg->pending = true;
  uv_mutex_lock(&m->lock);
  if (!m->finalized)
    rc = sending
             ? MPI_Isend(msg->buf, n, MPI_BYTE, msg->peer, TAG, ch->comm, &r)
             : MPI_Irecv(msg->buf, n, MPI_BYTE, msg->peer, TAG, ch->comm, &r);
  if (rc != MPI_SUCCESS) {
    add_failed(m, msg, rc);
  } else {
    m->requests[m->n] = r;
    m->msgs[m->n++] = msg;
  }
  uv_mutex_unlock(&m->lock);
  cairn__ticker_start(m->comm->rt, &m->ticker, tick);
}

static void mpi_send(void *channel, cairn__msg_t *msg) {
  start(channel, msg, true);
}

static void mpi_recv(void *channel, cairn__msg_t *msg) {
  start(channel, msg, false);
}

static bool mpi_cancel(void *channel, cairn__msg_t *msg) {
  struct mpi *m = ((struct channel *)channel)->mpi;
  bool free_again = true;
  uv_mutex_lock(&m->lock);
  for (int i = m->n - 1; i >= 0; i--)
    if (m->msgs[i] == msg) free_again = retire(m, i);
  cairn__msg_t **at = &m->failed;
  while (*at != NULL && *at != msg) at = &(*at)->next;
  if (*at != NULL) *at = msg->next;
  uv_mutex_unlock(&m->lock);
  msg->pending = false;
  stop_if_quiet(m);
  return free_again;
}

/* Lanes
 * -----------------------------------------------------------------------*/

/* The weightiest failure at open, if any, becomes *err on all ranks. */
static cairn_code_t agree_at_open(MPI_Comm mpi, cairn_error_t *err) {
  struct {
    int code, rank;
  } mine = {(int)err->code, 0}, worst = {0, 0};
  MPI_Comm_rank(mpi, &mine.rank);
  int rc = MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, mpi);
  if (rc != MPI_SUCCESS) return fail_mpi(err, rc, "MPI_Allreduce");
  if (worst.code == CAIRN_OK) return CAIRN_OK;
  rc = MPI_Bcast(err, (int)sizeof *err, MPI_BYTE, worst.rank, mpi);
  if (rc != MPI_SUCCESS) return fail_mpi(err, rc, "MPI_Bcast");
  err->rank = worst.rank;
  return cairn_within(err, "rank %d", worst.rank);
}

/* Room for max_msgs more in all four arrays. */
static bool grow(struct mpi *m, int max_msgs) {
  size_t cap = (size_t)m->cap + (size_t)max_msgs;
  bool ok = false;
  uv_mutex_lock(&m->lock);
  void *requests = realloc(m->requests, cap * sizeof *m->requests);
  if (requests != NULL) m->requests = requests;
  void *msgs = realloc(m->msgs, cap * sizeof *m->msgs);
  if (msgs != NULL) m->msgs = msgs;
  void *indices = realloc(m->indices, cap * sizeof *m->indices);
  if (indices != NULL) m->indices = indices;
  void *statuses = realloc(m->statuses, cap * sizeof *m->statuses);
  if (statuses != NULL) m->statuses = statuses;
  ok = requests != NULL && msgs != NULL && indices != NULL && statuses != NULL;
  if (ok) m->cap = (int)cap;
  uv_mutex_unlock(&m->lock);
  return ok;
}

static bool is_finalized(struct mpi *m) {
  uv_mutex_lock(&m->lock);
  bool finalized = m->finalized;
  uv_mutex_unlock(&m->lock);
  return finalized;
}

static cairn_code_t duplicate(MPI_Comm from, MPI_Comm *out,
                              cairn_error_t *err) {
  int rc = MPI_Comm_dup(from, out);
  if (rc != MPI_SUCCESS) return fail_mpi(err, rc, "MPI_Comm_dup");
  rc = MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
  if (rc == MPI_SUCCESS) return CAIRN_OK;
  MPI_Comm_free(out);
  return fail_mpi(err, rc, "MPI_Comm_set_errhandler");
}

static cairn_code_t mpi_channel_open(cairn_comm_t *comm, int max_msgs,
                                     void **channel, cairn_error_t *err) {
  struct mpi *m = comm->impl;
  if (is_finalized(m))
    return cairn_fail(err, CAIRN_CLOSED, "MPI was finalized");
  struct channel *ch = calloc(1, sizeof *ch);
  if (ch == NULL || !grow(m, max_msgs))
    cairn_fail(err, CAIRN_NO_MEMORY, "channel of a vote lane");
  MPI_Comm dup = MPI_COMM_NULL;
  duplicate(m->base, &dup, err);
  if (agree_at_open(m->base, err) != CAIRN_OK) {
    if (dup != MPI_COMM_NULL) MPI_Comm_free(&dup);
    free(ch);
    return err->code;
  }
  *ch = (struct channel){m, dup, max_msgs};
  *channel = ch;
  return CAIRN_OK;
}

static void mpi_channel_close(cairn_comm_t *comm, void *channel, bool kept) {
  struct channel *ch = channel;
  uv_mutex_lock(&ch->mpi->lock);
  ch->mpi->cap -= ch->max_msgs;
  uv_mutex_unlock(&ch->mpi->lock);
  if (!kept && !is_finalized(comm->impl)) MPI_Comm_free(&ch->comm);
  free(ch);
}

/* Open and close
 * --------------------------------------------------------------*/

/* The attribute's destructor: at the beginning of MPI_Finalize, or from close.
 */
static int on_finalize(MPI_Comm self, int keyval, void *attribute,
                       void *extra) {
  struct mpi *m = attribute;
  (void)self, (void)keyval, (void)extra;
  uv_mutex_lock(&m->lock);
  while (m->n > 0) {
    cairn__msg_t *msg = m->msgs[m->n - 1];
    retire(m, m->n - 1);
    add_failed(m, msg, FINALIZED);
  }
  m->finalized = true;
  uv_mutex_unlock(&m->lock);
  return MPI_SUCCESS;
}

static const char *level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

static cairn_code_t check_level(cairn_runtime_t *rt, cairn_error_t *err) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (!cairn__is_poll(rt) && level < MPI_THREAD_MULTIPLE)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "MPI provides %s; a runtime with its own thread needs "
                      "MPI_THREAD_MULTIPLE (with cairn_runtime_opts_t.poll "
                      "any level is enough)",
                      level_name(level));
  cairn_log(rt, CAIRN_LOG_INFO, "MPI provides %s; messages are driven by %s",
            level_name(level),
            cairn__is_poll(rt) ? "waits and cairn_runtime_poll"
                               : "the runtime's thread");
  return CAIRN_OK;
}

/* What can be said without MPI's help to the other ranks: they make the same
 * mistake, or MPI may not be called here at all. */
static cairn_code_t check_call(cairn_runtime_t *rt, MPI_Comm mpi_comm,
                               cairn_error_t *err) {
  int is = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&is);
  if (!is) return cairn_fail(err, CAIRN_INVALID, "MPI is not initialised");
  MPI_Finalized(&is);
  if (is) return cairn_fail(err, CAIRN_INVALID, "MPI was finalized");
  if (rt == NULL || mpi_comm == MPI_COMM_NULL)
    return cairn_fail(err, CAIRN_INVALID, "no %s",
                      rt == NULL ? "runtime" : "communicator (MPI_COMM_NULL)");
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is);
  if (level <= MPI_THREAD_FUNNELED && !is)
    return cairn_fail(err, CAIRN_UNSUPPORTED,
                      "MPI provides %s; call from the main thread",
                      level_name(level));
  MPI_Comm_test_inter(mpi_comm, &is);
  if (is)
    return cairn_fail(err, CAIRN_INVALID, "intercommunicators have two groups");
  return CAIRN_OK;
}

struct record {
  uint32_t version[3];
  uint32_t protocol;
  char host[CAIRN__HOST_BYTES];
};

/* All ranks see all records, and so come to the same outcome. */
static cairn_code_t check_versions(const struct record *all, int size,
                                   cairn_error_t *err) {
  for (int r = 1; r < size; r++) {
    const uint32_t *a = all[0].version, *b = all[r].version;
    if (memcmp(a, b, sizeof all[0].version) == 0 &&
        all[0].protocol == all[r].protocol)
      continue;
    return cairn_fail(err, CAIRN_MISMATCH,
                      "versions differ: rank 0 (%s) runs cairn %" PRIu32
                      ".%" PRIu32 ".%" PRIu32 " (protocol %08" PRIx32
                      "), rank %d (%s) %" PRIu32 ".%" PRIu32 ".%" PRIu32
                      " (protocol %08" PRIx32 ")",
                      all[0].host, a[0], a[1], a[2], all[0].protocol, r,
                      all[r].host, b[0], b[1], b[2], all[r].protocol);
  }
  return CAIRN_OK;
}

static cairn_code_t exchange(struct mpi *m, struct record *all,
                             cairn_error_t *err) {
  cairn_comm_t *c = m->comm;
  struct record mine = {.version = {CAIRN_VERSION_MAJOR, CAIRN_VERSION_MINOR,
                                    CAIRN_VERSION_PATCH},
                        .protocol = CAIRN__FRAME_MAGIC};
  cairn__host_name(mine.host);
  int n = (int)sizeof mine;
  int rc = MPI_Allgather(&mine, n, MPI_BYTE, all, n, MPI_BYTE, m->base);
  if (rc != MPI_SUCCESS) return fail_mpi(err, rc, "MPI_Allgather");
  for (int r = 0; r < c->size; r++) {
    all[r].host[CAIRN__HOST_BYTES - 1] = '\0';
    memcpy(c->hosts[r], all[r].host, CAIRN__HOST_BYTES);
  }
  return check_versions(all, c->size, err);
}

static void free_mpi(struct mpi *m) {
  free(m->requests);
  free(m->msgs);
  free(m->indices);
  free(m->statuses);
  uv_mutex_destroy(&m->lock);
  free(m);
}

/* NULL and *err set if memory is out. */
static struct mpi *new_mpi(cairn_runtime_t *rt, MPI_Comm base,
                           cairn_error_t *err) {
  int rank, size;
  MPI_Comm_rank(base, &rank);
  MPI_Comm_size(base, &size);
  struct mpi *m = calloc(1, sizeof *m);
  if (m != NULL && uv_mutex_init(&m->lock) == 0) {
    m->base = base;
    m->keyval = MPI_KEYVAL_INVALID;
    m->comm = cairn__comm_new(rt, &mpi_ops, rank, size);
    if (m->comm != NULL) {
      m->comm->impl = m;
      return m;
    }
    uv_mutex_destroy(&m->lock);
  }
  free(m);
  cairn_fail(err, CAIRN_NO_MEMORY, "communicator of %d ranks", size);
  return NULL;
}

static cairn_code_t watch_finalize(struct mpi *m, cairn_error_t *err) {
  int rc = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize,
                                  &m->keyval, NULL);
  if (rc == MPI_SUCCESS) rc = MPI_Comm_set_attr(MPI_COMM_SELF, m->keyval, m);
  if (rc != MPI_SUCCESS) return fail_mpi(err, rc, "watch for MPI_Finalize");
  return CAIRN_OK;
}

/* Deleting the attribute calls on_finalize. */
static void unwatch_finalize(struct mpi *m) {
  if (m->finalized || m->keyval == MPI_KEYVAL_INVALID) return;
  MPI_Comm_delete_attr(MPI_COMM_SELF, m->keyval);
  MPI_Comm_free_keyval(&m->keyval);
}

/* Collective; all ranks go through all of it, whatever happened before. */
static cairn_code_t open_together(cairn_runtime_t *rt, MPI_Comm base,
                                  struct mpi **out, cairn_error_t *err) {
  struct mpi *m = *out = new_mpi(rt, base, err);
  struct record *all =
      m != NULL ? calloc((size_t)m->comm->size, sizeof *all) : NULL;
  if (all == NULL) cairn_fail(err, CAIRN_NO_MEMORY, "table of hosts");
  check_level(rt, err);
  cairn_code_t rc = agree_at_open(base, err);
  if (rc == CAIRN_OK) rc = exchange(m, all, err);
  free(all);
  if (rc != CAIRN_OK) return rc;
  if (cairn__comm_ready(m->comm, err) == CAIRN_OK) watch_finalize(m, err);
  return agree_at_open(base, err);
}

cairn_code_t cairn_comm_mpi_open(cairn_runtime_t *rt, MPI_Comm mpi_comm,
                                 cairn_comm_t **out, cairn_error_t *err) {
  cairn_error_t e = {0};
  struct mpi *m = NULL;
  MPI_Comm base;
  if (check_call(rt, mpi_comm, &e) != CAIRN_OK ||
      duplicate(mpi_comm, &base, &e) != CAIRN_OK)
    goto fail;
  if (open_together(rt, base, &m, &e) == CAIRN_OK) {
    *out = m->comm;
    return CAIRN_OK;
  }
  MPI_Comm_free(&base);
  if (m != NULL) {
    unwatch_finalize(m);
    cairn__comm_free(m->comm);
    free_mpi(m);
  }
fail:
  cairn_within(&e, "open MPI communicator");
  return cairn_error_copy(err, &e);
}

static void mpi_close(cairn_comm_t *comm) {
  struct mpi *m = comm->impl;
  if (!is_finalized(m)) {
    unwatch_finalize(m);
    MPI_Comm_free(&m->base);
  }
  free_mpi(m);
}

static const cairn__transport_ops_t mpi_ops = {
    .name = "mpi",
    .channel_open = mpi_channel_open,
    .channel_close = mpi_channel_close,
    .send = mpi_send,
    .recv = mpi_recv,
    .cancel = mpi_cancel,
    .close = mpi_close,
};
