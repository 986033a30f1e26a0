/* Operations that outlive the call that begins them. */
#ifndef CAIRN_HANDLERS_FLOW_H_
#define CAIRN_HANDLERS_FLOW_H_

#include "cairn/plugin.h"

/* n zeroed bytes for an operation, and in *done its future. NULL when memory is
 * out: then nothing may be begun, and *done is the failed future to return. */
void *cairn__flow_new(cairn_runtime_t *rt, size_t n, cairn_future_t **done);

/* The future of an operation that has its memory already; false as above. */
bool cairn__flow_begin(cairn_runtime_t *rt, cairn_future_t **done);

#endif
