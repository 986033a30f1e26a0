/* Names on disk: steps, temporaries, trash (reference orbax.md 1.2, 2.1). */
#ifndef CAIRN_CHECKPOINT_LAYOUT_H_
#define CAIRN_CHECKPOINT_LAYOUT_H_

#include "cairn/inspect.h"
#include "cairn/kv.h"
#include "checkpoint/side_files.h"

/* Any name that contains this is temporary, to Orbax and to us. */
#define CAIRN__TMP_SUFFIX ".orbax-checkpoint-tmp"
/* Steps that are being deleted. No step name starts so. */
#define CAIRN__TRASH_PREFIX ".cairn-trash-"
/* What an opening job makes and removes, to see that it may. */
#define CAIRN__PROBE_PREFIX ".cairn-probe"
/* In a temporary directory: who is writing it. */
#define CAIRN__OWNER_FILE "cairn.owner"
/* In a step: what binds its files together (design.md 14). */
#define CAIRN__BINDING_FILE "cairn.json"

typedef struct cairn__step_format {
  char prefix[128]; /* "" or "ckpt": names are ckpt_7 */
  int digits;       /* 0: not padded */
} cairn__step_format_t;

/* NUL-terminated into out; false if it does not fit (cap 192 always does). */
bool cairn__step_name(const cairn__step_format_t *f, int64_t step, char *out,
                      size_t cap);
/* The step that a whole name denotes, by Orbax's reading rules; false if none.
 * A step with more digits than the fixed number is read as well. */
bool cairn__step_parse(const cairn__step_format_t *f, cairn_bytes_t name,
                       int64_t *step);
/* Without a format: a number, or one after the last '_' (as Orbax's older
 * lister). */
bool cairn__step_guess(cairn_bytes_t name, int64_t *step);
bool cairn__name_is_temporary(cairn_bytes_t name);
bool cairn__all_digits(cairn_bytes_t b); /* and not empty */
/* Why no item can have this name, or NULL. "" is a name. */
const char *cairn__item_name_problem(cairn_bytes_t name);

/* What a step's directory holds. */
typedef struct cairn__step_look {
  cairn_step_state_t state;
  char *why;    /* malloc'd; NULL if complete */
  char **items; /* malloc'd names, sorted; one "" if there is no item level */
  size_t num_items;
  int64_t bytes;            /* of all files */
  int64_t commit_ns;        /* 0: not said */
  bool bound;               /* cairn.json is there */
  cairn__binding_t binding; /* what it says; {0} if it cannot be read */
  bool marked;              /* commit_success.txt is there */
  bool is_step;             /* something in it says so */
} cairn__step_look_t;
void cairn__step_look_free(cairn__step_look_t *look); /* {0} after */

/* Lists the step (kv is rooted at it) and judges. Broken: it holds nothing that
 * is an item, nor says that it is a step; an item without its tree metadata or
 * whose processes' databases were never merged; a file that cairn.json names is
 * absent or of another length. Unmarked: no commit time and no
 * commit_success.txt. Read are only _CHECKPOINT_METADATA and cairn.json.
 * CAIRN_NOT_FOUND: nothing is there. Loop thread. */
cairn_future_t *cairn__step_look(cairn_kv_t *kv, cairn__step_look_t *out);

#endif
