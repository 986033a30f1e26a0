/* The chunk shape of CAIRN_PLAN_CAIRN.
 *
 * No two ranks may write to one chunk, so along each axis every edge of a box
 * inside the array must be a multiple of the chunk's length: it divides the
 * greatest common divisor of the edges. An axis without such edges is free: it
 * is cut in nearly equal lengths, the last one at the array's edge.
 *
 *   1. as long as that allows on every axis
 *   2. down to the size asked for, outer axes first, so that rows stay whole
 *   3. smaller again until the holders of a box get equal shares of its bytes
 */
#include <inttypes.h>
#include <stdlib.h>

#include "strategy/plan.h"

#define DEFAULT_BYTES ((int64_t)16 << 20)
#define MIN_BYTES ((int64_t)64 << 10) /* not below this for balance's sake */
#define FAIR                                                      \
  10200 /* largest share to mean, in 1/10000, that is good enough \
         */
#define MAX_WORK ((size_t)1 << 18)  /* shares computed in search of balance */
#define MAX_TINY ((int64_t)1 << 24) /* chunks below TINY bytes, at most */
#define TINY 4096

struct kind { /* boxes of one extent that are shared by equally many */
  const int64_t *extent;
  size_t writers;
};

struct chunker {
  const cairn_plan_in_t *in;
  int64_t item, target;
  int64_t longest[CAIRN_MAX_RANK];
  bool free[CAIRN_MAX_RANK];
  cairn__divisors_t divisors[CAIRN_MAX_RANK]; /* of longest, if not free */
  struct kind *kinds; /* those with two writers or more */
  size_t num_kinds;
  size_t work;
};

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* 0 if no box has an edge inside the array. */
static int64_t common_edge(const struct chunker *c,
                           const cairn__plan_groups_t *g, int a) {
  int64_t d = 0, size = c->in->shape[a];
  for (size_t i = 0; i < g->n; i++) {
    int64_t start = g->v[i].origin[a], end = start + g->v[i].extent[a];
    d = gcd(d, start);
    if (end != size) d = gcd(d, end);
  }
  return d;
}

static bool find_limits(struct chunker *c, const cairn__plan_groups_t *g) {
  for (int a = 0; a < c->in->rank; a++) {
    int64_t d = common_edge(c, g, a);
    c->free[a] = d == 0;
    c->longest[a] = d == 0 ? c->in->shape[a] : d;
    if (d != 0 && !cairn__divisors(d, &c->divisors[a])) return false;
  }
  return true;
}

/* The longest chunk along an axis that is at most limit (>= 1). */
static int64_t fit(const struct chunker *c, int a, int64_t limit) {
  int64_t n = c->longest[a];
  if (limit >= n) return n;
  if (!c->free[a]) return cairn__divisors_fit(&c->divisors[a], limit);
  int64_t parts = (n - 1) / limit + 1;
  return (n - 1) / parts + 1;
}

static int64_t chunk_bytes(const struct chunker *c, const int64_t *chunk) {
  return cairn__plan_volume(c->in->rank, chunk) * c->item;
}

/* The axis to shorten next, and to what: the outermost that comes down close to
 * the target, else the one that stays closest to it; -1 if the chunk as it is
 * comes closer than all. */
static int next_axis(const struct chunker *c, const int64_t *chunk,
                     int64_t *length) {
  int64_t bytes = chunk_bytes(c, chunk), best = 0;
  int axis = -1;
  for (int a = 0; a < c->in->rank; a++) {
    if (chunk[a] == 1) continue;
    int64_t across = bytes / chunk[a], room = c->target / across;
    int64_t n = room > 0 ? fit(c, a, room) : 1;
    if (across * n <= best) continue;
    best = across * n;
    axis = a;
    *length = n;
    if (best >= c->target / 4) return a;
  }
  return (__int128)best * bytes > (__int128)c->target * c->target ? axis : -1;
}

static void to_target(const struct chunker *c, int64_t *chunk) {
  while (chunk_bytes(c, chunk) > c->target) {
    int64_t length = 1;
    int a = next_axis(c, chunk, &length);
    if (a < 0) return;
    chunk[a] = length;
  }
}

/* Largest share to mean, in 1/10000, if each kind is shared out equally. Stops
 * at what is not better than `best`. */
static int64_t unfairness(struct chunker *c, const int64_t *chunk,
                          int64_t best) {
  int64_t worst = 0;
  for (size_t i = 0; i < c->num_kinds && worst < best; i++) {
    const struct kind *k = &c->kinds[i];
    cairn__plan_grid_t g =
        cairn__plan_grid(c->in->rank, c->item, k->extent, chunk);
    int64_t last = 0, largest = 0;
    for (size_t w = 1; w <= k->writers; w++) {
      int64_t upto = (int64_t)((__int128)g.bytes * w / k->writers);
      int64_t at = cairn__plan_grid_bytes(&g, cairn__plan_grid_cut(&g, upto));
      if (at - last > largest) largest = at - last;
      last = at;
    }
    c->work += k->writers;
    int64_t ratio = (int64_t)((__int128)largest * 10000 * k->writers / g.bytes);
    if (ratio > worst) worst = ratio;
  }
  return worst;
}

/* No chunk may be larger than a fair share of the least. */
static int64_t fair_bytes(const struct chunker *c) {
  int64_t least = INT64_MAX;
  for (size_t i = 0; i < c->num_kinds; i++) {
    const struct kind *k = &c->kinds[i];
    int64_t share = cairn__plan_volume(c->in->rank, k->extent) * c->item /
                    (int64_t)k->writers;
    if (share < least) least = share;
  }
  return (int64_t)((__int128)least * FAIR / 10000);
}

struct search {
  struct chunker *c;
  int64_t room; /* fair_bytes */
  int64_t best;
  int64_t *chunk; /* that is the best so far */
};

/* Shortens `chunk` along axis a step by step. True: done, found or given up. */
static bool shorten(struct search *s, int64_t *chunk, int a) {
  const struct chunker *c = s->c;
  while (chunk[a] > 1) {
    int64_t across = chunk_bytes(c, chunk) / chunk[a];
    int64_t limit = s->room / across;
    if (limit > chunk[a] - 1) limit = chunk[a] - 1;
    chunk[a] = limit > 0 ? fit(c, a, limit) : 1;
    if (across * chunk[a] < MIN_BYTES || c->work > MAX_WORK) return true;
    int64_t u = unfairness(s->c, chunk, s->best);
    if (u >= s->best) continue;
    s->best = u;
    memcpy(s->chunk, chunk, (size_t)c->in->rank * sizeof *chunk);
    if (u <= FAIR) return true;
  }
  return false;
}

/* Along each axis, outer ones first; where one is used up, along the next also.
 */
static void to_fair(struct chunker *c, int64_t *chunk) {
  int64_t from[CAIRN_MAX_RANK], at[CAIRN_MAX_RANK];
  if (c->num_kinds == 0) return;
  struct search s = {.c = c, .chunk = chunk, .room = fair_bytes(c)};
  s.best = unfairness(c, chunk, INT64_MAX);
  memcpy(from, chunk, sizeof from);
  for (int first = 0; first < c->in->rank && s.best > FAIR; first++) {
    memcpy(at, from, sizeof at);
    for (int a = first; a < c->in->rank; a++)
      if (shorten(&s, at, a)) break;
  }
}

static int by_kind(const void *x, const void *y, void *arg) {
  const struct kind *a = x, *b = y;
  int rank = *(const int *)arg;
  for (int i = 0; i < rank; i++)
    if (a->extent[i] != b->extent[i])
      return a->extent[i] < b->extent[i] ? -1 : 1;
  return (a->writers > b->writers) - (a->writers < b->writers);
}

static bool find_kinds(struct chunker *c, const cairn__plan_groups_t *g) {
  int rank = c->in->rank;
  size_t n = 0;
  struct kind *k = calloc(g->n, sizeof *k);
  if (k == NULL) return false;
  for (size_t i = 0; i < g->n; i++) {
    int64_t bytes = cairn__plan_volume(rank, g->v[i].extent) * c->item;
    size_t w = cairn__plan_writers(bytes, cairn__plan_holders(c->in, &g->v[i]));
    if (w > 1) k[n++] = (struct kind){.extent = g->v[i].extent, .writers = w};
  }
  qsort_r(k, n, sizeof *k, by_kind, &rank);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || by_kind(&k[i], &k[c->num_kinds - 1], &rank) != 0)
      k[c->num_kinds++] = k[i];
  c->kinds = k;
  return true;
}

/* Edges without a common divisor leave chunks of an element or a row; that many
 * keys would cost more than the data. */
static cairn_code_t check_count(const struct chunker *c, const int64_t *chunk,
                                cairn_error_t *err) {
  int64_t bytes = chunk_bytes(c, chunk);
  cairn__plan_grid_t g =
      cairn__plan_grid(c->in->rank, c->item, c->in->shape, chunk);
  if (bytes >= TINY || bytes >= c->target || g.chunks <= MAX_TINY)
    return CAIRN_OK;
  return cairn_fail(err, CAIRN_UNSUPPORTED,
                    "the edges of the ranks' boxes have so small a common "
                    "divisor that it takes %" PRId64 " chunks of %" PRId64
                    " bytes; split in blocks of equal length",
                    g.chunks, bytes);
}

cairn_code_t cairn__plan_chunk(const cairn_plan_in_t *in,
                               const cairn__plan_groups_t *g, int64_t *chunk,
                               cairn_error_t *err) {
  struct chunker c = {
      .in = in,
      .item = (int64_t)cairn_dtype_size(in->dtype),
      .target = in->chunk_bytes > 0 ? in->chunk_bytes : DEFAULT_BYTES,
  };
  cairn_code_t rc = CAIRN_OK;
  if (find_limits(&c, g) && find_kinds(&c, g)) {
    memcpy(chunk, c.longest, (size_t)in->rank * sizeof *chunk);
    to_target(&c, chunk);
    to_fair(&c, chunk);
    rc = check_count(&c, chunk, err);
  } else {
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "choose a chunk");
  }
  for (int a = 0; a < in->rank; a++) cairn__divisors_reset(&c.divisors[a]);
  free(c.kinds);
  return rc;
}
