/* Errors: a code that says what the caller may do, and a text that says what
 * happened, outermost first:
 *
 *   step 1200: item state: write ocdbt.process_2/d/9f3c: No space left on
 *   device (rank 2, host n17)
 *
 * A cairn_error_t is a value the caller owns; {0} is "no error". Every function
 * that takes one accepts NULL. The first error stays: what fails later with the
 * same object changes nothing in it (its own code is what the call returns).
 * After an error that is no reason to stop, as CAIRN_NOT_FOUND of a first
 * restore, it is set back: err = (cairn_error_t){0}.
 *
 *   cairn_error_t err = {0};
 *   if (cairn_manager_save(mgr, step, state, NULL, &err) != CAIRN_OK)
 *     fprintf(stderr, "%s\n", err.message); */
#ifndef CAIRN_ERROR_H_
#define CAIRN_ERROR_H_

#include <stdarg.h>

#include "cairn/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, text). Numbers travel between ranks and are never reused. */
#define CAIRN_CODES(X)                                                    \
  X(OK, 0, "ok")                                                          \
  X(INVALID, 1, "invalid argument") /* mend the call */                   \
  X(NOT_FOUND, 2, "not found")      /* start fresh, or look elsewhere */  \
  X(EXISTS, 3, "exists already")    /* choose another step or name */     \
  X(MISMATCH, 4,                                                          \
    "does not match")      /* target and stored data, or ranks, differ */ \
  X(CORRUPT, 5, "corrupt") /* pick another step */                        \
  X(IO, 6, "input/output error")      /* look at the device */            \
  X(NO_SPACE, 7, "no space")          /* free space, save again */        \
  X(DENIED, 8, "permission denied")   /* mend permissions */              \
  X(NO_MEMORY, 9, "out of memory")    /* free memory, try again */        \
  X(TIMED_OUT, 10, "timed out")       /* the outcome may be unknown */    \
  X(CANCELLED, 11, "cancelled")       /* someone asked for it */          \
  X(UNSUPPORTED, 12, "not supported") /* by this build or store */        \
  X(BUSY, 13, "in use")               /* by another job or call; wait */  \
  X(UNAVAILABLE, 14, "unavailable")   /* try again later */               \
  X(CLOSED, 15, "closed")             /* the object was closed */         \
  X(INTERNAL, 16, "internal error")   /* a defect of Cairn: report it */

typedef enum cairn_code {
#define CAIRN_X(name, number, text) CAIRN_##name = number,
  CAIRN_CODES(CAIRN_X)
#undef CAIRN_X
} cairn_code_t;

#define CAIRN_MESSAGE_BYTES 960

typedef struct cairn_error {
  cairn_code_t code;
  int sys_errno; /* behind the code; 0 if none */
  int rank;      /* where it happened; -1 while unknown or local */
  /* NUL-terminated; what does not fit is cut out of the middle, as "...". */
  char message[CAIRN_MESSAGE_BYTES];
} cairn_error_t;

/* Text of a code: "not found". Never NULL. Any thread. */
CAIRN_API const char *cairn_code_text(cairn_code_t code);

/* Sets *err, unless it holds an error already, and returns `code`, so failing
 * is one statement. `code` must not be CAIRN_OK. Any thread; no allocation. */
CAIRN_API cairn_code_t cairn_fail(cairn_error_t *err, cairn_code_t code,
                                  const char *fmt, ...) CAIRN_PRINTF(3, 4);

/* The same from an errno value: chooses the code (ENOENT: NOT_FOUND; ENOSPC,
 * EDQUOT: NO_SPACE; EACCES, EPERM, EROFS: DENIED; EEXIST, ENOTEMPTY: EXISTS;
 * ENOMEM: NO_MEMORY; ...; else IO), keeps the number and appends ": " and its
 * text. Returns the code chosen. Any thread; no allocation. */
CAIRN_API cairn_code_t cairn_fail_errno(cairn_error_t *err, int errnum,
                                        const char *fmt, ...)
    CAIRN_PRINTF(3, 4);

/* Puts "<formatted>: " before the message: where it happened, added once per
 * boundary. Does nothing to an error that is not set. Returns err->code
 * (CAIRN_INTERNAL if err is NULL: without it the code is not known here). Any
 * thread; no allocation. */
CAIRN_API cairn_code_t cairn_within(cairn_error_t *err, const char *fmt, ...)
    CAIRN_PRINTF(2, 3);

/* Copies `from` to *to unless *to holds an error already. Returns from->code.
 * Any thread. */
CAIRN_API cairn_code_t cairn_error_copy(cairn_error_t *to,
                                        const cairn_error_t *from);

#ifdef __cplusplus
}
#endif
#endif
