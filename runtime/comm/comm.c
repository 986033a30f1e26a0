/* What all communicators share: ranks, hosts, the tree, and counting what is
 * open. */
#include <stdlib.h>
#include <unistd.h>

#include "comm/transport.h"

cairn_comm_t *cairn__comm_new(cairn_runtime_t *rt,
                              const cairn__transport_ops_t *ops, int rank,
                              int size) {
  cairn_comm_t *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  c->ops = ops;
  c->rt = rt;
  c->rank = rank;
  c->size = size;
  c->hosts = calloc((size_t)size, sizeof *c->hosts);
  c->parents = calloc((size_t)size, sizeof *c->parents);
  c->heights = calloc((size_t)size, sizeof *c->heights);
  if (c->hosts != NULL && c->parents != NULL && c->heights != NULL) {
    cairn_runtime_hold(rt, "communicator");
    return c;
  }
  free(c->heights);
  free(c->parents);
  free(c->hosts);
  free(c);
  return NULL;
}

cairn_code_t cairn__comm_ready(cairn_comm_t *c, cairn_error_t *err) {
  return cairn__tree_build(c->hosts, c->size, c->parents, c->heights, err);
}

void cairn__comm_free(cairn_comm_t *c) {
  if (c == NULL) return;
  cairn_runtime_drop(c->rt, "communicator");
  free(c->heights);
  free(c->parents);
  free(c->hosts);
  free(c);
}

void cairn__host_name(char out[CAIRN__HOST_BYTES]) {
  out[0] = '\0';
  if (gethostname(out, CAIRN__HOST_BYTES) != 0 && out[0] == '\0')
    strcpy(out, "localhost");
  out[CAIRN__HOST_BYTES - 1] = '\0';
}

int cairn_comm_rank(const cairn_comm_t *comm) {
  return comm->rank;
}

int cairn_comm_size(const cairn_comm_t *comm) {
  return comm->size;
}

const char *cairn_comm_host(const cairn_comm_t *comm, int rank) {
  return rank >= 0 && rank < comm->size ? comm->hosts[rank] : "";
}

cairn_runtime_t *cairn__comm_runtime(cairn_comm_t *comm) {
  return comm->rt;
}

cairn_code_t cairn_comm_close(cairn_comm_t *comm, cairn_error_t *err) {
  if (comm == NULL) return CAIRN_OK;
  int lanes = __atomic_load_n(&comm->open_lanes, __ATOMIC_ACQUIRE);
  if (lanes > 0)
    return cairn_fail(err, CAIRN_BUSY,
                      "close communicator: a manager or checkpointer is still "
                      "open on it");
  if (comm->ops->close != NULL) comm->ops->close(comm);
  cairn__comm_free(comm);
  return CAIRN_OK;
}
