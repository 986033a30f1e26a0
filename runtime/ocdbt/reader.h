/* The reading side, private to this room: nodes loaded and cached, lookups,
 * walks. Loop thread. */
#ifndef CAIRN_OCDBT_READER_H_
#define CAIRN_OCDBT_READER_H_

#include "base/map.h"
#include "kv/kv.h"
#include "ocdbt/ocdbt.h"

/* A zeroed operation and its future; NULL when memory is out: *done is failed
 * then ("<what>: out of memory"), ready to be returned. */
void *cairn__op_new(cairn_runtime_t *rt, size_t size, const char *what,
                    cairn_future_t **done);

/* --- bytes of data files --- */

/* Reads n bytes from `min` on of what lies at *loc. A stored path that leaves
 * ROOT, an absent file or one that is too short is CAIRN_CORRUPT with file and
 * offset. dst may be NULL. loc is copied. */
cairn_future_t *cairn__blob_read(cairn_kv_t *base,
                                 const cairn__ocdbt_loc_t *loc, uint64_t min,
                                 size_t n, void *dst, cairn_value_t *out);
/* "<base><relative> at <offset>: " before the message. */
cairn_code_t cairn__within_loc(cairn_error_t *err,
                               const cairn__ocdbt_loc_t *loc);
/* What identifies the bytes at a location, as a key for maps: both paths as
 * separate strings, because decoding depends on the base path. */
void cairn__loc_key(const cairn__ocdbt_loc_t *loc, cairn_buf_t *out);
/* Where a key is, for messages: "<base>|ocdbt:<key>". */
void cairn__ocdbt_describe(cairn_kv_t *base, cairn_bytes_t key, char *out,
                           size_t cap);

/* --- nodes --- */

/* A decoded node, immutable. Held by references; when nobody holds it, it stays
 * until newer ones need the room. */
typedef struct cairn__tree_node cairn__tree_node_t;
struct cairn__tree_node {
  cairn__ocdbt_node_t n;
  size_t refs, bytes;
  bool loaded, pinned;
  cairn_bytes_t id;                  /* its key in the map, owned */
  cairn__tree_node_t *older, *newer; /* among the unheld */
  struct node_request *requests;     /* while it is being loaded */
};

typedef struct cairn__nodes {
  cairn_kv_t *base;
  cairn__map_t map;
  cairn__tree_node_t *oldest, *newest;
  size_t unheld_bytes;
} cairn__nodes_t;

/* The node at loc, held, in *out. Several that ask for one node share the
 * reading. */
cairn_future_t *cairn__nodes_get(cairn__nodes_t *c,
                                 const cairn__ocdbt_loc_t *loc,
                                 cairn__tree_node_t **out);
/* The same if it is there already (held), else NULL. */
cairn__tree_node_t *cairn__nodes_peek(cairn__nodes_t *c,
                                      const cairn__ocdbt_loc_t *loc);
void cairn__nodes_release(cairn__nodes_t *c, cairn__tree_node_t *n);
void cairn__nodes_reset(cairn__nodes_t *c);

/* What a reference promises about its node: height, and a lower bound of its
 * first key. CAIRN_CORRUPT "reference mismatch". */
CAIRN_MUST_CHECK cairn_code_t
cairn__check_reference(const cairn__ocdbt_node_t *n, unsigned height,
                       cairn_bytes_t bound, cairn_error_t *err);

/* Index of the last entry with key <= k; n->n if there is none. */
size_t cairn__ocdbt_node_find(const cairn__ocdbt_node_t *n, cairn_bytes_t k);

/* --- the reader --- */

typedef struct cairn__reader {
  cairn_runtime_t *rt;
  cairn_kv_t *base, *kv;
  cairn__ocdbt_manifest_t manifest;
  const cairn__ocdbt_version_t *version; /* NULL: no version at all */
  cairn__nodes_t nodes;
  /* while it is being opened */
  cairn_kv_t **open_out;
  cairn_future_t *open_done;
  cairn_wait_t wait;
} cairn__reader_t;

extern const cairn_kv_ops_t cairn__ocdbt_reader_ops;

/* The reader behind a store; NULL, and a failed future, for any other store. */
cairn__reader_t *cairn__reader_of(cairn_kv_t *kv, cairn_future_t **failed);
/* The member `read` of the store. */
cairn_future_t *cairn__reader_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out);

/* True if the database holds no key. */
bool cairn__reader_is_empty(const cairn__reader_t *r);

/* The newest manifest below base (section 12.1). *versions stays 0 for a
 * numbered database without one. CAIRN_NOT_FOUND: no manifest. */
cairn_future_t *cairn__manifest_load(cairn_kv_t *base,
                                     cairn__ocdbt_manifest_t *out);

/* What a lookup found: the leaf, held (release it), and the entry in it; both
 * NULL if the key is absent. */
typedef struct cairn__found {
  cairn__tree_node_t *node;
  const cairn__ocdbt_entry_t *entry;
} cairn__found_t;
cairn_future_t *cairn__tree_lookup(cairn__reader_t *r, cairn_bytes_t key,
                                   cairn__found_t *out);

/* Calls fn for every entry whose key starts with the prefix, in order. */
cairn_future_t *cairn__tree_walk(cairn__reader_t *r, cairn_bytes_t prefix,
                                 cairn__ocdbt_entry_fn fn, void *arg);

#endif
