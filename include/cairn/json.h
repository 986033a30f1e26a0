/* JSON documents as Orbax and TensorStore write them.
 *
 * Our own, and not jansson, because real checkpoints hold what it refuses or
 * changes: bare NaN and Infinity, integers of any size, NUL in keys, reals that
 * must come out in Python's or TensorStore's shortest form, and \u escapes in
 * lower-case hex. The tests compare with jansson where the two must agree.
 *
 * A document is a tree of nodes in one arena: cairn_json_free frees it all.
 * Nodes are immutable once parsed; builders append. Any thread, one at a time
 * for a document that is being built. */
#ifndef CAIRN_JSON_H_
#define CAIRN_JSON_H_

#include "cairn/buf.h"
#include "cairn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_json_kind {
  CAIRN_JSON_NULL,
  CAIRN_JSON_BOOL,
  CAIRN_JSON_INT,    /* fits int64 */
  CAIRN_JSON_BIGINT, /* decimal text in str, any size, optional sign */
  CAIRN_JSON_REAL,   /* also NaN and infinities */
  CAIRN_JSON_STRING, /* UTF-8, may hold NUL */
  CAIRN_JSON_ARRAY,
  CAIRN_JSON_OBJECT
} cairn_json_kind_t;

typedef struct cairn_json cairn_json_t;
struct cairn_json {
  cairn_json_kind_t kind;
  bool b;
  int64_t i;
  double r;
  cairn_bytes_t str;          /* STRING, BIGINT */
  cairn_bytes_t key;          /* set when the parent is an object */
  cairn_json_t *child, *last; /* first and last child, in document order */
  cairn_json_t *next;
  size_t n; /* children */
};

typedef struct cairn_json_doc {
  cairn_json_t *root;
  struct cairn_json_block *blocks; /* the arena */
} cairn_json_doc_t;

typedef struct cairn_json_limits {
  size_t max_bytes; /* 0: 1 GiB */
  int max_depth;    /* 0: 512; above 2000 counts as 2000 */
  bool strict;      /* refuse NaN and Infinity (TensorStore's files) */
} cairn_json_limits_t;

/* Parses exactly one value with blanks around it. UTF-8 is checked; a repeated
 * key keeps the last value, at the place of the first. CAIRN_CORRUPT with the
 * byte offset and what was expected; CAIRN_NO_MEMORY. Never recurses deeper
 * than max_depth. lim may be NULL. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_json_parse(cairn_bytes_t text, const cairn_json_limits_t *lim,
                 cairn_json_doc_t *out, cairn_error_t *err);
/* Frees all nodes; *doc is {0} after. */
CAIRN_API void cairn_json_free(cairn_json_doc_t *doc);

/* Member of an object, element of an array; NULL if absent or not one. */
CAIRN_API const cairn_json_t *cairn_json_get(const cairn_json_t *obj,
                                             const char *key);
CAIRN_API const cairn_json_t *cairn_json_get_bytes(const cairn_json_t *obj,
                                                   cairn_bytes_t key);
CAIRN_API const cairn_json_t *cairn_json_at(const cairn_json_t *arr, size_t i);
/* An INT, or a REAL with an integral value that fits (TensorStore accepts 2.0):
 * true, and the number in *out. v may be NULL. */
CAIRN_API bool cairn_json_int(const cairn_json_t *v, int64_t *out);
/* Whether v is a STRING equal to s. v may be NULL. */
CAIRN_API bool cairn_json_is_str(const cairn_json_t *v, const char *s);

/* Building: each appends to `parent` and returns the node, which belongs to the
 * document; NULL when memory is out. parent NULL makes the root, once: so check
 * what an add returned before it is the parent of another. key and value are
 * copied; key is used only if the parent is an object. */
CAIRN_API cairn_json_t *cairn_json_add(cairn_json_doc_t *doc,
                                       cairn_json_t *parent, cairn_bytes_t key,
                                       cairn_json_kind_t kind);
CAIRN_API cairn_json_t *cairn_json_add_str(cairn_json_doc_t *doc,
                                           cairn_json_t *parent,
                                           cairn_bytes_t key,
                                           cairn_bytes_t value);
CAIRN_API cairn_json_t *cairn_json_add_int(cairn_json_doc_t *doc,
                                           cairn_json_t *parent,
                                           cairn_bytes_t key, int64_t value);
CAIRN_API cairn_json_t *cairn_json_copy(cairn_json_doc_t *doc,
                                        cairn_json_t *parent, cairn_bytes_t key,
                                        const cairn_json_t *from);

/* How a document is spelled. */
typedef enum cairn_json_dialect {
  /* json.dumps of Python, which writes Orbax's files: ", " and ": ", order
   * kept, all outside 0x20..0x7e as \uXXXX, bare NaN, reals as of repr. */
  CAIRN_JSON_PYTHON,
  /* TensorStore's: no blanks, keys sorted bytewise, UTF-8 raw, a real always
   * has '.' or 'e'. */
  CAIRN_JSON_COMPACT,
  /* For people: two spaces a level, otherwise as PYTHON, but UTF-8 raw. */
  CAIRN_JSON_INDENT
} cairn_json_dialect_t;

/* Appends the text of v to out; when memory is out, out->failed. */
CAIRN_API void cairn_json_emit(const cairn_json_t *v, cairn_json_dialect_t d,
                               cairn_buf_t *out);

/* The pieces, for streaming emitters: a string with its quotes, a real. They
 * append to out as cairn_json_emit does. */
CAIRN_API void cairn_json_emit_str(cairn_bytes_t s, cairn_json_dialect_t d,
                                   cairn_buf_t *out);
CAIRN_API void cairn_json_emit_real(double r, cairn_json_dialect_t d,
                                    cairn_buf_t *out);

/* Python's repr of a str (the keys of tree_metadata): quotes, escapes, and
 * which code points count as printable as in Python 3.11. Appended to out. */
CAIRN_API void cairn_py_repr(cairn_bytes_t utf8, cairn_buf_t *out);

#ifdef __cplusplus
}
#endif
#endif
