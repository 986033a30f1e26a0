/* Descriptions: what a rank holds of a tree, and what all ranks hold, in bytes.
 *
 *   description: u8 version, varint leaves, then per leaf
 *     u32le n, head (n bytes), body
 *   plan:        u8 version, varint ranks, varint leaves, then per leaf
 *     u32le n, head (n bytes), holders
 *   head: varint keys, each u8 type and zigzag varint index or varint n, text;
 *     u8 form; stored forms: u8 dtype, varint rank, shape; jax.Array: sharding
 *   body (stored forms): varint 0 nothing, 1 the whole array, n + 1 n boxes,
 *     each origin, extent
 *   holders (stored forms): varint 0 every rank holds the whole array, n + 1
 *     n boxes, each owner, origin, extent
 *   sharding: u8 1 with a mesh, 0 that of the jax.Array before; spec
 *
 * Heads do not depend on the rank, so equal trees have heads equal byte for
 * byte, and both are canonical: the same tree gives the same bytes. Numbers are
 * varints. The bytes travel between ranks of one build only. */
#ifndef CAIRN_HANDLERS_DESC_H_
#define CAIRN_HANDLERS_DESC_H_

#include "cairn/array.h"
#include "form.h"
#include "keypath.h"

#define CAIRN__DESC_VERSION 1

/* --- writing --- */

/* Starts with {.out = ...}; begin writes the front. */
typedef struct cairn__desc_writer {
  cairn_buf_t *out;
  const cairn_sharding_t *mesh; /* of the jax.Array before */
  size_t head_at;
} cairn__desc_writer_t;

void cairn__desc_begin(cairn__desc_writer_t *w, size_t leaves);
void cairn__plan_begin(cairn__desc_writer_t *w, int ranks, size_t leaves);
/* The head of a leaf. The sharding stays the caller's, until the last leaf. */
void cairn__desc_leaf(cairn__desc_writer_t *w, const cairn_leaf_t *leaf);
/* The body of a stored leaf. */
void cairn__desc_boxes(cairn__desc_writer_t *w, int rank, const int64_t *shape,
                       const cairn_box_t *boxes, size_t n);
/* A head that was read elsewhere. */
void cairn__plan_head(cairn__desc_writer_t *w, cairn_bytes_t head);
void cairn__plan_all_hold(cairn__desc_writer_t *w);
void cairn__plan_num_boxes(cairn__desc_writer_t *w, size_t n);
void cairn__plan_box(cairn__desc_writer_t *w, int owner, int rank,
                     const int64_t *origin, const int64_t *extent);

/* --- reading --- */

typedef struct cairn__desc {
  cairn_bytes_t head; /* as it stands there */
  cairn_key_t *keys;
  size_t num_keys, cap_keys;
  cairn__form_t form;
  cairn_dtype_t dtype;
  int rank;
  int64_t shape[CAIRN_MAX_RANK];
  cairn_bytes_t mesh, spec; /* of the jax.Array; mesh stays for those after */
  bool new_mesh;
} cairn__desc_t;

typedef struct cairn__desc_reader {
  cairn_cur_t cur;
  int ranks; /* of a plan; 0: a description */
  size_t leaves, next;
  cairn__desc_t leaf; /* the one read last */
} cairn__desc_reader_t;

/* Each: CAIRN_INTERNAL when the bytes are not what we write, CAIRN_NO_MEMORY.
 * The bytes must stay while the reader is used. */
cairn_code_t cairn__desc_open(cairn__desc_reader_t *r, cairn_bytes_t in,
                              bool plan, cairn_error_t *err);
/* The next head without looking into it: what combine compares. */
cairn_code_t cairn__desc_next_head(cairn__desc_reader_t *r, cairn_bytes_t *head,
                                   cairn_error_t *err);
/* Takes a head apart into r->leaf. */
cairn_code_t cairn__desc_parse_head(cairn__desc_reader_t *r, cairn_bytes_t head,
                                    cairn_error_t *err);
cairn_code_t cairn__desc_next(cairn__desc_reader_t *r, cairn_error_t *err);

/* How many boxes follow, of the stored leaf read last: the code of the format
 * above (`whole` set for 1 in a description, for 0 in a plan). */
cairn_code_t cairn__desc_num_boxes(cairn__desc_reader_t *r, bool *whole,
                                   size_t *n, cairn_error_t *err);
/* owner may be NULL in a description. */
cairn_code_t cairn__desc_box(cairn__desc_reader_t *r, int rank, int *owner,
                             int64_t *origin, int64_t *extent,
                             cairn_error_t *err);
void cairn__desc_close(cairn__desc_reader_t *r);

static inline cairn__keypath_t cairn__desc_path(const cairn__desc_t *d) {
  cairn__keypath_t p = {d->keys, d->num_keys};
  return p;
}

/* Fails with CAIRN_INTERNAL: the bytes end too early or are not ours. */
cairn_code_t cairn__desc_bad(cairn_error_t *err);
/* Numbers and texts of meshes and specs (sharding.c). False: cut. */
bool cairn__desc_int(cairn_cur_t *c, int64_t *out);    /* >= 0 */
bool cairn__desc_signed(cairn_cur_t *c, int64_t *out); /* zigzag */
bool cairn__desc_text(cairn_cur_t *c, cairn_bytes_t *out);

#endif
