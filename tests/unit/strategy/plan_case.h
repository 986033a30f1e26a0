/* Building the planner's input by hand: boxes kept in one growing array. */
#ifndef CAIRN_TESTS_PLAN_CASE_H_
#define CAIRN_TESTS_PLAN_CASE_H_

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "cairn/array.h"

#define CASE_MAX_BOXES 20000

struct plan_case {
  cairn_plan_in_t in;
  int64_t shape[CAIRN_MAX_RANK];
  cairn_plan_box_t *boxes;
  int64_t *coords;
};

/* float32 named "params.w", four ranks, unless the test says otherwise. */
static inline void case_begin(struct plan_case *c, int rank,
                              const int64_t *shape) {
  memset(c, 0, sizeof *c);
  if (rank > 0) memcpy(c->shape, shape, (size_t)rank * sizeof *shape);
  c->boxes = calloc(CASE_MAX_BOXES, sizeof *c->boxes);
  c->coords = calloc((size_t)CASE_MAX_BOXES * 2 * (rank > 0 ? (size_t)rank : 1),
                     sizeof *c->coords);
  cr_assert(c->boxes != NULL && c->coords != NULL);
  c->in = (cairn_plan_in_t){
      .size = sizeof c->in,
      .name = cairn_bytes_str("params.w"),
      .dtype = CAIRN_F32,
      .rank = rank,
      .shape = c->shape,
      .boxes = c->boxes,
      .num_ranks = 4,
  };
}

static inline void case_add(struct plan_case *c, int owner,
                            const int64_t *origin, const int64_t *extent) {
  size_t r = (size_t)c->in.rank, i = c->in.n++;
  int64_t *at = c->coords + 2 * i * r;
  cr_assert(i < CASE_MAX_BOXES);
  if (r > 0) {
    memcpy(at, origin, r * sizeof *at);
    memcpy(at + r, extent, r * sizeof *at);
  }
  c->boxes[i] =
      (cairn_plan_box_t){.owner = owner, .origin = at, .extent = at + r};
}

static inline void case_end(struct plan_case *c) {
  free(c->boxes);
  free(c->coords);
}

#define INTS(...) ((const int64_t[]){__VA_ARGS__})
#define RANK_OF(...) ((int)(sizeof(INTS(__VA_ARGS__)) / sizeof(int64_t)))
#define CASE(c, ...) case_begin(c, RANK_OF(__VA_ARGS__), INTS(__VA_ARGS__))

static inline void expect_ints(const int64_t *got, const int64_t *want, int n) {
  for (int i = 0; i < n; i++)
    cr_expect_eq(got[i], want[i], "number %d: %lld, want %lld", i,
                 (long long)got[i], (long long)want[i]);
}

static inline void expect_piece(const cairn_plan_t *p, size_t i, int owner,
                                int rank, const int64_t *origin,
                                const int64_t *extent) {
  cr_assert_lt(i, p->n);
  cr_expect_eq(p->pieces[i].owner, owner);
  expect_ints(p->pieces[i].origin, origin, rank);
  expect_ints(p->pieces[i].extent, extent, rank);
}

static inline int64_t volume_of(int rank, const int64_t *extent) {
  int64_t v = 1;
  for (int a = 0; a < rank; a++) v *= extent[a];
  return v;
}

/* What must be true of every plan, looked at with nothing but the definition:
 * pieces lie in a box of their owner, on the chunk grid, apart from each other,
 * and add up to the array. */
static inline void expect_sound(const cairn_plan_in_t *in,
                                const cairn_plan_t *p) {
  int64_t sum = 0;
  for (size_t i = 0; i < p->n; i++) {
    const cairn_plan_piece_t *x = &p->pieces[i];
    cr_assert_lt(x->box, in->n);
    const cairn_plan_box_t *b = &in->boxes[x->box];
    cr_assert_eq(x->owner, b->owner);
    for (int a = 0; a < in->rank; a++) {
      int64_t end = x->origin[a] + x->extent[a];
      cr_assert_gt(x->extent[a], 0);
      cr_assert_geq(x->origin[a], b->origin[a]);
      cr_assert_leq(end, b->origin[a] + b->extent[a]);
      cr_assert_eq(x->origin[a] % p->chunk[a], 0);
      cr_assert(end % p->chunk[a] == 0 || end == in->shape[a]);
    }
    sum += volume_of(in->rank, x->extent);
    for (size_t j = 0; j < i; j++) {
      bool apart = false;
      const cairn_plan_piece_t *y = &p->pieces[j];
      for (int a = 0; a < in->rank; a++)
        apart |= x->origin[a] + x->extent[a] <= y->origin[a] ||
                 y->origin[a] + y->extent[a] <= x->origin[a];
      cr_assert(apart, "pieces %zu and %zu meet", j, i);
    }
  }
  cr_assert_eq(sum, volume_of(in->rank, in->shape));
}

/* Numbers that look random and come out the same from the same seed. */
static inline uint64_t draw(uint64_t *s) {
  uint64_t z = *s += 0x9e3779b97f4a7c15u; /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline int64_t draw_in(uint64_t *s, int64_t lo, int64_t hi) {
  return lo + (int64_t)(draw(s) % (uint64_t)(hi - lo + 1));
}

/* CAIRN_SEED of the environment, else from the clock; printed either way. */
uint64_t test_seed(void);

#endif
