/* What is stored of a tree item, but for its arrays: `_METADATA` and the files
 * beside it. The primary reads them (load) and sends them to all ranks as one
 * packed piece:
 *
 *   u8 version, u8 has manifest.ocdbt, u8 has strings,
 *   varint n, _METADATA (n bytes), varint n, _strings.json */
#ifndef CAIRN_HANDLERS_TREE_STORED_H_
#define CAIRN_HANDLERS_TREE_STORED_H_

#include "cairn/handler.h"
#include "tree_meta.h"

/* Loop. Appends the packed piece. CAIRN_NOT_FOUND: no `_METADATA`. */
cairn_future_t *cairn__tree_load(cairn_item_ctx_t *ctx, cairn_buf_t *out);

typedef struct cairn__tree_stored {
  cairn__tree_meta_t meta;
  bool ocdbt; /* the arrays are in a database */
  bool has_strings;
  cairn_json_doc_t strings;
  const cairn_json_t **sorted; /* members of strings, by key; made when asked */
} cairn__tree_stored_t;

/* Any thread. CAIRN_CORRUPT. */
cairn_code_t cairn__tree_unpack(cairn_bytes_t packed, cairn__tree_stored_t *out,
                                cairn_error_t *err);
void cairn__tree_stored_free(cairn__tree_stored_t *s);

/* The text of a string leaf: its name is a JSON pointer below the root, so '/'
 * goes down a level, "~1" is '/' and "~0" is '~'. CAIRN_CORRUPT: there is none,
 * or it is not a string. */
cairn_code_t cairn__stored_string(cairn__tree_stored_t *s, cairn_bytes_t name,
                                  cairn_bytes_t *out, cairn_error_t *err);

static inline int cairn__stored_zarr(const cairn__tree_stored_t *s) {
  return s->meta.use_zarr3 ? 3 : 2;
}

#endif
