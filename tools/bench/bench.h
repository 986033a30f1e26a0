/* The benchmarks, behind two programs: `cairn bench` (one process) and
 * `cairn-bench` (the same under mpirun). They time and decide nothing: what is
 * right is for tests to say. Only the public interface is used.
 *
 *   args.c      the command line
 *   workload.c  the states that are saved: those the peers are measured with
 *   meter.c     clocks, memory, caches: what is around a timed step
 *   limit.c     what the machine can do at best
 *   save.c      bench save, bench restore: the peers' JSON line
 *   snapshot.c  bench snapshot
 *   figures.c   bench figures: each figure beside its limit, as a ratio */
#ifndef CAIRN_BENCH_BENCH_H_
#define CAIRN_BENCH_BENCH_H_

#include "cairn/cairn.h"

/* The processes that measure together. */
typedef struct bench_world {
  int rank, ranks;
  void (*barrier)(void);
  /* A communicator over them; the bench closes it. */
  cairn_code_t (*comm)(cairn_runtime_t *rt, cairn_comm_t **out,
                       cairn_error_t *err);
  bool poll; /* the runtime has no thread of its own */
} bench_world_t;

typedef struct bench_args {
  const char *what; /* "save", "restore", "snapshot", "figures" */
  const char *workload, *dir;
  int64_t bytes;
  int rounds, saves;
  bool json, compute, borrow, unprepared;
} bench_args_t;

extern const char bench_usage[], bench_help[];

/* All of it; argv[0] is passed over. Returns the exit status: 0, 2 for a wrong
 * command line, 4 for what failed. */
int bench_main(int argc, char **argv, const bench_world_t *world);

/* One process: no barrier, no messages. */
extern const bench_world_t bench_alone;

int bench_save(const bench_args_t *a, const bench_world_t *w);
int bench_restore(const bench_args_t *a, const bench_world_t *w);
int bench_snapshot(const bench_args_t *a, const bench_world_t *w);
int bench_figures(const bench_args_t *a, const bench_world_t *w);

/* One line on stderr; returns exit status 4. */
int bench_failed(const char *what, const cairn_error_t *err);

#endif
