/* A job under mpirun that restores the latest step, saves another, and is cut
 * short on one rank:
 *
 *   crash_mpi_job ROOT STEP RANK N HOW
 *
 * HOW, at the N-th call of RANK that changes a file: kill, exit0, exit3, abort,
 * hang (after it has made ROOT.hung); or finalize: MPI_Finalize while the save
 * is under way, N does not matter; or none. Exit status 0: saved. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cairn/comm_mpi.h"
#include "job.h"

static int rank, size;
static const char *root, *how;

/* Our own, since main.c of support/plain has a main. */
void plain_failed(const char *file, int line, bool fatal, const char *what,
                  const char *fmt, ...) {
  va_list ap;
  fprintf(stderr, "[rank %d] %s:%d: failed: %s. ", rank, file, line, what);
  va_start(ap, fmt);
  vfprintf(stderr, fmt, ap);
  va_end(ap);
  fputc('\n', stderr);
  if (fatal) MPI_Abort(MPI_COMM_WORLD, 99);
}

static void cut(void *arg) {
  (void)arg;
  char hung[PATH_MAX];
  if (strcmp(how, "exit0") == 0) _exit(0);
  if (strcmp(how, "exit3") == 0) _exit(3);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  snprintf(hung, sizeof(hung), "%s.hung", root);
  close(open(hung, O_WRONLY | O_CREAT, 0666));
  for (;;) pause();
}

/* Closing after MPI_Finalize makes no MPI call and says what it can; that it
 * does not hang and does not crash is what is looked at. */
static int finalize_first(cairn_manager_t *m, cairn_comm_t *comm,
                          cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  MPI_Finalize();
  cairn_manager_close(m, -1, &err);
  cairn_comm_close(comm, NULL);
  cr_assert_eq(cairn_runtime_close(rt, NULL), CAIRN_OK);
  fprintf(stderr, "[rank %d] %s\n", rank,
          err.code != CAIRN_OK ? err.message : "committed");
  return 0;
}

static int run(int64_t step, bool victim, long at) {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
  cairn_error_t err = {0};
  state_t s;
  cr_assert_eq(cairn_runtime_open(NULL, &rt, &err), CAIRN_OK);
  cr_assert_eq(cairn_comm_mpi_open(rt, MPI_COMM_WORLD, &comm, &err), CAIRN_OK,
               "%s", err.message);
  cr_assert_eq(cairn_manager_open(rt, comm, root, NULL, &m, &err), CAIRN_OK,
               "%s", err.message);
  state_init(&s, JOB_ROWS, JOB_COLS, rank, size);
  int64_t latest = cairn_manager_latest(m);
  if (latest >= 0) {
    cr_assert_eq(cairn_manager_restore(m, latest, s.tree, NULL, &err), CAIRN_OK,
                 "%s", err.message);
    state_expect(&s, (int)latest);
  }
  state_fill(&s, (int)step);
  if (victim)
    shim_arm(
        &(shim_rule_t){.root = root, .at = at, .how = SHIM_CALL, .call = cut});
  cr_assert_eq(cairn_manager_save(m, step, s.tree, NULL, &err), CAIRN_OK, "%s",
               err.message);
  if (strcmp(how, "finalize") == 0) return finalize_first(m, comm, rt);
  cairn_manager_wait(m, -1, &err);
  cr_assert_eq(err.code, CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_close(m, -1, &err), CAIRN_OK);
  cr_assert_eq(cairn_comm_close(comm, &err), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_OK);
  state_free(&s);
  return 0;
}

int main(int argc, char **argv) {
  int got, done;
  if (argc != 6) return 2;
  alarm(120); /* a hang ends it */
  root = argv[1];
  how = argv[5];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
  if (got != MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "skipped: MPI provides thread level %d\n", got);
    MPI_Finalize();
    return 77;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool cuts = strcmp(how, "none") != 0 && strcmp(how, "finalize") != 0;
  int rc = run(atoll(argv[2]), cuts && rank == atoi(argv[3]), atol(argv[4]));
  MPI_Finalized(&done);
  if (!done) MPI_Finalize();
  return rc;
}
