/* The writer's state, shared by kv_writer.c (the store), records.c (what was
 * written) and commit.c; and publishing, shared by commit and merge. */
#ifndef CAIRN_OCDBT_WRITER_H_
#define CAIRN_OCDBT_WRITER_H_

#include "kv/kv.h"
#include "ocdbt/datalog.h"

/* --- records --- */

#define CAIRN__RECORD_INLINE UINT32_MAX

/* A key and its value. About 50 bytes and the strings, so that a million keys
 * are no burden; entries are made from them at commit. */
typedef struct cairn__record {
  const uint8_t *key;
  uint32_t key_n;
  uint32_t file; /* index in the place; CAIRN__RECORD_INLINE */
  uint64_t length;
  union {
    const uint8_t *bytes; /* inline */
    uint64_t offset;
  } at;
} cairn__record_t;

typedef struct cairn__records {
  cairn__record_t *r;
  size_t n, cap;
  uint32_t *slots; /* open addressing by key: index + 1 */
  size_t num_slots;
  cairn__arena_t arena;
} cairn__records_t;

/* The record of that key, or NULL. */
cairn__record_t *cairn__records_find(const cairn__records_t *rs,
                                     cairn_bytes_t key);
/* Adds a key that is not there yet, copied; NULL: no memory. Adding the last
 * one failed to be filled is undone with _pop. */
cairn__record_t *cairn__records_add(cairn__records_t *rs, cairn_bytes_t key);
void cairn__records_pop(cairn__records_t *rs);
/* Sorted by key, as entries that point into rs and the place. Frees the records
 * but not their strings. CPU thread. */
CAIRN_MUST_CHECK cairn_code_t
cairn__records_entries(cairn__records_t *rs, const cairn__place_t *place,
                       cairn__entries_t *out, cairn_error_t *err);
void cairn__records_reset(cairn__records_t *rs);

/* --- publishing --- */

/* From a prepared build to a database that readers see: build on a CPU thread,
 * nodes to data files, data files complete, manifest last. */
typedef struct cairn__publish cairn__publish_t;
struct cairn__publish {
  cairn_kv_t *base;
  cairn__datalog_t *log;
  bool defer_sync, sync_data;
  /* Fills build.entries; runs on the CPU thread before cairn__build_run. */
  cairn_code_t (*prepare)(cairn__publish_t *p, cairn_error_t *err);
  /* On the loop, once. p->reached tells how far it came. */
  void (*over)(cairn__publish_t *p, cairn_error_t *err);
  cairn__ocdbt_summary_t *out;

  enum {
    PUBLISH_BUILD,
    PUBLISH_DATA,
    PUBLISH_SYNC,
    PUBLISH_MANIFEST,
    PUBLISH_DONE
  } reached;
  bool may_be_visible; /* the manifest may have been written */
  cairn__build_t build;
  cairn_written_t written;
  cairn_wait_t wait;
};
void cairn__publish_start(cairn__publish_t *p);

/* A config for a new database from the caller's: uuid made, clamped, checked.
 */
CAIRN_MUST_CHECK cairn_code_t cairn__new_config(const cairn__ocdbt_config_t *in,
                                                cairn__ocdbt_config_t *out,
                                                cairn_error_t *err);

/* --- the writer --- */

typedef struct cairn__writer {
  cairn_runtime_t *rt;
  cairn_kv_t *base, *kv;
  cairn__ocdbt_config_t config;
  bool defer_sync, sync_data;
  cairn__datalog_t *log;
  cairn__records_t records;
  bool committing; /* no more writes */
  bool keep;       /* files stay when the writer is closed */
  cairn__publish_t publish;
  cairn_future_t *commit_done;
  cairn_future_t *close_done;
  cairn_wait_t close_wait;
} cairn__writer_t;

extern const cairn_kv_ops_t cairn__ocdbt_writer_ops;

#endif
