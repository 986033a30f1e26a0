/* `_METADATA`: what a tree item holds, as Orbax writes it (orbax.md 1.6).
 *
 * Reading goes by key_metadata and never by the tree key, which is Python's
 * repr of the path and only has to be unique. Writing streams, leaf by leaf. */
#ifndef CAIRN_HANDLERS_TREE_META_H_
#define CAIRN_HANDLERS_TREE_META_H_

#include "bump.h"
#include "cairn/json.h"
#include "form.h"
#include "keypath.h"

/* --- reading --- */

typedef struct cairn__meta_entry {
  cairn__keypath_t path; /* keys are DICT or SEQ */
  cairn_bytes_t name;    /* joined by '.' */
  cairn_bytes_t value_type;
  cairn__form_t form;
  bool skip; /* skip_deserialize */
} cairn__meta_entry_t;

typedef struct cairn__tree_meta {
  cairn__meta_entry_t *entries; /* in the order of the file */
  size_t n;
  size_t *order; /* indices of entries, sorted by path */
  enum { CAIRN__OCDBT_ABSENT, CAIRN__OCDBT_NO, CAIRN__OCDBT_YES } use_ocdbt;
  bool use_zarr3;
  bool stores_fill; /* store_array_data_equal_to_fill_value */
  cairn__bump_t bump;
  cairn_json_doc_t doc; /* owns the texts */
} cairn__tree_meta_t;

/* CAIRN_CORRUPT or CAIRN_UNSUPPORTED, naming the entry and the member. A path
 * that is above another is dropped, as Orbax does. Any thread. */
cairn_code_t cairn__tree_meta_parse(cairn_bytes_t text, cairn__tree_meta_t *out,
                                    cairn_error_t *err);
void cairn__tree_meta_free(cairn__tree_meta_t *meta); /* {0} after */

/* --- writing --- */

typedef struct cairn__meta_writer {
  cairn_buf_t *out;
  cairn_buf_t repr; /* of the path at hand */
  bool any;
} cairn__meta_writer_t;

void cairn__meta_begin(cairn__meta_writer_t *w, cairn_buf_t *out);
/* One leaf, in JAX's flatten order; write_shape (rank numbers) for a jax.Array
 * only, else NULL. */
void cairn__meta_put(cairn__meta_writer_t *w, cairn__keypath_t path,
                     cairn__form_t form, const int64_t *write_shape, int rank);
void cairn__meta_end(cairn__meta_writer_t *w, bool use_zarr3);

/* "[4, 8]" in the python dialect. */
void cairn__put_shape(cairn_buf_t *out, int rank, const int64_t *shape);

#endif
