/* bench snapshot: how long a save holds its caller, for each way to take the
 * state, beside the time of a memcpy of as many bytes. The saves are real ones,
 * in a directory that is removed again. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "job.h"
#include "limit.h"
#include "meter.h"
#include "workload.h"

enum { ARRAYS = 64, COLUMNS = 1024 };

static const struct mode {
  const char *name;
  cairn_snapshot_t mode;
} modes[] = {{"copy", CAIRN_SNAPSHOT_COPY},
             {"lazy", CAIRN_SNAPSHOT_LAZY},
             {"cow", CAIRN_SNAPSHOT_COW},
             {"borrow", CAIRN_SNAPSHOT_BORROW}};

struct result {
  double *stop, *copy; /* of each round */
  int n;
};

static bool one(job_t *j, const bench_args_t *a, state_t *s, const char *dir,
                struct result *out, cairn_error_t *err) {
  char path[4200];
  job_times_t t = {0};
  snprintf(path, sizeof path, "%s/s", dir);
  double copy = limit_memcpy(workload_bytes(s->w));
  (void)a;
  if (job_save(j, path, s->tree, &t, err) != CAIRN_OK) return false;
  meter_remove_tree(path);
  out->stop[out->n] = t.stall;
  out->copy[out->n++] = copy;
  return true;
}

static void print(const bench_args_t *a, const char *mode, int64_t bytes,
                  struct result *r) {
  double ratios[1000];
  for (int i = 0; i < r->n; i++) ratios[i] = r->stop[i] / r->copy[i];
  double ratio = meter_median(ratios, r->n);
  double stop = meter_median(r->stop, r->n), copy = meter_median(r->copy, r->n);
  if (a->json)
    printf(
        "{\"bench\": \"snapshot\", \"mode\": \"%s\", \"bytes\": %lld, "
        "\"rounds\": %d, \"stop_s\": %.6f, \"memcpy_s\": %.6f, \"ratio\": "
        "%.4f}\n",
        mode, (long long)bytes, r->n, stop, copy, ratio);
  else
    printf("%-8s stop %9.3f ms   memcpy %9.3f ms   ratio %.3f\n", mode,
           stop * 1e3, copy * 1e3, ratio);
}

/* The first save allocates; it is not among the rounds. */
static bool measure(const bench_args_t *a, const bench_world_t *w,
                    const workload_t *load, const struct mode *m,
                    const char *dir, struct result *out, cairn_error_t *err) {
  state_t s;
  job_t j;
  if (state_open(load, 0, 1, true, m->mode, &s, err) != CAIRN_OK) return false;
  bool ok =
      job_open(w, 0, &j, err) == CAIRN_OK && one(&j, a, &s, dir, out, err);
  out->n = 0;
  while (ok && out->n < a->rounds) ok = one(&j, a, &s, dir, out, err);
  job_close(&j);
  state_close(&s);
  return ok;
}

int bench_snapshot(const bench_args_t *a, const bench_world_t *w) {
  int64_t bytes = a->bytes > 0 ? a->bytes : (int64_t)256 << 20;
  int64_t row = (int64_t)ARRAYS * COLUMNS * (int64_t)sizeof(float);
  const workload_t load = {.name = "snapshot",
                           .arrays = ARRAYS,
                           .rows = (bytes + row - 1) / row,
                           .columns = COLUMNS};
  double stop[1000], copy[1000];
  cairn_error_t err = {0};
  char dir[4096];
  bool ok = true;
  snprintf(dir, sizeof dir, "%s/cairn-bench.XXXXXX", a->dir);
  if (mkdtemp(dir) == NULL) {
    cairn_fail(&err, CAIRN_IO, "cannot make a directory in %s", a->dir);
    return bench_failed("snapshot", &err);
  }
  for (size_t i = 0; ok && i < sizeof modes / sizeof *modes; i++) {
    struct result r = {.stop = stop, .copy = copy};
    ok = measure(a, w, &load, &modes[i], dir, &r, &err);
    if (ok) print(a, modes[i].name, workload_bytes(&load), &r);
  }
  meter_remove_tree(dir);
  return ok ? 0 : bench_failed("snapshot", &err);
}
