/* Whether write protection works here, found out by a trial: a page is armed
 * and the kernel made to write to it, by a read(2) from a pipe, and the process
 * itself; the snapshot must still hold what was there before. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snapshot/cow.h"

#define BEFORE 0x5a
#define AFTER 0xa5
#define PIPE_BYTES ((size_t)64)

static cairn_code_t kernel_write(char *at, cairn_error_t *err) {
  char bytes[PIPE_BYTES];
  int fds[2];
  memset(bytes, AFTER, sizeof(bytes));
  if (pipe2(fds, O_CLOEXEC) != 0) return cairn_fail_errno(err, errno, "pipe");
  bool ok = write(fds[1], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
            read(fds[0], at, sizeof(bytes)) == (ssize_t)sizeof(bytes);
  int e = errno;
  close(fds[0]);
  close(fds[1]);
  if (ok) return CAIRN_OK;
  return cairn_fail(err, CAIRN_UNSUPPORTED,
                    "a read(2) into write-protected memory fails (errno %d): "
                    "vm.unprivileged_userfaultfd=1 would let it be caught",
                    e);
}

static bool all_are(const char *p, size_t n, char value) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != value) return false;
  return true;
}

/* Two granules: one that the kernel writes to, one that we do. */
static cairn_code_t write_to(cairn__snapshot_t *s, char *data, char *copy,
                             cairn_error_t *err) {
  cairn__snapshot_stats_t stats;
  if (kernel_write(data, err) != CAIRN_OK) return CAIRN_UNSUPPORTED;
  *(volatile char *)(data + CAIRN__GRANULE) = (char)AFTER;
  cairn__snapshot_stats(s, &stats);
  if (cairn__snapshot_read(s, 0, data, 2 * CAIRN__GRANULE, copy, err) !=
      CAIRN_OK)
    return CAIRN_UNSUPPORTED;
  if (stats.faults >= 2 && all_are(copy, 2 * CAIRN__GRANULE, BEFORE) &&
      all_are(data, PIPE_BYTES, (char)AFTER))
    return CAIRN_OK;
  return cairn_fail(err, CAIRN_UNSUPPORTED,
                    "writes to write-protected memory are not caught here");
}

static cairn_code_t try_on(cairn__pool_t *pool, char *data, char *copy,
                           cairn_error_t *err) {
  cairn__snapshot_part_t part = {.data = data,
                                 .n = 2 * CAIRN__GRANULE,
                                 .mode = CAIRN_SNAPSHOT_COW,
                                 .name = "a trial"};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 2 * CAIRN__GRANULE};
  cairn__snapshot_t *s;
  memset(data, BEFORE, 2 * CAIRN__GRANULE);
  if (cairn__snapshot_begin_trial(pool, &part, 1, &opts, &s, err) != CAIRN_OK)
    return CAIRN_UNSUPPORTED;
  cairn_code_t rc;
  if (s->armed_bytes == 2 * CAIRN__GRANULE)
    rc = write_to(s, data, copy, err);
  else
    rc = cairn_fail(err, CAIRN_UNSUPPORTED, "memory cannot be protected here");
  cairn__snapshot_drop(s);
  return rc;
}

static cairn_code_t trial(cairn_error_t *err) {
  cairn__pool_t *pool;
  cairn_code_t rc = CAIRN_UNSUPPORTED;
  if (cairn__cow_start(err) != CAIRN_OK ||
      cairn__pool_new(&pool, err) != CAIRN_OK)
    return CAIRN_UNSUPPORTED;
  char *data = cairn__map_huge(4 * CAIRN__GRANULE);
  if (data != NULL)
    rc = try_on(pool, data, data + 2 * CAIRN__GRANULE, err);
  else
    cairn_fail(err, CAIRN_UNSUPPORTED, "no memory for a trial");
  if (data != NULL) munmap(data, 4 * CAIRN__GRANULE);
  cairn__pool_free(pool);
  return rc;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cairn_error_t outcome;

static void try_once(void) {
  trial(&outcome);
}

cairn_code_t cairn__cow_available(cairn_error_t *err) {
  pthread_once(&once, try_once);
  if (outcome.code != CAIRN_OK) return cairn_error_copy(err, &outcome);
  return cairn__cow_start(err); /* it may have been given up since */
}
