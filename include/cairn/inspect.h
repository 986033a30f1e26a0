/* Looking at checkpoints without a job: no communicator, no MPI. Blocking calls
 * on the caller's thread, which is any but the loop's, one at a time for one
 * step. The tool `cairn` is made of these. */
#ifndef CAIRN_INSPECT_H_
#define CAIRN_INSPECT_H_

#include "cairn/handler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_step_state {
  CAIRN_STEP_COMPLETE,
  CAIRN_STEP_TEMPORARY, /* being written, or left by a killed save */
  CAIRN_STEP_UNMARKED,  /* a final name, but not marked committed */
  CAIRN_STEP_BROKEN     /* a final name, but something it needs is missing */
} cairn_step_state_t;

typedef struct cairn_step_info {
  int64_t step; /* -1: the name has no number */
  cairn_step_state_t state;
  char *dir; /* name below the root */
  char *why; /* what is missing, for BROKEN and UNMARKED; else NULL */
  int64_t bytes;
  int64_t commit_ns; /* since 1970; 0: unknown */
  char **items;
  size_t num_items;
} cairn_step_info_t;

/* The steps of a root, ascending (temporary ones after their number). Names
 * that are not steps are passed over. *out is the caller's, for
 * cairn_root_list_free. CAIRN_NOT_FOUND: no such root; CAIRN_INVALID: it is a
 * step or an item itself, or holds only other things; CAIRN_DENIED, CAIRN_IO,
 * CAIRN_NO_MEMORY. */
CAIRN_API cairn_code_t cairn_root_list(cairn_runtime_t *rt, const char *root,
                                       cairn_step_info_t **out, size_t *n,
                                       cairn_error_t *err);
/* Frees a listing of n steps. NULL is fine. */
CAIRN_API void cairn_root_list_free(cairn_step_info_t *steps, size_t n);

typedef struct cairn_step cairn_step_t; /* a step opened for reading */

/* Opens a step; *out is the caller's, for cairn_step_close. path: a step, an
 * item (then only that item is opened), or a root: its newest complete step.
 * CAIRN_NOT_FOUND: nothing there that is one of these; CAIRN_CORRUPT:
 * incomplete, saying what is missing; CAIRN_INVALID, CAIRN_DENIED, CAIRN_IO,
 * CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_step_open(cairn_runtime_t *rt,
                                                        const char *path,
                                                        cairn_step_t **out,
                                                        cairn_error_t *err);
/* The same, but also opens what is incomplete, unmarked or temporary: for
 * looking at damage. Its handlers may fail where something is missing. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_step_open_as_is(cairn_runtime_t *rt, const char *path, cairn_step_t **out,
                      cairn_error_t *err);
/* Closes it and frees what belongs to it. NULL is fine. */
CAIRN_API void cairn_step_close(cairn_step_t *step);

/* Its number (-1: none), its absolute path or URL, and what a listing of its
 * root would say of it. They belong to the step; cannot fail. */
CAIRN_API int64_t cairn_step_number(const cairn_step_t *step);
CAIRN_API const char *cairn_step_path(const cairn_step_t *step);
CAIRN_API const cairn_step_info_t *cairn_step_info(const cairn_step_t *step);
/* How many items were opened, and the name of the i-th (NULL: there is none),
 * "" where there is no item level. Belongs to the step. */
CAIRN_API size_t cairn_step_num_items(const cairn_step_t *step);
CAIRN_API const char *cairn_step_item(const cairn_step_t *step, size_t i);

/* What an item holds. Read once and kept; the info belongs to the step.
 * CAIRN_NOT_FOUND: no such item (the message lists them); CAIRN_UNSUPPORTED: no
 * handler knows it; CAIRN_CORRUPT, CAIRN_IO, CAIRN_NO_MEMORY. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_step_inspect(cairn_step_t *step, const char *item,
                   const cairn_item_info_t **out, cairn_error_t *err);
/* Fills the leaves of `target` (any subset of the item's) from it. Errors as
 * above; CAIRN_INVALID: the item is no tree; CAIRN_MISMATCH: a leaf that is not
 * stored, or of another shape or type. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t cairn_step_read(cairn_step_t *step,
                                                        const char *item,
                                                        cairn_tree_t *target,
                                                        cairn_error_t *err);
/* The bytes of a json or bytes item (index 0), or of a rank_bytes item (index
 * is the rank that saved them), to out->out, the caller's to free(). Errors as
 * above; CAIRN_INVALID: the item is a tree; CAIRN_NOT_FOUND: no such index. */
CAIRN_API CAIRN_MUST_CHECK cairn_code_t
cairn_step_read_blob(cairn_step_t *step, const char *item, int64_t index,
                     cairn_blob_t *out, cairn_error_t *err);

/* One damage; the texts live for the call that tells it. */
typedef struct cairn_damage {
  const char *file; /* below the step; "" if it is not about one file */
  const char *item, *leaf, *chunk; /* "" where they do not apply */
  int64_t offset;                  /* in the file; -1: none */
  cairn_code_t code;
  const char *text;
  /* What this leaf (or, without a leaf, the item) needs is what the damage told
   * before of the same file and offset is about: it is not counted again. */
  bool follows;
} cairn_damage_t;

typedef struct cairn_verified {
  int64_t files, bytes, chunks; /* that were read and checked */
  int64_t damaged; /* calls of fn, without those for what follows */
  /* Of kinds that no handler knows: only their whole files were checked, if
   * bound. */
  int64_t unknown_items;
  /* cairn.json was there: whole files and the step's identity were checked. */
  bool bound;
} cairn_verified_t;

/* Reads and checks every byte of the step; calls fn for each damage, on the
 * caller's thread. CAIRN_OK also with damage (see out->damaged); an error only
 * when it could not look: CAIRN_IO, CAIRN_DENIED, CAIRN_NO_MEMORY. */
CAIRN_API cairn_code_t cairn_step_verify(
    cairn_step_t *step, void (*fn)(void *arg, const cairn_damage_t *damage),
    void *arg, cairn_verified_t *out, cairn_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
