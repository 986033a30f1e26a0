/* OCDBT databases: a kv on a kv. ROOT is the base store's own root (open a
 * prefix view to root one deeper). Loop thread; futures as everywhere.
 *
 * Reader: a cairn_kv_t with read and list, over the newest version. Nodes are
 * decoded on CPU threads and cached (a 3000-array checkpoint is one node).
 *
 * Writer: a cairn_kv_t with write. Values up to the inline limit are kept in
 * memory, longer ones stream to a data file at once. Then exactly one commit:
 * data files complete and durable, nodes after them, the manifest last.
 *
 * Merge: what all ranks wrote becomes one database above theirs, from the leaf
 * nodes they send (cairn__ocdbt_summary_t.leaves): nothing is read back. */
#ifndef CAIRN_OCDBT_OCDBT_H_
#define CAIRN_OCDBT_OCDBT_H_

#include "cairn/kv.h"
#include "ocdbt/format.h"

/* --- reading --- */

/* base is borrowed and must outlive *out. CAIRN_NOT_FOUND: no manifest.
 * Numbered manifests, version trees, any height. Short or absent data files are
 * CAIRN_CORRUPT ("data loss"), naming file and offset. */
cairn_future_t *cairn__ocdbt_open(cairn_kv_t *base, cairn_kv_t **out);

/* The manifest that an open reader goes by. Valid until it is closed. */
const cairn__ocdbt_manifest_t *cairn__ocdbt_manifest(cairn_kv_t *reader);

/* Calls fn for every key in order with its full key and where its value is (key
 * and entry valid during the call). The verifier and the tool use it. False
 * from fn ends the walk early, with success. */
typedef bool (*cairn__ocdbt_entry_fn)(void *arg, cairn_bytes_t key,
                                      const cairn__ocdbt_entry_t *entry);
cairn_future_t *cairn__ocdbt_walk(cairn_kv_t *reader, cairn_bytes_t prefix,
                                  cairn__ocdbt_entry_fn fn, void *arg);

/* Walks everything reachable as a verifier: all versions' nodes, statistics
 * compared with references (BR03), values not read. Errors name file, offset,
 * field. */
cairn_future_t *cairn__ocdbt_check(cairn_kv_t *reader);

/* Where one key's value lies: *entry valid until the reader is closed; *found
 * false if absent. So callers can join neighbouring reads. */
cairn_future_t *cairn__ocdbt_locate(cairn_kv_t *reader, cairn_bytes_t key,
                                    bool *found, cairn__ocdbt_entry_t *entry);

/* --- writing --- */

typedef struct cairn__ocdbt_write_opts {
  cairn__ocdbt_config_t config;   /* uuid all zero: a random one is made */
  uint64_t target_data_file_size; /* 0: no limit */
  bool defer_sync; /* files need not be durable before cairn_kv_sync */
  /* What every data file begins with (readers pass over it); empty: nothing. */
  char mark[64];
  bool sync_data; /* but the data is, before the manifest that names it */
} cairn__ocdbt_write_opts_t;

/* Orbax's choices: inline 1024, nodes 100 MB, single, zstd level 0, arity 4,
 * 2 GiB data files. */
void cairn__ocdbt_orbax_opts(cairn__ocdbt_write_opts_t *out);

/* A file that was written: name below ROOT, its length, the sum of all of it.
 */
typedef struct cairn__ocdbt_written_file {
  char *name;
  uint64_t length;
  uint64_t sum; /* base/sum.h */
} cairn__ocdbt_written_file_t;

typedef struct cairn__ocdbt_summary {
  cairn_buf_t
      leaves; /* the database's leaf entries as encoded root-style leaf
                 nodes (full keys, no implicit prefix), one after another */
  cairn__ocdbt_written_file_t *files; /* data files and the manifest */
  size_t num_files;
  uint64_t num_keys, value_bytes;
} cairn__ocdbt_summary_t;
void cairn__ocdbt_summary_free(cairn__ocdbt_summary_t *s); /* {0} after */

/* A new database below base (which must not hold one: CAIRN_EXISTS at commit).
 * write: the same key twice is CAIRN_EXISTS; keys above 65535 bytes
 * CAIRN_INVALID. An out-of-line value's iov must live until its future is
 * ready. */
cairn_future_t *cairn__ocdbt_create(cairn_kv_t *base,
                                    const cairn__ocdbt_write_opts_t *o,
                                    cairn_kv_t **out);
/* Commits all that was written (every write's future must be ready) as
 * generation 1. *out is filled. A writer without keys commits an empty tree. */
cairn_future_t *cairn__ocdbt_commit(cairn_kv_t *writer,
                                    cairn__ocdbt_summary_t *out);
/* Closing without commit removes the data files that were written. */

/* --- merging --- */

typedef struct cairn__ocdbt_child {
  cairn_bytes_t base_path; /* below the merged ROOT: "ocdbt.process_2/" */
  cairn_bytes_t leaves;    /* from that child's summary */
} cairn__ocdbt_child_t;

/* Writes the merged database of the children at base. Keys held by two
 * children: CAIRN_CORRUPT naming the key and both. Children with no keys are
 * fine; no key at all writes an empty tree. */
cairn_future_t *cairn__ocdbt_merge(cairn_kv_t *base,
                                   const cairn__ocdbt_write_opts_t *o,
                                   const cairn__ocdbt_child_t *children,
                                   size_t n, cairn__ocdbt_summary_t *out);

#endif
