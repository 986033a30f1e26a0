/* Reading and verifying share this: units (what is read with one kv read), the
 * jobs they travel in, and shards that are read in part. Files:
 *
 *   read_units.c  which units there are: the walk over chunks, and for a shard
 * of which only some is wanted, its index first, then inner chunks read_jobs.c
 * units in groups: reserve, read, decode, done array_read.c, array_verify.c the
 * two calls */
#ifndef CAIRN_ARRAY_READ_H_
#define CAIRN_ARRAY_READ_H_

#include "array/io.h"

typedef struct cairn__reading cairn__reading_t;
typedef struct cairn__part cairn__part_t;

/* One value, or a range of one. */
typedef struct cairn__unit {
  cairn_array_io_t *io;
  struct cairn__read_job *job;
  int64_t *index; /* of the chunk */
  int64_t *inner; /* of the inner chunk; NULL: all of the stored value */
  uint64_t offset, length; /* of the inner chunk */
  bool missing;            /* an inner chunk that its index does not have */
  bool straight;           /* read into the caller's memory */
  cairn_value_t value;
  cairn_wait_t wait;
  cairn_error_t *damage; /* verifying: what was found; for free() */
} cairn__unit_t;

typedef struct cairn__read_job {
  cairn__reading_t *op;
  size_t n, left;
  int64_t bytes, reserved;
  cairn__target_t *targets; /* room for max_regions of each of two levels */
  cairn__decoder_t decoder;
  cairn_wait_t wait;
  int64_t *indices;
  cairn__unit_t units[];
} cairn__read_job_t;

/* A shard of which inner chunks are read one by one. */
struct cairn__part {
  cairn__part_t *next; /* among those that are ready */
  cairn__reading_t *op;
  cairn_array_io_t *io;
  int64_t index[CAIRN_MAX_RANK],
      at[CAIRN_MAX_RANK]; /* inner chunk that is next */
  cairn__range_t range;
  cairn__target_t *targets; /* of the shard, in encoded dimensions */
  size_t num_targets;
  cairn_value_t value; /* the encoded index */
  uint64_t *entries, total;
  int64_t reserved;
  cairn_wait_t wait;
};

/* Of one array, while verifying. */
typedef struct cairn__tally {
  size_t damaged, absent; /* chunks; absent: that need not be stored */
  bool over;              /* enough: the rest is left out */
} cairn__tally_t;

struct cairn__reading {
  cairn_kv_t *kv;
  cairn_runtime_t *rt;
  cairn_array_io_t *arrays;
  size_t n, max_regions;
  int max_rank;
  cairn__walk_t walk;
  bool walked, held;
  cairn__part_t *ready; /* with inner chunks left */
  int parts;            /* open: being read or ready */
  int jobs, max_jobs;
  cairn_buf_t key;
  cairn_damage_fn damage; /* verifying; NULL: reading */
  void *damage_arg;
  cairn__tally_t *tally; /* verifying: one an array */
  cairn_error_t err;
  cairn_future_t *done;
};

/* Starts and goes on until nothing is left, then resolves and frees op. */
void cairn__reading_pump(cairn__reading_t *op);
/* A new one; NULL: *err. Its future is resolved at the end. */
cairn_future_t *cairn__reading_start(cairn_kv_t *kv, cairn_array_io_t *arrays,
                                     size_t n, cairn_damage_fn damage,
                                     void *arg);

/* True if `bytes` more of job j (its n units so far) can be filled; fills the
 * next unit. False: none now (parts may be on their way), or it needs a job of
 * its own. */
bool cairn__reading_take(cairn__reading_t *op, cairn__read_job_t *j);
/* True if a job could be filled now. Opens shards on the way. */
bool cairn__reading_more(cairn__reading_t *op);
void cairn__reading_drop_parts(cairn__reading_t *op);

/* Reports damage, or makes it the outcome. */
void cairn__reading_failed(cairn__reading_t *op, const cairn_array_io_t *io,
                           const int64_t *index, cairn_error_t *err);

/* What the regions of io want of a chunk; everything is verified without. */
size_t cairn__chunk_targets(const cairn_array_io_t *io, const int64_t *index,
                            cairn__target_t *out);

#endif
