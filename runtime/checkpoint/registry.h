/* What this room asks of the handlers that are known, beyond
 * <cairn/handler.h>. Any thread. */
#ifndef CAIRN_CHECKPOINT_REGISTRY_H_
#define CAIRN_CHECKPOINT_REGISTRY_H_

#include "cairn/handler.h"

/* The first that recognises a directory by its entries (as list_dir gives
 * them), or NULL. */
const cairn_handler_ops_t *cairn__handler_recognise(cairn_runtime_t *rt,
                                                    const cairn_bytes_t *names,
                                                    size_t n);
/* Appends "tree, json, bytes": for messages. */
void cairn__handler_types(cairn_runtime_t *rt, cairn_buf_t *out);

#endif
