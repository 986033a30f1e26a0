/* Paths of keys as the stored metadata sees them: there are two kinds of key,
 * places in a sequence and everything else, and everything else is text. So a
 * dict key 3, a dict key "3" and a field named "3" are the same key. */
#ifndef CAIRN_HANDLERS_KEYPATH_H_
#define CAIRN_HANDLERS_KEYPATH_H_

#include "cairn/buf.h"
#include "cairn/tree.h"

typedef struct cairn__keypath {
  const cairn_key_t *keys;
  size_t n;
} cairn__keypath_t;

static inline cairn__keypath_t cairn__leaf_path(const cairn_leaf_t *leaf) {
  cairn__keypath_t p = {leaf->path, leaf->path_n};
  return p;
}

/* The key as it is stored; a number is written to tmp. */
#define CAIRN__KEY_TEXT 24
cairn_bytes_t cairn__key_as_stored(const cairn_key_t *key,
                                   char tmp[CAIRN__KEY_TEXT]);

/* An order in which a path comes right before the paths below it. */
int cairn__keypath_cmp(cairn__keypath_t a, cairn__keypath_t b);
/* True if a is b, or above it. */
bool cairn__keypath_starts(cairn__keypath_t b, cairn__keypath_t a);
/* The keys joined by '.': the parameter name. */
void cairn__keypath_name(cairn__keypath_t path, cairn_buf_t *out);

/* Indices 0..n-1 of paths, sorted by cairn__keypath_cmp: linear where they are
 * in order already, as they are in a stored tree. path(arg, i) gives path i.
 * For free(); NULL when memory is out. */
size_t *cairn__keypath_sort(size_t n,
                            cairn__keypath_t (*path)(const void *arg, size_t i),
                            const void *arg);

/* Text for messages, whatever its length. */
#define CAIRN__PATH_TEXT 160
typedef struct cairn__path_text {
  char s[CAIRN__PATH_TEXT];
} cairn__path_shown_t;
cairn__path_shown_t cairn__path_show(cairn__keypath_t path);

int cairn__text_cmp(cairn_bytes_t a, cairn_bytes_t b); /* memcmp order */

#endif
