/* OCDBT's encoded objects: bytes in, structs out, no I/O. The layout is
 * reference ocdbt.md sections 2 to 10; the names of fields are its names.
 *
 * Decoded objects own one arena (`mem`): free with the matching _free. Strings
 * inside point into it. Every decode failure is CAIRN_CORRUPT with the field
 * and the offset in the decoded body; the caller adds the file. */
#ifndef CAIRN_OCDBT_FORMAT_H_
#define CAIRN_OCDBT_FORMAT_H_

#include "base/base.h"

#define CAIRN__OCDBT_MANIFEST 0x0cdb3a2au
#define CAIRN__OCDBT_VERSION_NODE 0x0cdb1234u
#define CAIRN__OCDBT_BTREE_NODE 0x0cdb20deu

#define CAIRN__OCDBT_MAX_INLINE 1048576
#define CAIRN__OCDBT_MAX_ARITY 1048576
#define CAIRN__OCDBT_MAX_KEY 65535
/* Cap on a decompressed body, against decompression bombs. */
#define CAIRN__OCDBT_MAX_BODY ((size_t)1 << 30)

typedef struct cairn__ocdbt_config {
  uint8_t uuid[16];
  uint8_t manifest_kind; /* 0 single, 1 numbered */
  uint32_t max_inline_value_bytes;
  uint32_t max_decoded_node_bytes; /* 0: never split by size */
  uint8_t version_tree_arity_log2;
  bool zstd;
  int32_t zstd_level;
} cairn__ocdbt_config_t;

/* A data file's name: base (joined with the transitive path) and relative. */
typedef struct cairn__ocdbt_file {
  cairn_bytes_t base, rel;
} cairn__ocdbt_file_t;

/* Where bytes are. Missing (an empty tree's root): offset and length both
 * UINT64_MAX. */
typedef struct cairn__ocdbt_loc {
  cairn__ocdbt_file_t file;
  uint64_t offset, length;
} cairn__ocdbt_loc_t;
bool cairn__ocdbt_loc_missing(const cairn__ocdbt_loc_t *loc);

typedef struct cairn__ocdbt_stats {
  uint64_t num_keys, num_tree_bytes, num_indirect_value_bytes;
} cairn__ocdbt_stats_t;

typedef struct cairn__ocdbt_version {
  uint64_t generation;
  uint8_t root_height;
  cairn__ocdbt_loc_t root;
  cairn__ocdbt_stats_t stats;
  uint64_t commit_time; /* ns since 1970 */
} cairn__ocdbt_version_t;

typedef struct cairn__ocdbt_version_ref { /* of a version tree node */
  uint64_t generation;                    /* newest inside */
  cairn__ocdbt_loc_t loc;
  uint64_t num_generations;
  uint64_t commit_time; /* oldest inside */
  uint8_t height;
} cairn__ocdbt_version_ref_t;

typedef struct cairn__ocdbt_manifest {
  cairn__ocdbt_config_t config;
  cairn__ocdbt_version_t *versions; /* inline, ascending; none if numbered */
  size_t num_versions;
  cairn__ocdbt_version_ref_t *nodes;
  size_t num_nodes;
  void *mem;
} cairn__ocdbt_manifest_t;

typedef struct cairn__ocdbt_version_node {
  uint8_t arity_log2, height;
  cairn__ocdbt_version_t *versions; /* height 0 */
  size_t num_versions;
  cairn__ocdbt_version_ref_t *children; /* height > 0 */
  size_t num_children;
  void *mem;
} cairn__ocdbt_version_node_t;

typedef struct cairn__ocdbt_entry {
  cairn_bytes_t key; /* relative to the node's implicit prefix */
  /* leaf */
  bool is_inline;
  cairn_bytes_t value; /* inline bytes */
  /* leaf, out of line: the value; interior: the child */
  cairn__ocdbt_loc_t loc;
  /* interior */
  uint16_t subtree_prefix; /* subtree_common_prefix_length */
  cairn__ocdbt_stats_t stats;
} cairn__ocdbt_entry_t;

typedef struct cairn__ocdbt_node {
  uint8_t height;
  cairn__ocdbt_entry_t *entries; /* 1 .. 1048576, keys ascending */
  size_t n;
  void *mem;
} cairn__ocdbt_node_t;

/* Decoding. `transitive` is T of section 7: "" for a manifest, the reference's
 * full base path for a node. */
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_manifest_decode(
    cairn_bytes_t in, cairn__ocdbt_manifest_t *out, cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_version_node_decode(
    cairn_bytes_t in, cairn_bytes_t transitive,
    cairn__ocdbt_version_node_t *out, cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_node_decode(cairn_bytes_t in,
                                                       cairn_bytes_t transitive,
                                                       cairn__ocdbt_node_t *out,
                                                       cairn_error_t *err);
void cairn__ocdbt_manifest_free(cairn__ocdbt_manifest_t *m); /* {0} after */
void cairn__ocdbt_version_node_free(cairn__ocdbt_version_node_t *n);
void cairn__ocdbt_node_free(cairn__ocdbt_node_t *n);

/* Encoding: appends one whole object. Entries as they shall be stored (keys
 * already relative). CAIRN_NO_MEMORY, CAIRN_INVALID (a key or path too long).
 */
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_manifest_encode(
    const cairn__ocdbt_manifest_t *m, cairn_buf_t *out, cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_version_node_encode(
    const cairn__ocdbt_config_t *config, const cairn__ocdbt_version_node_t *n,
    cairn_buf_t *out, cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t
cairn__ocdbt_node_encode(const cairn__ocdbt_config_t *config, uint8_t height,
                         const cairn__ocdbt_entry_t *entries, size_t n,
                         cairn_buf_t *out, cairn_error_t *err);

/* Stored paths are untrusted: CAIRN_CORRUPT for a leading '/', NUL, an empty,
 * "." or ".." component, or one ending in ".__lock" (section 16). */
CAIRN_MUST_CHECK cairn_code_t
cairn__ocdbt_path_check(const cairn__ocdbt_file_t *f, cairn_error_t *err);

/* One encoded object, of any kind, as text for people (the tool's dump). */
CAIRN_MUST_CHECK cairn_code_t cairn__ocdbt_dump(cairn_bytes_t in,
                                                cairn_buf_t *out,
                                                cairn_error_t *err);

#endif
