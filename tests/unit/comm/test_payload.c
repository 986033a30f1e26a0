/* Payloads up to the root and down from it. */
#include <stdlib.h>

#include "job.h"

/* Rank r's byte at i: no two ranks' payloads are alike. */
static uint8_t byte_of(int r, size_t i) {
  return (uint8_t)(i * 31 + (size_t)r * 7 + (i >> 8) + 1);
}

static uint8_t *make(int r, size_t n) {
  uint8_t *p = malloc(n + 1);
  for (size_t i = 0; i < n; i++) p[i] = byte_of(r, i);
  return p;
}

static bool holds(cairn_bytes_t b, int r, size_t n) {
  if (b.n != n) return false;
  for (size_t i = 0; i < n; i++)
    if (b.p[i] != byte_of(r, i)) return false;
  return true;
}

static const size_t lengths[] = {0, 1, 65536, 3 << 20, 17};
#define LENGTH_OF(r) (lengths[(r) % 5])

static void give(struct job *j) {
  for (int r = 0; r < j->n; r++) {
    cairn_bytes_t *up = &j->ballots[r].vote.up;
    free((void *)up->p);
    *up = cairn_bytes(make(r, LENGTH_OF(r)), LENGTH_OF(r));
  }
}

static void take_back(struct job *j) {
  for (int r = 0; r < j->n; r++) {
    free((void *)j->ballots[r].vote.up.p);
    j->ballots[r].vote.up = cairn_bytes(NULL, 0);
  }
}

static int wrong;      /* payloads that were not right; on_root's thread */
static int root_calls; /* and how often it ran */
static int root_size;
static size_t down_n;
static uint8_t *down_p;
static bool root_fails;

static void check_gathered(cairn__vote_t *v, cairn_error_t *err) {
  (void)err;
  root_calls++;
  for (int r = 0; r < root_size; r++)
    if (!holds(v->gathered[r], r, LENGTH_OF(r))) wrong++;
}

static void send_down(cairn__vote_t *v, cairn_error_t *err) {
  root_calls++;
  v->down = cairn_bytes(down_p, down_n);
  if (root_fails) cairn_fail(err, CAIRN_CORRUPT, "merge");
}

/* The room frees payloads when fn returns, so they are looked at in fn. */
static void check_received(cairn__vote_t *v) {
  struct ballot *b = v->user;
  if (!holds(v->received, 99, down_n))
    cairn_fail(&b->err, CAIRN_INTERNAL, "received %zu bytes, or other ones",
               v->received.n);
  cairn_future_resolve(b->done, NULL);
}

static void start_receiver(cairn_task_t *t) {
  struct ballot *b = cairn_container_of(t, struct ballot, task);
  cairn__agree(b->lane, &b->vote, &b->err, check_received);
}

static void vote_and_receive(struct job *j) {
  for (int r = 0; r < j->n; r++) {
    struct ballot *b = &j->ballots[r];
    b->lane = j->lanes[r];
    b->done = cairn_future_new(j->rts[r]);
    cairn_post(j->rts[r], &b->task, start_receiver);
  }
  for (int r = 0; r < j->n; r++) ballot_finish(&j->ballots[r]);
}

Test(payload, root_gathers_each_ranks_bytes) {
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    wrong = root_calls = 0;
    root_size = n;
    for (int round = 0; round < 2; round++) {
      job_prepare(j);
      give(j);
      j->ballots[0].vote.on_root = check_gathered;
      job_vote(j);
      cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
      take_back(j);
    }
    cr_assert_eq(root_calls, 2);
    cr_assert_eq(wrong, 0);
    job_close(j);
  }
}

Test(payload, all_ranks_receive_the_roots_bytes) {
  static const size_t sizes_down[] = {1, 65536, 3 << 20};
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    for (int i = 0; i < 3; i++) {
      down_n = sizes_down[i];
      down_p = make(99, down_n);
      job_prepare(j);
      j->ballots[0].vote.on_root = send_down;
      vote_and_receive(j);
      cr_assert_eq(job_same_error(j)->code, CAIRN_OK, "%s",
                   job_same_error(j)->message);
      free(down_p);
    }
    job_close(j);
  }
}

Test(payload, error_of_the_root_reaches_all_and_nothing_goes_down) {
  FOR_JOBS(n, hosts) {
    struct job *j = job_open(n, hosts, 60000);
    down_n = 1000;
    down_p = make(99, down_n);
    root_fails = true;
    j->ballots[0].vote.on_root = send_down;
    job_vote(j);
    const cairn_error_t *e = job_same_error(j);
    cr_assert_eq(e->code, CAIRN_CORRUPT);
    cr_assert_eq(e->rank, 0);
    cr_assert_str_eq(e->message, n > 1 ? "merge (rank 0, host n0)" : "merge");
    for (int r = 0; r < n; r++) cr_assert_eq(j->ballots[r].vote.received.n, 0);
    free(down_p);
    job_close(j);
  }
}

Test(payload, root_is_not_asked_when_a_rank_failed) {
  struct job *j = job_open(17, 4, 60000);
  root_calls = 0;
  give(j);
  j->ballots[0].vote.on_root = check_gathered;
  cairn_fail(&j->ballots[13].err, CAIRN_IO, "disk");
  job_vote(j);
  take_back(j);
  cr_assert_eq(job_same_error(j)->rank, 13);
  cr_assert_eq(root_calls, 0);
  job_close(j);
}

static void *no_memory(size_t n) {
  (void)n;
  return NULL;
}

/* A rank without memory for payloads: a leaf for its own, an inner rank for its
 * children's, the root for all. The lane is fine afterwards. */
Test(payload, no_memory_on_the_way_up_is_an_outcome_and_not_a_hang) {
  struct job *j = job_open(40, 3, 60000);
  for (int bad = 0; bad < 40; bad += 3) {
    root_size = 40;
    wrong = root_calls = 0;
    job_prepare(j);
    give(j);
    j->ballots[0].vote.on_root = check_gathered;
    j->lanes[bad]->alloc = no_memory;
    bool needs = LENGTH_OF(bad) > 0 || j->lanes[bad]->n_kids > 0;
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, needs ? CAIRN_NO_MEMORY : CAIRN_OK);
    if (needs) cr_assert_eq(job_same_error(j)->rank, bad);
    cr_assert_eq(root_calls, needs ? 0 : 1);
    take_back(j);
    j->lanes[bad]->alloc = malloc;
    job_prepare(j);
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  }
  job_close(j);
}

Test(payload, no_memory_on_the_way_down_is_the_outcome_of_all) {
  struct job *j = job_open(40, 3, 60000);
  down_n = 100000;
  down_p = make(99, down_n);
  for (int bad = 0; bad < 40; bad += 3) {
    job_prepare(j);
    j->ballots[0].vote.on_root = send_down;
    j->lanes[bad]->alloc = no_memory;
    job_vote(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_NO_MEMORY);
    cr_assert_eq(job_same_error(j)->rank, bad);
    j->lanes[bad]->alloc = malloc;
    job_prepare(j);
    j->ballots[0].vote.on_root = send_down;
    vote_and_receive(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  }
  free(down_p);
  job_close(j);
}

/* Payloads above 1 GiB go in pieces; here above 4096 bytes. */
Test(payload, long_ones_go_in_pieces) {
  struct job *j = job_open(40, 3, 60000);
  for (int r = 0; r < 40; r++) j->lanes[r]->piece = 4096;
  wrong = root_calls = 0;
  root_size = 40;
  give(j);
  j->ballots[0].vote.on_root = check_gathered;
  job_vote(j);
  cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
  cr_assert_eq(root_calls, 1);
  cr_assert_eq(wrong, 0);
  take_back(j);
  down_n = 3 * 4096; /* the last piece full; then one of a byte */
  for (int round = 0; round < 2; round++, down_n++) {
    down_p = make(99, down_n);
    job_prepare(j);
    j->ballots[0].vote.on_root = send_down;
    vote_and_receive(j);
    cr_assert_eq(job_same_error(j)->code, CAIRN_OK);
    free(down_p);
  }
  job_close(j);
}
