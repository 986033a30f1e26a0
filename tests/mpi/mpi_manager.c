/* Saves and restores under mpirun: mpi_manager SCENARIO MODE ROOT [...]
 *
 * MODE: thread, or poll with MPI_THREAD_MULTIPLE, serialized, funneled, single.
 *
 *   save ROOT                steps 1 to 3
 *   restore ROOT STEP        the latest, which must be STEP
 *   fault ROOT VICTIM CALL kill|stop
 *                            step 1; then step 2, during which the victim dies
 *                            or stops in its CALL-th store call
 *
 * Exit status 0 if this rank saw what it should. In `fault` each rank that goes
 * on prints "told R: error"; a stopped victim prints "pid P" before it stops,
 * and what it is told after it was woken. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cairn/cairn.h"
#include "cairn/comm_mpi.h"
#include "support/kv_fault.h"

#define ROWS 100
#define COLS 7
#define DEADLINE_MS 2000

static int rank, size;
static bool poll_mode;

#define CHECK(what, ...)                                                      \
  do {                                                                        \
    if (what) break;                                                          \
    fprintf(stderr, "rank %d: %s:%d: %s: ", rank, __FILE__, __LINE__, #what); \
    fprintf(stderr, __VA_ARGS__);                                             \
    fprintf(stderr, "\n");                                                    \
    exit(1);                                                                  \
  } while (0)
#define CHECK_OK(rc, err) CHECK((rc) == CAIRN_OK, "%s", (err)->message)

/* A matrix by rows over the ranks, and a step. Number (i, k) at a step is
 * step * 1000 + i + k / 8. */
struct state {
  int64_t first, rows, step;
  double *matrix;
  cairn_tree_t *tree;
};

static struct state new_state(void) {
  struct state s = {.first = (int64_t)ROWS * rank / size};
  cairn_error_t err = {0};
  s.rows = (int64_t)ROWS * (rank + 1) / size - s.first;
  s.matrix = calloc((size_t)(s.rows * COLS), sizeof *s.matrix);
  cairn_array_t a = {.dtype = CAIRN_F64,
                     .rank = 2,
                     .shape = {ROWS, COLS},
                     .origin = {s.first, 0},
                     .extent = {s.rows, COLS},
                     .data = s.matrix};
  CHECK_OK(cairn_tree_new(&s.tree, &err), &err);
  CHECK_OK(cairn_tree_put_array(s.tree, "w", &a, &err), &err);
  return s;
}

static double number(int64_t step, int64_t row, int64_t col) {
  return (double)(step * 1000 + row) + (double)col / 8;
}

static void fill(struct state *s, int64_t step) {
  for (int64_t i = 0; i < s->rows; i++)
    for (int64_t k = 0; k < COLS; k++)
      s->matrix[i * COLS + k] = number(step, s->first + i, k);
}

static void expect(const struct state *s, int64_t step) {
  for (int64_t i = 0; i < s->rows; i++)
    for (int64_t k = 0; k < COLS; k++)
      CHECK(s->matrix[i * COLS + k] == number(step, s->first + i, k),
            "%g in row %lld", s->matrix[i * COLS + k],
            (long long)(s->first + i));
}

static void free_state(struct state *s) {
  cairn_tree_free(s->tree);
  free(s->matrix);
}

struct job {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
};

static void log_warning(void *arg, cairn_log_level_t level, const char *text) {
  (void)arg;
  if (level > CAIRN_LOG_WARN) return;
  printf("warn %d: %s\n", rank, text);
  fflush(stdout);
}

static void open_manager(struct job *j, const char *root) {
  cairn_manager_opts_t o = {.checkpointer.deadline_ms = DEADLINE_MS};
  cairn_error_t err = {0};
  CHECK_OK(cairn_manager_open(j->rt, j->comm, root, &o, &j->m, &err), &err);
}

static struct job open_job(kv_fault_t *fault) {
  cairn_runtime_opts_t o = {.poll = poll_mode, .log = log_warning};
  cairn_error_t err = {0};
  struct job j = {0};
  CHECK_OK(cairn_runtime_open(&o, &j.rt, &err), &err);
  if (fault != NULL) CHECK_OK(kv_fault_register(j.rt, fault, &err), &err);
  CHECK_OK(cairn_comm_mpi_open(j.rt, MPI_COMM_WORLD, &j.comm, &err), &err);
  return j;
}

static void close_job(struct job *j) {
  cairn_error_t err = {0};
  CHECK_OK(cairn_manager_close(j->m, -1, &err), &err);
  CHECK_OK(cairn_comm_close(j->comm, &err), &err);
  CHECK_OK(cairn_runtime_close(j->rt, &err), &err);
}

static cairn_code_t save(struct job *j, struct state *s, int64_t step,
                         cairn_error_t *err) {
  fill(s, step);
  if (cairn_manager_save(j->m, step, s->tree, NULL, err) != CAIRN_OK)
    return err->code;
  fill(s, 0); /* the memory is ours again */
  return cairn_manager_wait(j->m, -1, err);
}

static void restore(struct job *j, struct state *s, int64_t want) {
  int64_t step = -1;
  cairn_restore_opts_t o = {.step = &step};
  cairn_error_t err = {0};
  fill(s, 0);
  CHECK_OK(cairn_manager_restore(j->m, CAIRN_LATEST, s->tree, &o, &err), &err);
  CHECK(step == want, "step %lld", (long long)step);
  expect(s, want);
}

static void scenario_save(char **args) {
  struct job j = open_job(NULL);
  struct state s = new_state();
  cairn_error_t err = {0};
  open_manager(&j, args[0]);
  for (int64_t step = 1; step <= 3; step++)
    CHECK_OK(save(&j, &s, step, &err), &err);
  restore(&j, &s, 3);
  close_job(&j);
  free_state(&s);
}

static void scenario_restore(char **args) {
  struct job j = open_job(NULL);
  struct state s = new_state();
  open_manager(&j, args[0]);
  restore(&j, &s, atoi(args[1]));
  close_job(&j);
  free_state(&s);
}

/* --- a rank dies, or stops --- */

static void tell(const cairn_error_t *err) {
  printf("told %d: %s\n", rank, err->message);
  fflush(stdout);
}

/* In the middle of its save. Returns when woken. */
static void fall(struct job *j, struct state *s, kv_fault_t *fault, int call,
                 int sig) {
  kv_fault_rule_t rule = {.at = call, .how = KV_FAULT_HOLD};
  cairn_error_t err = {0};
  kv_fault_set(fault, &rule);
  fill(s, 2);
  CHECK_OK(cairn_manager_save(j->m, 2, s->tree, NULL, &err), &err);
  kv_fault_await_held(fault, 1);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  raise(sig);
  kv_fault_set(fault, NULL);
  kv_fault_release(fault);
  cairn_manager_wait(j->m, -1, &err);
  tell(&err);
}

/* Those that live go on: other lanes, the step before, the next one. */
static void go_on(struct job *j, struct state *s, const char *root) {
  cairn_error_t err = {0};
  CHECK_OK(cairn_manager_close(j->m, -1, &err), &err);
  MPI_Barrier(MPI_COMM_WORLD);
  open_manager(j, root);
  restore(j, s, 1);
  CHECK_OK(save(j, s, 2, &err), &err);
  restore(j, s, 2);
  close_job(j);
}

static void scenario_fault(char **args) {
  char root[300];
  bool victim = rank == atoi(args[1]), kill = strcmp(args[3], "kill") == 0;
  kv_fault_t *fault = kv_fault_new();
  struct job j = open_job(fault);
  struct state s = new_state();
  cairn_error_t err = {0};
  snprintf(root, sizeof root, "fault://%s", args[0]);
  open_manager(&j, root);
  CHECK_OK(save(&j, &s, 1, &err), &err);
  if (victim) {
    fall(&j, &s, fault, atoi(args[2]), kill ? SIGKILL : SIGSTOP);
  } else {
    CHECK(save(&j, &s, 2, &err) != CAIRN_OK, "saved without rank %s", args[1]);
    tell(&err);
  }
  /* MPI_Finalize would wait for the dead. */
  if (kill) _exit(0);
  go_on(&j, &s, root);
  free_state(&s);
  kv_fault_free(fault);
}

static const struct {
  const char *name;
  int n_args;
  void (*run)(char **args);
} scenarios[] = {{"save", 1, scenario_save},
                 {"restore", 2, scenario_restore},
                 {"fault", 4, scenario_fault}};

static bool run(int argc, char **argv) {
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    if (strcmp(argv[1], scenarios[i].name) != 0) continue;
    if (argc != 3 + scenarios[i].n_args) return false;
    scenarios[i].run(argv + 3);
    return true;
  }
  return false;
}

static int level_of(const char *mode) {
  static const struct {
    const char *name;
    int level;
  } modes[] = {{"thread", MPI_THREAD_MULTIPLE},
               {"poll", MPI_THREAD_MULTIPLE},
               {"serialized", MPI_THREAD_SERIALIZED},
               {"funneled", MPI_THREAD_FUNNELED},
               {"single", MPI_THREAD_SINGLE}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(mode, modes[i].name) == 0) return modes[i].level;
  return -1;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  poll_mode = strcmp(argv[2], "thread") != 0;
  int want = level_of(argv[2]), got;
  if (want < 0) return 2;
  MPI_Init_thread(&argc, &argv, want, &got);
  if (got != want) {
    printf("skipped: MPI provides thread level %d, not %d\n", got, want);
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool known = run(argc, argv);
  MPI_Finalize();
  return known ? 0 : 2;
}
