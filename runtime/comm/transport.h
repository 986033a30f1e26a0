/* What the vote needs of a transport: point-to-point messages with ordered
 * delivery per (peer, lane). Three of them: mpi, self (none), local.
 *
 * A sender and its receiver know each message's length beforehand; messages of
 * one lane between two ranks are matched in the order in which they were given
 * to send and recv. */
#ifndef CAIRN_COMM_TRANSPORT_H_
#define CAIRN_COMM_TRANSPORT_H_

#include "comm/comm.h"

#define CAIRN__NEVER UINT64_MAX
#define CAIRN__HOST_BYTES 64 /* of a host's name, with its NUL */

/* A message in flight; embedded in the lane's memory, so that sending cannot
 * fail for want of it. `done` runs on the loop thread, on a later turn, exactly
 * once unless cancelled. n up to 1 GiB: longer payloads go in pieces. */
typedef struct cairn__msg cairn__msg_t;
struct cairn__msg {
  cairn__msg_t *next; /* the transport's */
  int peer;
  void *buf;
  size_t n;
  bool sending; /* else receiving; set by the transport, as is pending */
  bool pending; /* loop thread */
  void (*done)(cairn__msg_t *m, const cairn_error_t *err);

  /* the transport's */
  void *channel;
  cairn_task_t task;
  int status;
};

typedef struct cairn__transport_ops {
  const char *name;
  /* Collective: one channel (MPI: a duplicate) for one lane, on which at most
   * max_msgs messages are ever in flight at this rank. *err brings what went
   * wrong here before; where ranks can wait for each other, all leave with a
   * failure if one brought or met one. */
  cairn_code_t (*channel_open)(cairn_comm_t *comm, int max_msgs, void **channel,
                               cairn_error_t *err);
  /* Caller's thread, after cancel of all that was pending. `kept`: a message
   * could not be cancelled, so what it uses must stay. */
  void (*channel_close)(cairn_comm_t *comm, void *channel, bool kept);
  void (*send)(void *channel, cairn__msg_t *m);
  void (*recv)(void *channel, cairn__msg_t *m);
  /* Takes a pending message back; loop thread. True: the memory is free again
   * once the tasks posted to the runtime so far have run (a `done` among them
   * may still come). False: it must be kept, the transport may still use it. */
  bool (*cancel)(void *channel, cairn__msg_t *m);
  /* Caller's thread; cannot fail. */
  void (*close)(cairn_comm_t *comm);
  /* A clock of the transport's own, in ms, instead of the loop's (tests): alarm
   * has cairn__deadline_due(lane) called once `at` has come, in place of an
   * earlier wish; CAIRN__NEVER withdraws it. Both or none. */
  uint64_t (*now)(cairn_comm_t *comm);
  void (*alarm)(cairn__lane_t *lane, uint64_t at);
} cairn__transport_ops_t;

struct cairn_comm {
  const cairn__transport_ops_t *ops;
  cairn_runtime_t *rt;
  int rank, size;
  char (*hosts)[CAIRN__HOST_BYTES]; /* per rank, exchanged at open */
  int *parents;                     /* the vote tree, per rank; -1 at rank 0 */
  int *heights;                     /* of the subtree below a rank; leaf: 0 */
  int open_lanes;                   /* atomic */
  void *impl;                       /* the transport's */
};

/* For the transports' open functions: memory for a communicator with empty
 * hosts (NULL: none left), its tree once the hosts are known, and the end of
 * one that was or was not made ready. */
cairn_comm_t *cairn__comm_new(cairn_runtime_t *rt,
                              const cairn__transport_ops_t *ops, int rank,
                              int size);
CAIRN_MUST_CHECK cairn_code_t cairn__comm_ready(cairn_comm_t *comm,
                                                cairn_error_t *err);
void cairn__comm_free(cairn_comm_t *comm);

/* This machine's name, cut to fit; "localhost" if it has none. */
void cairn__host_name(char out[CAIRN__HOST_BYTES]);

/* cairn_comm_local_open with a host name per rank (cut to fit): tests of trees
 * over many hosts. hosts NULL: this machine for all. */
CAIRN_MUST_CHECK cairn_code_t cairn__comm_local_open(
    cairn_runtime_t *const *rts, int n, const char *const *hosts,
    cairn_comm_t **out, cairn_error_t *err);

/* The vote tree from the host table, the same on every rank: the lowest rank of
 * each host leads it; leaders form a 16-ary tree in order of rank, and so do
 * the ranks of one host below their leader. A parent's rank is always lower
 * than its child's. CAIRN_NO_MEMORY. */
#define CAIRN__TREE_ARITY 16
CAIRN_MUST_CHECK cairn_code_t
cairn__tree_build(char (*const hosts)[CAIRN__HOST_BYTES], int n, int *parents,
                  int *heights, cairn_error_t *err);

#endif
