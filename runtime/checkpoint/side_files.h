/* The plain files of a step that are not an item's: _CHECKPOINT_METADATA,
 * commit_success.txt, and cairn.json. Pure: text in, struct out, and back. */
#ifndef CAIRN_CHECKPOINT_SIDE_FILES_H_
#define CAIRN_CHECKPOINT_SIDE_FILES_H_

#include "cairn/buf.h"
#include "cairn/error.h"
#include "cairn/strategy.h"

/* --- _CHECKPOINT_METADATA (orbax.md 1.4) --- */

typedef struct cairn__item_type {
  const char *item;    /* "" for a step without an item level */
  const char *typestr; /* handler string */
} cairn__item_type_t;

/* Appends it. items are sorted by name already. */
void cairn__checkpoint_metadata_emit(const cairn__item_type_t *items, size_t n,
                                     int64_t init_ns, int64_t commit_ns,
                                     cairn_buf_t *out);

typedef struct cairn__checkpoint_metadata {
  cairn__item_type_t *items; /* none if it does not say */
  size_t n;
  int64_t init_ns, commit_ns; /* 0: not said */
  void *mem;
} cairn__checkpoint_metadata_t;

/* Reads any of the forms that Orbax ever wrote. What cannot be read is
 * CAIRN_CORRUPT; Orbax logs that and carries on, and so may the caller. */
CAIRN_MUST_CHECK cairn_code_t cairn__checkpoint_metadata_parse(
    cairn_bytes_t text, cairn__checkpoint_metadata_t *out, cairn_error_t *err);
void cairn__checkpoint_metadata_free(cairn__checkpoint_metadata_t *m);

/* --- cairn.json (design.md 14) --- */

typedef struct cairn__bound_file {
  char *name; /* below the step */
  uint64_t length;
  uint64_t sum; /* base/sum.h */
} cairn__bound_file_t;

typedef struct cairn__bound_item {
  char *name, *type; /* the handler's type */
} cairn__bound_item_t;

typedef struct cairn__binding {
  int64_t step;
  char save_id[33];
  int ranks;
  cairn_profile_t profile;
  cairn__bound_item_t *items;
  size_t num_items, cap_items;
  cairn__bound_file_t *files;
  size_t num_files, cap_files;
} cairn__binding_t;

/* Both copy the text; false: no memory. */
bool cairn__binding_add_file(cairn__binding_t *b, const char *dir,
                             cairn_bytes_t name, uint64_t length, uint64_t sum);
bool cairn__binding_add_item(cairn__binding_t *b, const char *name,
                             const char *type);
void cairn__binding_free(cairn__binding_t *b); /* {0} after */

/* Appends it, files sorted by name, the text's own CRC-32C as its last member.
 */
void cairn__binding_emit(cairn__binding_t *b, cairn_buf_t *out);
/* CAIRN_CORRUPT naming the member; CAIRN_UNSUPPORTED for a newer version. */
CAIRN_MUST_CHECK cairn_code_t cairn__binding_parse(cairn_bytes_t text,
                                                   cairn__binding_t *out,
                                                   cairn_error_t *err);

#endif
