/* Each data file of a save begins with the save's identity. A file of another
 * save in its place, right in itself, is so noticed by a restore, which reads
 * no whole files and cannot compare their sums. */
#ifndef CAIRN_CHECKPOINT_MARKS_H_
#define CAIRN_CHECKPOINT_MARKS_H_

#include "cairn/kv.h"
#include "checkpoint/side_files.h"

/* "cairn save <id>\n", NUL-terminated, into out (64 bytes are enough). */
void cairn__mark_of(const char *save_id, char *out, size_t cap);

/* Reads the beginning of every data file that *b names: CAIRN_CORRUPT names one
 * that belongs to another save. Nothing is read if *b is empty (a step of
 * Orbax). Both are borrowed. Loop thread. */
cairn_future_t *cairn__marks_check(cairn_kv_t *step, const cairn__binding_t *b);

#endif
