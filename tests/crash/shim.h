/* The file system as seen from a program under test: the calls that change it,
 * below one directory, are counted over all threads, and the n-th can be made
 * to kill the process, to fail, to fall short, or to run a function first.
 *
 *   shim_arm(&(shim_rule_t){.root = dir, .at = 7, .how = SHIM_KILL});
 *   ... the operation under test ...
 *   long calls = shim_disarm();
 *
 * A shared library that is linked before libc, so that calls of the program,
 * of Cairn and of libuv all come here first. */
#ifndef TESTS_CRASH_SHIM_H_
#define TESTS_CRASH_SHIM_H_

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum shim_op {
  SHIM_OPEN, /* that creates, or for writing */
  SHIM_WRITE,
  SHIM_SYNC,
  SHIM_CLOSE, /* of what was open for writing */
  SHIM_RENAME,
  SHIM_MKDIR,
  SHIM_UNLINK,
  SHIM_RMDIR,
  SHIM_LINK,
  SHIM_RESIZE, /* truncate, allocate */
  SHIM_LOCK,
  SHIM_FLUSH, /* begins to write back; makes nothing durable */
  SHIM_OPS
} shim_op_t;

const char *shim_op_name(shim_op_t op);

typedef enum shim_how {
  SHIM_KILL,  /* SIGKILL instead of the call */
  SHIM_TEAR,  /* a write: half of it, then SIGKILL; others as SHIM_KILL */
  SHIM_FAIL,  /* nothing is done (a close closes all the same), and err */
  SHIM_LOST,  /* it is done, and err all the same */
  SHIM_SHORT, /* a write takes one byte; other calls are as ever */
  SHIM_CALL   /* call(arg) first; what that does is not counted */
} shim_how_t;

/* What the rule met first. */
typedef struct shim_hit {
  bool fired;
  shim_op_t op;
  char path[PATH_MAX];
} shim_hit_t;

typedef struct shim_rule {
  const char *root;
  long at; /* 1: the first call; 0: none, they are counted only */
  shim_how_t how;
  bool sticky; /* that one and all after it */
  int err;
  unsigned ops;     /* 1u << SHIM_X, ored: only these count; 0: all */
  const char *part; /* only paths with this text in them count; NULL: all */
  void (*call)(void *arg);
  void *arg;
  shim_hit_t *hit; /* may be in memory that outlives the process; or NULL */
  bool record;     /* for shim_events */
} shim_rule_t;

/* From now on; what it points to must live on. */
void shim_arm(const shim_rule_t *rule);
/* How many calls counted. */
long shim_disarm(void);

/* A call that changed something. Two of them are in order if one's end comes
 * before the other's begin. */
typedef struct shim_event {
  shim_op_t op;
  long begin, end;
  dev_t dev; /* of the file, or of what was renamed */
  ino_t ino;
  bool is_dir;
  ino_t parent;    /* of the directory that its name (or new name) is in */
  char *path, *to; /* as they were at that time; to: rename and link */
} shim_event_t;

/* Those of the last time it was armed with `record`; successful calls only. */
const shim_event_t *shim_events(size_t *n);

#endif
