/* Reading one uint8 array of a tree item as a blob. */
#ifndef CAIRN_HANDLERS_BLOB_RESTORE_H_
#define CAIRN_HANDLERS_BLOB_RESTORE_H_

#include "cairn/handler.h"

/* Loop. The array of that name; NULL: this rank's, by the rules of
 * cairn_blob_t. ctx->combined is what cairn__tree_load packed. */
cairn_future_t *cairn__blob_restore(cairn_blob_t *blob, const char *name,
                                    cairn_item_ctx_t *ctx);

#endif
