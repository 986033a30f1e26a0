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

typedef struct cairn_zarr_spec {
  size_t size;
  int version; /* 2 or 3 */
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape; /* rank numbers >= 0 */
  const int64_t *chunk; /* rank numbers >= 1 */
  bool compress;        /* zstd */
  int level;    /* of it; 0: the format's default (zarr 2: 1, zarr 3: 3) */
  bool sharded; /* zarr 3: sharding_indexed with one inner chunk, as Orbax does
                 */
  bool crc32c;  /* zarr 3: a crc32c codec last in the (inner) chain */
  bool frame_checksum; /* zstd frames carry a content checksum; not in metadata
                        */
} cairn_zarr_spec_t;

/* Pure; any thread. CAIRN_INVALID: which member and why (rank above 32, chunk
 * bytes that overflow int64, ...); CAIRN_UNSUPPORTED; CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_zarr_make(
    const cairn_zarr_spec_t *spec, cairn_zarr_t **out, cairn_error_t *err);

/* From stored metadata (.zarray if version is 2, zarr.json if 3). Everything
 * that TensorStore reads of these formats, bad input as in reference arrays.md
 * part E: CAIRN_CORRUPT or CAIRN_UNSUPPORTED naming the member. Any thread. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_zarr_parse(int version,
                                                         cairn_bytes_t text,
                                                         cairn_zarr_t **out,
                                                         cairn_error_t *err);

/* One more owner of z; one less, and the last one frees it. Any thread. */
CAIRN_API cairn_zarr_t *cairn_zarr_ref(cairn_zarr_t *z);
CAIRN_API void cairn_zarr_unref(cairn_zarr_t *z); /* NULL is fine */

/* The metadata text as TensorStore emits it. For one from cairn_zarr_parse: the
 * text that was parsed. Lives as long as z. */
CAIRN_API cairn_bytes_t cairn_zarr_text(const cairn_zarr_t *z);
CAIRN_API int cairn_zarr_version(const cairn_zarr_t *z);
CAIRN_API cairn_dtype_t cairn_zarr_dtype(const cairn_zarr_t *z);
CAIRN_API int cairn_zarr_rank(const cairn_zarr_t *z);
CAIRN_API const int64_t *cairn_zarr_shape(const cairn_zarr_t *z);
/* Of the grid of stored objects, and of the innermost unit that can be read. */
CAIRN_API const int64_t *cairn_zarr_chunk(const cairn_zarr_t *z);
CAIRN_API const int64_t *cairn_zarr_read_chunk(const cairn_zarr_t *z);
/* Codec names, outermost first, joined by ", " ("zstd, crc32c"; "" for none),
 * into out, cut to cap. */
CAIRN_API void cairn_zarr_codecs(const cairn_zarr_t *z, char *out, size_t cap);
/* Bytes of all elements (dtype size times shape); INT64_MAX on overflow. */
CAIRN_API int64_t cairn_zarr_bytes(const cairn_zarr_t *z);
/* The last part of the metadata key: ".zarray" or "zarr.json". */
CAIRN_API const char *cairn_zarr_meta_key(int version);

/* A box of an array, and where its elements lie in memory (native byte order,
 * dtype size each). The arrays have the array's rank and are the caller's. */
typedef struct cairn_region {
  const int64_t *origin, *extent;
  const int64_t *strides; /* bytes, any sign; NULL: C order, no gaps */
  void *data;             /* of the element at origin */
} cairn_region_t;

typedef struct cairn_array_io {
  cairn_bytes_t
      name; /* keys are name + "/" + chunk; without "/" if it is empty */
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
 * must lie inside the array. CAIRN_CORRUPT names array, chunk, what was wrong.
 */
CAIRN_API cairn_future_t *cairn_arrays_read(cairn_kv_t *kv,
                                            cairn_array_io_t *arrays, size_t n);

/* Reads and parses the metadata of n arrays: out[i] is a new reference, or NULL
 * if name i is not there (not an error). On failure all are NULL. */
CAIRN_API cairn_future_t *cairn_arrays_open(cairn_kv_t *kv, int version,
                                            const cairn_bytes_t *names,
                                            size_t n, cairn_zarr_t **out);

/* Damage found while verifying: what, where; more may follow. Loop thread. */
typedef void (*cairn_damage_fn)(void *arg, cairn_bytes_t key,
                                const cairn_error_t *what);
/* Reads and decodes every chunk of n arrays (regions are not used) and reports
 * each bad or absent one, up to 1,000 of one array: then it says that there are
 * more and goes on to the next. Where chunks may be absent, likewise after 2^20
 * that are. Fails only when it cannot go on, or is cancelled. */
CAIRN_API cairn_future_t *cairn_arrays_verify(cairn_kv_t *kv,
                                              cairn_array_io_t *arrays,
                                              size_t n, cairn_damage_fn fn,
                                              void *arg);

/* Number of chunks, and the key (below the array's name) of chunk i in C order,
 * appended NUL-terminated to out of cap bytes (CAIRN_MAX_CHUNK_KEY is enough).
 */
#define CAIRN_MAX_CHUNK_KEY (CAIRN_MAX_RANK * 21 + 8)
CAIRN_API int64_t cairn_zarr_num_chunks(const cairn_zarr_t *z);
CAIRN_API void cairn_zarr_chunk_key(const cairn_zarr_t *z, const int64_t *index,
                                    char *out, size_t cap);

/* --- planning: which rank writes what --- */

typedef struct cairn_plan_box { /* a box that one rank holds */
  int owner;
  const int64_t *origin, *extent;
} cairn_plan_box_t;

typedef enum cairn_plan_rule {
  CAIRN_PLAN_CAIRN, /* replicas share by bytes; chunks near chunk_bytes */
  CAIRN_PLAN_ORBAX, /* chunk = write shape; first axis divisible by the replicas
                     */
  CAIRN_PLAN_PRIMARY /* one chunk, all by the lowest rank that holds all of it
                        (Orbax's host arrays) */
} cairn_plan_rule_t;

typedef struct cairn_plan_in {
  size_t size;
  cairn_bytes_t name; /* for messages */
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape;
  const cairn_plan_box_t *boxes; /* of all ranks */
  size_t n;
  cairn_plan_rule_t rule;
  int64_t chunk_bytes; /* CAIRN: 0 is 16 MiB. ORBAX: 0 is none (arrays.md B4) */
  int replicas;        /* ORBAX: devices per distinct box; 0: count the boxes */
  int64_t
      *load; /* bytes each rank (num_ranks of them) was given so far; updated:
                small arrays go to the least loaded holder. May be NULL */
  int num_ranks;
} cairn_plan_in_t;

typedef struct cairn_plan_piece { /* to be written by one rank; whole chunks */
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
 * in a chunk. Zero-size arrays have no pieces and chunk max(1, n). */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_plan_array(
    const cairn_plan_in_t *in, cairn_plan_t *out, cairn_error_t *err);
CAIRN_API void cairn_plan_free(cairn_plan_t *plan); /* {0} after */

#ifdef __cplusplus
}
#endif
#endif
