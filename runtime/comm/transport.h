/* What the vote needs of a transport: point-to-point messages with ordered
 * delivery per (peer, lane). Three of them: mpi, self (none), local. */
#ifndef CAIRN_COMM_TRANSPORT_H_
#define CAIRN_COMM_TRANSPORT_H_

#include "comm/comm.h"

/* A message in flight; embedded in the lane's memory. `done` runs on the loop
 * thread, on a later turn. n up to 1 GiB: longer payloads go in pieces. */
typedef struct cairn__msg cairn__msg_t;
struct cairn__msg {
  cairn__msg_t *next;
  int peer;
  void *buf;
  size_t n;
  bool sending;
  bool pending;
  void (*done)(cairn__msg_t *m, const cairn_error_t *err);
  union {
    uint64_t words[4];
    void *ptr;
  } impl; /* the transport's (an MPI_Request) */
};

typedef struct cairn__transport_ops {
  const char *name;
  /* Collective: one channel (MPI: a duplicate) for one lane. */
  cairn_code_t (*channel_open)(cairn_comm_t *comm, void **channel,
                               cairn_error_t *err);
  void (*channel_close)(cairn_comm_t *comm, void *channel);
  void (*send)(void *channel, cairn__msg_t *m);
  void (*recv)(void *channel, cairn__msg_t *m);
  /* Asks a pending message to end; its done may never run after this. Returns
   * false if the memory must be kept (the transport may still write to it). */
  bool (*cancel)(void *channel, cairn__msg_t *m);
  cairn_code_t (*close)(cairn_comm_t *comm, cairn_error_t *err);
} cairn__transport_ops_t;

struct cairn_comm {
  const cairn__transport_ops_t *ops;
  cairn_runtime_t *rt;
  int rank, size;
  char (*hosts)[64]; /* per rank, exchanged at open */
  int open_lanes;
  void *impl;
};

#endif
