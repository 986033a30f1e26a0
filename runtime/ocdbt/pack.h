/* Writing, the part without I/O: where items go, nodes from entries, a whole
 * new database as bytes. Made on a CPU thread and then sent by the data log.
 *
 *   place    which data file and offset the next item gets (section 11)
 *   pack     items in memory, with the place of each
 *   tree     nodes split as TensorStore splits them (section 13.4)
 *   leaves   entries as a list of root-style leaf nodes, for the merge
 *   build    all of it: leaves, tree, manifest */
#ifndef CAIRN_OCDBT_PACK_H_
#define CAIRN_OCDBT_PACK_H_

#include "ocdbt/ocdbt.h"
#include "ocdbt/wire.h"

/* --- place --- */

/* "d/" and 32 hex digits. */
#define CAIRN__DATA_FILE_NAME 34
typedef struct cairn__data_file {
  char name[CAIRN__DATA_FILE_NAME + 1];
  uint64_t size;
} cairn__data_file_t;

typedef struct cairn__place {
  uint64_t target;            /* 0: no limit */
  uint64_t begin;             /* offset of the first item in a file */
  cairn__data_file_t **files; /* their addresses stay: names are borrowed */
  size_t n, cap;
} cairn__place_t;

/* The place of the next `length` bytes; a file that reached the target is left
 * for a new one with a random name. False: no memory. */
bool cairn__place_next(cairn__place_t *p, uint64_t length, uint32_t *file,
                       uint64_t *offset);
/* Whether the next item goes to a file that has none yet. */
bool cairn__place_is_full(const cairn__place_t *p);
cairn__ocdbt_file_t cairn__place_file(const cairn__place_t *p, uint32_t file);
void cairn__place_reset(cairn__place_t *p);

/* --- pack --- */

/* Bytes [start, start + n) of the pack belong at that place. */
typedef struct cairn__pack_region {
  uint32_t file;
  uint64_t offset;
  size_t start, n;
} cairn__pack_region_t;

typedef struct cairn__pack {
  cairn__place_t *place;
  cairn_buf_t bytes;
  cairn__pack_region_t *regions;
  size_t num_regions, cap;
} cairn__pack_t;

/* Places what was appended to `bytes` since it had `start`. */
CAIRN_MUST_CHECK cairn_code_t cairn__pack_item(cairn__pack_t *p, size_t start,
                                               cairn__ocdbt_loc_t *out,
                                               cairn_error_t *err);
void cairn__pack_reset(cairn__pack_t *p);

/* --- entries --- */

/* Leaf entries with full keys, and the strings they point to. */
typedef struct cairn__entries {
  cairn__ocdbt_entry_t *e;
  size_t n, cap;
  cairn__arena_t arena;
} cairn__entries_t;

/* Room for one more at the end, zeroed; NULL: no memory. */
cairn__ocdbt_entry_t *cairn__entries_add(cairn__entries_t *es);
void cairn__entries_reset(cairn__entries_t *es);

/* --- tree --- */

/* Encodes entries (full keys, strictly ascending; their keys are cut on the
 * way) as a tree and fills root, height and statistics of *out. */
CAIRN_MUST_CHECK cairn_code_t
cairn__tree_write(const cairn__ocdbt_config_t *config,
                  cairn__ocdbt_entry_t *entries, size_t n, cairn__pack_t *pack,
                  cairn__ocdbt_version_t *out, cairn_error_t *err);

/* --- leaves --- */

/* Appends entries as leaf nodes with full keys, about 1 MiB decoded each. */
CAIRN_MUST_CHECK cairn_code_t cairn__leaves_put(
    const cairn__ocdbt_config_t *config, const cairn__ocdbt_entry_t *entries,
    size_t n, cairn_buf_t *out, cairn_error_t *err);
/* Decodes the first node of *rest and moves behind it; *rest must not be
 * empty. */
CAIRN_MUST_CHECK cairn_code_t cairn__leaves_next(cairn_bytes_t *rest,
                                                 cairn_bytes_t transitive,
                                                 cairn__ocdbt_node_t *out,
                                                 cairn_error_t *err);
/* Merges the children's leaves into *out, keys ascending. CAIRN_CORRUPT for a
 * key that two of them hold. */
CAIRN_MUST_CHECK cairn_code_t
cairn__leaves_merge(const cairn__ocdbt_child_t *children, size_t n,
                    cairn__entries_t *out, cairn_error_t *err);

/* --- build --- */

/* The longest inline value: a config may say more than a reader accepts. */
static inline size_t cairn__inline_limit(const cairn__ocdbt_config_t *c) {
  return c->max_inline_value_bytes < CAIRN__OCDBT_MAX_INLINE
             ? c->max_inline_value_bytes
             : CAIRN__OCDBT_MAX_INLINE;
}

typedef struct cairn__build {
  cairn__ocdbt_config_t config;
  cairn__entries_t entries;
  cairn__pack_t pack;
  cairn_buf_t leaves, manifest;
  uint64_t manifest_sum;
  uint64_t num_keys, value_bytes;
} cairn__build_t;

/* From entries, sorted: fills everything else as generation 1. */
CAIRN_MUST_CHECK cairn_code_t cairn__build_run(cairn__build_t *b,
                                               cairn_error_t *err);
void cairn__build_reset(cairn__build_t *b);

#endif
