/* The communicator of one rank: nobody to send to, so no transport. */
#include "comm/transport.h"

static const cairn__transport_ops_t self_ops;

cairn_code_t cairn_comm_self_open(cairn_runtime_t *rt, cairn_comm_t **out,
                                  cairn_error_t *err) {
  if (rt == NULL)
    return cairn_fail(err, CAIRN_INVALID, "open communicator: no runtime");
  cairn_comm_t *c = cairn__comm_new(rt, &self_ops, 0, 1);
  if (c == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "communicator");
  cairn__host_name(c->hosts[0]);
  if (cairn__comm_ready(c, err) != CAIRN_OK) {
    cairn__comm_free(c);
    return cairn_within(err, "open communicator");
  }
  *out = c;
  return CAIRN_OK;
}

static cairn_code_t self_channel_open(cairn_comm_t *comm, int max_msgs,
                                      void **channel, cairn_error_t *err) {
  (void)comm, (void)max_msgs;
  *channel = NULL;
  return err->code;
}

static void self_channel_close(cairn_comm_t *comm, void *channel, bool kept) {
  (void)comm, (void)channel, (void)kept;
}

static const cairn__transport_ops_t self_ops = {
    .name = "self",
    .channel_open = self_channel_open,
    .channel_close = self_channel_close,
};
