/* The data log's own files: datalog.c (appending, finishing), datalog_file.c
 * (one file: begin, parts, commit), datalog_discard.c. */
#ifndef CAIRN_OCDBT_DATALOG_IMPL_H_
#define CAIRN_OCDBT_DATALOG_IMPL_H_

#include "base/sum.h"
#include "ocdbt/datalog.h"

struct log_part; /* datalog_file.c */

/* One file. It is committed as soon as no more items go there (`full`) and no
 * part is on the way. */
struct log_file {
  cairn__datalog_t *log;
  const cairn__data_file_t *data;
  cairn_upload_t *upload;
  cairn_future_t *begun;
  size_t pending; /* parts on the way */
  bool full, committing, may_exist, over;
  uint64_t length; /* of what is written */
  cairn__sum_t *sum;
  struct log_part *unsummed, **unsummed_end; /* in the order of the file */
  bool summing;
  cairn_wait_t wait;
};

struct log_block; /* small items, gathered */

struct cairn__datalog {
  cairn_runtime_t *rt;
  cairn_kv_t *base;
  bool defer_sync;
  char mark[64]; /* what files begin with */
  cairn__place_t place;
  struct log_file **files; /* as in place, made when first written to */
  size_t n, cap;
  struct log_block *block, *spare;
  uint64_t in_flight; /* bytes of blocks */
  size_t open_files;  /* begun and not over */
  cairn_error_t err;  /* the first */
  /* Made at the start: ending cannot run out of memory. */
  struct {
    cairn_future_t *done;
    bool asked, over;
  } finish;
  struct {
    cairn_future_t *done;
    bool asked;
    size_t i;
    cairn_wait_t wait;
  } discard;
};

/* The file at that index of the place, its upload begun; NULL: no memory. */
struct log_file *cairn__log_file(cairn__datalog_t *log, uint32_t index);

/* Writes a part. If it is what a block holds, `own`, the block is spare when it
 * is written, and its bytes count as in flight until then; NULL: it is not. The
 * future is for the caller. */
cairn_future_t *cairn__log_file_write(struct log_file *f, uint64_t offset,
                                      const struct iovec *iov, int niov,
                                      uint64_t n, struct log_block *own);
/* NULL is fine. */
void cairn__datalog_block_back(cairn__datalog_t *log, struct log_block *b);
/* No more parts will come. */
void cairn__log_file_close(struct log_file *f);
/* No more items will come for any file. */
void cairn__datalog_close_files(cairn__datalog_t *log);
/* A file is over: perhaps all are, and the log is finished. */
void cairn__datalog_file_over(cairn__datalog_t *log);
void cairn__datalog_remove_files(cairn__datalog_t *log);

#endif
