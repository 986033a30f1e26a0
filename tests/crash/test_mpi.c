/* Real jobs, under mpirun, of which one rank dies in the middle of a save:
 * the job ends, nothing of it is left running, and the next one starts in the
 * same directory without anyone cleaning up. CAIRN_CRASH_ROUNDS: more calls. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "job.h"

#define END_SECONDS 60

struct launch {
  const char *root, *how;
  int step, rank, at;
};

/* --- launching, and what is left of it --- */

static pid_t launch(const struct launch *l) {
  char step[16], rank[16], at[16];
  const char *job = getenv("CRASH_MPI_JOB");
  if (job == NULL) cr_skip_test("CRASH_MPI_JOB does not say where the job is");
  snprintf(step, sizeof(step), "%d", l->step);
  snprintf(rank, sizeof(rank), "%d", l->rank);
  snprintf(at, sizeof(at), "%d", l->at);
  fflush(NULL);
  pid_t child = fork();
  if (child != 0) return child;
  execl(CRASH_MPIEXEC, CRASH_MPIEXEC, CRASH_MPIEXEC_N, "2", job, l->root, step,
        rank, at, l->how, NULL);
  _exit(127);
}

static bool names_root(const char *pid, const char *root) {
  char path[300], text[4096];
  snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
  int fd = open(path, O_RDONLY);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, sizeof(text));
  close(fd);
  return n > 0 && memmem(text, (size_t)n, root, strlen(root)) != NULL;
}

/* Processes of the jobs in that root: no other's command line names it. */
static int still_running(const char *root) {
  int n = 0;
  DIR *d = opendir("/proc");
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    n += isdigit((unsigned char)e->d_name[0]) && names_root(e->d_name, root);
  closedir(d);
  return n;
}

/* Gone, or the test fails: a hang, not a measurement. */
static void await_end(const char *root) {
  for (int i = 0; i < END_SECONDS * 100; i++) {
    if (still_running(root) == 0) return;
    usleep(10000);
  }
  cr_assert_fail("%d processes of the job are still there",
                 still_running(root));
}

static int run(const struct launch *l) {
  int status = crash_end(launch(l));
  await_end(l->root);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) plain_skip("no MPI");
  return status;
}

static void saves_well(const char *root, int step) {
  crash_must_exit_0(
      run(&(struct launch){.root = root, .how = "none", .step = step}),
      "a job that nobody cuts");
}

/* --- the next job --- */

struct next {
  const char *root;
  int64_t found;
};

static void look_in_child(void *arg) {
  struct next *n = arg;
  n->found = job_that_restores(n->root, 3);
  only_steps(n->root);
}

/* The latest step, restored on another number of ranks. */
static int64_t look(const char *root) {
  struct next *n = crash_shared(sizeof(*n));
  n->root = root;
  crash_must_exit_0(crash_child(look_in_child, n), "the next job");
  int64_t found = n->found;
  crash_shared_free(n, sizeof(*n));
  return found;
}

static void cut_one(const char *root, const char *how, int rank, int at) {
  struct launch l = {
      .root = root, .how = how, .step = 2, .rank = rank, .at = at};
  int status = run(&l);
  cr_assert_not(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                "mpirun says that all went well: %s of rank %d at %d", how,
                rank, at);
  int64_t found = look(root);
  cr_assert(found == 1 || found == 2);
  cr_assert(found == 1 || strcmp(how, "kill") == 0,
            "saved without a rank that never wrote");
  remove_step(root, 2);
}

/* --- tests --- */

static char *root_with_a_step(void) {
  char *root = crash_dir();
  saves_well(root, 1);
  return root;
}

Test(mpi, a_rank_is_killed) {
  char *root = root_with_a_step();
  int more = crash_rounds("CAIRN_CRASH_ROUNDS", 20) / 10;
  for (int i = 0; i < more; i++) {
    cut_one(root, "kill", 0, 5 + i * 70 / more);
    cut_one(root, "kill", 1, 2 + i * 20 / more);
  }
  saves_well(root, 2);
  cr_assert_eq(look(root), 2);
  crash_dir_remove(root);
}

Test(mpi, a_rank_exits_or_aborts) {
  char *root = root_with_a_step();
  cut_one(root, "exit0", 1, 3);
  cut_one(root, "exit3", 0, 20);
  cut_one(root, "abort", 1, 8);
  saves_well(root, 2);
  crash_dir_remove(root);
}

/* --- mpirun itself is killed --- */

static void await_file(const char *path) {
  while (access(path, F_OK) != 0)
    usleep(1000); /* the test's own limit ends it */
}

Test(mpi, mpirun_is_killed) {
  char *root = root_with_a_step();
  char *hung = cairn__printf("%s.hung", root);
  pid_t mpirun = launch(&(struct launch){
      .root = root, .how = "hang", .step = 2, .rank = 1, .at = 5});
  await_file(hung);
  kill(mpirun, SIGKILL);
  crash_end(mpirun);
  await_end(root);
  cr_assert_eq(look(root), 1);
  saves_well(root, 2);
  cr_assert_eq(look(root), 2);
  unlink(hung);
  free(hung);
  crash_dir_remove(root);
}

Test(mpi, is_finalized_during_a_save) {
  char *root = root_with_a_step();
  for (int i = 0; i < 2; i++) {
    crash_must_exit_0(
        run(&(struct launch){.root = root, .how = "finalize", .step = 2}),
        "MPI_Finalize first");
    int64_t found = look(root);
    cr_assert(found == 1 || found == 2);
    remove_step(root, 2);
  }
  crash_dir_remove(root);
}
