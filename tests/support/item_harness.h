/* Item handlers without checkpoints: n ranks in one process, no messages. Every
 * rank has its own context; the harness does between the calls of a handler
 * what the checkpoint room does: hand descriptions to combine, the plan to
 * commit, databases to merge. */
#ifndef TESTS_SUPPORT_ITEM_HARNESS_H_
#define TESTS_SUPPORT_ITEM_HARNESS_H_

#include "cairn/handler.h"
#include "support/kv_fault.h"

#define HARNESS_MAX_RANKS 8

typedef struct harness_opts {
  const char *item; /* name; NULL: "" */
  cairn_profile_t profile;
  int64_t chunk_bytes;
  bool no_compression;
  bool partial;
  cairn_snapshot_t snapshot;
} harness_opts_t;

typedef struct harness {
  cairn_runtime_t *rt;
  cairn_kv_t *dir; /* of the item */
  int ranks;
  harness_opts_t opts;
  int64_t bytes[HARNESS_MAX_RANKS]; /* that the last call moved */
  /* called after the snapshots, if set: the memory is the caller's again */
  void (*staged)(void *arg);
  void *staged_arg;
  /* called when the handler's part is over, if set: faults end here */
  void (*over)(void);
} harness_t;

/* url NULL: an empty store in memory. The test fails if that fails. */
void harness_open(harness_t *h, int ranks, const char *url);
/* An empty store in memory that misbehaves as f says. */
void harness_open_fault(harness_t *h, int ranks, kv_fault_t *f);
void harness_close(harness_t *h);

/* values[r] is rank r's. */
cairn_code_t harness_save(harness_t *h, const cairn_handler_ops_t *ops,
                          void *const *values, cairn_error_t *err);
cairn_code_t harness_restore(harness_t *h, const cairn_handler_ops_t *ops,
                             void *const *values, cairn_error_t *err);
cairn_code_t harness_inspect(harness_t *h, const cairn_handler_ops_t *ops,
                             cairn_item_info_t *out, cairn_error_t *err);

/* Damage as text, one line each: "key: message". For free(). */
char *harness_verify(harness_t *h, const cairn_handler_ops_t *ops,
                     cairn_error_t *err);

#endif
