/* The built-in item handlers, and what they share. */
#ifndef CAIRN_HANDLERS_HANDLERS_H_
#define CAIRN_HANDLERS_HANDLERS_H_

#include "cairn/handler.h"

extern const cairn_handler_ops_t cairn__tree_handler;
extern const cairn_handler_ops_t cairn__json_handler;
extern const cairn_handler_ops_t cairn__bytes_handler;
extern const cairn_handler_ops_t cairn__rank_bytes_handler;

/* Is there such an entry in a directory listing? */
bool cairn__has_name(const cairn_bytes_t *names, size_t n, const char *name);

/* Of a tree item; the bytes handlers' items are such. */
cairn_future_t *cairn__tree_inspect(cairn_item_ctx_t *ctx,
                                    cairn_item_info_t *out);
cairn_future_t *cairn__tree_verify(cairn_item_ctx_t *ctx, cairn_damage_fn fn,
                                   void *arg);

#endif
