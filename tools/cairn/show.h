/* What `show` prints of items and leaves, for people and for programs. */
#ifndef CAIRN_TOOL_SHOW_H_
#define CAIRN_TOOL_SHOW_H_

#include "cairn/inspect.h"
#include "hash.h"
#include "out.h"

typedef struct show {
  cairn_step_t *step;
  const char *item;
  bool json, hashes;
  bool blobs; /* the item's leaves are blobs: bytes, or one a rank */
  hash_t *hash;
  bool any_item, any_leaf; /* a comma is due */
  table_t table;
} show_t;

/* What was read of a leaf. */
typedef struct facts {
  cairn_bytes_t value; /* text of a scalar or string, as it is printed */
  char hash[65];       /* "": none */
} facts_t;

/* The value of a string leaf, as it is printed. */
void show_string(const show_t *s, const cairn_leaf_info_t *leaf,
                 cairn_buf_t *out);

/* A step; its items; their leaves. info NULL: an item of an unknown kind. */
void show_begin(show_t *s, const char *path);
void show_item_begin(show_t *s, const cairn_item_info_t *info);
void show_leaf(show_t *s, const cairn_leaf_info_t *leaf, const facts_t *f);
cairn_code_t show_document(show_t *s, cairn_bytes_t text, cairn_error_t *err);
void show_item_end(show_t *s, const cairn_item_info_t *info);
void show_unknown(show_t *s, const cairn_error_t *why);
void show_end(show_t *s);

#endif
