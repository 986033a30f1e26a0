/* Which process is this, and is that one still alive? For owner records: a
 * record left by a killed job is recognised as dead by identity, not by age
 * alone. */
#ifndef CAIRN_CHECKPOINT_PROCESS_H_
#define CAIRN_CHECKPOINT_PROCESS_H_

#include "cairn/types.h"

typedef struct cairn__process {
  uint64_t place; /* hash of host name, boot and pid namespace */
  int64_t pid;
  int64_t start; /* clock ticks after boot, as the kernel counts */
  char host[64];
} cairn__process_t;

void cairn__process_self(cairn__process_t *out);

typedef enum cairn__life {
  CAIRN__ALIVE,
  CAIRN__DEAD,
  CAIRN__ELSEWHERE /* another host or namespace: cannot be seen from here */
} cairn__life_t;
cairn__life_t cairn__process_life(const cairn__process_t *p);

#endif
