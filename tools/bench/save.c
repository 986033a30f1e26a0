/* bench save, bench restore: the form in which all peers are measured. Two
 * saves, the first in its process and one in the steady state; two restores of
 * the second save, with a cold page cache and a warm one. Each process prints
 * its line; whoever reads them takes the slowest. */
#include <stdio.h>
#include <sys/stat.h>

#include "bench.h"
#include "job.h"
#include "meter.h"
#include "workload.h"

struct run {
  const bench_args_t *a;
  const bench_world_t *w;
  const workload_t *load;
  state_t state;
  job_t job;
  int64_t alone;   /* resident bytes with the state and nothing else */
  char path[4096]; /* of the save at hand */
};

static bool begin(struct run *r, bool filled, cairn_error_t *err) {
  r->load = workload_find(r->a->workload);
  if (r->load == NULL) {
    cairn_fail(err, CAIRN_INVALID, "there is no workload %s", r->a->workload);
    return false;
  }
  cairn_snapshot_t mode =
      r->a->borrow ? CAIRN_SNAPSHOT_BORROW : CAIRN_SNAPSHOT_DEFAULT;
  if (state_open(r->load, r->w->rank, r->w->ranks, filled, mode, &r->state,
                 err) != CAIRN_OK)
    return false;
  r->alone = meter_rss();
  int64_t staging = filled && !r->a->borrow && !r->a->unprepared
                        ? workload_bytes(r->load) / r->w->ranks
                        : 0;
  if (job_open(r->w, staging, &r->job, err) == CAIRN_OK) return true;
  state_close(&r->state);
  return false;
}

static void end(struct run *r) {
  job_close(&r->job);
  state_close(&r->state);
}

static void head(const struct run *r, const char *phase) {
  printf(
      "{\"peer\": \"cairn\", \"workload\": \"%s\", \"phase\": \"%s\", "
      "\"rank\": %d, \"ranks\": %d",
      r->load->name, phase, r->w->rank, r->w->ranks);
}

/* --- save --- */

struct saved {
  job_times_t times;
  double settled;  /* what fsync of everything took after it */
  int64_t peak;    /* resident bytes above those of the state alone */
  double slowdown; /* of a computation beside it, after the stop */
};

/* Computes until the save is over; the part of its speed that was lost. */
static double compute_beside(cairn_save_t *save, double plain) {
  double begun = meter_now();
  int n = 0;
  for (;
       cairn_save_wait(save, CAIRN_SAVE_COMMITTED, 0, NULL) == CAIRN_TIMED_OUT;
       n++)
    meter_compute();
  double rate = n / (meter_now() - begun);
  return rate < plain ? 1 - rate / plain : 0;
}

/* After the call the last array is written over: the save must not see it. */
static bool save(struct run *r, double plain, bool overwrite, struct saved *out,
                 cairn_error_t *err) {
  size_t last = r->load->arrays - 1;
  cairn_save_t *s = NULL;
  double begun = meter_now();
  if (job_begin(&r->job, r->path, r->state.tree, &s, &out->times.stall, err) !=
      CAIRN_OK)
    return false;
  out->times.threads = meter_threads();
  if (overwrite && !r->a->borrow) state_spoil(&r->state, last);
  if (r->a->compute) out->slowdown = compute_beside(s, plain);
  cairn_code_t rc = cairn_save_wait(s, CAIRN_SAVE_COMMITTED, -1, err);
  out->times.done = meter_now() - begun;
  cairn_save_unref(s);
  return rc == CAIRN_OK;
}

static bool prepare_and_save(struct run *r, int k, double plain,
                             struct saved *out, cairn_error_t *err) {
  snprintf(r->path, sizeof r->path, "%s/s%d", r->a->dir, k);
  if (r->w->rank == 0) {
    char before[4096];
    snprintf(before, sizeof before, "%s/s0", r->a->dir);
    meter_remove_tree(k == 1 ? before : r->path);
    if (k == 1) meter_remove_tree(r->path);
    meter_prewarm(workload_bytes(r->load) * 3 / 2);
  }
  state_fill(&r->state, r->load->arrays - 1);
  r->w->barrier();
  meter_reset_peak();
  if (!save(r, plain, k == 1, out, err)) return false;
  out->peak = meter_peak() - r->alone;
  r->w->barrier();
  if (r->w->rank == 0) out->settled = meter_sync_tree(r->path);
  return true;
}

static void print_save(const struct run *r, const struct saved *v) {
  const struct saved *s = &v[1];
  double total = s->times.done + s->settled;
  if (!r->a->json) {
    printf(
        "%s: stop %.1f ms (first %.1f), committed after %.3f s, %.3f s with "
        "another fsync; %.1f MB beside the state; %d threads\n",
        r->load->name, s->times.stall * 1e3, v[0].times.stall * 1e3,
        s->times.done, total, (double)s->peak / 1e6, s->times.threads);
    return;
  }
  head(r, "save");
  if (r->a->saves > 1)
    printf(", \"first_stall_s\": %.6f, \"first_done_s\": %.6f",
           v[0].times.stall, v[0].times.done);
  printf(
      ", \"stall_s\": %.6f, \"done_s\": %.6f, \"total_s\": %.6f, "
      "\"peak_extra_bytes\": %lld, \"threads\": %d",
      s->times.stall, s->times.done, total,
      (long long)(s->peak > v[0].peak ? s->peak : v[0].peak), s->times.threads);
  if (r->a->compute) {
    double lost = s->times.stall;
    lost += s->slowdown * (s->times.done - s->times.stall);
    printf(", \"slowdown\": %.6f, \"lost_s\": %.6f", s->slowdown, lost);
  }
  printf("}\n");
}

int bench_save(const bench_args_t *a, const bench_world_t *w) {
  struct run r = {.a = a, .w = w};
  struct saved v[2] = {0};
  cairn_error_t err = {0};
  if (w->rank == 0) mkdir(a->dir, 0777);
  if (!begin(&r, true, &err)) return bench_failed("save", &err);
  double plain = a->compute ? meter_compute_rate() : 0;
  bool ok = true;
  for (int k = 2 - a->saves; ok && k < 2; k++)
    ok = prepare_and_save(&r, k, plain, &v[k], &err);
  if (ok) print_save(&r, v);
  end(&r);
  return ok ? 0 : bench_failed("save", &err);
}

/* --- restore --- */

struct restored {
  double seconds[2]; /* cold, warm */
  int64_t peak;
  bool cold, ok;
};

static bool restore(struct run *r, int k, struct restored *out,
                    cairn_error_t *err) {
  r->w->barrier();
  if (r->w->rank == 0) {
    if (k == 0) out->cold = meter_drop_caches();
    meter_prewarm((2 - k) * workload_bytes(r->load));
  }
  r->w->barrier();
  int64_t before = meter_reset_peak();
  double begun = meter_now();
  if (job_restore(&r->job, r->path, r->state.tree, err) != CAIRN_OK)
    return false;
  out->seconds[k] = meter_now() - begun;
  /* The peers' memory is made by the call and counts; ours was there. */
  out->peak = meter_peak() - before + workload_bytes(r->load) / r->w->ranks;
  r->w->barrier();
  if (k == 0) out->ok = state_check(&r->state);
  return true;
}

static void print_restore(const struct run *r, const struct restored *v) {
  if (!r->a->json) {
    printf("%s: restored in %.3f s%s, again in %.3f s: %s\n", r->load->name,
           v->seconds[0], v->cold ? "" : " (page cache not dropped)",
           v->seconds[1], v->ok ? "as it was" : "NOT as it was");
    return;
  }
  head(r, "restore");
  printf(
      ", \"restore_s\": %.6f, \"restore_warm_s\": %.6f, "
      "\"restore_peak_bytes\": %lld, \"ok\": %s",
      v->seconds[0], v->seconds[1], (long long)v->peak,
      v->ok ? "true" : "false");
  if (r->w->rank == 0) printf(", \"cold\": %s", v->cold ? "true" : "false");
  printf("}\n");
}

int bench_restore(const bench_args_t *a, const bench_world_t *w) {
  struct run r = {.a = a, .w = w};
  struct restored v = {0};
  cairn_error_t err = {0};
  if (!begin(&r, false, &err)) return bench_failed("restore", &err);
  snprintf(r.path, sizeof r.path, "%s/s1", a->dir);
  bool ok = restore(&r, 0, &v, &err) && restore(&r, 1, &v, &err);
  if (ok) print_restore(&r, &v);
  end(&r);
  return ok ? 0 : bench_failed("restore", &err);
}
