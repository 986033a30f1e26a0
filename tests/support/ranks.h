/* A job of n ranks in this process: each rank is a thread with its own runtime
 * and its local communicator, and runs the same function, as under mpirun. */
#ifndef TESTS_SUPPORT_RANKS_H_
#define TESTS_SUPPORT_RANKS_H_

#include "cairn/comm.h"

#define RANKS_MAX 64

/* What a rank's runtime logged as a warning or worse. */
typedef struct rank_log {
  int rank, warnings;
  char text[4096]; /* line by line; what does not fit is left out */
} rank_log_t;

typedef struct rank_env {
  int rank, size;
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  rank_log_t *log;
  void *arg;
} rank_env_t;

/* prepare (may be NULL) is called with each runtime before ranks run, to
 * register drivers. Fails the test if anything cannot be opened or closed. */
void ranks_run_prepared(int n, void (*prepare)(cairn_runtime_t *rt, void *arg),
                        void (*fn)(rank_env_t *env), void *arg);
void ranks_run(int n, void (*fn)(rank_env_t *env), void *arg);
/* With a host's name per rank (NULL: this machine's). */
void ranks_run_hosts(int n, const char *const *hosts,
                     void (*prepare)(cairn_runtime_t *rt, void *arg),
                     void (*fn)(rank_env_t *env), void *arg);

/* A fresh directory below the system's temporary one, removed by
 * temp_dir_remove. For free(). */
char *temp_dir(void);
/* The same in memory, if there is such a place: where a sync must not take
 * longer than a deadline. */
char *temp_dir_in_memory(void);
void temp_dir_remove(char *dir);

#endif
