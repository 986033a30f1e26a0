#include "flow.h"

#include <stdlib.h>

bool cairn__flow_begin(cairn_runtime_t *rt, cairn_future_t **done) {
  *done = cairn_future_new(rt);
  if (!cairn_future_ready(*done)) return true;
  cairn_future_resolve(*done, NULL); /* the producer's reference */
  return false;
}

void *cairn__flow_new(cairn_runtime_t *rt, size_t n, cairn_future_t **done) {
  void *op = calloc(1, n);
  if (op == NULL) {
    cairn_error_t err = {0};
    cairn_fail(&err, CAIRN_NO_MEMORY, "out of memory for an operation");
    *done = cairn_future_done(rt, &err);
    return NULL;
  }
  if (cairn__flow_begin(rt, done)) return op;
  free(op);
  return NULL;
}
