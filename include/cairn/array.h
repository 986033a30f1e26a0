/* N-d arrays on any key-value store, in zarr 2 and zarr 3.
 *
 * A cairn_zarr_t is what an array's metadata says: element type, shape, chunk
 * grid, codecs. Batches of arrays are written and read in one call, so that ten
 * thousand small arrays cost about as much as one large one.
 *
 *   cairn_array_io_t io = {.name = name, .zarr = z, .regions = &mine, .n = 1,
 *                          .metadata = am_primary};
 *   cairn_then(cairn_arrays_write(kv, &io, 1, NULL), &s->wait, on_written);
 */
#ifndef CAIRN_ARRAY_H_
#define CAIRN_ARRAY_H_

#include "cairn/kv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made; counted, so that arrays can share one. */
typedef struct cairn_zarr cairn_zarr_t;

/* What cairn_zarr_make makes an array of. */
typedef struct cairn_zarr_spec {
  size_t size; /* sizeof this struct; 0: as compiled */
  int version; /* 2 or 3 */
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape; /* rank numbers >= 0 */
  const int64_t *chunk; /* rank numbers >= 1 */
  bool compress;        /* zstd */
  int level;    /* of it; 0: the format's default (zarr 2: 1, zarr 3: 3) */
  bool sharded; /* zarr 3: one inner chunk a shard, as Orbax does */
  bool crc32c;  /* zarr 3: a crc32c codec last in the (inner) chain */
  bool frame_checksum; /* content checksums in zstd frames; not in metadata */
} cairn_zarr_spec_t;

/* An array to be written; *out is the caller's reference. Pure; any thread.
 * CAIRN_INVALID: which member and why (rank above 32, chunk bytes that overflow
 * int64, ...); CAIRN_UNSUPPORTED; CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_zarr_make(
    const cairn_zarr_spec_t *spec, cairn_zarr_t **out, cairn_error_t *err);

/* From stored metadata (.zarray if version is 2, zarr.json if 3): what
 * TensorStore reads of these formats is read, what it refuses is refused. *out
 * is the caller's reference. CAIRN_CORRUPT: it is not such metadata, and which
 * member is wrong; CAIRN_UNSUPPORTED: a member that TensorStore may know,
 * naming it; CAIRN_NO_MEMORY. Any thread. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_zarr_parse(int version,
                                                         cairn_bytes_t text,
                                                         cairn_zarr_t **out,
                                                         cairn_error_t *err);

/* One more owner of z (returned); one less, and the last one frees it (NULL is
 * fine). Any thread. */
CAIRN_API cairn_zarr_t *cairn_zarr_ref(cairn_zarr_t *z);
CAIRN_API void cairn_zarr_unref(cairn_zarr_t *z);

/* What z says of its array; any thread, cannot fail, and what is pointed to
 * lives as long as z. The metadata text is as TensorStore emits it; of one from
 * cairn_zarr_parse, the text that was parsed. */
CAIRN_API cairn_bytes_t cairn_zarr_text(const cairn_zarr_t *z);
/* 2 or 3; the element type; the number of dimensions, 0 to CAIRN_MAX_RANK; so
 * many lengths. */
CAIRN_API int cairn_zarr_version(const cairn_zarr_t *z);
CAIRN_API cairn_dtype_t cairn_zarr_dtype(const cairn_zarr_t *z);
CAIRN_API int cairn_zarr_rank(const cairn_zarr_t *z);
CAIRN_API const int64_t *cairn_zarr_shape(const cairn_zarr_t *z);
/* Shape of a stored object (with sharding, the shard), and of the innermost
 * unit that can be read; rank numbers each. */
CAIRN_API const int64_t *cairn_zarr_chunk(const cairn_zarr_t *z);
CAIRN_API const int64_t *cairn_zarr_read_chunk(const cairn_zarr_t *z);
/* Codec names, outermost first, joined by ", " ("zstd, crc32c"; "" for none),
 * into out, NUL-terminated and cut to cap bytes. */
CAIRN_API void cairn_zarr_codecs(const cairn_zarr_t *z, char *out, size_t cap);
/* Bytes of all elements (dtype size times shape); INT64_MAX on overflow. */
CAIRN_API int64_t cairn_zarr_bytes(const cairn_zarr_t *z);
/* The last part of the metadata key: ".zarray" or "zarr.json". A constant. */
CAIRN_API const char *cairn_zarr_meta_key(int version);

/* Memory whose bytes may be elsewhere by now: what a save took it to hold is
 * asked for, not looked at. Both functions may be called on any thread, several
 * at once, for bytes that are asked for once. */
typedef struct cairn_source cairn_source_t;
struct cairn_source {
  /* The n bytes at src as they were when the save began, to dst. */
  cairn_code_t (*copy_out)(const cairn_source_t *self, void *dst,
                           const void *src, size_t n, cairn_error_t *err);
  /* Where they can be read until the save is over; NULL: nowhere. Optional. */
  const void *(*peek)(const cairn_source_t *self, const void *src, size_t n);
};

/* A box of an array, and where its elements lie in memory (native byte order,
 * dtype size each). The arrays have the array's rank and are the caller's. */
typedef struct cairn_region {
  const int64_t *origin, *extent;
  const int64_t *strides;       /* bytes, any sign; NULL: C order, no gaps */
  void *data;                   /* of the element at origin */
  const cairn_source_t *source; /* write: NULL: plain memory */
} cairn_region_t;

typedef struct cairn_array_io {
  cairn_bytes_t name; /* keys are name + "/" + chunk; no "/" if it is empty */
  cairn_zarr_t *zarr; /* borrowed */
  const cairn_region_t *regions;
  size_t n;
  bool metadata;     /* write: also the metadata key */
  bool fill_missing; /* read: an absent chunk is the fill value, not an error */
  /* out */
  int64_t bytes;        /* of elements written or read */
  int64_t stored_bytes; /* encoded */
} cairn_array_io_t;

/* Writes the regions of n arrays. Every chunk that a region meets must lie in
 * it whole (but for what is beyond the array's edge): CAIRN_INVALID otherwise,
 * before any write. Edge chunks are stored full-size. Chunks are encoded on CPU
 * threads within the runtime's byte budget, small ones many to a job. The
 * structs and the memory must live until ready. Errors name array and chunk.
 * Loop thread. */
CAIRN_API cairn_future_t *cairn_arrays_write(cairn_kv_t *kv,
                                             cairn_array_io_t *arrays,
                                             size_t n);

/* Reads the regions of n arrays; each chunk is read and decoded once, whatever
 * number of regions it meets, verified, and copied straight into place. Regions
 * must lie inside the array (CAIRN_INVALID). CAIRN_CORRUPT names array, chunk,
 * what was wrong. The structs and the memory must live until ready. Loop
 * thread. */
CAIRN_API cairn_future_t *cairn_arrays_read(cairn_kv_t *kv,
                                            cairn_array_io_t *arrays, size_t n);

/* Reads and parses the metadata of n arrays: out[i] is a new reference, or NULL
 * if name i is not there (not an error). On failure all are NULL. `names` and
 * `out` must live until ready. Errors of cairn_zarr_parse and of the store.
 * Loop thread. */
CAIRN_API cairn_future_t *cairn_arrays_open(cairn_kv_t *kv, int version,
                                            const cairn_bytes_t *names,
                                            size_t n, cairn_zarr_t **out);

/* Damage found while verifying: what, where; more may follow. On the loop
 * thread; key and what are the caller's. */
typedef void (*cairn_damage_fn)(void *arg, cairn_bytes_t key,
                                const cairn_error_t *what);
/* Reads and decodes every chunk of n arrays (regions are not used) and reports
 * each bad or absent one, up to 1,000 of one array: then it says that there are
 * more and goes on to the next. Where chunks may be absent, likewise after 2^20
 * that are. Fails only when it cannot go on, or is cancelled. The structs must
 * live until ready. Loop thread. */
CAIRN_API cairn_future_t *cairn_arrays_verify(cairn_kv_t *kv,
                                              cairn_array_io_t *arrays,
                                              size_t n, cairn_damage_fn fn,
                                              void *arg);

/* Number of chunks, and the key (below the array's name) of the chunk with that
 * place in the grid, rank numbers; NUL-terminated into out of cap bytes, of
 * which CAIRN_MAX_CHUNK_KEY are enough. Any thread. */
#define CAIRN_MAX_CHUNK_KEY (CAIRN_MAX_RANK * 21 + 8)
CAIRN_API int64_t cairn_zarr_num_chunks(const cairn_zarr_t *z);
CAIRN_API void cairn_zarr_chunk_key(const cairn_zarr_t *z, const int64_t *index,
                                    char *out, size_t cap);

/* --- planning: which rank writes what --- */

/* A box that one rank holds. */
typedef struct cairn_plan_box {
  int owner;
  const int64_t *origin, *extent;
} cairn_plan_box_t;

typedef enum cairn_plan_rule {
  /* Replicas share by bytes; chunks near chunk_bytes. */
  CAIRN_PLAN_CAIRN,
  /* The chunk is the box that a rank holds; replicas share it along the first
   * axis that they divide. */
  CAIRN_PLAN_ORBAX,
  /* One chunk, by the lowest rank that holds it all (Orbax's host arrays). */
  CAIRN_PLAN_PRIMARY
} cairn_plan_rule_t;

typedef struct cairn_plan_in {
  size_t size;        /* sizeof this struct; 0: as compiled */
  cairn_bytes_t name; /* for messages */
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape;
  const cairn_plan_box_t *boxes; /* of all ranks */
  size_t n;
  cairn_plan_rule_t rule;
  /* CAIRN: what chunks come near to; 0: 16 MiB. ORBAX: the most that one may
   * have, reached by dividing axes; 0: no limit. */
  int64_t chunk_bytes;
  int replicas; /* ORBAX: devices per distinct box; 0: count the boxes */
  /* Bytes each rank (num_ranks of them) was given so far; updated: small arrays
   * go to the least loaded holder. May be NULL. */
  int64_t *load;
  int num_ranks;
} cairn_plan_in_t;

/* To be written by one rank; whole chunks. */
typedef struct cairn_plan_piece {
  int owner;
  size_t box; /* index in boxes of one of the owner's that holds it */
  int64_t *origin, *extent;
} cairn_plan_piece_t;

typedef struct cairn_plan {
  int64_t chunk[CAIRN_MAX_RANK], write_shape[CAIRN_MAX_RANK];
  int meta_owner; /* which rank writes the metadata key */
  cairn_plan_piece_t *pieces;
  size_t n;
  void *mem;
} cairn_plan_t;

/* Pure and the same on every rank for the same input, without a message; any
 * thread. Refuses, naming array, boxes and ranks: a box outside the shape or of
 * another rank, two unequal boxes that overlap (CAIRN_INVALID), a hole
 * (CAIRN_INVALID, with the box that nobody holds), overflow. No two pieces meet
 * in a chunk. Zero-size arrays have no pieces and chunk max(1, n). Also
 * CAIRN_NO_MEMORY. *out is for cairn_plan_free. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_plan_array(
    const cairn_plan_in_t *in, cairn_plan_t *out, cairn_error_t *err);
/* Frees what the plan holds; it is {0} after. Any thread. */
CAIRN_API void cairn_plan_free(cairn_plan_t *plan);

#ifdef __cplusplus
}
#endif
#endif
