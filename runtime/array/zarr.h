/* What an array's metadata becomes: the array room's own view of cairn_zarr_t.
 *
 * Both formats end as the same thing, a grid of chunks and a chain that turns a
 * chunk's elements into bytes. "order": "F" of zarr 2 is a transpose, its
 * compressor a chain of one stage. */
#ifndef CAIRN_ARRAY_ZARR_H_
#define CAIRN_ARRAY_ZARR_H_

#include <stdatomic.h>

#include "array/region.h"
#include "cairn/array.h"
#include "cairn/codec.h"
#include "cairn/json.h"

#define CAIRN__MAX_STAGES 16 /* bytes to bytes codecs in one chain */
#define CAIRN__MAX_NESTING 4 /* sharding in sharding */
#define CAIRN__MAX_SHARD ((int64_t)1 << 30) /* entries of a shard's index */
#define CAIRN__MAX_ITEM 16
#define CAIRN__SUM_BYTES 4 /* that crc32c appends */

typedef struct cairn__stage { /* bytes to bytes */
  const cairn_codec_ops_t *ops;
  int level;
  bool checksum;
} cairn__stage_t;

typedef struct cairn__chain cairn__chain_t;

/* sharding_indexed: arrays of `inner` chunks, and where each lies. */
typedef struct cairn__shard {
  int64_t *grid; /* inner chunks along each encoded dimension */
  int64_t n;     /* in all */
  bool at_start; /* the index */
  int64_t index_bytes;
  cairn__chain_t *inner, *index;
} cairn__shard_t;

/* Elements to bytes: permute dimensions, lay out (or shard), then the stages.
 */
struct cairn__chain {
  int rank;
  cairn_dtype_t dtype;
  size_t item;
  int64_t *shape;   /* of what goes in */
  int64_t *encoded; /* encoded[i] is shape[order[i]] */
  uint8_t order[CAIRN_MAX_RANK];
  int64_t bytes; /* item times shape; fits */
  size_t swap;   /* unit that is stored in the other byte order; 0: none */
  cairn__shard_t *shard; /* NULL: plain bytes */
  int num_stages;
  cairn__stage_t *stages;
};

struct cairn_zarr {
  atomic_int refs;
  int version, rank;
  cairn_dtype_t dtype;
  int64_t *shape, *chunk, *read_chunk;
  cairn__chain_t *chain;
  cairn_bytes_t text;
  char separator;
  bool prefixed_keys;            /* "c/0/1", not "0.1" */
  bool frame_checksum;           /* of what is written */
  uint8_t fill[CAIRN__MAX_ITEM]; /* one element, native; 0 if unspecified */
  struct cairn__block *blocks;
};

/* Zeroed memory that lives as long as z; NULL when memory is out. */
void *cairn__zarr_alloc(cairn_zarr_t *z, size_t n);
int64_t *cairn__zarr_dims(cairn_zarr_t *z, int rank, const int64_t *from);

/* --- parsing, by format (the document is an object) --- */

cairn_code_t cairn__zarr2_parse(cairn_zarr_t *z, const cairn_json_t *doc,
                                cairn_error_t *err);
cairn_code_t cairn__zarr3_parse(cairn_zarr_t *z, const cairn_json_t *doc,
                                cairn_error_t *err);

/* The chain in a list of zarr 3 codecs, member `key` of obj. */
typedef struct cairn__chain_in {
  cairn_dtype_t dtype;
  int rank;
  const int64_t *shape; /* of the chunks that go in */
  int depth;            /* shards around this chain */
  bool index;           /* of a shard's index */
} cairn__chain_in_t;
cairn_code_t cairn__chain_parse(cairn_zarr_t *z, const cairn_json_t *obj,
                                const char *key, const cairn__chain_in_t *in,
                                cairn__chain_t **out, cairn_error_t *err);
/* An empty chain for chunks of that shape; CAIRN_CORRUPT if its bytes overflow.
 */
cairn_code_t cairn__chain_new(cairn_zarr_t *z, cairn_dtype_t dtype, int rank,
                              const int64_t *shape, cairn__chain_t **out,
                              cairn_error_t *err);
/* order[i] is applied to what is encoded so far. */
void cairn__chain_transpose(cairn__chain_t *c, const uint8_t *order);
/* Bytes are stored big (or little) endian. */
void cairn__chain_endian(cairn__chain_t *c, bool big);
cairn_code_t cairn__chain_add(cairn_zarr_t *z, cairn__chain_t *c,
                              const cairn__stage_t *stage, cairn_error_t *err);
bool cairn__stage_is_sum(const cairn__stage_t *stage); /* crc32c */
/* Encoded size, if it is the same for every content; -1 otherwise. */
int64_t cairn__chain_fixed_bytes(const cairn__chain_t *c);

/* Checks "level" and the like of one bytes to bytes codec. `config` may be NULL
 * (absent). zarr 2 has defaults, and its ids; zarr 3 wants all members. */
cairn_code_t cairn__stage_parse(int version, cairn_bytes_t name,
                                const cairn_json_t *config, cairn__stage_t *out,
                                cairn_error_t *err);

/* --- element types (dtype.c, fill.c) --- */

typedef enum cairn__kind {
  CAIRN__KIND_BOOL,
  CAIRN__KIND_INT,
  CAIRN__KIND_UINT,
  CAIRN__KIND_FLOAT,
  CAIRN__KIND_COMPLEX
} cairn__kind_t;

cairn__kind_t cairn__dtype_kind(cairn_dtype_t t);
int cairn__dtype_bits(cairn_dtype_t t); /* that count: 4 for int4 */
/* What is swapped between byte orders: 0 for one byte, half of a complex. */
size_t cairn__dtype_unit(cairn_dtype_t t);
const char *cairn__dtype_zarr2(cairn_dtype_t t); /* "<i4" */
/* NONE if there is no such type. */
cairn_dtype_t cairn__dtype_from_zarr2(cairn_bytes_t name, bool *big);

/* False if there is a bool that is neither 0 nor 1: the first one is at *at. */
bool cairn__elements_ok(cairn_dtype_t t, cairn_bytes_t raw, size_t *at);
/* Sub-byte types: as they are stored, high bits zero; and as they are in
 * memory, the sign extended. */
bool cairn__dtype_padded(cairn_dtype_t t);
void cairn__elements_mask(cairn_dtype_t t, uint8_t *p, size_t n);
void cairn__elements_extend(cairn_dtype_t t, uint8_t *p, size_t n);

cairn_code_t cairn__fill_parse(int version, cairn_dtype_t t, bool big,
                               const cairn_json_t *v, uint8_t *out,
                               cairn_error_t *err);
/* Bits of v in a floating type that is not f32 or f64, rounded to nearest even;
 * beyond the range as the type says: infinity, NaN, or the largest. */
uint32_t cairn__float_bits(cairn_dtype_t t, double v);

/* --- members of a document (member.c); errors name the member --- */

/* The member, which must be there. */
cairn_code_t cairn__member(const cairn_json_t *obj, const char *key,
                           const cairn_json_t **out, cairn_error_t *err);
/* An integer of that range; absent: *out stays as it is unless `required`. */
cairn_code_t cairn__member_int(const cairn_json_t *obj, const char *key,
                               int64_t min, int64_t max, bool required,
                               int64_t *out, cairn_error_t *err);
/* A boolean; absent: *out stays as it is. */
cairn_code_t cairn__member_bool(const cairn_json_t *obj, const char *key,
                                bool *out, cairn_error_t *err);
/* One of n strings; *out its index. */
cairn_code_t cairn__member_word(const cairn_json_t *obj, const char *key,
                                const char *const *words, size_t n,
                                bool required, size_t *out, cairn_error_t *err);
/* An array of integers >= min. *rank < 0: any length up to CAIRN_MAX_RANK, and
 * set; otherwise the length that is wanted. */
cairn_code_t cairn__member_dims(const cairn_json_t *obj, const char *key,
                                int64_t min, int *rank, int64_t *out,
                                cairn_error_t *err);
/* Refuses the member m, all members of obj, if their keys are not among n. */
cairn_code_t cairn__member_known(const cairn_json_t *m, const char *const *keys,
                                 size_t n, cairn_error_t *err);
cairn_code_t cairn__members_only(const cairn_json_t *obj,
                                 const char *const *keys, size_t n,
                                 cairn_error_t *err);

/* --- the grid (grid.c) --- */

typedef struct cairn__range { /* of chunk indices, in each dimension */
  int rank;
  int64_t lo[CAIRN_MAX_RANK], hi[CAIRN_MAX_RANK];
} cairn__range_t;

/* Chunks of `chunk` that a box meets; false if it is empty. */
bool cairn__grid_range(const cairn__box_t *box, const int64_t *chunk,
                       cairn__range_t *out);
void cairn__grid_first(const cairn__range_t *r, int64_t *index);
bool cairn__grid_next(const cairn__range_t *r, int64_t *index); /* C order */
/* The cells of a chunk, also those beyond the array. */
void cairn__grid_cells(int rank, const int64_t *chunk, const int64_t *index,
                       cairn__box_t *out);
int64_t cairn__grid_linear(int rank, const int64_t *grid, const int64_t *index);

#endif
