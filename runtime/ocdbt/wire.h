/* What the three encoded objects are made of: the envelope, columns, the data
 * file table. Private to the format files of this room.
 *
 * Decoding: a cairn__wire_t is opened on one object, reads it field by field
 * and must end exactly at its end. Every getter fails with CAIRN_CORRUPT and
 * names object, field and offset in the decoded body.
 *
 *   cairn__wire_t w;
 *   if (cairn__wire_open(&w, in, MAGIC, "manifest", transitive, err)) ...
 *   rc = decode_fields(&w, out);
 *   if (rc == CAIRN_OK) rc = cairn__wire_end(&w);
 *   cairn__wire_close(&w, rc, &out->mem);      (the arena, or frees it)
 *
 * Encoding: the body goes to a buffer of its own, then cairn__frame_put wraps
 * it. */
#ifndef CAIRN_OCDBT_WIRE_H_
#define CAIRN_OCDBT_WIRE_H_

#include "ocdbt/arena.h"
#include "ocdbt/format.h"

/* --- envelope (section 3) --- */

/* Bytes before an object's body: magic, length, version, compression. */
#define CAIRN__FRAME_HEAD 14
#define CAIRN__FRAME_TAIL 4

/* Checks magic, length, version, compression and sum, and gives the body: a
 * part of `in`, or of *plain when it had to be decompressed (the caller resets
 * it). At most `max` bytes are decompressed. */
CAIRN_MUST_CHECK cairn_code_t cairn__frame_open(cairn_bytes_t in,
                                                uint32_t magic, size_t max,
                                                cairn_buf_t *plain,
                                                cairn_bytes_t *body,
                                                cairn_error_t *err);

/* Appends the object with that body, compressed as config says. */
CAIRN_MUST_CHECK cairn_code_t
cairn__frame_put(const cairn__ocdbt_config_t *config, uint32_t magic,
                 cairn_bytes_t body, cairn_buf_t *out, cairn_error_t *err);

/* The magic of an object; 0 when there are not four bytes. */
uint32_t cairn__frame_magic(cairn_bytes_t in);

/* --- decoding --- */

typedef struct cairn__wire {
  cairn_cur_t cur;
  const char *object;
  cairn_bytes_t transitive;
  cairn__ocdbt_file_t *files; /* the data file table */
  size_t num_files;
  cairn__arena_t arena;
  size_t strings; /* bytes of paths and keys that may still be unfolded */
  cairn_buf_t plain;
  cairn_error_t *err;
} cairn__wire_t;

CAIRN_MUST_CHECK cairn_code_t cairn__wire_open(cairn__wire_t *w,
                                               cairn_bytes_t in, uint32_t magic,
                                               const char *object,
                                               cairn_bytes_t transitive,
                                               cairn_error_t *err);
/* Nothing may be left of the body. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_end(cairn__wire_t *w);
/* Frees what only decoding needed. The arena goes to *mem if rc is CAIRN_OK,
 * else it is freed. Returns rc. */
cairn_code_t cairn__wire_close(cairn__wire_t *w, cairn_code_t rc, void **mem);

/* Fails with "<object>: <field> at <offset>: <text>". */
cairn_code_t cairn__wire_corrupt(cairn__wire_t *w, const char *field,
                                 const char *fmt, ...) CAIRN_PRINTF(3, 4);

/* Zeroed memory of the decoded object; NULL after failing with CAIRN_NO_MEMORY.
 */
void *cairn__wire_alloc(cairn__wire_t *w, size_t count, size_t size);
/* Room for an unfolded string. Strings that share prefixes can unfold to far
 * more than the body: all together are held to CAIRN__OCDBT_MAX_BODY. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_string(cairn__wire_t *w,
                                                 const char *field, size_t n,
                                                 uint8_t **out);

CAIRN_MUST_CHECK cairn_code_t cairn__wire_u8(cairn__wire_t *w,
                                             const char *field, uint8_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_u32le(cairn__wire_t *w,
                                                const char *field,
                                                uint32_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_u64le(cairn__wire_t *w,
                                                const char *field,
                                                uint64_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_varint16(cairn__wire_t *w,
                                                   const char *field,
                                                   uint16_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_varint32(cairn__wire_t *w,
                                                   const char *field,
                                                   uint32_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_varint64(cairn__wire_t *w,
                                                   const char *field,
                                                   uint64_t *out);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_take(cairn__wire_t *w,
                                               const char *field, size_t n,
                                               cairn_bytes_t *out);
/* A number of records that need at least one byte each: more than there are
 * bytes is the end of data, before anything is allocated. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_count(cairn__wire_t *w,
                                                const char *field,
                                                uint64_t *out);

/* Columns: n values, written `stride` bytes apart from `first` on. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_column16(cairn__wire_t *w,
                                                   const char *field,
                                                   uint16_t *first,
                                                   size_t stride, size_t n);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_column64(cairn__wire_t *w,
                                                   const char *field,
                                                   uint64_t *first,
                                                   size_t stride, size_t n);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_times(cairn__wire_t *w,
                                                uint64_t *first, size_t stride,
                                                size_t n);

/* The data file table (section 7), joined with the transitive path. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_files(cairn__wire_t *w);
/* One index into it. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_file_id(cairn__wire_t *w,
                                                  cairn__ocdbt_file_t *out);
/* Section 8: the location may be missing only where that is allowed. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_loc_check(cairn__wire_t *w,
                                                    const cairn__ocdbt_loc_t *l,
                                                    bool missing_ok);
/* The columns of n locations; of n statistics. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_locs(cairn__wire_t *w,
                                               cairn__ocdbt_loc_t *first,
                                               size_t stride, size_t n,
                                               bool missing_ok);
CAIRN_MUST_CHECK cairn_code_t cairn__wire_stats(cairn__wire_t *w,
                                                cairn__ocdbt_stats_t *first,
                                                size_t stride, size_t n);

/* Statistics (section 8); sums stay at 2^64 - 1. */
void cairn__stats_add(cairn__ocdbt_stats_t *to, const cairn__ocdbt_stats_t *s);
/* Of a node of that encoded length, by what its entries say. */
cairn__ocdbt_stats_t cairn__node_stats(uint8_t height,
                                       const cairn__ocdbt_entry_t *e, size_t n,
                                       uint64_t length);

/* The i-th of records that lie `stride` bytes apart. */
static inline void *cairn__at(const void *first, size_t stride, size_t i) {
  return (char *)(uintptr_t)first + i * stride;
}

/* --- encoding --- */

void cairn__put_column64(cairn_buf_t *b, const uint64_t *first, size_t stride,
                         size_t n);
void cairn__put_times(cairn_buf_t *b, const uint64_t *first, size_t stride,
                      size_t n);

/* The table while an object is encoded: add every file, put the table, then
 * ask for indexes. {0} is empty. Strings stay the caller's. */
typedef struct cairn__file_table {
  cairn__ocdbt_file_t *files;
  uint32_t *slots; /* open addressing: index + 1 */
  uint32_t *rank;  /* position in the sorted table, once it was put */
  size_t n, cap, num_slots;
  uint32_t last; /* most entries name the file of the entry before */
} cairn__file_table_t;

void cairn__file_table_reset(cairn__file_table_t *t);
/* *index is the order of first appearance. False: no memory. */
bool cairn__file_table_add(cairn__file_table_t *t, const cairn__ocdbt_file_t *f,
                           uint32_t *index);
/* Fails with CAIRN_INVALID for a path that is too long. */
CAIRN_MUST_CHECK cairn_code_t cairn__file_table_put(cairn__file_table_t *t,
                                                    cairn_buf_t *b,
                                                    cairn_error_t *err);
/* The id of a file that was added before the table was put. */
uint32_t cairn__file_table_id(cairn__file_table_t *t,
                              const cairn__ocdbt_file_t *f);

/* Adds the files of n locations; writes their columns. */
bool cairn__file_table_add_locs(cairn__file_table_t *t,
                                const cairn__ocdbt_loc_t *first, size_t stride,
                                size_t n);
void cairn__put_locs(cairn_buf_t *b, cairn__file_table_t *t,
                     const cairn__ocdbt_loc_t *first, size_t stride, size_t n);
void cairn__put_stats(cairn_buf_t *b, const cairn__ocdbt_stats_t *first,
                      size_t stride, size_t n);

/* --- config (section 5) --- */

CAIRN_MUST_CHECK cairn_code_t cairn__wire_config(cairn__wire_t *w,
                                                 cairn__ocdbt_config_t *out);
void cairn__put_config(cairn_buf_t *b, const cairn__ocdbt_config_t *c);
/* 1 .. 16, or corrupt. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_arity(cairn__wire_t *w, uint8_t *out);

/* --- versions (section 9) --- */

/* First generation of the height-h window that contains g. */
uint64_t cairn__version_window(unsigned arity_log2, unsigned height,
                               uint64_t g);
/* floor(63 / A) - 1: the largest height of a version tree node. */
unsigned cairn__version_max_height(unsigned arity_log2);

/* The windows that a manifest with newest generation G may refer to, heights
 * ascending: begin, then next while it returns true. */
typedef struct cairn__version_slots {
  unsigned arity_log2, height;
  uint64_t first, last; /* the window of this height */
  uint64_t left;        /* generations below are still to come */
} cairn__version_slots_t;
cairn__version_slots_t cairn__version_slots(unsigned arity_log2,
                                            uint64_t newest);
bool cairn__version_slots_next(cairn__version_slots_t *s);

CAIRN_MUST_CHECK cairn_code_t cairn__wire_versions(cairn__wire_t *w,
                                                   unsigned arity_log2,
                                                   cairn__ocdbt_version_t **out,
                                                   size_t *n);
/* Of a node of that height. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_version_children(
    cairn__wire_t *w, unsigned arity_log2, unsigned height,
    cairn__ocdbt_version_ref_t **out, size_t *n);
/* Of a manifest whose newest generation is given. */
CAIRN_MUST_CHECK cairn_code_t cairn__wire_version_nodes(
    cairn__wire_t *w, unsigned arity_log2, uint64_t newest,
    cairn__ocdbt_version_ref_t **out, size_t *n);
void cairn__put_versions(cairn_buf_t *b, cairn__file_table_t *t,
                         const cairn__ocdbt_version_t *v, size_t n);
void cairn__put_version_refs(cairn_buf_t *b, cairn__file_table_t *t,
                             const cairn__ocdbt_version_ref_t *r, size_t n,
                             bool with_height);

#endif
