/* Write protection: who is armed, and what happens at a write.
 *
 * One descriptor and two threads a process, started when first needed: the
 * handler answers writes to armed pages, the watchdog disarms everything, for
 * good, if the handler does not. The process's children have neither, and no
 * armed pages: the kernel does not hand them down. */
#ifndef CAIRN_SNAPSHOT_COW_H_
#define CAIRN_SNAPSHOT_COW_H_

#include "snapshot/granule.h"

/* The descriptor and the threads. CAIRN_UNSUPPORTED. */
cairn_code_t cairn__cow_start(cairn_error_t *err);

/* Claims the whole granules of the cow parts; a part that cannot be claimed
 * becomes a copy part. Nothing is armed yet. CAIRN_NO_MEMORY. */
cairn_code_t cairn__cow_claim(cairn__snapshot_t *s, cairn_error_t *err);
/* From here on a write to what was claimed faults. */
void cairn__cow_arm(cairn__snapshot_t *s);
/* Disarms all of it; after this no thread of ours knows the snapshot. */
void cairn__cow_release(cairn__snapshot_t *s);

/* The granule at p may be written: wakes who waits. */
void cairn__cow_disarm(const char *p);
/* The ring has room again, or a granule was released: the handler looks at the
 * writers that wait. */
void cairn__cow_kick(cairn__snapshot_t *s);

/* begin.c: a snapshot that takes cow parts without asking whether cow works:
 * the trial itself. */
cairn_code_t cairn__snapshot_begin_trial(cairn__pool_t *pool,
                                         const cairn__snapshot_part_t *parts,
                                         size_t n,
                                         const cairn__snapshot_opts_t *opts,
                                         cairn__snapshot_t **out,
                                         cairn_error_t *err);

/* --- cow.c for cow_threads.c --- */

typedef struct cairn__cow {
  pthread_mutex_t lock;
  pthread_cond_t idle;      /* the handler lets go of a snapshot */
  pthread_cond_t work;      /* something is armed: the watchdog's */
  cairn__snapshot_t *all;   /* that claimed something */
  cairn__snapshot_t *using; /* the handler's at the moment */
  bool dead;                /* the watchdog has disarmed everything */
  int fd, wake_fd;          /* userfaultfd; eventfd of kicks */
  bool unpopulated;
  pid_t pid;            /* whose threads these are */
  atomic_uint progress; /* of the handler */
  atomic_bool busy;     /* it does something else than wait */
} cairn__cow_t;

extern cairn__cow_t cairn__cow;

/* Under the lock: who armed this address, and its granule. */
cairn__snapshot_t *cairn__cow_find(uintptr_t at, cairn__granule_t **out);
/* Starts both threads. CAIRN_NO_MEMORY. */
cairn_code_t cairn__cow_threads_start(cairn_error_t *err);

#endif
