/* The owner file's text, and what it says about life. Pure. */
#ifndef CAIRN_CHECKPOINT_OWNER_RECORD_H_
#define CAIRN_CHECKPOINT_OWNER_RECORD_H_

#include "cairn/buf.h"
#include "checkpoint/process.h"

typedef struct cairn__owner {
  char id[33];
  cairn__process_t process;
  int64_t beat_ns; /* wall clock of the last sign of life */
} cairn__owner_t;

void cairn__owner_emit(const char *id,
                       cairn_buf_t *out); /* of this process, now */
bool cairn__owner_parse(cairn_bytes_t text, cairn__owner_t *out);
bool cairn__owner_alive(const cairn__owner_t *owner);

/* The suffix of a directory of owner `id` that has no owner file, and whether
 * such a name's maker is dead (false also if that cannot be seen). */
void cairn__owner_staging_suffix(const char *id, char *out, size_t cap);
bool cairn__owner_staging_is_dead(cairn_bytes_t name);

/* An owner in this process is alive from begin (false: no memory) to end. Any
 * thread. */
bool cairn__owner_begin(const char *id);
void cairn__owner_end(const char *id); /* one that has not begun is fine */
/* By the first n digits of the id. */
bool cairn__owner_is_live(const char *id, size_t n);

#endif
