/* Reading leaves without holding more than a piece of them. */
#ifndef CAIRN_TOOL_LEAF_H_
#define CAIRN_TOOL_LEAF_H_

#include "cairn/inspect.h"

/* Small leaves are read together: a read of one looks the whole item up. */
#define LEAF_SMALL ((int64_t)1 << 20)       /* bytes of one that is small */
#define LEAVES_TOGETHER ((int64_t)16 << 20) /* bytes of many */
#define LEAVES_TOGETHER_N ((size_t)4096)

/* Data of the leaves with `want` set, of leaves[0..n), into data[i] (of the
 * tree, which the caller frees; NULL for the others). */
cairn_code_t leaves_read(cairn_step_t *step, const char *item,
                         const cairn_leaf_info_t *leaves, const bool *want,
                         size_t n, cairn_tree_t **tree, void **data,
                         cairn_error_t *err);

/* The elements of one leaf in C order, some at a time; fn may change them in
 * place. Rows of chunks are read together up to a bound, so that no chunk is
 * read twice. fn returns false to end it early, with success. */
typedef bool (*leaf_fn)(void *arg, void *elements, size_t n);
cairn_code_t leaf_stream(cairn_step_t *step, const char *item,
                         const cairn_leaf_info_t *leaf, leaf_fn fn, void *arg,
                         cairn_error_t *err);

bool leaf_is_scalar(const cairn_leaf_info_t *leaf);
bool leaf_is_string(const cairn_leaf_info_t *leaf);
int64_t leaf_elements(const cairn_leaf_info_t *leaf);

#endif
