/* Strategies: which store, opened how, for this path and purpose. A strategy is
 * pure: it turns what is asked into a spec, JSON text in TensorStore's
 * vocabulary, and opens nothing itself. Members that are NULL fall back to the
 * default strategy's, so one that only wants another store implements kv_spec
 * alone. */
#ifndef CAIRN_STRATEGY_H_
#define CAIRN_STRATEGY_H_

#include "cairn/kv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is written. All restore in Orbax v0 and v1, without arguments but for
 * ORBAX_V1 by v0's CheckpointManager, which does not know v1's handlers. */
typedef enum cairn_profile {
  /* The best of what stock Orbax reads: zarr 3, chunks with crc32c, small index
   * nodes. */
  CAIRN_PROFILE_CAIRN = 0,
  CAIRN_PROFILE_ORBAX,   /* v0's choices: zarr 2; side files byte for byte */
  CAIRN_PROFILE_ORBAX_V1 /* v1's choices: zarr 3, sharding_indexed */
} cairn_profile_t;

typedef enum cairn_purpose {
  CAIRN_PURPOSE_FILES,   /* plain files of a directory: JSON, markers */
  CAIRN_PURPOSE_PRIVATE, /* a process's own database, for writing */
  CAIRN_PURPOSE_MERGED,  /* the merged database, for writing */
  CAIRN_PURPOSE_READ     /* the merged database, for reading */
} cairn_purpose_t;

typedef struct cairn_spec_in { /* what the caller knows */
  size_t size;
  cairn_purpose_t purpose;
  const char *directory;  /* as the user gave it, then "/step", "/item" */
  const char *process_id; /* PRIVATE: "3"; [A-Za-z0-9]+ */
  cairn_profile_t profile;
  bool not_durable; /* what is written need not survive a power loss */
} cairn_spec_in_t;

typedef struct cairn_strategy_ops {
  size_t size;
  const char *name;
  /* A spec to *out: NUL-terminated, the caller's to free(). For FILES a kv
   * spec, for the others one of the form
   *
   *   {"driver": "ocdbt", "base": <kv spec>, "config": {...}, ...}
   *
   * CAIRN_INVALID: an unknown scheme (naming the known ones), a bad process id;
   * CAIRN_NO_MEMORY. Any thread. */
  cairn_code_t (*read_spec)(void *self, const cairn_spec_in_t *in, char **out,
                            cairn_error_t *err);
  cairn_code_t (*write_spec)(void *self, const cairn_spec_in_t *in, char **out,
                             cairn_error_t *err);
  /* The kv spec of a directory alone. */
  cairn_code_t (*kv_spec)(void *self, const cairn_spec_in_t *in, char **out,
                          cairn_error_t *err);
} cairn_strategy_ops_t;

typedef struct cairn_strategy {
  const cairn_strategy_ops_t *ops;
  void *self;
} cairn_strategy_t;

/* The built-in one: "scheme://..." to that driver, anything without a scheme to
 * file; OCDBT with Orbax's configuration (in the cairn profile: index nodes of
 * 64 KiB). */
CAIRN_API extern const cairn_strategy_t CAIRN_STRATEGY_DEFAULT;

/* Asks the strategy's write_spec or read_spec, falling back to the default's
 * members (strategy NULL: all of it). *out is the caller's to free(). Errors as
 * there. Any thread. */
CAIRN_API cairn_code_t cairn_strategy_spec(const cairn_strategy_t *strategy,
                                           const cairn_spec_in_t *in,
                                           bool for_write, char **out,
                                           cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
