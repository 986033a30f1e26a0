/* What a path of the user's is: a root, a step, or an item of one. Pure: it
 * goes by names alone.
 *
 * A step says so by a file of its own (_CHECKPOINT_METADATA, cairn.json,
 * orbax.checkpoint); an item by one of its files; both may have a
 * commit_success.txt, which then makes it a step. Releases of Orbax before
 * 0.5.20 left a step with nothing but its items' directories, so what holds
 * only directories is a root if any is named like a step, else a step, if a
 * closer look finds an item in it (look.c). */
#ifndef CAIRN_CHECKPOINT_PLACE_H_
#define CAIRN_CHECKPOINT_PLACE_H_

#include "checkpoint/layout.h"

typedef enum cairn__place {
  CAIRN__PLACE_NOTHING,
  CAIRN__PLACE_ROOT,
  CAIRN__PLACE_STEP,
  CAIRN__PLACE_ITEM
} cairn__place_t;

/* names as list_dir gives them. */
cairn__place_t cairn__place_of(const cairn_bytes_t *names, size_t n);
/* A root that no step was saved to: there is nothing, or only what is kept
 * beside steps. */
bool cairn__place_is_empty_root(const cairn_bytes_t *names, size_t n);
/* A name, as list_dir gives it, that only a step has, or an item. */
bool cairn__is_step_file(cairn_bytes_t name);
bool cairn__is_item_file(cairn_bytes_t name);
/* STEP or ITEM if a file says so, else NOTHING. */
cairn__place_t cairn__place_by_file(const cairn_bytes_t *names, size_t n);

/* True if this directory, which holds `names`, is the step of the item `item`
 * below it, and not only where a bare item happens to lie. */
bool cairn__place_above(const char *directory, const char *item,
                        const cairn_bytes_t *names, size_t n);

typedef struct cairn__step_name {
  int64_t step; /* -1: none, which only temporaries may have */
  bool temporary;
  cairn_bytes_t dir; /* borrowed from names, without '/' */
} cairn__step_name_t;

/* The step directories among the names of a root, by number, temporary ones
 * after their number. Numbers alone if there are any, since a root has one form
 * of names; else names that end in _NUMBER. *out is malloc'd; false: no memory.
 */
bool cairn__step_names(const cairn_bytes_t *names, size_t n,
                       cairn__step_name_t **out, size_t *out_n);

/* The number that a directory's name gives, also a temporary's; -1: none. */
int64_t cairn__step_of_name(cairn_bytes_t name);

/* "a/b/c" to the length of "a/b" and the offset of "c"; false where there is
 * nothing above. Trailing slashes do not count. */
bool cairn__place_split(const char *path, size_t *parent_n, size_t *base,
                        size_t *base_n);

#endif
