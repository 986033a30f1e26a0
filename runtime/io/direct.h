/* Writing a new file past the page cache: what comes in parts, at any offset
 * and from several threads, leaves in large aligned blocks.
 *
 * The file is cut into blocks of 4 MiB, each gathered in aligned memory. The
 * thread whose part completes a block writes it, while other threads fill
 * others; what is left over at the end, usually the file's last block, is
 * written through the page cache. A file that never fills a block costs one
 * copy and one write.
 *
 * Whether O_DIRECT is faster is tried out when the first block of the first
 * file on a file system is full, with a file that has no name. */
#ifndef CAIRN_IO_DIRECT_H_
#define CAIRN_IO_DIRECT_H_

#include "io/fs.h"

typedef struct cairn__direct cairn__direct_t;

/* For a new, empty file, open for writing; fd and path are borrowed. NULL: no
 * memory. I/O threads, as all of these; all but `write` by one at a time. */
cairn__direct_t *cairn__direct_new(int fd, const char *path);
/* Parts must not overlap. Several threads may write. */
CAIRN_MUST_CHECK cairn_code_t cairn__direct_write(cairn__direct_t *d,
                                                  uint64_t offset,
                                                  const struct iovec *iov,
                                                  int niov, cairn_error_t *err);
/* Writes what is left, when all parts are there: the file is whole then, but
 * not synced. */
CAIRN_MUST_CHECK cairn_code_t cairn__direct_finish(cairn__direct_t *d,
                                                   cairn_error_t *err);
void cairn__direct_free(cairn__direct_t *d); /* NULL is fine */

#endif
