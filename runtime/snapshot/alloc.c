/* Memory of whole huge pages. The page before the caller's says how large it
 * is, for munmap. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cairn/memory.h"
#include "snapshot/pool.h"

#define MAGIC UINT64_C(0x636169726e6d656d)

struct header {
  uint64_t magic;
  size_t size; /* of the caller's memory */
};

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

void *cairn_alloc(size_t n) {
  if (n > SIZE_MAX / 4) {
    errno = ENOMEM;
    return NULL;
  }
  size_t size = (n + (n == 0) + CAIRN__HUGE_PAGE - 1) / CAIRN__HUGE_PAGE *
                CAIRN__HUGE_PAGE;
  char *p = cairn__map_huge(CAIRN__HUGE_PAGE + size);
  if (p == NULL) return NULL;
  munmap(p, CAIRN__HUGE_PAGE - page_bytes());
  p += CAIRN__HUGE_PAGE;
  struct header *h = (void *)(p - page_bytes());
  *h = (struct header){.magic = MAGIC, .size = size};
  return p;
}

void cairn_free(void *p) {
  if (p == NULL) return;
  struct header *h = (void *)((char *)p - page_bytes());
  if (h->magic == MAGIC) munmap(h, page_bytes() + h->size);
}
