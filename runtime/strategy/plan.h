/* The write planner's inside: which rank writes what of one array.
 *
 *   plan.c         checks the input, sorts boxes into groups, calls a rule
 *   plan_boxes.c   groups of equal boxes; the list of pieces; text of a box
 *   plan_tiling.c  do the distinct boxes tile the shape exactly?
 *   plan_divisors.c  divisors of a number, which chunks must be
 *   plan_orbax.c   CAIRN_PLAN_ORBAX and CAIRN_PLAN_PRIMARY
 *   plan_chunk.c   CAIRN_PLAN_CAIRN: the chunk shape
 *   plan_share.c   CAIRN_PLAN_CAIRN: the chunks of a box among its holders
 *   plan_grid.c    the chunks of one box in C order, which both need
 *
 * Everything is integer arithmetic on the input alone, so that every rank comes
 * to the same plan. Elements times their size fit int64 (plan.c checks), and so
 * does whatever is a part of that. */
#ifndef CAIRN_STRATEGY_PLAN_H_
#define CAIRN_STRATEGY_PLAN_H_

#include "cairn/array.h"

/* A distinct box that is not empty, and everyone who holds it. */
typedef struct cairn__plan_group {
  const int64_t *origin, *extent;
  const size_t *boxes; /* indexes into in->boxes, by owner, then ascending */
  size_t n;
} cairn__plan_group_t;

typedef struct cairn__plan_groups {
  cairn__plan_group_t *v; /* by origin, then extent, first axis first */
  size_t n;
  size_t *order; /* what the groups' `boxes` point into */
} cairn__plan_groups_t;

CAIRN_MUST_CHECK cairn_code_t cairn__plan_group(const cairn_plan_in_t *in,
                                                cairn__plan_groups_t *out,
                                                cairn_error_t *err);
void cairn__plan_groups_reset(cairn__plan_groups_t *g);

/* CAIRN_INVALID with two ranks and their boxes, or with a box nobody holds. */
CAIRN_MUST_CHECK cairn_code_t cairn__plan_tiles(const cairn_plan_in_t *in,
                                                const cairn__plan_groups_t *g,
                                                cairn_error_t *err);

/* "[0:4, 8:16]", cut if it does not fit. */
typedef struct cairn__plan_text {
  char s[320];
} cairn__plan_text_t;
cairn__plan_text_t cairn__plan_text(int rank, const int64_t *origin,
                                    const int64_t *extent);

static inline int64_t cairn__plan_volume(int rank, const int64_t *extent) {
  int64_t v = 1;
  for (int a = 0; a < rank; a++) v *= extent[a];
  return v;
}

static inline bool cairn__plan_same(int rank, const int64_t *a,
                                    const int64_t *b) {
  return rank == 0 || memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

/* For qsort of int64_t, ascending. */
static inline int cairn__plan_by_value(const void *x, const void *y) {
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Pieces as they are found. Running out of memory sets `failed`; the caller
 * looks once, at the end. */
typedef struct cairn__plan_list {
  int rank;
  int64_t item;
  int64_t *load; /* of in->num_ranks ranks; grows with each piece */
  cairn_plan_piece_t *pieces;
  int64_t *coords; /* origin and extent of each piece */
  size_t n, cap;
  bool failed;
} cairn__plan_list_t;
void cairn__plan_add(cairn__plan_list_t *l, const cairn_plan_in_t *in,
                     size_t box, const int64_t *origin, const int64_t *extent);

/* --- divisors --- */

typedef struct cairn__divisors {
  int64_t *v; /* ascending, from 1 to the number itself */
  size_t n;
} cairn__divisors_t;

/* Of n >= 1. False: no memory. A composite factor whose primes are all above
 * 2^21 counts as a prime, which bounds the time: then some divisors above 2^21
 * are left out. */
bool cairn__divisors(int64_t n, cairn__divisors_t *out);
void cairn__divisors_reset(cairn__divisors_t *d);
/* The largest that is at most limit (>= 1). */
int64_t cairn__divisors_fit(const cairn__divisors_t *d, int64_t limit);

/* --- rules --- */

/* Orbax's choice of a chunk, `choose_chunk` of reference arrays.md B4. target
 * 0: none. cut: axes to cut to 1 whatever the target (its shard_axes). */
CAIRN_MUST_CHECK cairn_code_t cairn__plan_orbax_chunk(
    int rank, const int64_t *shape, const int64_t *write_shape, int64_t item,
    int64_t target, const int *cut, size_t num_cut, int64_t *chunk,
    cairn_error_t *err);

CAIRN_MUST_CHECK cairn_code_t cairn__plan_orbax(const cairn_plan_in_t *in,
                                                const cairn__plan_groups_t *g,
                                                cairn__plan_list_t *list,
                                                cairn_plan_t *out,
                                                cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__plan_primary(const cairn_plan_in_t *in,
                                                  const cairn__plan_groups_t *g,
                                                  cairn__plan_list_t *list,
                                                  cairn_plan_t *out,
                                                  cairn_error_t *err);

/* --- CAIRN_PLAN_CAIRN --- */

/* The chunks of a box, numbered in C order. Its origin is on the chunk grid. */
typedef struct cairn__plan_grid {
  int rank;
  int64_t item;
  const int64_t *extent, *chunk;
  int64_t count[CAIRN_MAX_RANK]; /* chunks along each axis */
  int64_t per[CAIRN_MAX_RANK];   /* chunks in a step of one along it */
  int64_t inner[CAIRN_MAX_RANK]; /* elements of the axes after it */
  int64_t chunks, bytes;
} cairn__plan_grid_t;

cairn__plan_grid_t cairn__plan_grid(int rank, int64_t item,
                                    const int64_t *extent,
                                    const int64_t *chunk);
/* The number of chunks, from the first, whose bytes come nearest to `bytes`. */
int64_t cairn__plan_grid_cut(const cairn__plan_grid_t *g, int64_t bytes);
/* Bytes of the first i chunks. */
int64_t cairn__plan_grid_bytes(const cairn__plan_grid_t *g, int64_t i);

/* Distinct owners in a group, and how many of them share in writing it. */
size_t cairn__plan_holders(const cairn_plan_in_t *in,
                           const cairn__plan_group_t *g);
size_t cairn__plan_writers(int64_t bytes, size_t holders);

CAIRN_MUST_CHECK cairn_code_t cairn__plan_chunk(const cairn_plan_in_t *in,
                                                const cairn__plan_groups_t *g,
                                                int64_t *chunk,
                                                cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__plan_share(const cairn_plan_in_t *in,
                                                const cairn__plan_groups_t *g,
                                                const int64_t *chunk,
                                                cairn__plan_list_t *list,
                                                cairn_error_t *err);

#endif
