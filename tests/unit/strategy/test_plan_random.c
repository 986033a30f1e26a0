/* Random tilings: whatever boxes fill a shape, plans hold what they promise;
 * and with one box gone, or one moved, the fault is found where it is. */
#include "plan_case.h"

struct box {
  int64_t origin[4], extent[4];
};

struct tiling {
  uint64_t *seed;
  int rank;
  struct box v[64];
  size_t n;
};

/* Splits a box at a random place, and the parts again. */
static void split(struct tiling *t, struct box b, int depth) {
  int a = (int)draw_in(t->seed, 0, t->rank - 1);
  if (depth == 0 || b.extent[a] == 1 || draw_in(t->seed, 0, 5) == 0) {
    t->v[t->n++] = b;
    return;
  }
  int64_t at = draw_in(t->seed, 1, b.extent[a] - 1);
  struct box low = b, high = b;
  low.extent[a] = at;
  high.origin[a] += at;
  high.extent[a] -= at;
  split(t, low, depth - 1);
  split(t, high, depth - 1);
}

#define RANKS 9

/* A random shape of at most 4 axes, tiled; each box with one to three holders,
 * in any order, some ranks with empty boxes. */
static void make(struct plan_case *c, struct tiling *t, uint64_t *seed) {
  struct box all = {{0}, {0}};
  t->seed = seed;
  t->rank = (int)draw_in(seed, 1, 4);
  t->n = 0;
  for (int a = 0; a < t->rank; a++)
    all.extent[a] = draw_in(seed, 1, t->rank < 3 ? 60 : 12);
  split(t, all, 5);
  case_begin(c, t->rank, all.extent);
  c->in.num_ranks = RANKS;
  c->in.chunk_bytes = draw_in(seed, 0, 1) ? draw_in(seed, 4, 2000) : 0;
  for (size_t i = 0; i < t->n; i++) {
    int copies = (int)draw_in(seed, 1, 3);
    for (int k = 0; k < copies; k++)
      case_add(c, (int)draw_in(seed, 0, RANKS - 1), t->v[i].origin,
               t->v[i].extent);
    if (draw_in(seed, 0, 4) == 0)
      case_add(c, (int)draw_in(seed, 0, RANKS - 1), t->v[i].origin,
               (int64_t[4]){0});
  }
}

static void expect_same(int rank, const cairn_plan_t *p,
                        const cairn_plan_t *q) {
  cr_assert_eq(p->n, q->n);
  cr_assert_eq(p->meta_owner, q->meta_owner);
  expect_ints(p->chunk, q->chunk, rank);
  for (size_t i = 0; i < p->n; i++) {
    cr_assert_eq(p->pieces[i].box, q->pieces[i].box);
    expect_piece(p, i, q->pieces[i].owner, rank, q->pieces[i].origin,
                 q->pieces[i].extent);
  }
}

Test(random_tiling, pieces_tile_the_array_and_are_the_same_again) {
  uint64_t seed = test_seed();
  for (int round = 0; round < 3000; round++) {
    struct plan_case c;
    struct tiling t;
    cairn_plan_t p, q;
    cairn_error_t err = {0};
    int64_t load[RANKS], again[RANKS], before = 0, after = 0;
    make(&c, &t, &seed);
    for (int r = 0; r < RANKS; r++)
      before += load[r] = again[r] = draw_in(&seed, 0, 5000);
    c.in.load = load;
    cr_assert_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_OK, "%s",
                 err.message);
    expect_sound(&c.in, &p);
    for (int r = 0; r < RANKS; r++) after += load[r];
    cr_assert_eq(after - before, volume_of(t.rank, c.shape) * 4);
    cr_assert_eq(p.meta_owner, p.pieces[0].owner);
    c.in.load = again;
    cr_assert_eq(cairn_plan_array(&c.in, &q, &err), CAIRN_OK);
    expect_same(t.rank, &p, &q);
    expect_ints(load, again, RANKS);
    cairn_plan_free(&p);
    cairn_plan_free(&q);
    case_end(&c);
  }
}

/* Reads "[a:b, c:d]" from a message. */
static bool read_box(const char *s, int rank, struct box *out) {
  if (s == NULL || *s++ != '[') return false;
  for (int a = 0; a < rank; a++) {
    char *end;
    int64_t from = strtoll(s, &end, 10);
    if (*end != ':') return false;
    int64_t to = strtoll(end + 1, &end, 10);
    out->origin[a] = from;
    out->extent[a] = to - from;
    s = end + (a + 1 < rank ? 2 : 0);
  }
  return *s == ']';
}

/* All around it is held, so the hole is neither more nor less than the box. */
Test(random_tiling, box_that_is_gone_is_named) {
  uint64_t seed = test_seed();
  for (int round = 0; round < 2000; round++) {
    struct plan_case c;
    struct tiling t;
    cairn_plan_t p;
    cairn_error_t err = {0};
    struct box hole;
    make(&c, &t, &seed);
    const struct box *gone = &t.v[draw_in(&seed, 0, (int64_t)t.n - 1)];
    size_t kept = 0;
    for (size_t i = 0; i < c.in.n; i++) {
      size_t w = (size_t)t.rank * sizeof(int64_t);
      if (memcmp(c.boxes[i].origin, gone->origin, w) != 0 ||
          memcmp(c.boxes[i].extent, gone->extent, w) != 0)
        c.boxes[kept++] = c.boxes[i];
    }
    c.in.n = kept;
    cr_assert_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_INVALID);
    cr_assert(read_box(strchr(err.message, '['), t.rank, &hole), "%s",
              err.message);
    expect_ints(hole.origin, gone->origin, t.rank);
    expect_ints(hole.extent, gone->extent, t.rank);
    case_end(&c);
  }
}

static bool listed(const struct plan_case *c, const struct box *b) {
  size_t w = (size_t)c->in.rank * sizeof(int64_t);
  for (size_t i = 0; i < c->in.n; i++)
    if (memcmp(c->boxes[i].origin, b->origin, w) == 0 &&
        memcmp(c->boxes[i].extent, b->extent, w) == 0)
      return true;
  return false;
}

/* One more box anywhere: both that are named are there, differ and meet. */
Test(random_tiling, box_too_many_is_named) {
  uint64_t seed = test_seed();
  for (int round = 0; round < 2000; round++) {
    struct plan_case c;
    struct tiling t;
    cairn_plan_t p;
    cairn_error_t err = {0};
    struct box extra = {{0}, {0}}, x, y;
    make(&c, &t, &seed);
    for (int a = 0; a < t.rank; a++) {
      extra.origin[a] = draw_in(&seed, 0, c.shape[a] - 1);
      extra.extent[a] = draw_in(&seed, 1, c.shape[a] - extra.origin[a]);
    }
    if (listed(&c, &extra)) { /* one replica more: nothing wrong */
      case_end(&c);
      continue;
    }
    case_add(&c, 0, extra.origin, extra.extent);
    cr_assert_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_INVALID);
    char *first = strchr(err.message, '['), *second = strrchr(err.message, '[');
    cr_assert(read_box(first, t.rank, &x), "%s", err.message);
    cr_assert(read_box(second, t.rank, &y), "%s", err.message);
    cr_assert(listed(&c, &x) && listed(&c, &y), "%s", err.message);
    cr_assert_neq(first, second, "%s", err.message);
    for (int a = 0; a < t.rank; a++) {
      cr_assert_lt(x.origin[a], y.origin[a] + y.extent[a]);
      cr_assert_lt(y.origin[a], x.origin[a] + x.extent[a]);
    }
    case_end(&c);
  }
}

/* Orbax's rule on random grids of equal shards with equally many replicas. */
Test(random_tiling, grids_by_orbax_rule) {
  uint64_t seed = test_seed();
  for (int round = 0; round < 2000; round++) {
    struct plan_case c;
    int64_t shape[3], grid[3], extent[3];
    int rank = (int)draw_in(&seed, 1, 3), replicas = (int)draw_in(&seed, 1, 4);
    for (int a = 0; a < rank; a++) {
      grid[a] = draw_in(&seed, 1, 3);
      extent[a] = draw_in(&seed, 1, 12);
      shape[a] = grid[a] * extent[a];
    }
    case_begin(&c, rank, shape);
    c.in.rule = CAIRN_PLAN_ORBAX;
    c.in.num_ranks = RANKS;
    c.in.chunk_bytes = draw_in(&seed, 0, 1) ? draw_in(&seed, 4, 200) : 0;
    for (int64_t i = 0; i < volume_of(rank, grid) * replicas; i++) {
      int64_t at[3], rest = i / replicas;
      for (int a = rank - 1; a >= 0; rest /= grid[a--])
        at[a] = rest % grid[a] * extent[a];
      case_add(&c, (int)draw_in(&seed, 0, RANKS - 1), at, extent);
    }
    cairn_plan_t p;
    cairn_error_t err = {0};
    cr_assert_eq(cairn_plan_array(&c.in, &p, &err), CAIRN_OK, "%s",
                 err.message);
    expect_sound(&c.in, &p);
    for (int a = 0; a < rank; a++)
      cr_assert_eq(p.write_shape[a] % p.chunk[a], 0);
    cairn_plan_free(&p);
    case_end(&c);
  }
}
