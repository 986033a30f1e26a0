/* Data files while they are written: items are appended, each gets its final
 * place at once, and everything streams out through uploads. Loop thread.
 *
 * Small items are copied into a block of 1 MiB that goes out as one part, so a
 * small value costs a memcpy. Each part is summed on a CPU thread while it is
 * written; sums are joined in file order. */
#ifndef CAIRN_OCDBT_DATALOG_H_
#define CAIRN_OCDBT_DATALOG_H_

#include "ocdbt/pack.h"

typedef struct cairn__datalog cairn__datalog_t;

/* NULL: no memory. base is borrowed. */
cairn__datalog_t *cairn__datalog_new(cairn_kv_t *base,
                                     const cairn__ocdbt_write_opts_t *o);

/* Appends `total` (> 0) bytes; *file and *offset are set on return. iov must
 * live until the future is ready. */
cairn_future_t *cairn__datalog_append(cairn__datalog_t *log,
                                      const struct iovec *iov, int niov,
                                      uint64_t total, uint32_t *file,
                                      uint64_t *offset);

/* For a job that packs items: its own while the job runs and nothing is
 * appended. What it placed is then written with write_pack; pack->bytes must
 * live until finish. */
cairn__place_t *cairn__datalog_place(cairn__datalog_t *log);
cairn_code_t cairn__datalog_write_pack(cairn__datalog_t *log,
                                       const cairn__pack_t *pack,
                                       cairn_error_t *err);

/* Ready when all files are complete (durable, unless defer_sync), with the
 * first error of anything that was appended. Once. */
cairn_future_t *cairn__datalog_finish(cairn__datalog_t *log);

/* Removes every file again, complete or not. Once, as the last call but free.
 */
cairn_future_t *cairn__datalog_discard(cairn__datalog_t *log);
void cairn__datalog_free(cairn__datalog_t *log);

/* What was written: known after finish. */
size_t cairn__datalog_num_files(const cairn__datalog_t *log);
void cairn__datalog_file(const cairn__datalog_t *log, size_t i,
                         cairn_bytes_t *name, uint64_t *length, uint64_t *sum);

#endif
