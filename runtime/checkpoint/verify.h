/* Verifying a step: what its files share. Caller's thread, but for what is
 * started on the loop; the caller waits for that, so nothing here is locked. */
#ifndef CAIRN_CHECKPOINT_VERIFY_H_
#define CAIRN_CHECKPOINT_VERIFY_H_

#include "checkpoint/blocking.h"
#include "checkpoint/step.h"

typedef struct cairn__found_damage {
  char *file, *item, *leaf, *chunk, *text;
  int64_t offset;
  cairn_code_t code;
  bool index;   /* of a database's own objects: leaves may follow */
  bool follows; /* from one that is */
} cairn__found_damage_t;

typedef struct cairn__verify {
  cairn_step_t *step;
  cairn__listing_t listing; /* every file that is to be looked at */
  cairn__found_damage_t *found;
  size_t n, cap, told; /* told: so many of them were given to the caller */
  bool no_memory;
  cairn_verified_t out;
} cairn__verify_t;

void cairn__found_damage_reset(cairn__found_damage_t *d);
/* Any of the strings may be NULL: "". All are copied. */
void cairn__verify_add(cairn__verify_t *v, const cairn__found_damage_t *d);
/* The name of the item whose file it is, or NULL. */
char *cairn__verify_item_of(const cairn__verify_t *v, const char *file);
/* About one file of the step; the error's text without its name. */
void cairn__verify_add_file(cairn__verify_t *v, const char *file,
                            const cairn_error_t *what);

/* An error that tells of the step's bytes, and not of our being unable to look.
 */
bool cairn__is_damage(cairn_code_t code);

/* Errors of the rooms below are text. Which of the listed files, whose names
 * start with `prefix`, the text names ("<file> at <offset>: ..."), and the
 * offset behind it: NULL and -1 if none. Pure. */
const char *cairn__damage_place(const cairn__listing_t *files,
                                const char *prefix, const char *text,
                                int64_t *offset);

/* The last "<file> at <offset>" of a text: for a file that is not listed, since
 * it is lost. False if there is none. Pure. */
bool cairn__damage_lost(const char *text, cairn_bytes_t *file, int64_t *offset);

/* Where an error of a database lies, and the text without its place. */
typedef struct cairn__damage_cause {
  char *file; /* malloc'd, below the step; NULL: no file is named */
  int64_t offset;
  const char *text; /* borrowed */
} cairn__damage_cause_t;
/* False: no memory. Pure. */
bool cairn__damage_cause(const cairn__listing_t *files, const char *prefix,
                         const char *text, cairn__damage_cause_t *out);

/* A storage key to the leaf's name and the rest of it. Goes by the names in
 * `info`; where it is {0}, by the usual form of keys. Pure. */
void cairn__damage_leaf(const cairn_item_info_t *info, cairn_bytes_t key,
                        cairn_bytes_t *leaf, cairn_bytes_t *chunk);

/* verify_files.c: lengths and sums against cairn.json; what is missing, and
 * what is not part of the step. */
CAIRN_MUST_CHECK cairn_code_t cairn__verify_files(cairn__verify_t *v,
                                                  cairn_error_t *err);
/* verify_index.c: every database, and the small JSON files. */
CAIRN_MUST_CHECK cairn_code_t cairn__verify_indexes(cairn__verify_t *v,
                                                    cairn_error_t *err);
CAIRN_MUST_CHECK cairn_code_t cairn__verify_json(cairn__verify_t *v,
                                                 cairn_error_t *err);
/* verify_item.c: what the item's handler finds. */
CAIRN_MUST_CHECK cairn_code_t cairn__verify_item(cairn__verify_t *v,
                                                 cairn__step_item_t *item,
                                                 cairn_error_t *err);

#endif
