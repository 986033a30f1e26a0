/* Between the calls (shim_calls.c) and what is done about them (shim.c). */
#ifndef TESTS_CRASH_SHIM_IMPL_H_
#define TESTS_CRASH_SHIM_IMPL_H_

#include "shim.h"

typedef struct shim_call {
  shim_op_t op;
  char path[PATH_MAX], to[PATH_MAX];
  int fd;       /* the file, or -1: by path */
  bool counted; /* it is below the root, and a rule is armed */
  bool refused; /* not to be done; errno says why */
  bool lost;    /* to be done, and then to fail with err */
  bool kill;    /* after it */
  size_t most;  /* bytes that a write may take */
  int err;
  long begin;
} shim_call_t;

/* Before the call: may not return. false: it is not to be done. */
bool shim__begin(shim_call_t *c);
/* After it; what the caller is to be told. May not return. */
long shim__end(shim_call_t *c, long rc);

#endif
