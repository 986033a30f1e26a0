/* JSON documents as Orbax and TensorStore write them.
 *
 * Our own, and not jansson, because real checkpoints hold what it refuses or
 * changes: bare NaN and Infinity, integers of any size, NUL in keys, reals that
 * must come out in Python's or TensorStore's shortest form, and \u escapes in
 * lower-case hex (reference orbax.md 1.0). The tests compare with jansson where
 * the two must agree.
 *
 * A document is a tree of nodes in one arena: cairn__json_free frees it all.
 * Nodes are immutable once parsed; builders append. */
#ifndef CAIRN_BASE_JSON_H_
#define CAIRN_BASE_JSON_H_

#include "base/buf.h"
#include "cairn/error.h"

typedef enum cairn__json_kind {
  CAIRN__JSON_NULL,
  CAIRN__JSON_BOOL,
  CAIRN__JSON_INT,    /* fits int64 */
  CAIRN__JSON_BIGINT, /* decimal text in str, any size, optional sign */
  CAIRN__JSON_REAL,   /* also NaN and infinities */
  CAIRN__JSON_STRING, /* UTF-8, may hold NUL */
  CAIRN__JSON_ARRAY,
  CAIRN__JSON_OBJECT
} cairn__json_kind_t;

typedef struct cairn__json cairn__json_t;
struct cairn__json {
  cairn__json_kind_t kind;
  bool b;
  int64_t i;
  double r;
  cairn_bytes_t str;          /* STRING, BIGINT */
  cairn_bytes_t key;          /* set when the parent is an object */
  cairn__json_t *child, *last; /* first and last child, in document order */
  cairn__json_t *next;
  size_t n;                   /* children */
};

typedef struct cairn__json_doc {
  cairn__json_t *root;
  struct cairn__json_block *blocks; /* the arena */
} cairn__json_doc_t;

typedef struct cairn__json_limits {
  size_t max_bytes; /* 0: 1 GiB */
  int max_depth;    /* 0: 512; above 2000 counts as 2000 */
  bool strict;      /* refuse NaN and Infinity (TensorStore's files) */
} cairn__json_limits_t;

/* Parses exactly one value with blanks around it. UTF-8 is checked; a repeated
 * key keeps the last value, at the place of the first. CAIRN_CORRUPT with the
 * byte offset and what was expected; CAIRN_NO_MEMORY. Never recurses deeper than
 * max_depth. lim may be NULL. */
CAIRN_MUST_CHECK cairn_code_t cairn__json_parse(cairn_bytes_t text,
                                                const cairn__json_limits_t *lim,
                                                cairn__json_doc_t *out,
                                                cairn_error_t *err);
void cairn__json_free(cairn__json_doc_t *doc); /* {0} after */

/* Member of an object, element of an array; NULL if absent or not one. */
const cairn__json_t *cairn__json_get(const cairn__json_t *obj,
                                     const char *key);
const cairn__json_t *cairn__json_get_bytes(const cairn__json_t *obj,
                                           cairn_bytes_t key);
const cairn__json_t *cairn__json_at(const cairn__json_t *arr, size_t i);
/* An INT, or a REAL with an integral value that fits (TensorStore accepts 2.0). */
bool cairn__json_int(const cairn__json_t *v, int64_t *out);
bool cairn__json_is_str(const cairn__json_t *v, const char *s);

/* Building: each appends to `parent` (the root when NULL) and returns the node,
 * NULL when memory is out (a NULL parent that is not the root case is not
 * allowed; check doc->root first). key is copied, and used for object parents. */
cairn__json_t *cairn__json_add(cairn__json_doc_t *doc, cairn__json_t *parent,
                               cairn_bytes_t key, cairn__json_kind_t kind);
cairn__json_t *cairn__json_add_str(cairn__json_doc_t *doc,
                                   cairn__json_t *parent, cairn_bytes_t key,
                                   cairn_bytes_t value);
cairn__json_t *cairn__json_add_int(cairn__json_doc_t *doc,
                                   cairn__json_t *parent, cairn_bytes_t key,
                                   int64_t value);
cairn__json_t *cairn__json_copy(cairn__json_doc_t *doc, cairn__json_t *parent,
                                cairn_bytes_t key, const cairn__json_t *from);

/* Two dialects (orbax.md 1.0).
 * PYTHON: json.dumps defaults: ", " and ": ", order kept, all outside 0x20..0x7e
 * as \uXXXX, bare NaN, floats as Python's repr.
 * COMPACT: TensorStore: no blanks, keys sorted bytewise, UTF-8 raw, a real always
 * has '.' or 'e'.
 * INDENT: for people: two spaces a level, otherwise as PYTHON but UTF-8 raw. */
typedef enum cairn__json_dialect {
  CAIRN__JSON_PYTHON,
  CAIRN__JSON_COMPACT,
  CAIRN__JSON_INDENT
} cairn__json_dialect_t;
void cairn__json_emit(const cairn__json_t *v, cairn__json_dialect_t d,
                      cairn__buf_t *out);

/* The pieces, for streaming emitters. */
void cairn__json_emit_str(cairn_bytes_t s, cairn__json_dialect_t d,
                          cairn__buf_t *out);
void cairn__json_emit_real(double r, cairn__json_dialect_t d,
                           cairn__buf_t *out);

/* Python's repr of a str (the keys of tree_metadata): quotes, escapes, and which
 * code points count as printable as in Python 3.11 (orbax.md 1.6). */
void cairn__py_repr(cairn_bytes_t utf8, cairn__buf_t *out);

#endif
