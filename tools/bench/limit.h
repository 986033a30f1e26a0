/* What the machine can do at best, timed now: the other half of every ratio.
 * Seconds, or negative where it could not be measured. */
#ifndef CAIRN_BENCH_LIMIT_H_
#define CAIRN_BENCH_LIMIT_H_

#include "cairn/cairn.h"

/* One thread, into pages that are there. */
double limit_memcpy(int64_t bytes);
/* A new file in `dir`, O_DIRECT, two threads of 8 MiB, then fdatasync. */
double limit_write(const char *dir, int64_t bytes);
/* The same through the page cache. */
double limit_buffered(const char *dir, int64_t bytes);
/* O_DIRECT, of a file that was written just before; as `limit_write`. */
double limit_read(const char *dir, int64_t bytes);
/* zstd level 1 of such bytes as these, on every core. */
double limit_zstd(const void *sample, int64_t n, int64_t bytes);

#endif
