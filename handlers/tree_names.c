/* Binary search in the sorted names; a key is tried at each of its slashes,
 * from the left, since names may hold slashes too. */
#include "tree_names.h"

#include <stdlib.h>

#include "cairn/array.h"

static int by_name(const void *a, const void *b, void *arg) {
  const cairn__tree_meta_t *m = arg;
  return cairn__text_cmp(m->entries[*(const size_t *)a].name,
                         m->entries[*(const size_t *)b].name);
}

bool cairn__names_init(cairn__names_t *names, const cairn__tree_meta_t *meta) {
  *names = (cairn__names_t){.meta = meta};
  names->sorted = calloc(meta->n + 1, sizeof *names->sorted);
  if (names->sorted == NULL) return false;
  for (size_t i = 0; i < meta->n; i++) {
    cairn__form_t form = meta->entries[i].form;
    if (form != CAIRN__FORM_OTHER && cairn__form_info(form)->stored)
      names->sorted[names->n++] = i;
  }
  qsort_r(names->sorted, names->n, sizeof *names->sorted, by_name,
          (void *)(uintptr_t)meta);
  return true;
}

void cairn__names_free(cairn__names_t *names) {
  free(names->sorted);
  *names = (cairn__names_t){0};
}

static size_t find(const cairn__names_t *names, cairn_bytes_t name) {
  size_t lo = 0, hi = names->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    int c =
        cairn__text_cmp(name, names->meta->entries[names->sorted[mid]].name);
    if (c == 0) return names->sorted[mid];
    if (c < 0)
      hi = mid;
    else
      lo = mid + 1;
  }
  return SIZE_MAX;
}

/* Keys of the array with the empty name: its metadata, or a chunk's. */
static bool is_bare(cairn_bytes_t key) {
  return key.n != 0 &&
         ((key.p[0] >= '0' && key.p[0] <= '9') ||
          (key.p[0] == 'c' && (key.n == 1 || key.p[1] == '/')) ||
          cairn__text_cmp(key, cairn_bytes_str(".zarray")) == 0 ||
          cairn__text_cmp(key, cairn_bytes_str("zarr.json")) == 0);
}

size_t cairn__names_of_key(const cairn__names_t *names, cairn_bytes_t key) {
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] != '/') continue;
    size_t found = find(names, cairn_bytes(key.p, i));
    if (found != SIZE_MAX) return found;
  }
  return is_bare(key) ? find(names, cairn_bytes(NULL, 0)) : SIZE_MAX;
}

bool cairn__names_meta_key(cairn_bytes_t key, int zarr, cairn_bytes_t *name) {
  cairn_bytes_t last = cairn_bytes_str(cairn_zarr_meta_key(zarr));
  if (key.n < last.n || memcmp(key.p + key.n - last.n, last.p, last.n) != 0)
    return false;
  size_t n = key.n - last.n;
  if (n != 0 && key.p[n - 1] != '/') return false;
  *name = cairn_bytes(key.p, n != 0 ? n - 1 : 0);
  return true;
}
