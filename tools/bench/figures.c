/* bench figures: what was measured beside what the machine could do at best,
 * timed in the same round, and the median of the ratios of all rounds. Each
 * round measures every figure once, so that what else the machine does falls on
 * all of them alike. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "job.h"
#include "limit.h"
#include "meter.h"
#include "workload.h"

enum { MAX_ROUNDS = 1000, MAX_FIGURES = 16 };

struct figure {
  const char *name, *limit;
  double value[MAX_ROUNDS], against[MAX_ROUNDS], ratio[MAX_ROUNDS];
  int n;
};

struct bench {
  const bench_args_t *a;
  const bench_world_t *w;
  char dir[4096], path[4200];
  struct figure *figures;
  int n;
  int64_t peak; /* resident bytes of the saves so far, at most */
};

/* A figure of this round. What is divided by what is said by `up`: a limit is
 * divided by a value that should come up to it; a value by a limit that it
 * should come down to. */
static void note(struct bench *b, const char *name, double value,
                 const char *limit, double against, bool up) {
  int i = 0;
  while (i < b->n && strcmp(b->figures[i].name, name) != 0) i++;
  if (i == MAX_FIGURES) return;
  if (i == b->n)
    b->figures[b->n++] = (struct figure){.name = name, .limit = limit};
  struct figure *f = &b->figures[i];
  if (against <= 0 || value <= 0 || f->n == MAX_ROUNDS) return;
  f->value[f->n] = value;
  f->against[f->n] = against;
  f->ratio[f->n++] = up ? against / value : value / against;
}

static void print(const struct bench *b, struct figure *f) {
  double ratio = meter_median(f->ratio, f->n);
  double value = meter_median(f->value, f->n);
  double against = meter_median(f->against, f->n);
  if (b->a->json)
    printf(
        "{\"bench\": \"figures\", \"figure\": \"%s\", \"rounds\": %d, "
        "\"value\": %.9f, \"limit\": \"%s\", \"limit_value\": %.9f, "
        "\"ratio\": %.4f}\n",
        f->name, f->n, value, f->limit, against, ratio);
  else
    printf("| %s | %.6g | %s %.6g | %.3f |\n", f->name, value, f->limit,
           against, ratio);
}

/* --- the figures of a workload --- */

static bool save(struct bench *b, job_t *j, state_t *s, job_times_t *t,
                 cairn_error_t *err) {
  meter_remove_tree(b->path);
  meter_prewarm(workload_bytes(s->w) * 3 / 2);
  meter_reset_peak();
  cairn_code_t rc = job_save(j, b->path, s->tree, t, err);
  if (b->peak < meter_peak()) b->peak = meter_peak();
  return rc == CAIRN_OK;
}

/* A computation beside the save: all that it loses. */
static bool lost(struct bench *b, job_t *j, state_t *s, double *out,
                 cairn_error_t *err) {
  cairn_save_t *save = NULL;
  double stall, plain = meter_compute_rate();
  meter_remove_tree(b->path);
  if (job_begin(j, b->path, s->tree, &save, &stall, err) != CAIRN_OK)
    return false;
  double begun = meter_now();
  int n = 0;
  while (cairn_save_wait(save, CAIRN_SAVE_COMMITTED, 0, NULL) ==
         CAIRN_TIMED_OUT) {
    meter_compute();
    n++;
  }
  double t = meter_now() - begun;
  cairn_code_t rc = cairn_save_wait(save, CAIRN_SAVE_COMMITTED, -1, err);
  cairn_save_unref(save);
  *out = stall + (n / plain < t ? t - n / plain : 0);
  return rc == CAIRN_OK;
}

static bool large(struct bench *b, const workload_t *load, cairn_error_t *err) {
  int64_t bytes = workload_bytes(load);
  state_t s;
  job_t j;
  job_times_t first = {0}, next = {0};
  double loss = 0, back = 0;
  if (state_open(load, 0, 1, true, CAIRN_SNAPSHOT_COPY, &s, err) != CAIRN_OK)
    return false;
  double copy = limit_memcpy(bytes), put = limit_write(b->dir, bytes);
  int64_t before = meter_rss();
  b->peak = 0;
  bool ok = job_open(b->w, bytes, &j, err) == CAIRN_OK &&
            save(b, &j, &s, &first, err) && save(b, &j, &s, &next, err);
  int64_t extra = b->peak - before;
  double again = limit_memcpy(bytes), put_again = limit_write(b->dir, bytes);
  copy = (copy + again) / 2; /* the limits before and after */
  put = (put + put_again) / 2;
  double get = limit_read(b->dir, bytes);
  meter_drop_caches();
  double begun = meter_now();
  ok = ok && job_restore(&j, b->path, s.tree, err) == CAIRN_OK;
  back = meter_now() - begun;
  ok = ok && lost(b, &j, &s, &loss, err);
  job_close(&j);
  state_close(&s);
  if (!ok) return false;
  note(b, "copy: stop", next.stall, "memcpy", copy, false);
  note(b, "copy: stop of the first save", first.stall, "memcpy", copy, false);
  note(b, "save until durable", next.done, "O_DIRECT write", put, true);
  note(b, "first save until durable", first.done, "O_DIRECT write", put, true);
  note(b, "restore, page cache dropped", back, "O_DIRECT read", get, true);
  note(b, "computation lost by a save", loss, "memcpy", again, false);
  note(b, "memory beside the state", (double)extra, "state", (double)bytes,
       false);
  note(b, "threads of the runtime", next.threads - 1, "cores + 2",
       (double)sysconf(_SC_NPROCESSORS_ONLN) + 2, false);
  return true;
}

static bool borrowed(struct bench *b, const workload_t *load,
                     cairn_error_t *err) {
  state_t s;
  job_t j;
  job_times_t t = {0};
  if (state_open(load, 0, 1, true, CAIRN_SNAPSHOT_BORROW, &s, err) != CAIRN_OK)
    return false;
  double copy = limit_memcpy(workload_bytes(load));
  bool ok = job_open(b->w, 0, &j, err) == CAIRN_OK &&
            save(b, &j, &s, &t, err) && save(b, &j, &s, &t, err);
  job_close(&j);
  state_close(&s);
  if (ok) note(b, "borrow: stop", t.stall, "memcpy", copy, false);
  return ok;
}

static bool small(struct bench *b, cairn_error_t *err) {
  const workload_t *load = workload_find("W2");
  int64_t bytes = workload_bytes(load);
  state_t s;
  job_t j;
  job_times_t t = {0};
  if (state_open(load, 0, 1, true, CAIRN_SNAPSHOT_COPY, &s, err) != CAIRN_OK)
    return false;
  double copy = limit_memcpy(bytes), put = limit_write(b->dir, bytes);
  bool ok = job_open(b->w, 0, &j, err) == CAIRN_OK &&
            save(b, &j, &s, &t, err) && save(b, &j, &s, &t, err);
  job_close(&j);
  state_close(&s);
  double n = (double)load->arrays;
  if (!ok) return false;
  note(b, "10,000 of 4 KiB: stop, each", t.stall / n, "memcpy, each", copy / n,
       false);
  note(b, "10,000 of 4 KiB: until durable, each", t.done / n,
       "O_DIRECT write, each", put / n, true);
  return true;
}

/* The better of what the disk and zstd could do by themselves. */
static bool shrinking(struct bench *b, const workload_t *load,
                      cairn_error_t *err) {
  int64_t bytes = workload_bytes(load);
  state_t s;
  job_t j;
  job_times_t t = {0};
  if (state_open(load, 0, 1, true, CAIRN_SNAPSHOT_COPY, &s, err) != CAIRN_OK)
    return false;
  double put = limit_write(b->dir, bytes / 5);
  double zstd = limit_zstd(s.data[0], load->rows * load->columns * 4, bytes);
  bool ok = job_open(b->w, bytes, &j, err) == CAIRN_OK &&
            save(b, &j, &s, &t, err) && save(b, &j, &s, &t, err);
  job_close(&j);
  state_close(&s);
  if (!ok) return false;
  note(b, "numbers that shrink: until durable", t.done,
       put > zstd ? "O_DIRECT write" : "zstd-1 on all cores",
       put > zstd ? put : zstd, false);
  return true;
}

/* --- the rounds --- */

static bool rounds(struct bench *b, cairn_error_t *err) {
  int64_t bytes = b->a->bytes > 0 ? b->a->bytes : (int64_t)1 << 30;
  workload_t load = *workload_find("W1"), ints = *workload_find("W5");
  load.rows = bytes / ((int64_t)load.arrays * load.columns * 4);
  if (load.rows == 0) load.rows = 1;
  ints.rows = load.rows;
  for (int i = 0; i < b->a->rounds; i++)
    if (!large(b, &load, err) || !borrowed(b, &load, err) || !small(b, err) ||
        !shrinking(b, &ints, err))
      return false;
  return true;
}

int bench_figures(const bench_args_t *a, const bench_world_t *w) {
  struct bench b = {.a = a, .w = w};
  cairn_error_t err = {0};
  b.figures = calloc(MAX_FIGURES, sizeof *b.figures);
  snprintf(b.dir, sizeof b.dir, "%s/cairn-bench.XXXXXX", a->dir);
  if (b.figures == NULL || mkdtemp(b.dir) == NULL) {
    cairn_fail(&err, CAIRN_IO, "cannot make a directory in %s", a->dir);
    free(b.figures);
    return bench_failed("figures", &err);
  }
  snprintf(b.path, sizeof b.path, "%s/s", b.dir);
  bool ok = rounds(&b, &err);
  meter_remove_tree(b.dir);
  if (ok && !a->json)
    printf("| figure | measured | limit | ratio |\n|---|---|---|---|\n");
  for (int i = 0; ok && i < b.n; i++) print(&b, &b.figures[i]);
  free(b.figures);
  return ok ? 0 : bench_failed("figures", &err);
}
