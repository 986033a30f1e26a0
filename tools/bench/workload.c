#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const workload_t workloads[] = {
    {"W0", 8, 1024, 256, false},   {"W1", 64, 4096, 1024, false},
    {"W2", 10000, 32, 32, false},  {"W2x", 100000, 32, 32, false},
    {"W3", 32, 8192, 4096, false}, {"W4", 64, 4096, 1024, false},
    {"W5", 64, 4096, 1024, true},
};

const workload_t *workload_find(const char *name) {
  for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
    if (strcmp(name, workloads[i].name) == 0) return &workloads[i];
  return NULL;
}

int64_t workload_bytes(const workload_t *w) {
  return (int64_t)w->arrays * w->rows * w->columns * (int64_t)sizeof(float);
}

/* --- numbers --- */

static uint64_t next(uint64_t *s) { /* xorshift64 */
  *s ^= *s << 13;
  *s ^= *s >> 7;
  return *s ^= *s << 17;
}

/* By Box and Muller, two at a time; n is even. */
static void normals(float *out, size_t n) {
  uint64_t s = UINT64_C(88172645463325252);
  for (size_t i = 0; i + 1 < n; i += 2) {
    uint64_t x = next(&s);
    float u = ((float)(x >> 40) + 1) / 16777217.0F;
    float v = (float)(x & 0xffffff) / 16777216.0F * 6.2831853F;
    float r = sqrtf(-2 * logf(u));
    out[i] = r * cosf(v);
    out[i + 1] = r * sinf(v);
  }
}

static void small_ints(float *out, size_t n) {
  uint64_t s = UINT64_C(88172645463325252);
  for (size_t i = 0; i < n; i++) out[i] = (float)(next(&s) >> 60);
}

/* Array i, element at of the whole array: the base scaled or turned by i. */
static void make(const state_t *s, size_t i, float *out) {
  size_t all = (size_t)(s->w->rows * s->w->columns);
  size_t at = (size_t)(s->first * s->w->columns);
  size_t n = (size_t)(s->rows * s->w->columns);
  float scale = 1 + (float)i / (float)s->w->arrays;
  if (s->w->ints) { /* turned, and back to the start at the end */
    at = (at + i * 7919) % all;
    size_t here = all - at < n ? all - at : n;
    memcpy(out, s->base + at, here * sizeof *out);
    memcpy(out + here, s->base, (n - here) * sizeof *out);
    return;
  }
  for (size_t k = 0; k < n; k++) out[k] = s->base[at + k] * scale;
}

void state_fill(state_t *s, size_t i) {
  make(s, i, s->data[i]);
}

void state_spoil(state_t *s, size_t i) {
  size_t n = (size_t)(s->rows * s->w->columns);
  for (size_t k = 0; k < n; k++) s->data[i][k] = -1;
}

bool state_check(const state_t *s) {
  const size_t which[] = {0, s->w->arrays / 2, s->w->arrays - 1};
  size_t bytes = (size_t)(s->rows * s->w->columns) * sizeof(float);
  float *want = malloc(bytes + 1);
  bool ok = want != NULL;
  for (size_t i = 0; ok && i < 3; i++) {
    make(s, which[i], want);
    ok = memcmp(want, s->data[which[i]], bytes) == 0;
  }
  free(want);
  return ok;
}

/* --- the tree --- */

static cairn_code_t no_memory(cairn_error_t *err) {
  return cairn_fail(err, CAIRN_NO_MEMORY, "no memory for the state");
}

static cairn_code_t put(state_t *s, size_t i, cairn_snapshot_t snapshot,
                        cairn_error_t *err) {
  char name[32];
  snprintf(name, sizeof name, "layer_%06zu", i);
  return cairn_tree_put_array(
      s->tree, name,
      &(cairn_array_t){.dtype = CAIRN_F32,
                       .rank = 2,
                       .shape = {s->w->rows, s->w->columns},
                       .origin = {s->first, 0},
                       .extent = {s->rows, s->w->columns},
                       .empty = s->rows == 0,
                       .snapshot = snapshot,
                       .data = s->data[i]},
      err);
}

static cairn_code_t add(state_t *s, size_t i, bool filled,
                        cairn_snapshot_t snapshot, cairn_error_t *err) {
  size_t bytes = (size_t)(s->rows * s->w->columns) * sizeof(float);
  s->data[i] = s->huge ? cairn_alloc(bytes) : malloc(bytes + 1);
  if (s->data[i] == NULL) return no_memory(err);
  if (filled)
    state_fill(s, i);
  else
    memset(s->data[i], 0xff, bytes);
  return put(s, i, snapshot, err);
}

cairn_code_t state_open(const workload_t *w, int rank, int ranks, bool filled,
                        cairn_snapshot_t snapshot, state_t *out,
                        cairn_error_t *err) {
  state_t s = {.w = w,
               .rank = rank,
               .ranks = ranks,
               .huge = snapshot == CAIRN_SNAPSHOT_COW};
  size_t n = (size_t)(w->rows * w->columns);
  s.first = w->rows * rank / ranks;
  s.rows = w->rows * (rank + 1) / ranks - s.first;
  s.base = malloc(n * sizeof *s.base);
  s.data = calloc(w->arrays, sizeof *s.data);
  cairn_code_t rc = CAIRN_OK;
  if (s.base == NULL || s.data == NULL)
    rc = no_memory(err);
  else
    (w->ints ? small_ints : normals)(s.base, n);
  if (rc == CAIRN_OK) rc = cairn_tree_new(&s.tree, err);
  for (size_t i = 0; i < w->arrays && rc == CAIRN_OK; i++)
    rc = add(&s, i, filled, snapshot, err);
  *out = s;
  if (rc != CAIRN_OK) state_close(out);
  return rc;
}

void state_close(state_t *s) {
  cairn_tree_free(s->tree);
  for (size_t i = 0; s->data != NULL && i < s->w->arrays; i++)
    (s->huge ? cairn_free : free)(s->data[i]);
  free(s->data);
  free(s->base);
  *s = (state_t){0};
}
