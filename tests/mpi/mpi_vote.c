/* Votes over MPI: mpi_vote SCENARIO thread|poll. Exit status 0 if this rank saw
 * what it should. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "cairn/comm_mpi.h"
#include "comm/lane.h"
#include "mpi_count.h"

#define OP_SAVE 0x73617665u /* "save" */

static int rank, size;
static bool poll_mode;

/* A rank that fails ends the job: the others would wait for it. */
#define CHECK(what, ...)                                                      \
  do {                                                                        \
    if (what) break;                                                          \
    fprintf(stderr, "rank %d: %s:%d: %s: ", rank, __FILE__, __LINE__, #what); \
    fprintf(stderr, __VA_ARGS__);                                             \
    fprintf(stderr, "\n");                                                    \
    exit(1);                                                                  \
  } while (0)
#define CHECK_OK(rc, err) CHECK((rc) == CAIRN_OK, "%s", (err)->message)
#define CHECK_HAS(text, part) \
  CHECK(strstr((text), (part)) != NULL, "\"%s\" in \"%s\"", part, text)

struct world {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn__lane_t *lanes[2];
};

static cairn_runtime_t *open_runtime(void) {
  cairn_runtime_opts_t opts = {.poll = poll_mode};
  cairn_error_t err = {0};
  cairn_runtime_t *rt = NULL;
  CHECK_OK(cairn_runtime_open(&opts, &rt, &err), &err);
  return rt;
}

static struct world open_world(int64_t deadline_ms) {
  cairn_error_t err = {0};
  struct world w = {.rt = open_runtime()};
  CHECK_OK(cairn_comm_mpi_open(w.rt, MPI_COMM_WORLD, &w.comm, &err), &err);
  CHECK(cairn_comm_rank(w.comm) == rank && cairn_comm_size(w.comm) == size,
        "another place");
  for (int r = 0; r < size; r++)
    CHECK(cairn_comm_host(w.comm, r)[0] != '\0', "no host of %d", r);
  for (int i = 0; i < 2; i++)
    CHECK_OK(cairn__lane_open(w.comm, i == 0 ? deadline_ms : 60000, &w.lanes[i],
                              &err),
             &err);
  return w;
}

static void close_world(struct world *w) {
  cairn_error_t err = {0};
  CHECK(cairn_comm_close(w->comm, NULL) == CAIRN_BUSY, "lanes are open");
  for (int i = 0; i < 2; i++) cairn__lane_close(w->lanes[i]);
  CHECK_OK(cairn_comm_close(w->comm, &err), &err);
  CHECK_OK(cairn_runtime_close(w->rt, &err), &err);
}

/* One vote on this rank
 * -------------------------------------------------------*/

struct ballot {
  cairn__vote_t vote;
  cairn_error_t err;
  cairn_task_t task;
  cairn_future_t *done;
  cairn__lane_t *lane;
  uint8_t *copy; /* of what was received */
  size_t copy_n;
};

static struct ballot fresh(void) {
  struct ballot b = {.vote = {.op = OP_SAVE,
                              .phase = 1,
                              .phase_name = "written",
                              .step = 5,
                              .all_bits = UINT64_MAX}};
  return b;
}

static void on_vote(cairn__vote_t *v) {
  struct ballot *b = v->user;
  b->copy_n = v->received.n;
  if (b->copy_n > 0) {
    b->copy = malloc(b->copy_n);
    memcpy(b->copy, v->received.p, b->copy_n);
  }
  cairn_future_resolve(b->done, NULL);
}

static void on_loop(cairn_task_t *t) {
  struct ballot *b = cairn_container_of(t, struct ballot, task);
  cairn__agree(b->lane, &b->vote, &b->err, on_vote);
}

static void start(struct ballot *b, cairn__lane_t *lane) {
  cairn_runtime_t *rt = cairn__comm_runtime(cairn__lane_comm(lane));
  b->vote.user = b;
  b->lane = lane;
  b->done = cairn_future_new(rt);
  cairn_post(rt, &b->task, on_loop);
}

static cairn_code_t vote(struct ballot *b, cairn__lane_t *lane) {
  start(b, lane);
  cairn_future_finish(b->done, NULL);
  return b->err.code;
}

/* Votes: outcomes, origins, mismatches, two lanes; no collective after open
 * ---*/

static void on_both_lanes(struct world *w, int round) {
  struct ballot a = fresh(), b = fresh();
  a.vote.any_bits = 1u << rank;
  a.vote.max_value = rank;
  start(&a, w->lanes[round % 2]);
  start(&b, w->lanes[1 - round % 2]);
  cairn_future_finish(a.done, NULL);
  cairn_future_finish(b.done, NULL);
  CHECK_OK(a.err.code, &a.err);
  CHECK_OK(b.err.code, &b.err);
  CHECK(a.vote.any_bits == (1u << size) - 1, "bits");
  CHECK(a.vote.max_value == size - 1, "maximum");
  CHECK(b.vote.any_bits == 0, "bits of the other lane");
}

static void with_failing_rank(struct world *w, int bad) {
  struct ballot b = fresh();
  char want[32];
  if (rank == bad) cairn_fail(&b.err, CAIRN_NO_SPACE, "write");
  CHECK(vote(&b, w->lanes[0]) == CAIRN_NO_SPACE, "%s", b.err.message);
  CHECK(b.err.rank == bad, "rank %d", b.err.rank);
  snprintf(want, sizeof want, "write (rank %d, host ", bad);
  CHECK_HAS(b.err.message, size > 1 ? want : "write");
}

static void with_another_step(struct world *w) {
  struct ballot b = fresh();
  if (rank == size - 1) b.vote.step = 6;
  CHECK(vote(&b, w->lanes[0]) == (size > 1 ? CAIRN_MISMATCH : CAIRN_OK), "%s",
        b.err.message);
  if (size > 1) CHECK_HAS(b.err.message, "save (written, step 6)");
}

static void votes(void) {
  struct world w = open_world(60000);
  int before = mpi_collectives();
  for (int i = 0; i < 200; i++) on_both_lanes(&w, i);
  for (int bad = 0; bad < size; bad++) with_failing_rank(&w, bad);
  with_another_step(&w);
  CHECK(before > 0, "collectives are not counted");
  CHECK(mpi_collectives() == before, "a collective after open");
  close_world(&w);
}

/* Payloads, whole and in pieces
 * -----------------------------------------------*/

static const size_t lengths[] = {0, 1, 65536, 3 << 20};
static uint8_t *down;
static size_t down_n;
static int shift;

static size_t length_of(int r) {
  return lengths[(r + shift) % 4];
}

static uint8_t byte_of(int r, size_t i) {
  return (uint8_t)(i * 31 + (size_t)r * 7 + (i >> 8) + 1);
}

static void fill(uint8_t *p, size_t n, int r) {
  for (size_t i = 0; i < n; i++) p[i] = byte_of(r, i);
}

static void check_bytes(const uint8_t *p, size_t n, int r) {
  for (size_t i = 0; i < n; i++) CHECK(p[i] == byte_of(r, i), "byte %zu", i);
}

static void on_root(cairn__vote_t *v, cairn_error_t *err) {
  (void)err;
  for (int r = 0; r < size; r++) {
    CHECK(v->gathered[r].n == length_of(r), "%zu bytes", v->gathered[r].n);
    check_bytes(v->gathered[r].p, length_of(r), r);
  }
  v->down = cairn_bytes(down, down_n);
}

static void payload_round(struct world *w, size_t piece) {
  size_t n = length_of(rank);
  struct ballot b = fresh();
  uint8_t *up = malloc(n + 1);
  down_n = length_of(3);
  w->lanes[0]->piece = piece;
  fill(up, n, rank);
  fill(down, down_n, 99);
  b.vote.up = cairn_bytes(up, n);
  b.vote.on_root = on_root;
  CHECK_OK(vote(&b, w->lanes[0]), &b.err);
  CHECK(b.copy_n == down_n, "%zu of %zu bytes", b.copy_n, down_n);
  check_bytes(b.copy, b.copy_n, 99);
  free(b.copy);
  free(up);
}

static void payloads(void) {
  struct world w = open_world(60000);
  int before = mpi_collectives();
  down = malloc(lengths[3]);
  for (shift = 0; shift < 4; shift++) payload_round(&w, 100000);
  CHECK(mpi_longest() <= 100000, "a message of %d bytes", mpi_longest());
  for (shift = 0; shift < 4; shift++) payload_round(&w, (size_t)1 << 30);
  CHECK(mpi_collectives() == before, "a collective after open");
  free(down);
  close_world(&w);
}

/* The last rank does not come to the first vote on one lane
 * -------------------*/

static void missing(void) {
  struct world w = open_world(500);
  struct ballot b = fresh(), other = fresh();
  char want[96];
  snprintf(want, sizeof want, "no word from rank %d (%s)", size - 1,
           cairn_comm_host(w.comm, size - 1));
  if (rank != size - 1) {
    CHECK(vote(&b, w.lanes[0]) == CAIRN_TIMED_OUT, "%s", b.err.message);
    CHECK_HAS(b.err.message, want);
    CHECK(b.err.rank == size - 1, "rank %d", b.err.rank);
    b.err = (cairn_error_t){0};
    CHECK(vote(&b, w.lanes[0]) == CAIRN_CLOSED, "%s", b.err.message);
  }
  CHECK_OK(vote(&other, w.lanes[1]), &other.err);
  if (rank == size - 1) { /* hears of it when it comes at last */
    vote(&b, w.lanes[0]);
    CHECK_HAS(b.err.message, want);
  }
  close_world(&w);
}

/* MPI_Finalize while a vote waits for the other rank
 * --------------------------*/

static void finalize(void) {
  struct world w = open_world(60000);
  struct ballot b = fresh(), after = fresh();
  cairn_error_t err = {0};
  cairn__lane_t *lane;
  if (rank == 0) {
    start(&b, w.lanes[0]);
    cairn_runtime_poll(w.rt, 0);
  }
  MPI_Finalize();
  int before = mpi_calls();
  if (rank == 0) {
    cairn_future_finish(b.done, NULL);
    CHECK(b.err.code == CAIRN_CLOSED, "%s", b.err.message);
    CHECK_HAS(b.err.message, "MPI was finalized");
  }
  CHECK(vote(&after, w.lanes[1]) == (size > 1 ? CAIRN_CLOSED : CAIRN_OK), "%s",
        after.err.message);
  CHECK(cairn__lane_open(w.comm, 0, &lane, &err) == CAIRN_CLOSED, "%s",
        err.message);
  close_world(&w);
  CHECK(mpi_calls() == before, "MPI was called after MPI_Finalize");
}

/* Refused at open
 * -------------------------------------------------------------*/

static void level(void) {
  cairn_runtime_t *rt = open_runtime();
  cairn_comm_t *comm = NULL;
  cairn_error_t err = {0};
  CHECK(
      cairn_comm_mpi_open(rt, MPI_COMM_WORLD, &comm, &err) == CAIRN_UNSUPPORTED,
      "%s", err.message);
  CHECK_HAS(err.message, "MPI provides MPI_THREAD_FUNNELED");
  CHECK_HAS(err.message, "cairn_runtime_opts_t.poll");
  CHECK(comm == NULL, "opened");
  err = (cairn_error_t){0};
  CHECK(cairn_comm_mpi_open(rt, MPI_COMM_NULL, &comm, &err) == CAIRN_INVALID,
        "%s", err.message);
  CHECK_OK(cairn_runtime_close(rt, NULL), &err);
}

static void versions(void) {
  cairn_runtime_t *rt = open_runtime();
  cairn_comm_t *comm = NULL;
  cairn_error_t err = {0};
  mpi_fake_version = rank == 1;
  CHECK(cairn_comm_mpi_open(rt, MPI_COMM_WORLD, &comm, &err) == CAIRN_MISMATCH,
        "%s", err.message);
  CHECK_HAS(err.message, "versions differ: rank 0 (");
  CHECK_HAS(err.message, "rank 1 (");
  CHECK_OK(cairn_runtime_close(rt, NULL), &err);
}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {{"votes", votes},       {"payloads", payloads},
                 {"missing", missing},   {"finalize", finalize},
                 {"versions", versions}, {"level", level}};

static bool run(const char *name) {
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    if (strcmp(name, scenarios[i].name) != 0) continue;
    scenarios[i].run();
    return true;
  }
  return false;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  poll_mode = strcmp(argv[2], "poll") == 0;
  bool funneled = poll_mode || strcmp(argv[1], "level") == 0;
  int want = funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, got, done;
  MPI_Init_thread(&argc, &argv, want, &got);
  if (got != want) {
    printf("skipped: MPI provides thread level %d, not %d\n", got, want);
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool known = run(argv[1]);
  MPI_Finalized(&done);
  if (!done) MPI_Finalize();
  return known ? 0 : 2;
}
