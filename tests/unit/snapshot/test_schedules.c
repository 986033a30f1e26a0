/* Random schedules: memory cut into parts at random, writers that change it at
 * once (cow) or part by part as they settle it (lazy), readers that fetch
 * pieces in random order, a ring of random size. Every time each byte read is
 * the one that was there at begin, and each byte written is there at the end.
 *
 * CAIRN_TEST_SCHEDULES sets the number of large ones, for a run by hand. */
#include "held.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TIMES(n) ((n) / 5) /* they take long */
#else
#define TIMES(n) (n)
#endif
#define PARTS 3
#define WRITERS 2
#define READERS 2
#define WRITES 24
#define LONGEST_WRITE ((size_t)300000)
#define LONGEST_READ (3 * G / 2)

struct schedule {
  cairn__snapshot_t *s;
  cairn_snapshot_t mode;
  region_t *r;
  size_t cut[PARTS + 1]; /* of parts, as offsets */
  char *before, *model;  /* at begin; what the writers make of it */
  size_t *pieces;        /* num_pieces + 1 offsets */
  size_t *order, num_pieces;
  atomic_size_t next;
  atomic_int bad;
  uint64_t seed;
};

struct actor {
  struct schedule *x;
  size_t index;
  uint64_t random;
};

/* Writers keep to their own stripe of each part, so that the model is theirs
 * to write too. */
static void scribble(struct actor *a, size_t part) {
  struct schedule *x = a->x;
  size_t lo = x->cut[part], n = (x->cut[part + 1] - lo) / WRITERS;
  if (n == 0) return;
  lo += a->index * n;
  size_t at = below(&a->random, n), len = below(&a->random, LONGEST_WRITE) + 1;
  if (len > n - at) len = n - at;
  int value = (int)below(&a->random, 256);
  memset(x->r->data + lo + at, value, len);
  memset(x->model + lo + at, value, len);
}

static void *writer(void *arg) {
  struct actor *a = arg;
  struct schedule *x = a->x;
  size_t first = below(&a->random, PARTS);
  for (size_t i = 0; i < PARTS; i++) {
    size_t part = (first + i) % PARTS;
    if (x->mode == CAIRN_SNAPSHOT_LAZY &&
        cairn__snapshot_settle(x->s, part, NULL) != CAIRN_OK)
      atomic_fetch_add(&x->bad, 1);
    for (int k = 0; k < WRITES / PARTS; k++)
      scribble(
          a, x->mode == CAIRN_SNAPSHOT_LAZY ? part : below(&a->random, PARTS));
  }
  return NULL;
}

static void read_piece(struct schedule *x, char *out, size_t lo, size_t hi) {
  for (size_t part = 0; part < PARTS; part++) {
    size_t a = lo > x->cut[part] ? lo : x->cut[part];
    size_t b = hi < x->cut[part + 1] ? hi : x->cut[part + 1];
    if (a >= b) continue;
    if (cairn__snapshot_read(x->s, part, x->r->data + a, b - a, out, NULL) !=
            CAIRN_OK ||
        memcmp(out, x->before + a, b - a) != 0)
      atomic_fetch_add(&x->bad, 1);
  }
}

static void *reader(void *arg) {
  struct actor *a = arg;
  struct schedule *x = a->x;
  char *out = malloc(LONGEST_READ + 1);
  size_t i;
  while ((i = atomic_fetch_add(&x->next, 1)) < x->num_pieces) {
    size_t k = x->order[i];
    read_piece(x, out, x->pieces[k], x->pieces[k + 1]);
  }
  free(out);
  return NULL;
}

static void cut_pieces(struct schedule *x) {
  size_t cap = 64, n = 0, at = 0;
  x->pieces = malloc((cap + 1) * sizeof(*x->pieces));
  for (x->pieces[0] = 0; at < x->r->n; x->pieces[++n] = at) {
    if (n == cap)
      x->pieces = realloc(x->pieces, ((cap *= 2) + 1) * sizeof(*x->pieces));
    size_t len = below(&x->seed, LONGEST_READ) + 1;
    at = len < x->r->n - at ? at + len : x->r->n;
  }
  x->num_pieces = n;
  x->order = malloc(n * sizeof(*x->order));
  for (size_t i = 0; i < n; i++) x->order[i] = i;
  for (size_t i = n; i > 1; i--) {
    size_t k = below(&x->seed, i), t = x->order[i - 1];
    x->order[i - 1] = x->order[k];
    x->order[k] = t;
  }
}

static void begin(struct schedule *x, cairn__pool_t *pool) {
  cairn__snapshot_part_t parts[PARTS];
  size_t slots = below(&x->seed, x->r->n / G + 2) + 1;
  cairn__snapshot_opts_t opts = {.shadow_bytes = slots * G};
  x->cut[PARTS] = x->r->n;
  x->cut[1] = below(&x->seed, x->r->n);
  x->cut[2] = x->cut[1] + below(&x->seed, x->r->n - x->cut[1]);
  for (size_t i = 0; i < PARTS; i++)
    parts[i] = (cairn__snapshot_part_t){.data = x->r->data + x->cut[i],
                                        .n = x->cut[i + 1] - x->cut[i],
                                        .mode = x->mode,
                                        .name = "w"};
  cr_assert_eq(cairn__snapshot_begin(pool, parts, PARTS, &opts, &x->s, NULL),
               CAIRN_OK);
}

/* `r` keeps what the writers leave in it for the next schedule. */
static void run(cairn__pool_t *pool, region_t *r, cairn_snapshot_t mode,
                uint64_t seed) {
  struct schedule x = {.mode = mode, .r = r, .seed = seed};
  pthread_t threads[WRITERS + READERS];
  struct actor actors[WRITERS + READERS];
  x.before = region_copy(r);
  x.model = region_copy(r);
  cut_pieces(&x);
  begin(&x, pool);
  for (size_t i = 0; i < WRITERS + READERS; i++) {
    actors[i] =
        (struct actor){.x = &x, .index = i, .random = next_random(&x.seed)};
    cr_assert_eq(pthread_create(&threads[i], NULL,
                                i < WRITERS ? writer : reader, &actors[i]),
                 0);
  }
  for (size_t i = 0; i < WRITERS + READERS; i++) pthread_join(threads[i], NULL);
  cairn__snapshot_drop(x.s);
  cr_assert_eq(x.bad, 0, "seed %llu", (unsigned long long)seed);
  cr_assert_eq(memcmp(r->data, x.model, r->n), 0, "a write was lost, seed %llu",
               (unsigned long long)seed);
  free(x.before);
  free(x.model);
  free(x.pieces);
  free(x.order);
}

static void run_many(cairn_snapshot_t mode, size_t off, size_t bytes,
                     uint64_t first, uint64_t n) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(off, bytes, first);
  for (uint64_t i = first; i < first + n; i++)
    run(pool, &r, mode, i * 0x9e3779b97f4a7c15u + 1);
  region_free(&r);
  cairn__pool_free(pool);
}

static uint64_t num_large(uint64_t usual) {
  const char *v = getenv("CAIRN_TEST_SCHEDULES");
  return v != NULL ? strtoull(v, NULL, 10) : usual;
}

Test(schedules, cow_gives_back_what_was_there_at_begin) {
  need_cow();
  run_many(CAIRN_SNAPSHOT_COW, 12345, 4 * G + 333, 1, TIMES(950));
}

Test(schedules, cow_of_64_mib_gives_back_what_was_there_at_begin) {
  need_cow();
  run_many(CAIRN_SNAPSHOT_COW, 0, 32 * G, 10001, num_large(TIMES(50)));
}

Test(schedules, lazy_gives_back_what_was_there_at_begin) {
  run_many(CAIRN_SNAPSHOT_LAZY, 7, 3 * G + 41, 20001, TIMES(200));
}

Test(schedules, lazy_of_64_mib_gives_back_what_was_there_at_begin) {
  run_many(CAIRN_SNAPSHOT_LAZY, G - 1, 32 * G, 30001, num_large(TIMES(10)));
}
