/* What is around a timed step: clocks, memory, caches. */
#ifndef CAIRN_BENCH_METER_H_
#define CAIRN_BENCH_METER_H_

#include "cairn/cairn.h"

double meter_now(void);                /* seconds, monotonic */
double meter_median(double *v, int n); /* sorts v */

/* Resident bytes of this process, the most since the last reset_peak, and its
 * threads. 0 where the system does not say. */
int64_t meter_rss(void);
int64_t meter_peak(void);
int64_t meter_reset_peak(void); /* returns the resident bytes */
int meter_threads(void);

/* Touches n bytes and gives them back. A virtual machine may have handed idle
 * memory back to its host; without this its return would be measured. */
void meter_prewarm(int64_t n);
bool meter_drop_caches(void); /* false: not permitted */

/* fsync of every file and directory below `dir`, and of what `dir` is in: what
 * durability would still cost. Seconds. */
double meter_sync_tree(const char *dir);
void meter_remove_tree(const char *dir);

/* About a millisecond of one core, like a step of a training job. */
void meter_compute(void);
double meter_compute_rate(void); /* of these in a second, alone */

#endif
